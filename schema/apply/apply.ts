// Server-side apply. Here: the order of its steps. Not here: each step (merge.ts, prune.ts, take-over.ts), defaults and validation (the server).
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { invariant } from "../../runtime/base/invariant.ts";
import { difference, equal, type FieldSet, isEmpty, recursiveDifference } from "./field-set.ts";
import { applyAsKubectl, KUBECTL } from "./last-applied.ts";
import { withManagedFields } from "./managed-fields.ts";
import { allFields, decodeManagers, encodeManagers, isSame, type Manager, reconciled, stamp, withTime } from "./managers.ts";
import { merge } from "./merge.ts";
import { ownedFields } from "./owned-fields.ts";
import { prune } from "./prune.ts";
import { takeOver } from "./take-over.ts";
import { firstRecord } from "./track-update.ts";
import type { Typed } from "./typed.ts";
import { type ApplyRequest, type ApplyResult, ManagedFieldsInBody } from "./types.ts";

/**
 * Lays an applied object over the live one: takes its values, drops what this manager applied before and nobody else owns, and records
 * the owner of each field. The caller then defaults, resets what the path cannot write, and validates.
 * @throws ApplyConflict (409) without force, TypedValueError (500 without reason), ManagedFieldsInBody (400)
 */
export function apply(request: ApplyRequest): ApplyResult {
  return request.manager === KUBECTL ? applyAsKubectl(request, applyPlainly) : applyPlainly(request);
}

function applyPlainly(request: ApplyRequest): ApplyResult {
  const { live, config } = request;
  const typed = request.schemas(request.apiVersion);
  invariant(typed !== undefined, "the version of an apply is served");
  if ((config.metadata?.managedFields ?? undefined) !== undefined) throw new ManagedFieldsInBody();
  const managers = managersOf(request);
  const applier = applierOf(request);
  const last = managers.find((m) => isSame(m, applier));
  const claimed = ownedFields(typed, config, last?.fields);
  const others = managers.filter((m) => m !== last);
  const asked = request.resetFields === undefined ? claimed : recursiveDifference(claimed, request.resetFields);
  // The same fields as last time are the same set: nothing to prune, nothing to write.
  const fields = last !== undefined && equal(last.fields, asked) ? last.fields : asked;
  const merged = live === undefined ? withoutManagedFields(config) : (merge(typed, live, config) as KubeObject);
  const after = last === undefined ? merged : pruneLast(request, merged, last, fields, others);
  const taken = takeOver(others, {
    schemas: request.schemas,
    apiVersion: request.apiVersion,
    before: live ?? {},
    after,
    resetFields: request.resetFields,
    force: request.force === true,
  });
  const mine = recordOf(request, last, fields, after !== live);
  return resultOf(live, after, [...taken.others, mine]);
}

const applierOf = (request: ApplyRequest) => ({
  name: request.manager,
  operation: "Apply" as const,
  apiVersion: request.apiVersion,
  subresource: request.subresource ?? "",
});

/** Objects that nobody tracked get one record of all they hold, so that an apply meets conflicts instead of silence. */
function managersOf(request: ApplyRequest): readonly Manager[] {
  const { live } = request;
  if (live === undefined) return [];
  const managers = decodeManagers(live.metadata.managedFields) ?? [];
  return managers.length > 0 ? reconciled(managers, request.schemas) : firstRecord(request, live, BEFORE_FIRST_APPLY);
}

const BEFORE_FIRST_APPLY = "before-first-apply";

function pruneLast(request: ApplyRequest, merged: KubeObject, last: Manager, fields: FieldSet, others: readonly Manager[]): KubeObject {
  if (last.fields === fields || isEmpty(difference(last.fields, fields))) return merged;
  // What was applied in a version that is not served any more cannot be found in the object.
  const typed: Typed | undefined = request.schemas(last.apiVersion);
  if (typed === undefined) return merged;
  return prune(typed, merged, last.fields, allFields(others, fields)) as KubeObject;
}

/** An apply that changed no value leaves no new time: so a repeated apply writes nothing. */
function recordOf(request: ApplyRequest, last: Manager | undefined, fields: FieldSet, changed: boolean): Manager {
  const same = last !== undefined && last.fields === fields && last.apiVersion === request.apiVersion;
  const record: Manager = same ? last : { ...applierOf(request), time: last?.time, fields };
  return changed ? withTime(record, stamp(request.nowMs)) : record;
}

function resultOf(live: KubeObject | undefined, after: KubeObject, managers: readonly Manager[]): ApplyResult {
  const before = live?.metadata.managedFields;
  const managedFields = encodeManagers(managers);
  if (sameEntries(before, managedFields)) return { object: after, managedFields: before ?? [], changed: after !== live };
  return { object: withManagedFields(after, managedFields), managedFields, changed: true };
}

function sameEntries(before: readonly ManagedFieldsEntry[] | undefined, after: readonly ManagedFieldsEntry[]): boolean {
  return (before?.length ?? 0) === after.length && after.every((entry, i) => entry === before?.[i]);
}

const withoutManagedFields = (object: KubeObject): KubeObject =>
  object.metadata !== undefined && "managedFields" in object.metadata ? withManagedFields(object, []) : object;
