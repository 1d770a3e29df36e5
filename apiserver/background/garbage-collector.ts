// Garbage collection by owner references: background, foreground, orphan. Here: what happens to an object and to its owner.
// Not here: the index (owners.ts), the marks that a delete leaves (../requests/delete.ts).
// Source: Kubernetes documentation, "Garbage Collection" and "Owners and Dependents".
import type { OwnerReference } from "../../api/meta/object.ts";
import type { ServerContext } from "../context.ts";
import { type ApiObject, sameJson, withMetadata } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Change } from "../store/store.ts";
import type { Watcher } from "./follow.ts";
import {
  createOwnerIndex,
  type Dependent,
  FOREGROUND,
  hasFinalizer,
  isTerminating,
  ORPHAN,
  type OwnerIndex,
  ownerState,
  type Ref,
  refOf,
  waitsForDependents,
} from "./owners.ts";
import { createWork } from "./work.ts";

const MANAGER = "kube-controller-manager";

const needsOwnerWork = (object: ApiObject): boolean =>
  isTerminating(object) && (hasFinalizer(object, FOREGROUND) || hasFinalizer(object, ORPHAN));

const live = (server: ServerContext, ref: Ref): ApiObject | undefined => {
  const object = server.objects.get(ref.type, ref.namespace, ref.name);
  return object?.metadata.uid === ref.uid ? object : undefined;
};

/** Changes an object's owner references; nothing when it is gone or another one. */
async function changeOwners(
  server: ServerContext,
  ref: Ref,
  change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
): Promise<void> {
  const update = (old: ApiObject): ApiObject => {
    if (old.metadata.uid !== ref.uid) return old;
    const before = old.metadata.ownerReferences ?? [];
    const after = change(before);
    if (sameJson(before, after)) return old;
    return withMetadata(old, { ownerReferences: after.length === 0 ? undefined : after });
  };
  await server.objects.update(ref.type, ref.namespace, ref.name, update, { manager: MANAGER });
}

async function removeFinalizer(server: ServerContext, ref: Ref, finalizer: string): Promise<void> {
  const update = (old: ApiObject): ApiObject => {
    if (old.metadata.uid !== ref.uid || !hasFinalizer(old, finalizer)) return old;
    const rest = (old.metadata.finalizers ?? []).filter((f) => f !== finalizer);
    return withMetadata(old, { finalizers: rest.length === 0 ? undefined : rest });
  };
  await server.objects.update(ref.type, ref.namespace, ref.name, update, { manager: MANAGER });
}

const policyOf = (object: ApiObject): "Background" | "Foreground" | "Orphan" =>
  hasFinalizer(object, ORPHAN) ? "Orphan" : hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";

async function remove(server: ServerContext, ref: Ref, propagationPolicy: "Background" | "Foreground" | "Orphan"): Promise<void> {
  try {
    await server.objects.delete(ref.type, ref.namespace, ref.name, { uid: ref.uid, propagationPolicy });
  } catch (error) {
    // Another object has the name by now: not ours to delete.
    if ((error as { status?: { reason?: string } }).status?.reason !== "Conflict") throw error;
  }
}

/** An object whose owners went, or wait for it to go. */
async function lookAtDependent(server: ServerContext, index: OwnerIndex, ref: Dependent): Promise<void> {
  const object = live(server, ref);
  const owners = object?.metadata.ownerReferences ?? [];
  if (!object || owners.length === 0 || isTerminating(object)) return;
  const states = owners.map((owner) => ownerState(server, owner, ref.namespace));
  if (states.includes("unresolved")) return;
  if (states.includes("solid")) {
    const gone = new Set(owners.filter((_, i) => states[i] !== "solid").map((owner) => owner.uid));
    if (gone.size > 0) await changeOwners(server, ref, (all) => all.filter((owner) => !gone.has(owner.uid)));
    return;
  }
  const dependents = index.dependentsOf(ref.uid);
  if (states.includes("waiting") && dependents.length > 0) {
    // In a circle nobody may wait for an owner that waits itself.
    const circular = dependents.some((d) => {
      const one = live(server, d);
      return one !== undefined && waitsForDependents(one);
    });
    if (circular)
      await changeOwners(server, ref, (all) =>
        all.map((owner) => (owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner)),
      );
    await remove(server, ref, "Foreground");
    return;
  }
  await remove(server, ref, policyOf(object));
}

/** An object that is marked for deletion and has dependents to orphan or to wait for. @returns dependents to look at */
async function lookAtOwner(server: ServerContext, index: OwnerIndex, ref: Ref): Promise<readonly Dependent[]> {
  const object = live(server, ref);
  if (!object || !isTerminating(object)) return [];
  const dependents = index.dependentsOf(ref.uid);
  if (hasFinalizer(object, ORPHAN)) {
    for (const dependent of dependents) await changeOwners(server, dependent, (all) => all.filter((owner) => owner.uid !== ref.uid));
    await removeFinalizer(server, ref, ORPHAN);
    return [];
  }
  if (!hasFinalizer(object, FOREGROUND)) return [];
  const blocking = dependents.filter((d) => d.owners.some((owner) => owner.uid === ref.uid && owner.blockOwnerDeletion === true));
  if (blocking.length === 0) await removeFinalizer(server, ref, FOREGROUND);
  return dependents;
}

/** Deletes what nobody owns any more. */
export function garbageCollector(server: ServerContext): Watcher {
  const index = createOwnerIndex();
  const waitingOwners = new Map<string, Ref>();

  const dependents = createWork(server, "garbage collector", async (uid) => {
    const ref = index.get(uid);
    if (ref) await lookAtDependent(server, index, ref);
  });
  const owners = createWork(server, "garbage collector", async (uid) => {
    const ref = waitingOwners.get(uid);
    if (!ref) return;
    for (const dependent of await lookAtOwner(server, index, ref)) dependents.add(dependent.uid);
  });

  function note(type: ResourceType, object: ApiObject, previous: ApiObject | undefined): void {
    const uid = object.metadata.uid ?? "";
    const references = object.metadata.ownerReferences;
    if (!previous || !sameJson(references, previous.metadata.ownerReferences)) {
      const before = index.get(uid)?.owners ?? [];
      index.put(type, object);
      if (references && references.length > 0) dependents.add(uid);
      for (const owner of before) if (waitingOwners.has(owner.uid)) owners.add(owner.uid);
    }
    if (needsOwnerWork(object)) {
      waitingOwners.set(uid, refOf(type, object));
      owners.add(uid);
    }
  }

  function forget(object: ApiObject): void {
    const uid = object.metadata.uid ?? "";
    for (const owner of index.get(uid)?.owners ?? []) if (waitingOwners.has(owner.uid)) owners.add(owner.uid);
    index.drop(uid);
    waitingOwners.delete(uid);
    for (const dependent of index.dependentsOf(uid)) dependents.add(dependent.uid);
  }

  return {
    found: (type, object) => note(type, object, undefined),
    changed: (type, { type: what, object, previous }: Change) => (what === "DELETED" ? forget(object) : note(type, object, previous)),
    stop() {
      dependents.stop();
      owners.stop();
    },
  };
}
