// Server-side apply as controllers use it: forced, only what we mean to own, and not sent again when nothing can have changed.
// Here: intents, the memory of what was applied, repair of lost ownership. Not here: what is applied (each kind's folder).
// Source: spec/controllers/machinedeployment.md section 0.4.
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { apiVersionOf, keyOf, type Resource } from "../../api/meta/resource.ts";
import { fieldManagers } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";

/** False after somebody wiped the managers of an object: then the same intent has to be applied once more. */
const ownsFields = (object: KubeObject, manager: string): boolean =>
  (object.metadata.managedFields ?? []).some((e) => e.manager === manager && e.operation === "Apply");

/** What was applied last, per object and field manager. One per controller; lives as long as it. */
export interface AppliedMemory {
  /** True when `token` was applied by `manager`, it still owns fields, and the object is that version or a later one that still holds `intent`. */
  isApplied(object: KubeObject, manager: string, token: string, intent: () => KubeObject): boolean;
  note(object: KubeObject, manager: string, token: string): void;
  forget(object: KubeObject, manager: string): void;
}

/** Objects remembered; beyond it the oldest are forgotten, which costs one more request each. */
const REMEMBERED_MAX = 200_000;

interface Applied {
  readonly token: string;
  /** Newest version for which this was known to hold. */
  readonly resourceVersion: string | undefined;
}

export function createAppliedMemory(): AppliedMemory {
  const applied = new Map<string, Applied>();
  const keyOfEntry = (object: KubeObject, manager: string): string => `${manager}/${object.metadata.uid}`;
  const note = (object: KubeObject, manager: string, token: string): void => {
    const key = keyOfEntry(object, manager);
    applied.delete(key);
    applied.set(key, { token, resourceVersion: object.metadata.resourceVersion });
    if (applied.size > REMEMBERED_MAX) for (const oldest of applied.keys()) return void applied.delete(oldest);
  };
  return {
    isApplied: (object, manager, token, intent) => {
      const entry = applied.get(keyOfEntry(object, manager));
      if (!entry || entry.token !== token || !ownsFields(object, manager)) return false;
      if (entry.resourceVersion === object.metadata.resourceVersion) return true;
      if (!holds(object, intentOf(intent()))) return false;
      note(object, manager, token);
      return true;
    },
    note,
    forget: (object, manager) => void applied.delete(keyOfEntry(object, manager)),
  };
}

/** True when everything in `wanted` is in `actual` with the same value; lists of texts and of owners may be longer. */
export function holds(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual)) return wanted.length === 0 && actual === undefined;
    const isSet = wanted.every((item) => typeof item === "string" || (item as { uid?: unknown } | null)?.uid !== undefined);
    if (isSet) return wanted.every((item) => actual.some((other) => holds(other, item)));
    return sameJson(actual, wanted);
  }
  if (typeof wanted !== "object" || wanted === null) return actual === wanted;
  const fields = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (typeof actual !== "object" || actual === null) return fields.length === 0 && actual === undefined;
  return fields.every(([key, value]) => holds((actual as Readonly<Record<string, unknown>>)[key], value));
}

/** The parts of an object that an intent may hold; everything else stays with its owners. `uid` keeps an update from creating. */
export function intentOf<K extends KubeObject>(object: K & { readonly spec?: unknown }): KubeObject {
  const { name, namespace, uid, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const metadata = { name, namespace, uid, labels, annotations, finalizers, ownerReferences };
  const { apiVersion, kind, spec } = object;
  return { apiVersion, kind, metadata: withoutUndefined(metadata), ...(spec === undefined ? {} : { spec }) } as KubeObject;
}

const withoutUndefined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

/** Applies with force. @returns what the server stored */
export function applyIntent<K extends KubeObject>(
  { client }: Pick<ReconcileContext, "client">,
  resource: Resource<K>,
  intent: KubeObject,
  fieldManager: string,
): Promise<K> {
  return client.apply(resource, intentOf(intent), { fieldManager, force: true });
}

/** Applies to an object that exists, unless the same was applied to this very version of it before.
 *  @param token stands for the intent: equal tokens, equal intents  @param intent only built when it is needed
 *  @returns the object as stored */
export async function applyOnce<K extends KubeObject>(
  context: Pick<ReconcileContext, "client">,
  memory: AppliedMemory,
  resource: Resource<K>,
  existing: K,
  fieldManager: string,
  token: string,
  intent: () => KubeObject,
): Promise<K> {
  if (memory.isApplied(existing, fieldManager, token, intent)) return existing;
  const stored = await applyIntent(context, resource, intent(), fieldManager);
  memory.note(stored, fieldManager, token);
  return stored;
}

// --- ownership that was lost ---------------------------------------------------------------------------------------------------------

/** True when nobody owns fields any more, or a server gave ours to a made-up manager: then an apply would never remove anything. */
export function needsOwnershipRepair(object: KubeObject): boolean {
  const entries = object.metadata.managedFields ?? [];
  return entries.length === 0 || entries.some((e) => e.manager === fieldManagers.beforeFirstApply);
}

/** Gives `fieldManager` an entry of its own to start from. The next run applies on top of it.
 *  @returns true when something was written */
export async function repairOwnership<K extends KubeObject>(
  { client, clock }: Pick<ReconcileContext, "client" | "clock">,
  memory: AppliedMemory,
  resource: Resource<K>,
  object: K,
  fieldManager: string,
): Promise<boolean> {
  if (!needsOwnershipRepair(object)) return false;
  memory.forget(object, fieldManager);
  const seed: ManagedFieldsEntry = {
    manager: fieldManager,
    operation: "Apply",
    apiVersion: apiVersionOf(resource),
    time: timestamp(clock.nowMs()),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:name": {} } },
  };
  const entries = (object.metadata.managedFields ?? []).filter(
    (e) => e.manager !== fieldManagers.beforeFirstApply && !(e.manager === fieldManager && e.operation === "Apply"),
  );
  const body = [
    { op: "replace", path: "/metadata/resourceVersion", value: object.metadata.resourceVersion },
    { op: "add", path: "/metadata/managedFields", value: [...entries, seed] },
  ];
  await client.patch(resource, keyOf(object), { type: "json", body });
  return true;
}

/** Takes labels and annotations out of what `fieldManager` owns, so that another manager's apply can remove them later. */
export async function disownMetadata<K extends KubeObject>(
  { client }: Pick<ReconcileContext, "client">,
  resource: Resource<K>,
  object: K,
  fieldManager: string,
): Promise<K> {
  const managedFields = (object.metadata.managedFields ?? []).map((entry) =>
    entry.manager === fieldManager && entry.operation === "Apply" ? withoutMetadataMaps(entry) : entry,
  );
  const body = { metadata: { resourceVersion: object.metadata.resourceVersion, managedFields } };
  return client.patch(resource, keyOf(object), { type: "merge", body });
}

function withoutMetadataMaps(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const fields = entry.fieldsV1?.["f:metadata"];
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return entry;
  const kept = Object.fromEntries(Object.entries(fields).filter(([key]) => key !== "f:labels" && key !== "f:annotations"));
  const { "f:metadata": _dropped, ...others } = entry.fieldsV1 ?? {};
  return { ...entry, fieldsV1: Object.keys(kept).length > 0 ? { ...others, "f:metadata": kept } : others };
}
