import { describe, expect, it } from "@jest/globals";
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { planRemediation } from "./remediation.ts";

const condition = (type: string, status: "True" | "False", reason: string): Condition => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: "",
});
const unhealthy = [
  condition("HealthCheckSucceeded", "False", "UnhealthyNode"),
  condition("OwnerRemediated", "False", "WaitingForRemediation"),
];

const machine = (name: string, conditions: readonly Condition[], more: Partial<Machine["metadata"]> = {}): Machine =>
  ({
    apiVersion: "",
    kind: "Machine",
    metadata: { name, creationTimestamp: "2026-08-21T10:00:00Z", ...more },
    spec: {},
    status: { conditions },
  }) as unknown as Machine;

const three = ["a", "b", "c"].map((name) => machine(name, unhealthy));

describe("remediation", () => {
  it("takes all when there is no limit", () => {
    expect(planRemediation({ machines: three, current: true })).toEqual({ clear: [], defer: [], remediate: ["a", "b", "c"] });
  });

  it("leaves machines of old sets to the rollout", () => {
    const plan = planRemediation({ machines: three, current: false });
    expect(plan.remediate).toEqual([]);
    expect(plan.defer.map((m) => [m.name, m.reason])).toEqual([
      ["a", "CannotBeRemediated"],
      ["b", "CannotBeRemediated"],
      ["c", "CannotBeRemediated"],
    ]);
  });

  it("asked for by a person first, then the newest", () => {
    const machines = [
      machine("old", unhealthy),
      machine("new", unhealthy, { creationTimestamp: "2026-08-21T11:00:00Z" }),
      machine("asked", unhealthy, { annotations: { "cluster.x-k8s.io/remediate-machine": "" } }),
    ];
    const plan = planRemediation({ machines, current: true, inFlightMax: 2 });
    expect(plan.remediate).toEqual(["asked", "new"]);
    expect(plan.defer.map((m) => [m.name, m.reason])).toEqual([["old", "RemediationDeferred"]]);
  });

  it("counts those that are being remediated", () => {
    const going = machine("going", [unhealthy[0] as Condition, condition("OwnerRemediated", "False", "MachineDeleting")], {
      deletionTimestamp: "t",
    });
    const plan = planRemediation({ machines: [going, ...three], current: true, inFlightMax: 1 });
    expect(plan.remediate).toEqual([]);
    expect(plan.defer.map((m) => m.name)).toEqual(["a", "b", "c"]);
  });

  it("forgets a machine that is well again", () => {
    const well = machine("w", [
      condition("HealthCheckSucceeded", "True", "HealthCheckSucceeded"),
      condition("OwnerRemediated", "False", "x"),
    ]);
    expect(planRemediation({ machines: [well], current: true })).toEqual({ clear: ["w"], defer: [], remediate: [] });
  });

  it("does nothing about a machine that nobody called unhealthy, or that goes already", () => {
    const machines = [machine("fine", []), machine("going", unhealthy, { deletionTimestamp: "t" })];
    expect(planRemediation({ machines, current: true })).toEqual({ clear: [], defer: [], remediate: [] });
  });
});
