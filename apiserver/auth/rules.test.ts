import { describe, expect, it } from "@jest/globals";
import type { AuthorizationAttributes } from "../auth-seam.ts";
import { allows, notCovered, type Rule, ruleText } from "./rules.ts";

/** `verb group/resource/subresource name`, or `verb /path`. */
function asked(text: string): AuthorizationAttributes {
  const [verb = "", what = "", name = ""] = text.split(" ");
  const isResource = !what.startsWith("/");
  const [group = "", resource = "", subresource = ""] = isResource ? what.split("/") : [];
  const user = { username: "u", groups: [] };
  return { user, isResource, verb, path: isResource ? "" : what, group, version: "v1", resource, subresource, namespace: "", name };
}

/** `verbs groups resources [names]`, commas inside; `-` is the core group; or `verbs /urls`. */
function rule(text: string): Rule {
  const [verbs = "", second = "", resources = "", names] = text.split(" ");
  const list = (part: string): readonly string[] => part.split(",").map((one) => (one === "-" ? "" : one));
  if (second.startsWith("/") || (second === "*" && resources === "")) return { verbs: list(verbs), nonResourceURLs: list(second) };
  const resourceNames = names === undefined ? {} : { resourceNames: list(names) };
  return { verbs: list(verbs), apiGroups: list(second), resources: list(resources), ...resourceNames };
}

describe("what a rule allows", () => {
  const cases: readonly [string, string, boolean][] = [
    ["get,list - configmaps", "get /x", false],
    ["get,list - configmaps", "get ./configmaps", false],
    ["get,list apps deployments", "get apps/deployments a", true],
    ["get,list apps deployments", "delete apps/deployments a", false],
    ["get,list apps deployments", "get apps/deployments/scale a", false],
    ["get apps deployments/scale", "get apps/deployments/scale a", true],
    ["get apps */scale", "get apps/statefulsets/scale a", true],
    ["get apps */scale", "get apps/statefulsets a", false],
    ["* * *", "patch apps/deployments/status a", true],
    ["get apps deployments a,b", "get apps/deployments b", true],
    ["get apps deployments a,b", "get apps/deployments c", false],
    ["create apps deployments a", "create apps/deployments", false],
    ["get /healthz", "get /healthz", true],
    ["get /healthz", "get /healthz/ping", false],
    ["get /healthz/*", "get /healthz/ping", true],
    ["get /healthz/*", "get /healthz", false],
    ["get *", "get /anything", true],
    ["* * *", "get /healthz", false],
  ];
  it.each(cases)("%s | %s | %s", (text, question, answer) => expect(allows(rule(text), asked(question))).toBe(answer));
});

describe("what some rules do not cover of others", () => {
  const cases: readonly [readonly string[], string, readonly string[]][] = [
    [["get,list apps deployments"], "get apps deployments", []],
    [["get apps deployments", "list apps deployments"], "get,list apps deployments", []],
    [["get apps deployments"], "get,list apps deployments", ["list apps deployments"]],
    [["get apps deployments"], "* apps deployments", ["* apps deployments"]],
    [["* * *"], "* * *", []],
    [["get apps *"], "get apps deployments/scale", []],
    [["get apps */scale"], "get apps deployments/scale", []],
    [["get apps deployments a"], "get apps deployments", ["get apps deployments"]],
    [["get apps deployments a"], "get apps deployments a,b", ["get apps deployments b"]],
    [["get apps deployments"], "get apps deployments a", []],
    [["get /healthz/*"], "get /healthz/ping", []],
    [["get /healthz"], "get *", ["get *"]],
    [["* * *"], "get /healthz", ["get /healthz"]],
    [[], "get - secrets", ["get - secrets"]],
  ];
  it.each(cases)("%j owned, %s wanted: lacks %j", (owned, wanted, lacks) => {
    expect(notCovered(owned.map(rule), [rule(wanted)])).toEqual(lacks.map(rule));
  });

  it("is shown like upstream shows it", () => {
    expect(ruleText(rule("get - secrets a"))).toBe('{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}');
  });
});
