import { describe, expect, it } from "@jest/globals";
import { PENDING_HOOKS, UPDATE_IN_PROGRESS } from "../inplace/marks.ts";
import { callMemories, failureDelayMs, retryDelayMs, updateDue } from "./inplace.ts";
import { machine, referenced, view } from "./testing.ts";
import type { MachineView } from "./view.ts";

const marks = (...keys: string[]) => ({
  metadata: { annotations: Object.fromEntries(keys.map((k) => [k, k === PENDING_HOOKS ? "UpdateMachine" : ""])) },
});
const both = marks(UPDATE_IN_PROGRESS, PENDING_HOOKS);
const marked = (kind: string) => referenced(kind, marks(UPDATE_IN_PROGRESS));
const readyToCall = { machine: machine(both), infrastructure: marked("DevMachine"), bootstrap: marked("KubeadmConfig") };

describe("updateDue", () => {
  const rows: [string, Partial<MachineView>, string][] = [
    ["no mark at all", {}, "nothing"],
    ["only the hook is left: the end of an update was interrupted", { machine: machine(marks(PENDING_HOOKS)) }, "finish"],
    ["marked, specs not written yet", { machine: machine(marks(UPDATE_IN_PROGRESS)) }, "wait"],
    ["not provisioned yet", { ...readyToCall, machine: machine({ ...both, status: { initialization: {} } }) }, "wait"],
    ["no Node yet", { ...readyToCall, machine: machine({ ...both, status: { nodeRef: undefined } }) }, "wait"],
    [
      "the infrastructure object is gone",
      { ...readyToCall, infrastructure: { ...referenced("DevMachine"), object: undefined, missing: true } },
      "fail",
    ],
    [
      "it could not be read",
      { ...readyToCall, infrastructure: { ...referenced("DevMachine"), object: undefined, error: new Error("denied") } },
      "fail",
    ],
    ["infrastructure not marked", { ...readyToCall, infrastructure: referenced("DevMachine") }, "wait"],
    ["bootstrap not marked", { ...readyToCall, bootstrap: referenced("KubeadmConfig") }, "wait"],
    [
      "a bootstrap object that is gone does not block",
      { ...readyToCall, bootstrap: { ...referenced("KubeadmConfig"), object: undefined, missing: true } },
      "call",
    ],
    ["no bootstrap object at all", { ...readyToCall, bootstrap: undefined }, "call"],
    ["everything is there", readyToCall, "call"],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(updateDue(view(change)).do).toBe(expected));

  it("the Node that this run has found counts", () => {
    const fresh = machine({ ...both, status: { nodeRef: undefined } });
    expect(updateDue(view({ ...readyToCall, machine: fresh, status: { nodeRef: { name: "m1" } } })).do).toBe("call");
  });
});

describe("waits", () => {
  it("at most twenty calls in the first ten minutes of failures, and never more than 1001 s apart", () => {
    let [atMs, calls] = [0, 0];
    while (atMs <= 600_000) atMs += failureDelayMs(++calls);
    expect(calls).toBeLessThanOrEqual(20);
    expect(failureDelayMs(1)).toBe(1_010);
    expect(failureDelayMs(500)).toBe(1_001_000);
  });

  it("does what the extension asks for, up to an hour", () => {
    expect(retryDelayMs(15)).toBe(15_000);
    expect(retryDelayMs(1e9)).toBe(3_600_000);
  });

  it("remembers per Machine for a day; a new Machine of the same name starts anew", () => {
    let now = 0;
    const memories = callMemories(() => now);
    const memory = { notBeforeMs: 5, failures: 2, outcome: { state: "failed", message: "x" } } as const;
    memories.set(machine(), memory);
    expect(memories.get(machine())).toBe(memory);
    expect(memories.get(machine({ metadata: { uid: "u2" } }))).toBeUndefined();
    now = 24 * 3_600_000 + 1;
    memories.set(machine({ metadata: { uid: "u2" } }), memory);
    expect(memories.get(machine())).toBeUndefined();
  });
});
