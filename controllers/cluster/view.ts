// What one reconcile of a Cluster knows: read once, completed by its steps. Here: the type, reading it.
// Not here: decisions (provision.ts, deletion.ts, conditions.ts, counters.ts). Source: spec/controllers/cluster.md sections 2 and 6.
import type { Cluster, ClusterStatus } from "../../api/cluster.ts";
import type { Machine } from "../../api/machine.ts";
import { machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { machineControlPlaneLabel, machinePoolNameLabel } from "../../api/names.ts";
import { ownedLoosely, type ReconcileContext } from "../../runtime/controller.ts";
import { type Referenced, readReferenced } from "../contract/read.ts";
import { controllerOf } from "../ownership/owners.ts";
import type { ConnectionState, WorkloadClusters } from "../workload/seam.ts";

/** Everything with the Cluster's label, each list sorted by name. */
export interface Descendants {
  readonly deployments: readonly MachineDeployment[];
  /** Without those of a MachineDeployment. */
  readonly standAloneSets: readonly MachineSet[];
  readonly sets: readonly MachineSet[];
  readonly controlPlaneMachines: readonly Machine[];
  /** Without those of a MachinePool. */
  readonly workerMachines: readonly Machine[];
}

export interface DeletionProgress {
  readonly reason: string;
  readonly message: string;
}

export interface ClusterView {
  /** Newest version known; a write of ours replaces it. */
  cluster: Cluster;
  readonly infrastructure?: Referenced;
  readonly controlPlane?: Referenced;
  readonly descendants: Descendants;
  readonly connection: ConnectionState;
  readonly nowMs: number;
  /** Status fields that this run sets; conditions and phase come last. */
  status: Partial<ClusterStatus>;
  deletion?: DeletionProgress;
  readonly failures: unknown[];
}

export const isDeleting = (cluster: Cluster): boolean => cluster.metadata.deletionTimestamp !== undefined;
export const hasEndpoint = (cluster: Cluster): boolean =>
  (cluster.spec.controlPlaneEndpoint?.host ?? "") !== "" && (cluster.spec.controlPlaneEndpoint?.port ?? 0) > 0;

/** @returns nothing while the first list of a referenced kind is under way; the key runs again by itself */
export async function loadCluster(
  cluster: Cluster,
  context: ReconcileContext,
  workloadClusters: WorkloadClusters,
): Promise<ClusterView | undefined> {
  const namespace = cluster.metadata.namespace ?? "";
  const infrastructure = await readReferenced(context, namespace, cluster.spec.infrastructureRef, ownedLoosely);
  const controlPlane = await readReferenced(context, namespace, cluster.spec.controlPlaneRef, ownedLoosely);
  if (infrastructure === "later" || controlPlane === "later") return undefined;
  return {
    cluster,
    infrastructure,
    controlPlane,
    descendants: descendantsOf(cluster, context),
    connection: workloadClusters.state(keyOf(cluster)),
    nowMs: context.clock.nowMs(),
    status: {},
    failures: [],
  };
}

function descendantsOf(cluster: Cluster, { cache }: ReconcileContext): Descendants {
  const key = keyOf(cluster);
  const sets = cache.ofCluster(machineSetResource, key);
  const machines = cache.ofCluster(machineResource, key);
  const isControlPlane = (m: Machine): boolean => m.metadata.labels?.[machineControlPlaneLabel] !== undefined;
  return {
    deployments: cache.ofCluster(machineDeploymentResource, key),
    sets,
    standAloneSets: sets.filter((set) => controllerOf(set)?.kind !== "MachineDeployment"),
    controlPlaneMachines: machines.filter(isControlPlane),
    workerMachines: machines.filter((m) => !isControlPlane(m) && m.metadata.labels?.[machinePoolNameLabel] === undefined),
  };
}
