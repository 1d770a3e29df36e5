import { describe, expect, it } from "@jest/globals";
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { createAppliedMemory, intentOf, needsOwnershipRepair } from "./apply.ts";

const object = (more: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "X",
  metadata: {
    name: "x",
    uid: "u",
    resourceVersion: "1",
    generation: 1,
    labels: { a: "b" },
    managedFields: [{ manager: "manager", operation: "Apply" }],
    ...more,
  },
});

describe("memory of what was applied", () => {
  const rows: [string, Partial<KubeObject["metadata"]>, string, boolean][] = [
    ["the same version", {}, "t", true],
    ["a version that differs in status only", { resourceVersion: "2" }, "t", true],
    ["a changed spec", { resourceVersion: "2", generation: 2 }, "t", false],
    ["a changed label", { resourceVersion: "2", labels: {} }, "t", false],
    ["another intent", {}, "other", false],
    ["managers that were wiped", { managedFields: [{ manager: "kubectl", operation: "Update" }] }, "t", false],
    ["an object made anew under the same name", { uid: "v" }, "t", false],
  ];
  it.each(rows)("%s", (_what, change, token, expected) => {
    const memory = createAppliedMemory();
    memory.note(object(), "manager", "t");
    expect(memory.isApplied(object(change), "manager", token)).toBe(expected);
    expect(memory.isApplied(object(), "somebody", "t")).toBe(false);
  });
});

describe("intents", () => {
  it("hold what we mean to own, and nothing of the server's", () => {
    const stored = { ...object({ creationTimestamp: "t", managedFields: [], annotations: {} }), spec: { a: 1 }, status: { b: 2 } };
    expect(intentOf(stored)).toEqual({
      apiVersion: "v1",
      kind: "X",
      metadata: { name: "x", uid: "u", labels: { a: "b" }, annotations: {} },
      spec: { a: 1 },
    });
  });
});

describe("ownership that was lost", () => {
  const entry = (manager: string): ManagedFieldsEntry => ({ manager, operation: "Apply" });
  it.each([
    [[], true],
    [undefined, true],
    [[entry("capi-machineset"), entry("before-first-apply")], true],
    [[entry("capi-machineset")], false],
  ])("%j", (managedFields, expected) => {
    expect(needsOwnershipRepair(object({ managedFields }))).toBe(expected);
  });
});
