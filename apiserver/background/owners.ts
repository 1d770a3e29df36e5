// Who depends on whom: the owner references of all objects, by the owner's uid. Here: the index, and what became of an owner.
// Not here: acting on it (garbage-collector.ts).
import type { OwnerReference } from "../../api/meta/object.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";

export interface Ref {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Dependent extends Ref {
  readonly owners: readonly OwnerReference[];
}

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

export const hasFinalizer = (object: ApiObject, finalizer: string): boolean => object.metadata.finalizers?.includes(finalizer) ?? false;
export const isTerminating = (object: ApiObject): boolean => object.metadata.deletionTimestamp !== undefined;
/** Waits until what it owns is gone. */
export const waitsForDependents = (object: ApiObject): boolean => isTerminating(object) && hasFinalizer(object, FOREGROUND);

export const refOf = (type: ResourceType, { metadata }: ApiObject): Ref => ({
  type,
  namespace: metadata.namespace ?? "",
  name: metadata.name ?? "",
  uid: metadata.uid ?? "",
});

export interface OwnerIndex {
  put(type: ResourceType, object: ApiObject): void;
  drop(uid: string): void;
  /** Objects that name this owner, by the order they came. */
  dependentsOf(ownerUid: string): readonly Dependent[];
  get(uid: string): Dependent | undefined;
}

export function createOwnerIndex(): OwnerIndex {
  const dependents = new Map<string, Dependent>();
  const byOwner = new Map<string, Set<string>>();
  const unlink = (uid: string): void => {
    for (const owner of dependents.get(uid)?.owners ?? []) {
      const set = byOwner.get(owner.uid);
      set?.delete(uid);
      if (set?.size === 0) byOwner.delete(owner.uid);
    }
    dependents.delete(uid);
  };
  return {
    put(type, object) {
      const ref = refOf(type, object);
      unlink(ref.uid);
      const owners = object.metadata.ownerReferences ?? [];
      if (owners.length === 0) return;
      dependents.set(ref.uid, { ...ref, owners });
      for (const owner of owners) {
        const set = byOwner.get(owner.uid) ?? new Set<string>();
        set.add(ref.uid);
        byOwner.set(owner.uid, set);
      }
    },
    drop: unlink,
    dependentsOf: (ownerUid) => [...(byOwner.get(ownerUid) ?? [])].flatMap((uid) => dependents.get(uid) ?? []),
    get: (uid) => dependents.get(uid),
  };
}

/** unresolved: its kind is not served, or a cluster-scoped object names a namespaced owner; such references decide nothing. */
export type OwnerState = "solid" | "absent" | "waiting" | "unresolved";

export function ownerState(server: ServerContext, owner: OwnerReference, dependentNamespace: string): OwnerState {
  const slash = owner.apiVersion.indexOf("/");
  const [group, version] = slash < 0 ? ["", owner.apiVersion] : [owner.apiVersion.slice(0, slash), owner.apiVersion.slice(slash + 1)];
  const type = server.registry.byKind(group, version, owner.kind);
  if (!type || (type.namespaced && dependentNamespace === "")) return "unresolved";
  const found = server.objects.get(type, type.namespaced ? dependentNamespace : "", owner.name);
  if (!found || found.metadata.uid !== owner.uid) return "absent";
  return waitsForDependents(found) ? "waiting" : "solid";
}
