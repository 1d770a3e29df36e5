// MachineHealthChecks with everything around them: a lost Node is replaced, one that comes back is not, a limit holds, a grace spares updates.
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../../api/meta/object.ts";
import { inPlaceGraceAnnotation } from "../../controllers/machinehealthcheck/grace.ts";
import { startSimulation } from "../../simulator/real/start.ts";
import { CLUSTER, manifests, NAMESPACE, WORKERS } from "../../simulator/rollout/objects.ts";
import type { RolloutSettings } from "../../simulator/rollout/settings.ts";
import { runScenario } from "../../simulator/scenario/run.ts";
import type { ScenarioSpec } from "../../simulator/scenario/schema.ts";

const LIMIT_MS = 120_000;
const settings: RolloutSettings = { kind: "machinedeployment", mode: "in-place", replicas: 3, maxSurge: 0, maxUnavailable: 1, seed: 1 };
const before = manifests(settings, { replicas: 3, content: 1, variant: 1 });
const after = manifests(settings, { replicas: 3, content: 2, variant: 1 });

const check = (spec: object, annotations: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineHealthCheck",
    metadata: { name: "workers", namespace: NAMESPACE, annotations },
    spec: { clusterName: CLUSTER, selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": WORKERS } }, ...spec },
  }) as KubeObject;
const nodeReady = { checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 60 }] } };
const updating = { checks: { unhealthyMachineConditions: [{ type: "Updating", status: "True", timeoutSeconds: 30 }] } };

async function story(healthCheck: KubeObject, spec: Partial<ScenarioSpec>) {
  const objects = [...before, healthCheck] as unknown as NonNullable<ScenarioSpec["manifests"]>;
  const scenario = { apiVersion: "", kind: "", metadata: { name: "health" }, spec: { manifests: objects, ...spec } };
  const { report } = await runScenario(scenario, { seed: 3, start: startSimulation, readFile: () => [], replay: "", untilSeconds: 3_600 });
  return report;
}

const loseNode = (forSeconds?: number) => ({
  fault: { loseNode: { machine: WORKERS, ...(forSeconds === undefined ? {} : { forSeconds }) } },
});
const afterAMoment = { afterSeconds: 600 };
const condition = (type: string, status: "True" | "False") => ({
  kind: "MachineHealthCheck",
  name: "workers",
  namespace: NAMESPACE,
  type,
  status,
});

describe("a Machine whose Node is not Ready any more", () => {
  it(
    "is replaced by its MachineSet",
    async () => {
      const expectations = { conditions: [condition("RemediationAllowed", "True")] };
      const report = await story(check(nodeReady), { steps: [loseNode(), afterAMoment], expect: expectations });
      expect(report.failures).toEqual([]);
      expect(report.machines).toMatchObject({ created: 1, deleted: 1 });
    },
    LIMIT_MS,
  );

  it(
    "stays when the Node is back in time",
    async () => {
      const report = await story(check(nodeReady), { steps: [loseNode(45), afterAMoment] });
      expect(report.failures).toEqual([]);
      expect(report.machines).toMatchObject({ created: 0, deleted: 0 });
    },
    LIMIT_MS,
  );

  it(
    "stays when too many are unhealthy",
    async () => {
      const limited = { ...nodeReady, remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 0 } } };
      const report = await story(check(limited), {
        steps: [loseNode(), afterAMoment],
        expect: { converged: false, conditions: [condition("RemediationAllowed", "False")] },
      });
      expect(report.failures).toEqual([]);
      expect(report.machines).toMatchObject({ created: 0, deleted: 0 });
    },
    LIMIT_MS,
  );
});

describe("Machines in mid-update", () => {
  const change = { apply: after as unknown as NonNullable<ScenarioSpec["manifests"]> };
  const slow = { durationSeconds: 120 };

  it(
    "are remediated as any other",
    async () => {
      const report = await story(check(updating), { updater: slow, steps: [change] });
      expect(report.machines.deleted).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    "are spared with a grace",
    async () => {
      const report = await story(check(updating, { [inPlaceGraceAnnotation]: "10m" }), { updater: slow, steps: [change] });
      expect(report.failures).toEqual([]);
      expect(report.machines).toMatchObject({ created: 0, deleted: 0, updatedInPlace: 3 });
    },
    LIMIT_MS,
  );
});
