import { describe, expect, it } from "@jest/globals";
import { hookCatalog, hookNames, hookPath, isHookName } from "./index.ts";

describe("paths of hooks", () => {
  it.each([
    ["", "CanUpdateMachine", "can-update-machine", "/hooks.runtime.cluster.x-k8s.io/v1alpha1/canupdatemachine/can-update-machine"],
    ["/", "UpdateMachine", "Update", "/hooks.runtime.cluster.x-k8s.io/v1alpha1/updatemachine/update"],
    ["/a//b/", "Discovery", "", "/a/b/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery"],
  ])("prefix '%s', %s, handler '%s'", (prefix, hook, handler, path) => expect(hookPath(prefix, hook, handler)).toBe(path));
});

describe("the catalog", () => {
  it("knows all hooks", () => expect(hookNames).toHaveLength(17));

  it("tells which answers may ask for a retry", () =>
    expect(hookNames.filter((name) => !hookCatalog[name].retries).sort()).toEqual([
      "AfterControlPlaneInitialized",
      "CanUpdateMachine",
      "CanUpdateMachineSet",
      "DiscoverVariables",
      "Discovery",
      "GeneratePatches",
      "GenerateUpgradePlan",
      "ValidateTopology",
    ]));

  it.each([
    ["UpdateMachine", true],
    ["updatemachine", false],
    ["toString", false],
  ])("%s is a hook: %s", (name, is) => expect(isHookName(name)).toBe(is));
});
