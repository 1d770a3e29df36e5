// Status of a Cluster at the end of a run: counters, conditions, phase. Here: putting them together and writing.
// Source: spec/controllers/cluster.md sections 9 to 11.
import { type Cluster, type ClusterPhase, type ClusterStatus, clusterResource } from "../../api/cluster.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Finding, setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { throwFailures } from "../lifecycle/independent.ts";
import { writeStatus } from "../lifecycle/status.ts";
import * as conditions from "./conditions.ts";
import { controlPlaneCounters, workerCounters } from "./counters.ts";
import { type ClusterView, hasEndpoint, isDeleting } from "./view.ts";

/** The last rule that holds wins. */
export function phaseOf(cluster: Cluster): ClusterPhase {
  const rules: readonly (readonly [boolean, ClusterPhase])[] = [
    [!cluster.status?.phase, "Pending"],
    [cluster.spec.infrastructureRef !== undefined || cluster.spec.controlPlaneRef !== undefined, "Provisioning"],
    [cluster.status?.initialization?.infrastructureProvisioned === true && hasEndpoint(cluster), "Provisioned"],
    [isDeleting(cluster), "Deleting"],
  ];
  return rules.reduce((phase, [holds, next]) => (holds ? next : phase), cluster.status?.phase ?? "Pending");
}

function clusterFindings(view: ClusterView, graceMs: number): readonly Finding[] {
  const { controlPlaneMachines, workerMachines } = view.descendants;
  const findings = [
    conditions.remoteConnectionProbe(view, graceMs),
    conditions.infrastructureReady(view),
    conditions.controlPlaneAvailable(view),
    conditions.controlPlaneInitialized(view),
    conditions.workersAvailable(view),
    conditions.machinesReady("ControlPlaneMachinesReady", controlPlaneMachines),
    conditions.machinesReady("WorkerMachinesReady", workerMachines),
    conditions.machinesUpToDate("ControlPlaneMachinesUpToDate", controlPlaneMachines, view.nowMs),
    conditions.machinesUpToDate("WorkerMachinesUpToDate", workerMachines, view.nowMs),
    conditions.rollingOut(view),
    conditions.scalingUp(view),
    conditions.scalingDown(view),
    conditions.remediating(view),
    conditions.deleting(view),
  ];
  return findings.filter((f) => f !== undefined);
}

/** The whole status. @param newest carries what others wrote, such as TopologyReconciled; it stays */
export function clusterStatus(view: ClusterView, newest: Cluster, graceMs: number): ClusterStatus {
  const now = timestamp(view.nowMs);
  const { generation } = view.cluster.metadata;
  const others = setConditions(newest.status?.conditions, clusterFindings(view, graceMs), now, generation);
  const status: ClusterStatus = {
    ...newest.status,
    ...view.status,
    controlPlane: controlPlaneCounters({ ...view, cluster: newest }),
    workers: workerCounters({ ...view, cluster: newest }),
  };
  return {
    ...status,
    conditions: setConditions(others, [conditions.available(newest, others)], now, generation),
    phase: phaseOf({ ...newest, status }),
    ...(view.failures.length === 0 && generation !== undefined ? { observedGeneration: generation } : {}),
  };
}

/** Last step, also after failures. @throws all failures of the run */
export async function writeClusterStatus(view: ClusterView, context: ReconcileContext, graceMs: number): Promise<StepOutcome> {
  const before = view.cluster.status?.phase;
  const stored = await writeStatus(context.client, clusterResource, view.cluster, (newest) => clusterStatus(view, newest, graceMs));
  const phase = stored.status?.phase;
  if (phase && phase !== before) context.record(stored, "Normal", phase, `Cluster ${stored.metadata.name} is ${phase}`);
  throwFailures(view);
  return undefined;
}
