// Who owns what after a create, an update or a patch: told from the values that changed.
// Here: the steps and the cap on entries. Not here: applies (apply.ts).
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { invariant } from "../../runtime/base/invariant.ts";
import { EMPTY, isEmpty, union } from "./field-set.ts";
import { isMap } from "../json-values.ts";
import { decodeManagers, encodeManagers, inTimeOrder, isSame, type Manager, reconciled, stamp, withFields, withTime } from "./managers.ts";
import { takeOver } from "./take-over.ts";
import { TypedValueError, type UpdateRequest } from "./types.ts";

/** More records of updaters than this are too many to keep apart: the oldest are put together. */
const UPDATE_ENTRIES_MAX = 10;
const OLD_UPDATES = "ancient-changes";

/**
 * The managedFields that `updated` should be stored with. A client may rewrite them (`[{}]` clears them all); lists that make no sense
 * count as not sent. Objects that nobody tracks stay untracked until the first apply.
 * Never throws: values that do not fit the schema leave the records as they are, and validation will speak.
 */
export function trackUpdate(request: UpdateRequest): readonly ManagedFieldsEntry[] {
  const managers = wishedManagers(request);
  if (managers.length === 0 && request.live !== undefined) return [];
  return encodeManagers(capUpdates(track(request, managers)));
}

function wishedManagers(request: UpdateRequest): readonly Manager[] {
  const stored = (): readonly Manager[] => decodeManagers(request.live?.metadata.managedFields) ?? [];
  if ((request.subresource ?? "") !== "") return stored();
  const wished = request.updated.metadata?.managedFields;
  if (isReset(wished)) return [];
  const managers = decodeManagers(wished);
  return managers === undefined || managers.length === 0 ? stored() : managers;
}

const isReset = (wished: unknown): boolean =>
  Array.isArray(wished) && wished.length === 1 && isMap(wished[0]) && Object.keys(wished[0]).length === 0;

/** One record of everything in an object that nobody tracked so far. */
export function firstRecord(request: Omit<UpdateRequest, "updated">, live: KubeObject, manager: string): readonly Manager[] {
  return track({ ...request, manager, live: undefined, updated: live }, []);
}

function track(request: UpdateRequest, managers: readonly Manager[]): readonly Manager[] {
  const known = request.schemas(request.apiVersion);
  invariant(known !== undefined, "the version of an update is served");
  try {
    const { others, comparison } = takeOver(reconciled(managers, request.schemas), {
      schemas: request.schemas,
      apiVersion: request.apiVersion,
      before: request.live ?? request.empty ?? {},
      after: request.updated,
      resetFields: request.resetFields,
      force: true,
    });
    const gained = union(comparison.modified, comparison.added);
    return isEmpty(gained) ? others : withGain(request, others, { fields: gained });
  } catch (error) {
    if (error instanceof TypedValueError) return managers;
    throw error;
  }
}

function withGain(request: UpdateRequest, managers: readonly Manager[], gain: Pick<Manager, "fields">): readonly Manager[] {
  const fresh: Manager = {
    name: request.manager,
    operation: "Update",
    apiVersion: request.apiVersion,
    subresource: request.subresource ?? "",
    time: undefined,
    fields: EMPTY,
  };
  const last = managers.find((m) => isSame(m, fresh));
  const mine = withTime(withFields(last ?? fresh, union(last?.fields ?? EMPTY, gain.fields)), stamp(request.nowMs));
  return [...managers.filter((m) => m !== last), mine];
}

/** Puts the oldest records of updaters together, one per version, until few enough are left. */
function capUpdates(all: readonly Manager[]): readonly Manager[] {
  const managers = all.filter((m) => !isEmpty(m.fields));
  const updaters = managers.filter((m) => m.operation === "Update");
  if (updaters.length <= UPDATE_ENTRIES_MAX) return managers;
  const oldestFirst = [...updaters].sort(byAge);
  const kept = new Set(managers);
  const buckets = new Map<string, Manager>();
  let count = updaters.length;
  for (const manager of oldestFirst) {
    if (count <= UPDATE_ENTRIES_MAX) break;
    const bucket = buckets.get(manager.apiVersion);
    if (bucket === undefined) {
      buckets.set(manager.apiVersion, manager);
      continue;
    }
    const old = { ...bucket, name: OLD_UPDATES, subresource: "", time: manager.time, entry: undefined };
    // The record of earlier years may not be among the oldest two: it takes these in all the same.
    const before = [...kept].find((m) => m !== manager && isSame(m, old));
    const merged: Manager = { ...old, fields: union(union(bucket.fields, manager.fields), before?.fields ?? EMPTY) };
    for (const gone of [bucket, manager, before]) if (gone !== undefined) kept.delete(gone);
    kept.add(merged);
    buckets.set(manager.apiVersion, merged);
    count -= before === undefined || before === bucket ? 1 : 2;
  }
  return [...kept];
}

const idOf = (m: Manager): string => JSON.stringify([m.name, m.apiVersion, m.subresource]);

function byAge(a: Manager, b: Manager): number {
  const [idA, idB] = [idOf(a), idOf(b)];
  return inTimeOrder(a, b) || (idA < idB ? -1 : idA > idB ? 1 : 0);
}
