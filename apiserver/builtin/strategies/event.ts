// Events: one storage, two versions. Here: renaming between core/v1 and events.k8s.io/v1, and their rules. Not here: expiry (../../background).
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldInvalid, fieldRequired, fieldTooLong } from "../../errors.ts";
import type { ApiObject } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { qualifiedNameErrors } from "../../requests/names.ts";
import { asFields, asText, unchanged } from "./fields.ts";

/** Field in core/v1 -> field in events.k8s.io/v1; the others have one name in both. */
const RENAMED: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];
const TO_NEW = new Map(RENAMED);
const TO_CORE = new Map(RENAMED.map(([core, next]) => [next, core] as const));

const renamed = (object: ApiObject, names: ReadonlyMap<string, string>): ApiObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value])) as unknown as ApiObject;

/** The stored core/v1 form as events.k8s.io/v1: apiVersion is left to the caller. */
export function eventFromCore(stored: ApiObject): ApiObject {
  const { reportingController, reportingInstance, regarding, ...rest } = renamed(stored, TO_NEW) as ApiObject & Record<string, unknown>;
  const emptyRegarding = Object.keys(asFields(regarding)).length === 0;
  return {
    ...rest,
    ...(asText(reportingController) === "" ? {} : { reportingController }),
    ...(asText(reportingInstance) === "" ? {} : { reportingInstance }),
    ...(regarding === undefined ? {} : { regarding: emptyRegarding ? {} : regarding }),
  } as ApiObject;
}

export function eventToCore(object: ApiObject): ApiObject {
  const core = renamed(object, TO_CORE);
  return { ...core, reportingComponent: core.reportingComponent ?? "", reportingInstance: core.reportingInstance ?? "" };
}

/** Objects without a namespace report into these. */
const CLUSTER_NAMESPACES: ReadonlySet<string> = new Set(["default", "kube-system"]);

function aboutNamespace(object: ApiObject, regarding: unknown): readonly StatusCause[] {
  const about = asText(asFields(regarding).namespace);
  const own = object.metadata.namespace ?? "";
  const fits = about === "" ? CLUSTER_NAMESPACES.has(own) : about === own;
  return fits ? [] : [fieldInvalid("involvedObject.namespace", about, "does not match event.namespace")];
}

export const coreEventStrategy: Strategy = {
  allowCreateOnUpdate: true,
  validate: (object) => aboutNamespace(object, object.involvedObject),
  validateUpdate: (object) => aboutNamespace(object, object.involvedObject),
};

const TEXT_BYTES_MAX = 128;
const NOTE_BYTES_MAX = 1024;

function validateEvent(object: ApiObject): readonly StatusCause[] {
  const text = (field: string): string => asText(object[field]);
  const causes: StatusCause[] = [...aboutNamespace(object, object.regarding)];
  if (object.eventTime === null || object.eventTime === undefined) causes.push(fieldRequired("eventTime"));
  if (text("type") !== "Normal" && text("type") !== "Warning") causes.push(fieldInvalid("type", text("type"), "has invalid value: "));
  if (text("reportingController") === "") causes.push(fieldRequired("reportingController"));
  else
    for (const wrong of qualifiedNameErrors(text("reportingController")))
      causes.push(fieldInvalid("reportingController", text("reportingController"), wrong));
  for (const field of ["reportingInstance", "action", "reason"]) {
    if (text(field) === "") causes.push(fieldRequired(field));
    if (text(field).length > TEXT_BYTES_MAX) causes.push(fieldTooLong(field, TEXT_BYTES_MAX));
  }
  if (text("note").length > NOTE_BYTES_MAX) causes.push(fieldTooLong("message", NOTE_BYTES_MAX));
  return causes;
}

const KEPT = ["regarding", "reason", "action", "reportingController", "reportingInstance", "related", "note", "type"];

export const eventStrategy: Strategy = {
  allowCreateOnUpdate: true,
  validate: validateEvent,
  validateUpdate: (object, old) => unchanged(object, old, KEPT),
};
