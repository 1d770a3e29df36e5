import { describe, expect, it } from "@jest/globals";
import {
  conditionTypePattern,
  groupVersionPattern,
  kindPattern,
  labelPattern,
  labelValuePattern,
  rangePattern,
  reasonPattern,
  subdomainPattern,
  taintKeyPattern,
} from "./patterns.ts";

describe("patterns", () => {
  it.each([
    ["subdomain", subdomainPattern, ["a", "a.b-c.d1"], ["", "A", "a..b", "-a", "a_b"]],
    ["label", labelPattern, ["a", "a-1"], ["a.b", "-a", "a-"]],
    ["kind", kindPattern, ["Machine", "m1"], ["1m", "M_", ""]],
    ["group and version", groupVersionPattern, ["cluster.x-k8s.io/v1beta2"], ["v1", "a/1b", "a/b/c"]],
    ["condition type", conditionTypePattern, ["Ready", "lab.example.com/Disk_ok.1"], ["", "/Ready", "Lab.com/Ready", "Ready-"]],
    ["taint key", taintKeyPattern, ["dedicated", "node.example.com/a"], ["", "a/", "A.b/c", "a b"]],
    ["label value", labelValuePattern, ["", "a", "A_b.c-d"], ["-a", "a-", "a b"]],
    ["reason", reasonPattern, ["Ready", "A1,b:c_"], ["1a", "a:", "a b"]],
    ["range", rangePattern, ["[1-3]", "[5-3]"], ["1-3", "[1-]", "[-1-3]"]],
  ])("%s", (_name, pattern, good, bad) => {
    const regexp = new RegExp(pattern);
    expect(good.filter((text) => !regexp.test(text))).toEqual([]);
    expect(bad.filter((text) => regexp.test(text))).toEqual([]);
  });
});
