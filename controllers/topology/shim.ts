// The shim: a Secret that owns infrastructure cluster and control plane until the Cluster does, so that nothing is left behind when the
// process ends between their creation and the reference in the Cluster. Source: spec/controllers/topology.md section 9.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type Secret, secretResource } from "../../api/core/index.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { KubeObject, OwnerReference } from "../../api/meta/object.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel, clusterSecretType } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { referenceTo } from "../ownership/owners.ts";
import type { TopologyView } from "./view.ts";

const keyOfShim = (cluster: Cluster): ObjectKey => ({ namespace: cluster.metadata.namespace ?? "", name: `${cluster.metadata.name}-shim` });
const shimReference = (object: KubeObject | undefined, cluster: Cluster): OwnerReference | undefined =>
  object?.metadata.ownerReferences?.find((o) => o.kind === secretResource.kind && o.name === keyOfShim(cluster).name);
const isOwnedByCluster = (object: KubeObject | undefined, cluster: Cluster): boolean =>
  object?.metadata.ownerReferences?.some((o) => o.kind === clusterResource.kind && o.uid === cluster.metadata.uid) === true;

/** The owner that the two objects carry for now; nothing once the Cluster owns both. Makes the Secret while one of them has to be made. */
export async function ensureShim({ cluster, current }: TopologyView, context: ReconcileContext): Promise<OwnerReference | undefined> {
  const objects = [current.infrastructure?.object, current.controlPlane?.object];
  if (objects.every((o) => isOwnedByCluster(o, cluster))) return undefined;
  const known = objects.map((o) => shimReference(o, cluster)).find((r) => r !== undefined);
  if (known && objects.every((o) => o !== undefined)) return known;
  if (objects.every((o) => o !== undefined)) return undefined;
  const shim = await createShim(cluster, context);
  return { apiVersion: "v1", kind: secretResource.kind, name: shim.metadata.name ?? "", uid: shim.metadata.uid ?? "" };
}

async function createShim(cluster: Cluster, { client }: ReconcileContext): Promise<Secret> {
  const key = keyOfShim(cluster);
  const shim = {
    apiVersion: "v1",
    kind: secretResource.kind,
    metadata: {
      ...key,
      labels: { [clusterNameLabel]: cluster.metadata.name ?? "" },
      ownerReferences: [referenceTo(clusterResource, cluster)],
    },
    type: clusterSecretType,
  } as Secret;
  try {
    return await client.create(secretResource, shim);
  } catch (e) {
    if (!isAlreadyExists(e)) throw e;
    return client.get(secretResource, key);
  }
}

/** The Cluster owns both: the Secret has done its work. */
export async function dropShim({ cluster, current }: TopologyView, { client }: ReconcileContext): Promise<void> {
  const objects = [current.infrastructure?.object, current.controlPlane?.object];
  if (!objects.every((o) => isOwnedByCluster(o, cluster)) || !objects.some((o) => shimReference(o, cluster))) return;
  try {
    await client.delete(secretResource, keyOfShim(cluster));
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
