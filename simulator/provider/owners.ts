// What simulated infrastructure reads of its owners. Here: look-ups. Not here: what follows from them.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { clusterNameLabel } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

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
  const name = object.metadata.labels?.[clusterNameLabel];
  return name === undefined ? undefined : cache.get(clusterResource, { namespace: keyOf(object).namespace, name });
}
