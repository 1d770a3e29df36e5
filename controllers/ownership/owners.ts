// Who owns whom. Here: reading owner references, adding the Cluster, taking ownerless objects. Source: spec/controllers/machinedeployment.md section 2.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import type { KubeObject, OwnerReference } from "../../api/meta/object.ts";
import { apiVersionOf, keyOf, type Resource } from "../../api/meta/resource.ts";
import type { Client } from "../../runtime/client.ts";

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((o) => o.controller === true);

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean => controllerOf(object)?.uid === owner.metadata.uid;

export const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");

export const referenceTo = (resource: Resource, owner: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  name: owner.metadata.name ?? "",
  uid: owner.metadata.uid ?? "",
});

export const controllerReferenceTo = (resource: Resource, owner: KubeObject): OwnerReference => ({
  ...referenceTo(resource, owner),
  controller: true,
  blockOwnerDeletion: true,
});

/** The list with `reference` in it: one of the same kind and name is replaced, whatever its uid. Unchanged lists are returned as they were. */
export function withOwner(owners: readonly OwnerReference[] | undefined, reference: OwnerReference): readonly OwnerReference[] {
  const list = owners ?? [];
  const at = list.findIndex(
    (o) => o.kind === reference.kind && o.name === reference.name && groupOf(o.apiVersion) === groupOf(reference.apiVersion),
  );
  const old = list[at];
  if (!old) return [...list, reference];
  const same =
    old.uid === reference.uid &&
    old.apiVersion === reference.apiVersion &&
    (old.controller ?? false) === (reference.controller ?? false) &&
    (old.blockOwnerDeletion ?? false) === (reference.blockOwnerDeletion ?? false);
  return same ? list : list.map((o, i) => (i === at ? reference : o));
}

/** Makes the Cluster an owner of `object` (not its controller), so that it goes when the Cluster goes. @returns the newest version */
export async function ensureClusterOwner<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  cluster: Cluster,
): Promise<K> {
  const owners = withOwner(object.metadata.ownerReferences, referenceTo(clusterResource, cluster));
  if (owners === object.metadata.ownerReferences) return object;
  return writeOwners(client, resource, object, owners);
}

/** Makes `owner` the controller of an object that has none. */
export const adopt = <K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  ownerResource: Resource,
  owner: KubeObject,
): Promise<K> =>
  writeOwners(client, resource, object, withOwner(object.metadata.ownerReferences, controllerReferenceTo(ownerResource, owner)));

function writeOwners<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  ownerReferences: readonly OwnerReference[],
): Promise<K> {
  const { resourceVersion } = object.metadata;
  return client.patch(resource, keyOf(object), { type: "merge", body: { metadata: { resourceVersion, ownerReferences } } });
}
