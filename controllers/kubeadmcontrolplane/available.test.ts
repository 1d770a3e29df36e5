import { describe, expect, it } from "@jest/globals";
import type { Node } from "../../api/core/index.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type AvailableInput, available } from "./available.ts";
import type { EtcdFacts, WorkloadFacts } from "./facts.ts";
import { controlPlane, type MachineParts, machine, member, nowMs } from "./testing.ts";

const HOUR_MS = 3_600_000;
const since = (ms: number) =>
  controlPlane(
    {},
    {
      status: { conditions: [{ type: "Initialized", status: "True", reason: "", message: "", lastTransitionTime: timestamp(nowMs - ms) }] },
    },
  );
const node = (name: string, ageMs = HOUR_MS): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, creationTimestamp: timestamp(nowMs - ageMs) },
});
const sickMember = { conditions: { EtcdMemberHealthy: "False" as const } };

function judge(
  parts: Readonly<Record<string, MachineParts>>,
  change: Partial<AvailableInput> & {
    readonly etcd?: EtcdFacts;
    readonly members?: readonly string[];
    readonly nodes?: readonly Node[];
  } = {},
) {
  const names = Object.keys(parts);
  const etcd = change.etcd ?? { state: "known", members: (change.members ?? names).map((n) => member(n)), alarms: [], leaderId: "" };
  const facts: WorkloadFacts = { nodes: change.nodes ?? names.map((n) => node(n)), pod: () => undefined, etcd };
  const machines = names.map((n) => machine(n, parts[n]));
  return available({
    kcp: since(HOUR_MS),
    machines,
    managedEtcd: true,
    initialized: true,
    facts,
    certificatesAvailable: true,
    nowMs,
    ...change,
  });
}

describe("Available", () => {
  type Row = [string, Readonly<Record<string, MachineParts>>, Parameters<typeof judge>[1], string];
  const three = { m1: {}, m2: {}, m3: {} };
  const rows: Row[] = [
    ["all well", three, {}, "True/Available"],
    ["never initialized", three, { initialized: false }, "False/NotAvailable"],
    ["one member of three is sick", { ...three, m1: sickMember }, {}, "True/Available"],
    ["two members of three are sick", { ...three, m1: sickMember, m2: sickMember }, {}, "False/NotAvailable"],
    ["no Machine runs everything", { m1: { conditions: { SchedulerPodHealthy: "False" } } }, {}, "False/NotAvailable"],
    ["certificates are missing", three, { certificatesAvailable: false }, "False/NotAvailable"],
    ["it is being deleted", three, { kcp: { ...since(HOUR_MS), metadata: { deletionTimestamp: "x" } } }, "False/NotAvailable"],
    ["a member belongs to nobody", three, { members: ["m1", "m2", "m3", "x"] }, "False/NotAvailable"],
    ["a member is missing", three, { members: ["m1", "m2"] }, "False/NotAvailable"],
    [
      "a member of a new Node is missing",
      three,
      { members: ["m1", "m2"], nodes: [node("m1"), node("m2"), node("m3", 60_000)] },
      "True/Available",
    ],
    ["a member of a Machine that goes is missing", { ...three, m3: { deleting: true } }, { members: ["m1", "m2"] }, "True/Available"],
    ["etcd is silent", three, { etcd: { state: "failed", because: "x" } }, "Unknown/InspectionFailed"],
    ["etcd is silent at first", three, { etcd: { state: "failed", because: "x" }, kcp: since(60_000) }, "False/NotAvailable"],
    [
      "external etcd",
      { m1: { conditions: { EtcdMemberHealthy: undefined, EtcdPodHealthy: undefined } } },
      { managedEtcd: false },
      "True/Available",
    ],
  ];
  it.each(rows)("%s", (_what, parts, change, expected) => {
    const { status, reason } = judge(parts, change).finding;
    expect(`${status}/${reason}`).toBe(expected);
  });

  it("a problem that is new is not told yet, and looked at again", () => {
    const fresh = {
      type: "SchedulerPodHealthy",
      status: "False" as const,
      reason: "",
      message: "",
      lastTransitionTime: timestamp(nowMs - 4_000),
    };
    const parts = { ...three, m1: { conditions: { SchedulerPodHealthy: undefined }, extra: [fresh] } };
    const soon = judge(parts);
    expect([soon.finding.message, soon.requeueAfterMs]).toEqual(["", 6_001]);
    expect(judge(parts, { nowMs: nowMs + 7_000 }).finding.message).toBe("* Machine m1: SchedulerPodHealthy is False");
  });
});
