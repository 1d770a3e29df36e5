// The Cluster that an object belongs to by its clusterName. Here: reading it, and saying where it is missed. Not here: what waits for it.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyText } from "../../api/meta/resource.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

interface OfCluster extends KubeObject {
  readonly spec: { readonly clusterName: string };
}

/** @throws Error when the Cluster does not exist; an Event says so too, because without it the object gets no status */
export function clusterOf(object: OfCluster, { cache, record }: Pick<ReconcileContext, "cache" | "record">): Cluster {
  const key = { namespace: object.metadata.namespace ?? "", name: object.spec.clusterName };
  const cluster = cache.get(clusterResource, key);
  if (cluster) return cluster;
  const text = `Cluster ${keyText(key)} does not exist: create it, or delete this ${object.kind}`;
  record(object, "Warning", "ClusterNotFound", text);
  throw new Error(text);
}
