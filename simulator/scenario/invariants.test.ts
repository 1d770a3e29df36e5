import { describe, expect, it } from "@jest/globals";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import type { MachineFacts } from "../observe/machines.ts";
import { createGuard } from "./invariants.ts";

const owner = (replicas: number, maxSurge: number, maxUnavailable: number): MachineDeployment =>
  ({
    kind: "MachineDeployment",
    spec: { replicas, rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } } },
  }) as never;
const out = (name: string, reason = ""): MachineFacts =>
  ({
    name,
    available: false,
    deleting: false,
    machine: { status: { conditions: [{ type: "Updating", status: "True", reason }] } },
  }) as never;
const tally = (present: number, available: number, machines: readonly MachineFacts[] = []) => ({
  present,
  available,
  machines: () => machines,
});
const NONE = new Set<string>();

function settledAt(replicas: number, maxSurge: number, maxUnavailable: number) {
  const guard = createGuard("md");
  guard.wants(owner(replicas, maxSurge, maxUnavailable));
  guard.settled();
  return guard;
}

describe("bounds of an owner", () => {
  it.each([
    [4, 3, undefined],
    [5, 3, "md has 5 Machines, at most 4 are allowed"],
    [3, 2, undefined],
    [3, 1, "md has 1 available Machines, at least 2 are needed"],
  ])("3 replicas, surge 1, unavailable 1: %d there, %d available", (present, available, broken) => {
    expect(settledAt(3, 1, 1).check(tally(present, available), NONE)).toBe(broken);
  });

  it("nothing holds before it was up once", () => {
    const guard = createGuard("md");
    guard.wants(owner(3, 0, 0));
    expect(guard.check(tally(0, 0), NONE)).toBeUndefined();
  });

  it("fewer wanted: the wider bound holds until they are reached", () => {
    const guard = settledAt(6, 0, 1);
    guard.wants(owner(3, 0, 1));
    expect(guard.check(tally(6, 2), NONE)).toBeUndefined();
    guard.settled();
    expect(guard.check(tally(4, 3), NONE)).toContain("at most 3");
  });

  it("excuses lost Nodes and failing updates, and no others", () => {
    const guard = settledAt(3, 0, 1);
    expect(guard.check(tally(3, 1, [out("a"), out("b")]), new Set(["a"]))).toBeUndefined();
    expect(guard.check(tally(3, 1, [out("a", "InPlaceUpdateFailed"), out("b")]), NONE)).toBeUndefined();
    expect(guard.check(tally(3, 0, [out("a"), out("b"), out("c")]), new Set(["a"]))).toContain("at least 2");
  });
});
