import { describe, expect, it } from "@jest/globals";
import type { KubeadmControlPlaneSpec } from "../../api/kubeadmcontrolplane.ts";
import { nameOf, nodeNameOf } from "./machines.ts";
import { planRemediation, type RemediationInput } from "./remediation.ts";
import { cluster, controlPlane, type MachineParts, machine, member, nowMs } from "./testing.ts";

const FOR = "controlplane.cluster.x-k8s.io/remediation-for";
const IN_PROGRESS = "controlplane.cluster.x-k8s.io/remediation-in-progress";
const todo = { HealthCheckSucceeded: "False" as const, OwnerRemediated: "False" as const };
const sick = (more: MachineParts = {}): MachineParts => ({ ...more, conditions: { ...todo, ...more.conditions } });
const data = (minutesAgo: number, retryCount: number): string =>
  JSON.stringify({ machine: "m0", timestamp: new Date(nowMs - minutesAgo * 60_000).toISOString(), retryCount });

const updating = { annotations: { "in-place-updates.internal.cluster.x-k8s.io/update-in-progress": "" } };

interface Change {
  readonly members?: readonly string[];
  readonly initialized?: boolean;
  readonly remediation?: KubeadmControlPlaneSpec["remediation"];
  readonly mark?: string;
  readonly external?: boolean;
}

function plan(parts: Readonly<Record<string, MachineParts>>, change: Change = {}) {
  const machines = Object.entries(parts).map(([name, p]) => machine(name, p));
  const base = controlPlane({ remediation: change.remediation });
  const kcp = change.mark ? { ...base, metadata: { ...base.metadata, annotations: { [IN_PROGRESS]: change.mark } } } : base;
  const input: RemediationInput = {
    kcp,
    cluster,
    machines,
    managedEtcd: !change.external,
    initialized: change.initialized ?? true,
    nowMs,
    memberName: nodeNameOf,
    ...(change.external ? {} : { members: (change.members ?? Object.keys(parts)).map((n) => member(n)), alarms: [] }),
  };
  return planRemediation(input);
}

function shown(result: ReturnType<typeof plan>): string {
  const { step } = result;
  if (step.do === "nothing") return "nothing";
  if (step.do === "refuse") return `${step.reason} ${nameOf(step.machine)}`;
  return `delete ${nameOf(step.machine)} retry ${step.data.retryCount}`;
}

describe("remediation", () => {
  type Row = [string, Readonly<Record<string, MachineParts>>, Change, string];
  const rows: Row[] = [
    ["nothing is marked", { m1: {}, m2: {}, m3: {} }, {}, "nothing"],
    ["one of three", { m1: {}, m2: sick(), m3: {} }, {}, "delete m2 retry 0"],
    ["only marked by the health check", { m1: {}, m2: { conditions: { HealthCheckSucceeded: "False" } }, m3: {} }, {}, "nothing"],
    ["it goes already", { m1: {}, m2: sick({ deleting: true }), m3: {} }, {}, "nothing"],
    [
      "a marked one without Node goes first",
      { m1: sick(), m2: {}, m3: {}, m4: sick({ node: false }) },
      { members: ["m1", "m2", "m3"] },
      "delete m4 retry 0",
    ],
    [
      "the one a user chose goes first",
      { m1: sick(), m2: sick({ annotations: { "cluster.x-k8s.io/remediate-machine": "" } }), m3: {}, m4: {}, m5: {} },
      {},
      "delete m2 retry 0",
    ],
    [
      "the one with the sick member goes first",
      { m1: sick(), m2: sick({ conditions: { ...todo, EtcdMemberHealthy: "False" } }), m3: {}, m4: {}, m5: {} },
      {},
      "delete m2 retry 0",
    ],
    ["the last Machine", { m1: sick() }, {}, "CannotBeRemediated m1"],
    ["the last Machine of a control plane that never came up", { m1: sick() }, { initialized: false }, "delete m1 retry 0"],
    ["a healthy one is still starting", { m1: sick(), m2: {}, m3: { node: false } }, {}, "RemediationDeferred m1"],
    ["another one is deleting", { m1: sick(), m2: {}, m3: { deleting: true } }, {}, "RemediationDeferred m1"],
    ["another one is updated in place", { m1: sick(), m2: updating, m3: {} }, {}, "RemediationDeferred m1"],
    ["one is sick while it is updated in place", { m1: sick(), m2: sick(updating), m3: {}, m4: {}, m5: {} }, {}, "delete m2 retry 0"],
    ["members are not known", { m1: sick(), m2: {}, m3: {} }, { members: [] }, "RemediationDeferred m1"],
    ["external etcd has no members to know", { m1: sick(), m2: {}, m3: {} }, { external: true }, "delete m1 retry 0"],
    ["another member is sick too", { m1: sick(), m2: { conditions: { EtcdMemberHealthy: "False" } }, m3: {} }, {}, "CannotBeRemediated m1"],
    ["the last replacement has not been made", { m1: sick(), m2: {}, m3: {} }, { mark: data(1, 0) }, "nothing"],
    ["a replacement that failed soon", { m1: sick({ annotations: { [FOR]: data(10, 1) } }), m2: {}, m3: {} }, {}, "delete m1 retry 2"],
    ["a replacement that failed late", { m1: sick({ annotations: { [FOR]: data(61, 1) } }), m2: {}, m3: {} }, {}, "delete m1 retry 0"],
    [
      "tried often enough",
      { m1: sick({ annotations: { [FOR]: data(10, 2) } }), m2: {}, m3: {} },
      { remediation: { maxRetry: 2 } },
      "CannotBeRemediated m1",
    ],
    [
      "too soon",
      { m1: sick({ annotations: { [FOR]: data(1, 0) } }), m2: {}, m3: {} },
      { remediation: { retryPeriodSeconds: 300 } },
      "RemediationDeferred m1",
    ],
  ];
  it.each(rows)("%s", (_what, parts, change, expected) => {
    expect(shown(plan(parts, change))).toBe(expected);
  });

  it("looks again when the retry period is over", () => {
    const { step } = plan(
      { m1: sick({ annotations: { [FOR]: data(1, 0) } }), m2: {}, m3: {} },
      { remediation: { retryPeriodSeconds: 300 } },
    );
    expect(step).toMatchObject({ requeueAfterMs: 240_000 });
  });

  it("a mark older than a Machine is stale; a healthy Machine loses its mark", () => {
    const parts = {
      m1: { conditions: { HealthCheckSucceeded: "True" as const, OwnerRemediated: "False" as const } },
      m2: { ageMinutes: 1 },
    };
    const result = plan(parts, { mark: data(5, 0) });
    expect([result.dropMark, result.clear.map(nameOf)]).toEqual([true, ["m1"]]);
  });
});
