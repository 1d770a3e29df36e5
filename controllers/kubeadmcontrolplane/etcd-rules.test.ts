// Rules that protect etcd: targets, the pre-terminate hook, stray members.
import { describe, expect, it } from "@jest/globals";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import { planHook } from "./hook.ts";
import { nodeNameOf } from "./machines.ts";
import { planStrays } from "./strays.ts";
import { componentsStay, etcdStays } from "./targets.ts";
import { controlPlane, type MachineParts, machine, member } from "./testing.ts";

const sickMember = { conditions: { EtcdMemberHealthy: "False" as const } };
const named = (names: string): EtcdMember[] =>
  names
    .split(" ")
    .filter((n) => n !== "")
    .map((n) =>
      n === "?" ? member("", { id: "nameless" }) : n.endsWith("/learner") ? member(n.slice(0, -8), { isLearner: true }) : member(n),
    );
const machinesOf = (parts: Readonly<Record<string, MachineParts>>) => Object.entries(parts).map(([n, p]) => machine(n, p));

describe("etcdStays", () => {
  const three = { m1: {}, m2: {}, m3: {} };
  const five = { ...three, m4: {}, m5: {} };
  type Row = [string, Readonly<Record<string, MachineParts>>, string, string | undefined, number, boolean];
  const rows: Row[] = [
    ["3 members, one goes", three, "m1 m2 m3", "m1", 0, true],
    ["3 members, one goes, another is sick", { ...three, m2: sickMember }, "m1 m2 m3", "m1", 0, false],
    ["3 members, the sick one goes", { ...three, m1: sickMember }, "m1 m2 m3", "m1", 0, true],
    ["5 members, one goes, one more is sick", { ...five, m2: sickMember }, "m1 m2 m3 m4 m5", "m1", 0, true],
    ["5 members, two more are sick", { ...five, m2: sickMember, m3: sickMember }, "m1 m2 m3 m4 m5", "m1", 0, false],
    ["a learner stops everything", three, "m1 m2 m3/learner", "m1", 0, false],
    ["so does a member that never started", three, "m1 m2 ?", "m1", 0, false],
    ["2 healthy members, one comes", { m1: {}, m2: {} }, "m1 m2", undefined, 1, true],
    ["the second member is no risk for the first", { m1: {} }, "m1", undefined, 1, true],
    ["a member without Machine counts as healthy", { m1: {}, m2: {} }, "m1 m2 x", "m1", 0, true],
  ];
  it.each(rows)("%s", (_what, parts, members, without, added, safe) => {
    expect(etcdStays({ members: named(members), alarms: [], machines: machinesOf(parts), without, added }).safe).toBe(safe);
  });
  it("a member without Machine that has an alarm is unhealthy", () => {
    const alarms: EtcdAlarm[] = [{ memberId: "x-id", type: "NOSPACE" }];
    const input = { members: named("m1 m2 x"), alarms, machines: machinesOf({ m1: {}, m2: {} }), without: "m1", added: 0 };
    expect(etcdStays(input).safe).toBe(false);
  });
});

it("components stay when one other Machine runs all of them", () => {
  const [m1, m2, m3] = machinesOf({
    m1: {},
    m2: { conditions: { EtcdPodHealthy: "False" } },
    m3: { conditions: { SchedulerPodHealthy: "Unknown" } },
  });
  const machines = [m1, m2, m3].filter((m) => m !== undefined);
  expect(componentsStay({ machines, managedEtcd: true, without: m2 }).safe).toBe(true);
  expect(componentsStay({ machines, managedEtcd: true, without: m1 }).safe).toBe(false);
  expect(componentsStay({ machines, managedEtcd: false, without: m1 }).safe).toBe(true);
});

describe("planHook", () => {
  const HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";
  const waiting = [
    { type: "Deleting", status: "True" as const, reason: "WaitingForPreTerminateHook", message: "", lastTransitionTime: "" },
  ];
  const going = (more: MachineParts = {}): MachineParts => ({ deleting: true, annotations: { [HOOK]: "" }, extra: waiting, ...more });
  type Row = [string, Readonly<Record<string, MachineParts>>, string | undefined, string];
  const rows: Row[] = [
    ["nothing is deleting", { m1: {}, m2: {} }, "m1 m2", "nothing"],
    ["one is on its way out already", { m1: going(), m2: { deleting: true }, m3: {} }, "m1 m2 m3", "wait"],
    ["it has not come to the hook", { m1: going({ extra: [] }), m2: {}, m3: {} }, "m1 m2 m3", "wait"],
    [
      "another hook goes first",
      { m1: going({ annotations: { [HOOK]: "", "pre-terminate.delete.hook.machine.cluster.x-k8s.io/other": "" } }), m2: {}, m3: {} },
      "m1 m2 m3",
      "wait",
    ],
    ["its member leaves", { m1: going(), m2: {}, m3: {} }, "m1 m2 m3", "removeMember"],
    ["its member has left", { m1: going(), m2: {}, m3: {} }, "m2 m3", "dropHook"],
    ["it never had a Node", { m1: going({ node: false }), m2: {}, m3: {} }, "m2 m3", "dropHook"],
    ["quorum would be lost", { m1: going(), m2: sickMember, m3: {} }, "m1 m2 m3", "wait"],
    ["no other Machine runs the components", { m1: going(), m2: { conditions: { EtcdPodHealthy: "False" } } }, "m1 m2", "wait"],
    ["members are not known", { m1: going(), m2: {}, m3: {} }, undefined, "fail"],
    ["it is the last", { m1: going() }, "m1", "dropHook"],
  ];
  it.each(rows)("%s", (_what, parts, members, expected) => {
    const known = members === undefined ? {} : { members: named(members), alarms: [] };
    const input = { kcp: controlPlane(), machines: machinesOf(parts), managedEtcd: true, memberName: nodeNameOf, ...known };
    expect(planHook(input).do).toBe(expected);
  });
  it("external etcd is none of our business", () => {
    const input = { kcp: controlPlane(), machines: machinesOf({ m1: going(), m2: {} }), managedEtcd: false, memberName: nodeNameOf };
    expect(planHook(input).do).toBe("dropHook");
  });
});

describe("planStrays", () => {
  type Row = [string, Readonly<Record<string, MachineParts>>, string, boolean, string];
  const rows: Row[] = [
    ["all is well", { m1: {} }, "m1 x", true, "nothing"],
    ["a member of nobody", { m1: {}, m2: {} }, "m1 m2 x", false, "remove x-id"],
    ["one that never started goes first", { m1: {}, m2: {} }, "m1 m2 ? a", false, "remove nameless"],
    ["it may be that of a joining Machine", { m1: {}, m2: { node: false } }, "m1 ?", false, "nothing"],
    ["removing it would break quorum", { m1: {}, m2: sickMember }, "m1 m2 x", false, "fail"],
    ["every member has its Machine", { m1: {}, m2: {} }, "m1 m2", false, "nothing"],
  ];
  it.each(rows)("%s", (_what, parts, members, etcdHealthy, expected) => {
    const step = planStrays({ machines: machinesOf(parts), members: named(members), alarms: [], etcdHealthy });
    expect(step.do === "remove" ? `remove ${step.member.id}` : step.do).toBe(expected);
  });
});
