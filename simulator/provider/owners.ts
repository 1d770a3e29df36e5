// What simulated infrastructure reads of its owners. Here: look-ups and the Paused finding. Not here: what follows from them.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { type Finding, isFalse, isTrue } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";

const ownerName = (object: KubeObject, kind: string): string | undefined =>
  object.metadata.ownerReferences?.find((o) => o.kind === kind && o.apiVersion.startsWith("cluster.x-k8s.io/"))?.name;

export function ownerCluster(object: KubeObject, { cache }: ReconcileContext): Cluster | undefined {
  const name = ownerName(object, "Cluster");
  return name === undefined ? undefined : cache.get(clusterResource, { namespace: keyOf(object).namespace, name });
}

export function ownerMachine(object: KubeObject, { cache }: ReconcileContext): Machine | undefined {
  const name = ownerName(object, "Machine");
  return name === undefined ? undefined : cache.get(machineResource, { namespace: keyOf(object).namespace, name });
}

export function clusterOf(object: KubeObject, { cache }: ReconcileContext): Cluster | undefined {
  const name = object.metadata.labels?.[CLUSTER_LABEL];
  return name === undefined ? undefined : cache.get(clusterResource, { namespace: keyOf(object).namespace, name });
}

export const isPaused = (object: KubeObject, cluster: Cluster | undefined): boolean =>
  cluster?.spec?.paused === true || object.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined;

export const pausedFinding = (paused: boolean): Finding => (paused ? isTrue("Paused") : isFalse("Paused", "NotPaused"));
