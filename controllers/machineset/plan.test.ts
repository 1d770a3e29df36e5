import { describe, expect, it } from "@jest/globals";
import {
  deletionPriority,
  inDeletionOrder,
  type MachineView,
  type MoveTarget,
  machinesToTrigger,
  planReplicas,
  type SetView,
} from "./plan.ts";

const machine = (name: string, more: Partial<MachineView> = {}): MachineView => ({
  name,
  createdMs: 0,
  deleting: false,
  deleteFirst: false,
  updating: false,
  updateFailing: false,
  finishing: false,
  pendingMove: false,
  hookPending: false,
  hasNode: true,
  unhealthy: false,
  toRemediate: false,
  ...more,
});
const set = (replicas: number, more: Partial<SetView> = {}): SetView => ({
  name: "ms1",
  replicas,
  order: "Random",
  createDisabled: false,
  receiving: false,
  strays: 0,
  ...more,
});
const three = [machine("a"), machine("b"), machine("c")];
const target = (more: Partial<MoveTarget> = {}): { moveTo: MoveTarget } => ({ moveTo: { name: "ms2", accepts: true, room: 9, ...more } });

function told(s: SetView, machines: readonly MachineView[]): string {
  const plan = planReplicas(s, machines, 0);
  if (plan.do === "create") return `create ${plan.count}`;
  if (plan.do === "waitForTarget") return `wait for ${plan.target}`;
  if (plan.do === "nothing") return "-";
  const parts = { move: plan.move, delete: plan.delete, wait: plan.waitFor, skip: plan.skipped };
  return Object.entries(parts)
    .filter(([, names]) => names.length > 0)
    .map(([word, names]) => `${word} ${names.join(",")}`)
    .join("; ");
}

describe("replicas", () => {
  const rows: [string, SetView, readonly MachineView[], string][] = [
    ["as many as wanted", set(3), three, "-"],
    ["too few", set(5), three, "create 2"],
    ["too few, but making is switched off", set(5, { createDisabled: true }), three, "-"],
    ["controlled machines that the selector no longer finds keep their places", set(2, { strays: 2 }), [], "-"],
    ["and only what is missing besides them is made", set(3, { strays: 2 }), [], "create 1"],
    ["too many", set(2), three, "delete a"],
    ["a deleting machine uses up the place", set(2), [machine("a"), machine("b", { deleting: true }), machine("c")], "wait b"],
    [
      "a moved machine that is not counted is no surplus",
      set(2, { receiving: true }),
      [...three.slice(1), machine("d", { pendingMove: true })],
      "-",
    ],
    ["without receiving it is", set(2), [...three.slice(1), machine("d", { pendingMove: true, updating: true })], "delete d"],
    [
      "for a while a machine in the middle of an update is spared",
      set(2, { spareUpdating: true }),
      [...three.slice(1), machine("d", { updating: true })],
      "wait d",
    ],
    ["surplus moves", set(1, target()), three, "move a,b"],
    ["the target does not list us yet", set(1, target({ accepts: false })), three, "wait for ms2"],
    ["moves only what the target still wants, the rest goes here", set(0, target({ room: 1 })), three, "move c; delete a,b"],
    ["no room at all", set(1, target({ room: 0 })), three, "delete a,b"],
  ];
  it.each(rows)("%s", (_what, s, machines, expected) => {
    expect(told(s, machines)).toBe(expected);
  });

  const moves: [string, Partial<MachineView>, string][] = [
    ["unhealthy and marked for remediation: deleted", { toRemediate: true, unhealthy: true }, "delete x"],
    ["deleting: waited for", { deleting: true }, "wait x"],
    ["updating: it is the surplus, waited for", { updating: true }, "wait x"],
    ["its update just ended, its status is still being written: waited for", { finishing: true, deleteFirst: true }, "wait x"],
    ["its update keeps failing: another one goes", { updating: true, updateFailing: true }, "move a; skip x"],
    ["no node: another one goes", { hasNode: false }, "move a; skip x"],
    ["to be deleted first: moved first", { deleteFirst: true }, "move x"],
  ];
  it.each(moves)("a machine to move that is %s", (_what, more, expected) => {
    expect(told(set(2, target()), [machine("a"), machine("b"), machine("x", more)])).toBe(expected);
  });

  it("a revert in mid-move leaves one machine unavailable, not two", () => {
    // m1 is done, m2 was moved and never counted; the MachineDeployment has gone back to the other set's template.
    const machines = [machine("m1"), machine("m2", { updating: true, pendingMove: true })];
    expect(told(set(1, target()), machines)).toBe("wait m2");
  });
});

describe("deletion order", () => {
  it("ranks states before age", () => {
    const machines = [
      machine("plain"),
      machine("noNode", { hasNode: false }),
      machine("updating", { updating: true }),
      machine("annotated", { deleteFirst: true }),
      machine("deleting", { deleting: true }),
      machine("unhealthy", { unhealthy: true }),
    ];
    const order = inDeletionOrder(machines, "Random", 0).map((m) => m.name);
    expect(order).toEqual(["deleting", "annotated", "updating", "noNode", "unhealthy", "plain"]);
  });

  const day = 86_400_000;
  const rows: ["Oldest" | "Newest", number | undefined, number, number][] = [
    ["Oldest", 0, 10 * day, 50 * (1 - Math.exp(-1))],
    ["Newest", 0, 10 * day, 50 * Math.exp(-1)],
    ["Oldest", 5 * day, 1 * day, 0],
    ["Newest", 10 * day, 10 * day, 50],
    ["Oldest", undefined, 10 * day, 0],
  ];
  it.each(rows)("%s, created %s, now %d => %d", (order, createdMs, now, expected) => {
    expect(deletionPriority(machine("x", { createdMs }), order, now)).toBeCloseTo(expected, 6);
  });

  it("takes the oldest or the newest, equal ones by name", () => {
    const machines = [machine("b", { createdMs: 1 * day }), machine("a", { createdMs: 1 * day }), machine("old", { createdMs: 0 })];
    expect(inDeletionOrder(machines, "Oldest", 20 * day).map((m) => m.name)).toEqual(["old", "a", "b"]);
    expect(inDeletionOrder(machines, "Newest", 20 * day).map((m) => m.name)).toEqual(["a", "b", "old"]);
  });
});

describe("trigger", () => {
  const marked = { updating: true };
  const rows: [string, Partial<MachineView>, boolean, string[], boolean][] = [
    ["not marked", {}, true, [], false],
    ["triggered before", { ...marked, hookPending: true }, true, [], false],
    ["moved and not counted", { ...marked, pendingMove: true }, true, [], false],
    ["moved and counted", { ...marked, pendingMove: true }, true, ["x"], true],
    ["moved, and the plan changed", { ...marked, pendingMove: true }, false, [], true],
    ["a trigger that was cut short after its last but one write", marked, true, [], true],
    ["deleting", { ...marked, deleting: true }, false, [], false],
  ];
  it.each(rows)("%s", (_what, more, receiving, acknowledged, expected) => {
    const machines = [machine("x", more)];
    expect(machinesToTrigger({ receiving }, machines, acknowledged, { do: "nothing" }, false)).toEqual(expected ? ["x"] : []);
  });

  it("starts the update of a machine that it will hand on afterwards", () => {
    const machines = [machine("x", { updating: true, pendingMove: true })];
    const plan = planReplicas(set(0, target()), machines, 0);
    expect(machinesToTrigger({ receiving: false }, machines, [], plan, true)).toEqual(["x"]);
  });

  it("starts nothing on a machine that goes in the same step", () => {
    const machines = [machine("x", { updating: true }), machine("y")];
    const plan = planReplicas(set(1), machines, 0);
    expect(machinesToTrigger({ receiving: false }, machines, [], plan, false)).toEqual([]);
    const spared = planReplicas(set(1, { spareUpdating: true }), machines, 0);
    expect(machinesToTrigger({ receiving: false }, machines, [], spared, false)).toEqual([]);
  });
});
