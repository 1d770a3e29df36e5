// What one reconcile of a MachineHealthCheck knows: its Machines with their Nodes, and what each comes to.
// Not here: verdicts (health.ts), writes (steps.ts). Source: spec/controllers/machinehealthcheck.md section 2.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { MachineHealthCheck } from "../../api/machinehealthcheck.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { machineSkipRemediationAnnotation, pausedAnnotation } from "../../api/names.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { selects } from "../ownership/selector.ts";
import type { WorkloadCluster, WorkloadClusters } from "../workload/seam.ts";
import { inPlaceGraceMs } from "./grace.ts";
import { type Health, judge, type NodeState } from "./health.ts";
import { type Limit, limitOf } from "./limits.ts";

export interface Target {
  readonly machine: Machine;
  readonly health: Health;
}

export interface HealthCheckView {
  /** Newest version known; a write of ours replaces it. */
  check: MachineHealthCheck;
  readonly cluster: Cluster;
  readonly nowMs: number;
  /** By name. */
  readonly targets: readonly Target[];
  readonly limit: Limit;
}

/** @throws Error when the Cluster does not exist */
export function clusterOf(check: MachineHealthCheck, { cache }: Pick<ReconcileContext, "cache">): Cluster {
  const key = { namespace: check.metadata.namespace ?? "", name: check.spec.clusterName };
  const cluster = cache.get(clusterResource, key);
  if (!cluster) throw new Error(`Cluster ${key.namespace}/${key.name} does not exist: create it, or delete this MachineHealthCheck`);
  return cluster;
}

/** @throws NotConnected; RangeInvalid; InPlaceGraceInvalid */
export function loadCheck(
  check: MachineHealthCheck,
  cluster: Cluster,
  { cache, clock }: Pick<ReconcileContext, "cache" | "clock">,
  workloadClusters: WorkloadClusters,
): HealthCheckView {
  const nowMs = clock.nowMs();
  const initialized = hasStatus(cluster.status?.conditions, "ControlPlaneInitialized", "True");
  const workload = initialized ? workloadClusters.get(keyOf(cluster)) : undefined;
  const graceMs = inPlaceGraceMs(check);
  const targets = cache
    .ofCluster(machineResource, keyOf(cluster))
    .filter((m) => selects(check.spec.selector, m.metadata.labels) && !isSkipped(m))
    .map((machine) => {
      const checks = check.spec.checks ?? {};
      return { machine, health: judge({ nowMs, machine, cluster, node: nodeOf(machine, workload), checks, inPlaceGraceMs: graceMs }) };
    });
  const healthy = targets.filter(({ health }) => health.verdict === "healthy").length;
  return { check, cluster, nowMs, targets, limit: limitOf(check, targets.length, healthy) };
}

const isSkipped = ({ metadata: { annotations } }: Machine): boolean =>
  annotations?.[pausedAnnotation] !== undefined || annotations?.[machineSkipRemediationAnnotation] !== undefined;

function nodeOf(machine: Machine, workload: WorkloadCluster | undefined): NodeState {
  const name = machine.status?.nodeRef?.name;
  if (!name || !workload) return { state: "none" };
  const node = workload.nodes.byName(name);
  return node ? { state: "found", node } : { state: "lost" };
}
