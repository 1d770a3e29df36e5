import { describe, expect, it } from "@jest/globals";
import type { AdmissionAttributes } from "../admission-seam.ts";
import { builtinTypes } from "../builtin/index.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import { createRegistry, type ResourceType } from "../registry.ts";
import { createConditions } from "./conditions.ts";
import type { Webhook, WebhookRule } from "./configuration.ts";
import { isExempt, matchHook } from "./match.ts";

const types = builtinTypes();
const typeOf = (plural: string): ResourceType => types.find((t) => t.plural === plural) as ResourceType;
const gadget = (version: string): ResourceType => ({
  ...typeOf("configmaps"),
  group: "example.com",
  version,
  kind: "Gadget",
  plural: "gadgets",
});
const registry = createRegistry([...types, gadget("v1"), gadget("v2")]);

const namespaces: Readonly<Record<string, ApiObject>> = {
  red: { apiVersion: "v1", kind: "Namespace", metadata: { name: "red", labels: { color: "red" } } },
  plain: { apiVersion: "v1", kind: "Namespace", metadata: { name: "plain" } },
};
const server = {
  registry,
  objects: { get: (type: ResourceType, _: string, name: string) => (type.plural === "namespaces" ? namespaces[name] : undefined) },
} as unknown as ServerContext;

const object = (labels: Record<string, string> = {}, apiVersion = "v1"): ApiObject => ({
  apiVersion,
  kind: "ConfigMap",
  metadata: { name: "a", labels },
});
function attributes(plural: string, given: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  const type = given.type ?? typeOf(plural);
  return {
    operation: "CREATE",
    type,
    subresource: "",
    kind: type,
    namespace: type.namespaced ? "plain" : "",
    name: "a",
    user: { username: "u", groups: [] },
    object: object(),
    dryRun: false,
    options: {},
    warn: () => {},
    normalize: (o) => o as ApiObject,
    ...given,
  };
}
const hook = (given: Partial<Webhook>): Webhook => ({ name: "h", clientConfig: {}, ...given });
const rule = (given: Partial<WebhookRule>): WebhookRule => ({
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*"],
  ...given,
});

describe("rules", () => {
  const cases: readonly [Partial<WebhookRule>, AdmissionAttributes, boolean][] = [
    [{}, attributes("configmaps"), true],
    [{ operations: ["UPDATE", "DELETE"] }, attributes("configmaps"), false],
    [{ operations: ["UPDATE", "CREATE"] }, attributes("configmaps"), true],
    [{ apiGroups: ["apps"] }, attributes("configmaps"), false],
    [{ apiGroups: ["apps"] }, attributes("deployments"), true],
    [{ apiVersions: ["v2"] }, attributes("configmaps"), false],
    [{ resources: ["pods"] }, attributes("configmaps"), false],
    [{ resources: ["pods"] }, attributes("pods", { subresource: "status" }), false],
    [{ resources: ["pods/status"] }, attributes("pods", { subresource: "status" }), true],
    [{ resources: ["pods/*"] }, attributes("pods", { subresource: "status" }), true],
    [{ resources: ["pods/*"] }, attributes("pods"), true],
    [{ resources: ["*/scale"] }, attributes("deployments", { subresource: "scale" }), true],
    [{ resources: ["*"] }, attributes("deployments", { subresource: "scale" }), false],
    [{ resources: ["*/*"] }, attributes("deployments", { subresource: "scale" }), true],
    [{ scope: "Cluster" }, attributes("configmaps"), false],
    [{ scope: "Cluster" }, attributes("nodes"), true],
    [{ scope: "Namespaced" }, attributes("nodes"), false],
    [{ scope: "Namespaced" }, attributes("configmaps"), true],
  ];
  it.each(cases)("%#: %j", (given, write, matches) => {
    expect(matchHook(server, hook({ rules: [rule(given)] }), write) !== undefined).toBe(matches);
  });

  it("match another version of the kind unless told not to, and show the object in it", () => {
    const rules = [rule({ apiGroups: ["example.com"], apiVersions: ["v1"] })];
    const write = attributes("", { type: gadget("v2"), object: object({}, "example.com/v2") });
    const matched = matchHook(server, hook({ rules }), { ...write, type: registry.byPath("example.com", "v2", "gadgets") as ResourceType });
    expect(matched?.type.version).toBe("v1");
    expect(matched?.convert(write.object as ApiObject).apiVersion).toBe("example.com/v1");
    expect(matchHook(server, hook({ rules, matchPolicy: "Exact" }), write)).toBeUndefined();
  });

  it("never match configurations of webhooks", () => {
    expect(isExempt(attributes("validatingwebhookconfigurations"))).toBe(true);
    expect(isExempt(attributes("configmaps"))).toBe(false);
  });
});

describe("selectors", () => {
  const red = { matchLabels: { color: "red" } };
  const cases: readonly [string, Partial<Webhook>, AdmissionAttributes, boolean][] = [
    ["object: new labels", { objectSelector: red }, attributes("pods", { object: object({ color: "red" }) }), true],
    ["object: old labels", { objectSelector: red }, attributes("pods", { oldObject: object({ color: "red" }) }), true],
    ["object: neither", { objectSelector: red }, attributes("pods", { oldObject: object() }), false],
    ["object: empty selector", { objectSelector: {} }, attributes("pods"), true],
    ["namespace: labelled", { namespaceSelector: red }, attributes("pods", { namespace: "red" }), true],
    ["namespace: not labelled", { namespaceSelector: red }, attributes("pods"), false],
    ["namespace: cluster scope", { namespaceSelector: red }, attributes("nodes"), true],
    [
      "a namespace itself: its new labels",
      { namespaceSelector: red },
      attributes("namespaces", { namespace: "plain", object: object({ color: "red" }) }),
      true,
    ],
    [
      "a namespace that is deleted: its stored labels",
      { namespaceSelector: red },
      attributes("namespaces", { operation: "DELETE", namespace: "red", object: undefined }),
      true,
    ],
  ];
  it.each(cases)("%s", (_, given, write, matches) => {
    expect(matchHook(server, hook({ rules: [rule({})], ...given }), write) !== undefined).toBe(matches);
  });
});

describe("match conditions", () => {
  const conditions = createConditions();
  const variables = () => ({
    object: { metadata: { name: "a", labels: { x: "1" } }, spec: { replicas: 3, list: [1, 2] } },
    oldObject: null,
    request: { operation: "CREATE", userInfo: { username: "u", groups: ["g"] }, dryRun: false },
  });
  const judge = (...expressions: readonly string[]) =>
    conditions.judge(
      expressions.map((expression, i) => ({ name: `c${i}`, expression })),
      variables,
    );

  it.each([
    ["object.metadata.name == 'a'", true],
    ["object.metadata.name.startsWith('b')", false],
    ["object.spec.replicas > 2 && object.spec.list.size() == 2", true],
    ["oldObject == null", true],
    ["has(object.metadata.annotations)", false],
    ["'g' in request.userInfo.groups", true],
    ["request.operation != 'CREATE' || request.dryRun", false],
    ["object.metadata.labels.exists(k, k == 'x')", true],
  ])("%s: %j", (expression, matches) => expect(judge(expression)).toEqual({ matches }));

  it("one that is false decides, even beside one that fails", () => {
    expect(judge("object.none.more == 1", "false")).toEqual({ matches: false });
    expect(judge("true", "object.none.more == 1")).toMatchObject({ fault: expect.stringContaining('match condition "c1"') });
    expect(judge("1 +")).toMatchObject({ fault: expect.any(String) });
    expect(judge("1")).toMatchObject({ fault: expect.any(String) });
    expect(judge()).toEqual({ matches: true });
  });
});
