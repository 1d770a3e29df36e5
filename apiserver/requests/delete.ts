// Delete of one object and of a collection. Here: preconditions, finalizers, grace, what is answered.
// Not here: collecting dependents (background/).
import type { ApiResponse } from "../../api/meta/transport.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { conflict, notFound, preconditionFailed } from "../errors.ts";
import { type ApiObject, deepFreeze, withMetadata } from "../object.ts";
import { admitDelete } from "./admit.ts";
import { type Call, namespaceOf, strategyContext } from "./call.ts";
import { type DeleteOptions, deleteOptions } from "./options.ts";
import { matching } from "./read.ts";
import { answerList, answerObject } from "./respond.ts";
import { type Found, find, remove, save } from "./storage.ts";

const TRIES_MAX = 20;
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

export interface Deletion {
  /** The object as it was when it went, or as it lives on. */
  readonly object: ApiObject;
  readonly gone: boolean;
}

function checkPreconditions(call: Call, options: DeleteOptions, object: ApiObject): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  if (uid !== undefined && uid !== metadata.uid) {
    throw preconditionFailed(
      call.type,
      metadata.name ?? "",
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw preconditionFailed(
      call.type,
      metadata.name ?? "",
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** The client's policy decides which of the two garbage collection finalizers the object has; without one they stay. */
function finalizersFor(call: Call, options: DeleteOptions, object: ApiObject): readonly string[] {
  const own = call.type.strategy.finalizersOnDelete?.(object) ?? [];
  const before = object.metadata.finalizers ?? [];
  const all = [...before, ...own.filter((finalizer) => !before.includes(finalizer))];
  if (options.propagationPolicy === undefined) return all;
  const others = all.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (options.propagationPolicy === "Orphan") return [...others, ORPHAN];
  return options.propagationPolicy === "Foreground" ? [...others, FOREGROUND] : others;
}

/** Seconds the object lives on; 0 = none. */
function graceOf(call: Call, options: DeleteOptions, object: ApiObject): number {
  const own = call.type.strategy.graceSeconds?.(object) ?? 0;
  if (own === 0) return 0;
  const asked = options.gracePeriodSeconds;
  return asked === undefined ? own : asked < 0 ? 1 : asked;
}

function marked(call: Call, object: ApiObject, graceSeconds: number, finalizers: readonly string[]): ApiObject {
  const { metadata } = object;
  const first = metadata.deletionTimestamp === undefined;
  const shorter = !first && graceSeconds < (metadata.deletionGracePeriodSeconds ?? 0);
  const sameFinalizers =
    finalizers.length === (metadata.finalizers ?? []).length && finalizers.every((f, i) => f === metadata.finalizers?.[i]);
  if (!first && !shorter && sameFinalizers) return object;
  const generation = first && metadata.generation !== undefined ? metadata.generation + 1 : metadata.generation;
  return withMetadata(object, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    generation,
    ...(first || shorter
      ? { deletionTimestamp: timestamp(call.core.clock.nowMs() + graceSeconds * 1_000), deletionGracePeriodSeconds: graceSeconds }
      : {}),
  });
}

function attempt(call: Call, options: DeleteOptions, found: Found): Deletion {
  const { core, type } = call;
  const live = found.object;
  const finalizers = finalizersFor(call, options, live);
  const grace = graceOf(call, options, live);
  const after = marked(call, live, grace, finalizers);
  const kept = type.strategy.keepOnDelete?.(after, strategyContext(call, "delete"));
  const staysForGrace = grace > 0 && !(live.metadata.deletionTimestamp !== undefined && live.metadata.deletionGracePeriodSeconds === 0);
  if (kept === undefined && finalizers.length === 0 && !staysForGrace) {
    if (!options.dryRun) remove(core, type, found);
    return { object: live, gone: true };
  }
  const object = deepFreeze(kept ?? after);
  if (object === live) return { object: live, gone: false };
  return { object: options.dryRun ? object : save(core, type, object, found.revision), gone: false };
}

/** Throws NotFound, Conflict and what admission says. */
export async function deleteObject(call: Call, name: string, options: DeleteOptions): Promise<Deletion> {
  const { core, type } = call;
  for (let tries = 1; ; tries++) {
    const found = find(core, type, namespaceOf(call), name);
    if (!found) throw notFound(type, name);
    checkPreconditions(call, options, found.object);
    await admitDelete(call, { operation: "DELETE", name, dryRun: options.dryRun, options: options.review }, found.object);
    try {
      return attempt(call, options, found);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "StoreConflict") throw error;
      if (tries >= TRIES_MAX) throw conflict(type, name);
    }
  }
}

function successStatus(call: Call, object: ApiObject): ApiObject {
  const { type } = call;
  const details = {
    name: object.metadata.name,
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.plural,
    uid: object.metadata.uid,
  };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

export async function handleDelete(call: Call): Promise<ApiResponse> {
  const options = deleteOptions(call.request, call.query);
  const { object, gone } = await deleteObject(call, call.route.name, options);
  const whole = !gone || call.type.strategy.returnDeletedObject === true;
  return answerObject(call, 200, whole ? object : successStatus(call, object));
}

export async function handleDeleteCollection(call: Call): Promise<ApiResponse> {
  const options = deleteOptions(call.request, call.query);
  const deleted: ApiObject[] = [];
  for (const object of matching(call)) {
    const one = { ...call, route: { ...call.route, namespace: object.metadata.namespace ?? "" } };
    try {
      deleted.push((await deleteObject(one, object.metadata.name ?? "", options)).object);
    } catch (error) {
      // Gone by another hand meanwhile: as asked.
      if ((error as { status?: { code?: number } }).status?.code !== 404) throw error;
    }
  }
  return answerList(call, deleted, { resourceVersion: String(call.core.store.revision()) });
}
