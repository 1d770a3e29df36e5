// What one reconcile of a Machine knows: read once, and completed by its steps. Here: the type, reading it.
// Not here: decisions (provision.ts, node-metadata.ts, inplace.ts, deletion-plan.ts, conditions.ts). Source: spec/controllers/machine.md section 2.
import type { Cluster } from "../../api/cluster.ts";
import type { Node } from "../../api/core/index.ts";
import { clusterGroup } from "../../api/groups.ts";
import type { Machine, MachineStatus } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { type ObjectKey, keyText } from "../../api/meta/resource.ts";
import { machineControlPlaneLabel, machineDeploymentNameLabel } from "../../api/names.ts";
import { owned, type ReconcileContext } from "../../runtime/controller.ts";
import { type Referenced, readReferenced } from "../contract/read.ts";
import { type ConnectionState, isNotConnected, type WorkloadCluster, type WorkloadClusters } from "../workload/seam.ts";

export type NodeFinding =
  | { readonly state: "noProviderID" | "notFound" }
  | { readonly state: "found"; readonly node: Node }
  /** Not connected to the workload cluster. */
  | { readonly state: "notConnected"; readonly error: Error }
  | { readonly state: "error"; readonly error: Error };

/** Progress of the deletion, for the Deleting condition. */
export interface DeletionProgress {
  readonly reason: string;
  readonly message: string;
}

/** State of an in-place update as this run saw it; nothing = no call was due. */
export type UpdateOutcome =
  | { readonly state: "running"; readonly message: string }
  | { readonly state: "failed"; readonly message: string };

export interface MachineView {
  /** Newest version known; a write of ours replaces it. */
  machine: Machine;
  readonly cluster: Cluster;
  readonly set?: MachineSet;
  readonly deployment?: MachineDeployment;
  readonly bootstrap?: Referenced;
  readonly infrastructure?: Referenced;
  readonly workload?: WorkloadCluster;
  readonly connection: ConnectionState;
  readonly node: NodeFinding;
  readonly nowMs: number;
  /** Status fields that this run sets; conditions and phase come last. */
  status: Partial<MachineStatus>;
  deletion?: DeletionProgress;
  update?: UpdateOutcome;
  /** Failures of steps; later steps ran nevertheless. */
  readonly failures: unknown[];
}

export const clusterKeyOf = (machine: Machine): ObjectKey => ({
  namespace: machine.metadata.namespace ?? "",
  name: machine.spec.clusterName,
});

export const isDeleting = (machine: Machine): boolean => machine.metadata.deletionTimestamp !== undefined;
export const isControlPlane = (machine: Machine): boolean => machine.metadata.labels?.[machineControlPlaneLabel] !== undefined;

/** Reads everything but the Cluster. @returns nothing while the first list of a referenced kind is under way; the key runs again by itself */
export async function loadMachine(
  machine: Machine,
  cluster: Cluster,
  context: ReconcileContext,
  workloadClusters: WorkloadClusters,
): Promise<MachineView | undefined> {
  const set = ownerSet(machine, context);
  const deployment = set && ownerDeployment(set, context);
  const namespace = machine.metadata.namespace ?? "";
  const bootstrap = await readReferenced(context, namespace, machine.spec.bootstrap.configRef, owned);
  const infrastructure = await readReferenced(context, namespace, machine.spec.infrastructureRef, owned);
  if (bootstrap === "later" || infrastructure === "later") return undefined;
  const { workload, node } = readNode(machine, cluster, workloadClusters);
  return {
    machine,
    cluster,
    set,
    deployment,
    bootstrap,
    infrastructure,
    workload,
    connection: workloadClusters.state(clusterKeyOf(machine)),
    node,
    nowMs: context.clock.nowMs(),
    status: {},
    failures: [],
  };
}

function ownerSet(machine: Machine, { cache }: ReconcileContext): MachineSet | undefined {
  const owner = (machine.metadata.ownerReferences ?? []).find(
    (o) => o.kind === "MachineSet" && o.apiVersion.startsWith(`${clusterGroup}/`),
  );
  if (!owner) return undefined;
  const key = { namespace: machine.metadata.namespace ?? "", name: owner.name };
  const set = cache.get(machineSetResource, key);
  if (!set) throw new Error(`MachineSet ${keyText(key)}, which owns this Machine, does not exist`);
  return set;
}

function ownerDeployment(set: MachineSet, { cache }: ReconcileContext): MachineDeployment | undefined {
  const name = set.metadata.labels?.[machineDeploymentNameLabel];
  if (!name) return undefined;
  const key = { namespace: set.metadata.namespace ?? "", name };
  const deployment = cache.get(machineDeploymentResource, key);
  if (!deployment) throw new Error(`MachineDeployment ${keyText(key)}, which owns MachineSet ${set.metadata.name}, does not exist`);
  return deployment;
}

function readNode(
  machine: Machine,
  cluster: Cluster,
  workloadClusters: WorkloadClusters,
): { readonly workload?: WorkloadCluster; readonly node: NodeFinding } {
  const providerId = machine.spec.providerID;
  if (!providerId || cluster.status?.initialization?.infrastructureProvisioned !== true) return { node: { state: "noProviderID" } };
  try {
    const workload = workloadClusters.get(clusterKeyOf(machine));
    return { workload, node: findNode(workload, providerId) };
  } catch (e) {
    const error = e instanceof Error ? e : new Error(String(e));
    // Something about a control plane Machine has changed, or it would not run: its API server may answer by now.
    if (isNotConnected(e) && isControlPlane(machine)) workloadClusters.hint(clusterKeyOf(machine));
    return { node: { state: isNotConnected(e) ? "notConnected" : "error", error } };
  }
}

export function findNode(workload: WorkloadCluster, providerId: string): NodeFinding {
  const nodes = workload.nodes.byProviderId(providerId);
  const [node] = nodes;
  if (!node) return { state: "notFound" };
  if (nodes.length > 1) {
    const names = nodes.map((n) => n.metadata.name).join(", ");
    return { state: "error", error: new Error(`Nodes ${names} have the same providerID ${providerId}: only one may`) };
  }
  return { state: "found", node };
}
