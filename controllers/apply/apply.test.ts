import { describe, expect, it } from "@jest/globals";
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { createAppliedMemory, holds, intentOf, needsOwnershipRepair } from "./apply.ts";

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
  const intent = (): KubeObject => ({ apiVersion: "v1", kind: "X", metadata: { name: "x", uid: "u", labels: { a: "b" } } });
  const rows: [string, Partial<KubeObject["metadata"]>, string, boolean][] = [
    ["the same version", {}, "t", true],
    [
      "a version that still holds the intent",
      { resourceVersion: "2", annotations: { foreign: "1" }, labels: { a: "b", foreign: "1" } },
      "t",
      true,
    ],
    ["a changed label", { resourceVersion: "2", labels: {} }, "t", false],
    ["another intent", {}, "other", false],
    ["managers that were wiped", { managedFields: [{ manager: "kubectl", operation: "Update" }] }, "t", false],
    ["an object made anew under the same name", { uid: "v" }, "t", false],
  ];
  it.each(rows)("%s", (_what, change, token, expected) => {
    const memory = createAppliedMemory();
    memory.note(object(), "manager", "t");
    expect(memory.isApplied(object(change), "manager", token, intent)).toBe(expected);
    expect(memory.isApplied(object(), "somebody", "t", intent)).toBe(false);
    memory.forget(object(), "manager");
    expect(memory.isApplied(object(), "manager", "t", intent)).toBe(false);
  });

  const held: [unknown, unknown, boolean][] = [
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1 }, { a: { b: 1 } }, false],
    [{}, { a: {} }, true],
    [undefined, { a: 1 }, false],
    [{ f: ["x", "y"] }, { f: ["y"] }, true],
    [{ f: ["x"] }, { f: ["y"] }, false],
    [{ o: [{ uid: "1", name: "a" }, { uid: "2" }] }, { o: [{ uid: "1" }] }, true],
    [{ o: [{ uid: "1", controller: true }] }, { o: [{ uid: "1", controller: false }] }, false],
    [{ l: [{ key: "a" }, { key: "b" }] }, { l: [{ key: "a" }] }, false],
  ];
  it.each(held)("%j holds %j: %s", (actual, wanted, expected) => {
    expect(holds(actual, wanted)).toBe(expected);
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
