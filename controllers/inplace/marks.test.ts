import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../../api/meta/object.ts";
import { isUpdatingInPlace, PENDING_HOOKS, parseMoveTarget, UPDATE_IN_PROGRESS, withoutPendingHook, withPendingHook } from "./marks.ts";

const machine = (annotations: Record<string, string>): KubeObject => ({ apiVersion: "v1", kind: "Machine", metadata: { annotations } });

describe("in-place marks", () => {
  const rows: [string, Record<string, string>, boolean][] = [
    ["no mark", {}, false],
    ["the mark, whatever its value", { [UPDATE_IN_PROGRESS]: "" }, true],
    ["only the hook left", { [PENDING_HOOKS]: "UpdateMachine" }, true],
    ["the hook among others", { [PENDING_HOOKS]: "AfterX, UpdateMachine" }, true],
    ["a hook whose name only begins like it", { [PENDING_HOOKS]: "UpdateMachineSet" }, false],
  ];
  it.each(rows)("%s", (_what, annotations, expected) => {
    expect(isUpdatingInPlace(machine(annotations))).toBe(expected);
  });

  it("other hooks in the list survive", () => {
    expect(withPendingHook(machine({ [PENDING_HOOKS]: "Zed,AfterX" }), "UpdateMachine")).toBe("AfterX,UpdateMachine,Zed");
    expect(withoutPendingHook(machine({ [PENDING_HOOKS]: "AfterX,UpdateMachine" }), "UpdateMachine")).toBe("AfterX");
    expect(withoutPendingHook(machine({ [PENDING_HOOKS]: "UpdateMachine" }), "UpdateMachine")).toBeNull();
  });

  it.each([
    ["md-0-x", "md-0-x"],
    ['{"name":"md-0-x","affectsAvailability":false}', "md-0-x"],
    ["{broken", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("move target of %s is %s", (text, expected) => {
    expect(parseMoveTarget(text)).toBe(expected);
  });
});
