// Update of an existing object: what PUT, all patches, apply and status writes share after they know the new object.
// Here: admission, server-owned metadata, validation, commit, finalizers. Not here: how the new object came to be.
import type { ManagedFieldsEntry } from "../../api/meta/object.ts";
import type { StatusCause } from "../../api/meta/status.ts";
import { conflict, invalid, notFound, plainError } from "../errors.ts";
import { type ApiObject, deepFreeze, sameJson, withMetadata } from "../object.ts";
import type { ResourceType, StrategyContext } from "../registry.ts";
import { mutate, validate } from "./admit.ts";
import { type Call, namespaceOf, strategyContext, warn } from "./call.ts";
import { finalizerWarnings, metadataCauses, metadataUpdateCauses, sameCheckedMetadata } from "./metadata.ts";
import { dedupOwners } from "./owners.ts";
import { type Found, find, remove, save } from "./storage.ts";

/** Another writer may come in between while a webhook answers; after so many times the client hears of it. */
const TRIES_MAX = 20;

export interface Update {
  readonly name: string;
  readonly verb: "update" | "patch" | "apply";
  readonly dryRun: boolean;
  /** Options as admission reviews show them. */
  readonly review: object;
  /** PUT states what it expects; patches only when their body says so. */
  readonly unconditional: boolean;
  /** The new object with its managed fields, from the live one; runs again after a conflict. Throws ApiError. */
  readonly change: (live: ApiObject) => ApiObject | Promise<ApiObject>;
}

const RESOURCE_VERSION = /^\d+$/;

/** Throws what upstream throws for a text that is no resourceVersion: 500 without reason. */
export function checkResourceVersion(version: string | undefined): void {
  if (version !== undefined && version !== "" && version !== "0" && !RESOURCE_VERSION.test(version)) {
    throw plainError(`Invalid value: ${JSON.stringify(version)}: a resourceVersion is a whole number`);
  }
}

/** The write names the version it was made from, or (where the kind allows) none. */
function checkPrecondition(call: Call, update: Update, object: ApiObject, live: ApiObject): void {
  const { type } = call;
  const version = object.metadata.resourceVersion ?? "";
  checkResourceVersion(version);
  if (version === "" || version === "0") {
    if (type.strategy.allowUnconditionalUpdate ?? !type.custom) return;
    if (update.unconditional) return;
    throw invalid({ group: type.group, kind: type.plural }, update.name, [
      { reason: "FieldValueInvalid", message: "Invalid value: 0: must be specified for an update", field: "metadata.resourceVersion" },
    ]);
  }
  if (version !== live.metadata.resourceVersion) throw conflict(type, update.name);
}

/** Every top-level field but the named ones is equal; nothing is copied, most differences are found at once. */
function sameFieldsBut(ignored: readonly string[], a: ApiObject, b: ApiObject): boolean {
  for (const field in a) if (a[field] !== b[field] && !ignored.includes(field) && !sameJson(a[field], b[field])) return false;
  for (const field in b) if (!(field in a) && !ignored.includes(field) && b[field] !== undefined) return false;
  return true;
}

const METADATA = ["metadata"];
const METADATA_AND_STATUS = ["metadata", "status"];

/** Everything but metadata, and but status when it has its own path. */
const sameOutsideMetadata = (type: ResourceType, a: ApiObject, b: ApiObject): boolean =>
  sameFieldsBut(type.subresources.status ? METADATA_AND_STATUS : METADATA, a, b);

function nextGeneration(type: ResourceType, object: ApiObject, live: ApiObject): number | undefined {
  const before = live.metadata.generation;
  const rule = type.strategy.generation ?? "none";
  const same = rule === "none" || (rule === "spec" ? sameJson(object.spec, live.spec) : sameOutsideMetadata(type, object, live));
  return same ? before : (before ?? 0) + 1;
}

/** Fields that a path does not write keep their live values. */
function keepForeignFields(type: ResourceType, subresource: string, object: ApiObject, live: ApiObject): ApiObject {
  if (!type.subresources.status) return object;
  if (subresource === "") return withField(object, "status", live.status);
  if (subresource !== "status") return object;
  // A custom resource's status path changes nothing else; built-in kinds let metadata through.
  const { managedFields, resourceVersion } = object.metadata;
  const metadata = type.custom ? { ...live.metadata, managedFields, resourceVersion } : object.metadata;
  return withField({ ...live, metadata } as ApiObject, "status", object.status);
}

function withField(object: ApiObject, field: string, value: unknown): ApiObject {
  if (object[field] === value) return object;
  const { [field]: _, ...rest } = object;
  return (value === undefined ? rest : { ...rest, [field]: value }) as ApiObject;
}

function prepare(call: Call, update: Update, changed: ApiObject, live: ApiObject): ApiObject {
  const { type, route } = call;
  const context = strategyContext(call, update.verb);
  const kept = keepForeignFields(type, route.subresource, changed, live);
  const prepared = type.strategy.prepareForUpdate?.(kept, live, context) ?? kept;
  const { metadata: old } = live;
  const { metadata: given } = prepared;
  return withMetadata(prepared, {
    // Left out means unchanged; another value is refused by validation, except for the creation time, which is silently kept.
    uid: given.uid === undefined || given.uid === "" ? old.uid : given.uid,
    creationTimestamp: old.creationTimestamp,
    deletionTimestamp: old.deletionTimestamp ?? given.deletionTimestamp,
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds,
    generation: nextGeneration(type, prepared, live),
    selfLink: undefined,
    resourceVersion: old.resourceVersion,
  } as object);
}

/** Upstream runs the general rules and then the kind's, which repeat them: the same fault is told as often. */
function metadataFaults(type: ResourceType, object: ApiObject, live: ApiObject): readonly StatusCause[] {
  if (sameCheckedMetadata(object, live)) return [];
  const updateCauses = metadataUpdateCauses(object, live);
  const createCauses = metadataCauses(type, object);
  return [...createCauses, ...(type.custom ? [] : createCauses), ...updateCauses, ...updateCauses];
}

function check(call: Call, update: Update, object: ApiObject, live: ApiObject): void {
  const { type, core } = call;
  const causes = [
    ...metadataFaults(type, object, live),
    ...(type.custom ? (core.compiled(type)?.validate(object, live, call.route.subresource === "status" ? "status" : undefined) ?? []) : []),
    ...(type.strategy.validateUpdate?.(object, live, strategyContext(call, update.verb)) ?? []),
  ];
  if (causes.length > 0) throw invalid(type, update.name, causes);
}

const MANAGED_FIELDS = ["managedFields"];

/** Equal but for the times in managedFields, which alone are no reason to write. */
const isNoOp = (object: ApiObject, live: ApiObject): boolean =>
  object === live ||
  (sameFieldsBut(METADATA, object, live) &&
    sameFieldsBut(MANAGED_FIELDS, object.metadata as unknown as ApiObject, live.metadata as unknown as ApiObject) &&
    sameManagers(object.metadata.managedFields ?? [], live.metadata.managedFields ?? []));

const sameManagers = (a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean =>
  a === b || (a.length === b.length && a.every((entry, i) => sameJson({ ...entry, time: undefined }, { ...b[i], time: undefined })));

/** Marked for deletion, no grace left and no finalizer any more: this update is the last. */
function isLastUpdate(type: ResourceType, object: ApiObject, live: ApiObject, context: StrategyContext): boolean {
  if (live.metadata.deletionTimestamp === undefined) return false;
  if ((live.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  return type.strategy.keepOnDelete?.(object, context) === undefined;
}

/** @returns the object after the update; throws NotFound when there is none */
export async function updateObject(call: Call, update: Update): Promise<ApiObject> {
  const { core, type } = call;
  for (let attempt = 1; ; attempt++) {
    const found = find(core, type, namespaceOf(call), update.name);
    if (!found) throw notFound(type, update.name);
    try {
      return await attemptUpdate(call, update, found);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "StoreConflict") throw error;
      if (attempt >= TRIES_MAX) throw conflict(type, update.name);
    }
  }
}

async function attemptUpdate(call: Call, update: Update, found: Found): Promise<ApiObject> {
  const { core, type } = call;
  const live = found.object;
  const { name, dryRun, review } = update;
  const changed = dedupOwners(call, deepFreeze(await update.change(live)));
  const admission = { operation: "UPDATE", name, dryRun, options: review } as const;
  const mutated = core.admission.length === 0 ? changed : await mutate(call, admission, changed, live);
  checkPrecondition(call, update, mutated, live);
  const object = deepFreeze(prepare(call, update, mutated, live));
  check(call, update, object, live);
  if (type.custom) for (const text of finalizerWarnings(object, live)) warn(call, text);
  await validate(call, admission, object, live);
  if (isLastUpdate(type, object, live, strategyContext(call, update.verb))) {
    if (!dryRun) remove(core, type, found);
    return object;
  }
  if (isNoOp(object, live)) {
    // Somebody may have written meanwhile: then this was not a no-op of what is there now.
    if (find(core, type, namespaceOf(call), name)?.revision !== found.revision) return updateObject(call, update);
    return live;
  }
  return dryRun ? object : save(core, type, object, found.revision);
}
