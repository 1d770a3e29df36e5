import { describe, expect, it } from "@jest/globals";
import { parseDurationMs, planStages, type StageName, type StageView, startupDelayMs } from "./stages.ts";

const delayMs = { VMProvisioned: 10_000, NodeProvisioned: 5_000, EtcdProvisioned: 4_000, APIServerProvisioned: 6_000 };
const view = (change: Partial<StageView>): StageView => ({
  nowMs: 0,
  controlPlane: true,
  infrastructureProvisioned: true,
  controlPlaneInitialized: true,
  hasBootstrapData: true,
  bootstrapped: false,
  doneMs: {},
  delayMs,
  ...change,
});
const show = (v: StageView): string => {
  const plan = planStages(v);
  return [...plan.conditions.map((c) => (c.status === "True" ? "done" : c.reason)), plan.requeueAfterMs ?? "-"].join(" ");
};

describe("planStages", () => {
  it.each<[string, Partial<StageView>, string]>([
    [
      "no infrastructure",
      { infrastructureProvisioned: false },
      "WaitingForClusterInfrastructureReady WaitingForVMProvisioned WaitingForVMProvisioned WaitingForVMProvisioned -",
    ],
    [
      "no bootstrap data",
      { hasBootstrapData: false },
      "WaitingForBootstrapData WaitingForVMProvisioned WaitingForVMProvisioned WaitingForVMProvisioned -",
    ],
    [
      "worker before the control plane",
      { controlPlane: false, hasBootstrapData: false, controlPlaneInitialized: false },
      "WaitingForControlPlaneInitialized WaitingForVMProvisioned -",
    ],
    ["just switched on", {}, "WaitingForStartupTimeout WaitingForVMProvisioned WaitingForVMProvisioned WaitingForVMProvisioned 10000"],
    ["VM over", { createdMs: 0, nowMs: 10_000 }, "done WaitingForStartupTimeout WaitingForNodeProvisioned WaitingForNodeProvisioned 5000"],
    [
      "Node over: etcd and API server run side by side",
      { createdMs: 0, nowMs: 15_000, doneMs: { VMProvisioned: 10_000 } },
      "done done WaitingForStartupTimeout WaitingForStartupTimeout 4000",
    ],
    [
      "etcd over",
      { createdMs: 0, nowMs: 19_000, doneMs: { VMProvisioned: 10_000, NodeProvisioned: 15_000 } },
      "done done done WaitingForStartupTimeout 2000",
    ],
    [
      "data taken away later does not undo the machine",
      { createdMs: 0, nowMs: 99_000, hasBootstrapData: false, controlPlane: false, doneMs: { VMProvisioned: 1, NodeProvisioned: 2 } },
      "done done -",
    ],
    ["once bootstrapped nothing waits", { createdMs: 0, bootstrapped: true }, "done done done done -"],
  ])("%s", (_, change, wanted) => expect(show(view(change))).toBe(wanted));

  it("runs through without delays in one plan", () => {
    const none = { VMProvisioned: 0, NodeProvisioned: 0, EtcdProvisioned: 0, APIServerProvisioned: 0 } satisfies Record<StageName, number>;
    expect(planStages(view({ delayMs: none })).done).toEqual([
      "VMProvisioned",
      "NodeProvisioned",
      "EtcdProvisioned",
      "APIServerProvisioned",
    ]);
  });
});

describe("durations", () => {
  it.each([
    ["0s", 0],
    ["500ms", 500],
    ["1h30m5s", 5_405_000],
    ["1.5m", 90_000],
    ["10", undefined],
    ["5 s", undefined],
    ["", undefined],
  ])("%s", (text, ms) => expect(parseDurationMs(text)).toBe(ms));
  it("adds jitter as a share of the duration", () => {
    expect(startupDelayMs({ startupDuration: "10s", startupJitter: "0.2" }, 0.5)).toBe(11_000);
    expect(startupDelayMs({ startupDuration: "10s", startupJitter: "-1" }, 0.5)).toBe(10_000);
    expect(() => startupDelayMs({ startupDuration: "soon" }, 0)).toThrow("like 30s");
  });
});
