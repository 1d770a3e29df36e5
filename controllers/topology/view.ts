// What one reconcile of a topology knows: the Cluster, its class with templates, and what there is already. Here: types only.
// Not here: reading (load.ts), what shall be (desired.ts), versions (versions.ts). Source: spec/controllers/topology.md sections 5 and 6.
import type { Cluster } from "../../api/cluster.ts";
import type { ClusterTopology, MachineDeploymentTopology } from "../../api/cluster-topology.ts";
import type { ClusterClass, MachineDeploymentClass } from "../../api/clusterclass.ts";
import type { Machine } from "../../api/machine.ts";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import type { MachineHealthCheck } from "../../api/machinehealthcheck.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import type { ContractRef, ContractVersion, Unstructured } from "../contract/contract.ts";

/** A template of the class. */
export interface ClassTemplate {
  readonly ref: ContractRef;
  readonly apiVersion: string;
  /** Kind of the template itself, in the version that the class names. */
  readonly resource: Resource<Unstructured>;
  readonly object: Unstructured;
}

/** The template of an infrastructure cluster or a control plane: its objects are of another kind. */
export interface ObjectTemplate extends ClassTemplate {
  readonly objects: Resource<Unstructured>;
  readonly contract: ContractVersion;
}

export interface WorkersBlueprint {
  readonly definition: MachineDeploymentClass;
  readonly bootstrap: ClassTemplate;
  readonly infrastructure: ClassTemplate;
}

export interface Blueprint {
  readonly clusterClass: ClusterClass;
  readonly infrastructure: ObjectTemplate;
  readonly controlPlane: ObjectTemplate;
  readonly controlPlaneMachines?: ClassTemplate;
  /** By name of the class. */
  readonly workers: ReadonlyMap<string, WorkersBlueprint>;
}

/** An object of this Cluster that is there. */
export interface Stored {
  readonly resource: Resource<Unstructured>;
  readonly object: Unstructured;
}

export interface CurrentWorkers {
  readonly object: MachineDeployment;
  /** Absent while it is deleting. */
  readonly bootstrap?: Stored;
  readonly infrastructure?: Stored;
  readonly healthCheck?: MachineHealthCheck;
  readonly machines: readonly Machine[];
}

export interface Current {
  readonly infrastructure?: Stored;
  readonly controlPlane?: Stored;
  readonly controlPlaneMachines?: Stored;
  readonly controlPlaneHealthCheck?: MachineHealthCheck;
  readonly controlPlaneNodes: readonly Machine[];
  /** By name in the topology. */
  readonly workers: ReadonlyMap<string, CurrentWorkers>;
}

export interface TopologyView {
  /** Newest version known; a write of ours replaces it. */
  cluster: Cluster;
  readonly topology: ClusterTopology;
  readonly blueprint: Blueprint;
  readonly current: Current;
}

/** Fills values of variables in from the class's defaults, then checks all. Without an old object: rules about transitions do not count.
 *  @returns the Cluster, the same object when nothing was missing; or what is wrong */
export type DefaultVariables = (
  cluster: Cluster,
  old: undefined,
  clusterClass: ClusterClass,
) => KubeObject | readonly { readonly field?: string; readonly message?: string }[];

export const deploymentsOf = (topology: ClusterTopology): readonly MachineDeploymentTopology[] =>
  topology.workers?.machineDeployments ?? [];

/** Something about the topology that a user or a provider has to change; the text goes into the condition as it is. */
export class TopologyFault extends Error {
  readonly code = "TopologyFault";
}
