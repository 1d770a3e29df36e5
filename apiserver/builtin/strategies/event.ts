// Events: one storage, two versions. Here: renaming between core/v1 and events.k8s.io/v1, and their rules. Not here: expiry (../../background).
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldInvalid, fieldRequired } from "../../errors.ts";
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

const TEXT_MAX = 128;
const MESSAGE_MAX = 1024;

const text = (event: ApiObject, field: string): string => asText(event[field]);
const isSet = (event: ApiObject, field: string): boolean => event[field] !== null && event[field] !== undefined;
const longer = (event: ApiObject, field: string, max: number, shown: string): readonly StatusCause[] =>
  text(event, field).length > max ? [fieldInvalid(field, "", `can have at most ${shown} characters`)] : [];

/** An event is kept where its object is; objects without a namespace report into default (and kube-system, in the newer form). */
function namespaceCauses(event: ApiObject): readonly StatusCause[] {
  const about = asText(asFields(event.involvedObject).namespace);
  const own = event.metadata.namespace ?? "";
  const newer = isSet(event, "eventTime");
  const fits = about === "" ? own === "default" || (newer && own === "kube-system") : newer || about === own;
  return fits ? [] : [fieldInvalid("involvedObject.namespace", about, "does not match event.namespace")];
}

/** Rules of events with an eventTime, in core form. @param reporter how the version of the request calls the reporting controller */
function newerCauses(event: ApiObject, reporter: string): readonly StatusCause[] {
  if (!isSet(event, "eventTime")) return [];
  const controller = text(event, "reportingComponent");
  const causes: StatusCause[] = [];
  if (controller === "") causes.push(fieldRequired(reporter));
  for (const wrong of qualifiedNameErrors(controller)) causes.push(fieldInvalid(reporter, controller, wrong));
  for (const field of ["reportingInstance", "action", "reason"]) {
    if (text(event, field) === "") causes.push(fieldRequired(field));
    causes.push(...longer(event, field, TEXT_MAX, String(TEXT_MAX)));
  }
  return [...causes, ...longer(event, "message", MESSAGE_MAX, "1kB")];
}

const validateCore = (event: ApiObject, reporter = "reportingComponent"): readonly StatusCause[] => [
  ...namespaceCauses(event),
  ...newerCauses(event, reporter),
];

export const coreEventStrategy: Strategy = {
  allowCreateOnUpdate: true,
  validate: (event) => validateCore(event),
  validateUpdate: (event) => validateCore(event),
};

const isUsed = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null && value !== 0 && value !== "";

/** What the newer version leaves to the older one. */
const OLDER_ONLY = ["firstTimestamp", "lastTimestamp", "count", "source"];

function validateEvent(object: ApiObject): readonly StatusCause[] {
  const event = eventToCore(object);
  const type = text(event, "type");
  return [
    ...validateCore(event, "reportingController"),
    ...(isSet(event, "eventTime") ? [] : [fieldRequired("eventTime")]),
    ...(type === "Normal" || type === "Warning" ? [] : [fieldInvalid("type", "", `has invalid value: ${type}`)]),
    ...OLDER_ONLY.filter((field) => isUsed(event[field])).map((field) => fieldInvalid(field, "", "needs to be unset")),
  ];
}

const KEPT = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
];

export const eventStrategy: Strategy = {
  allowCreateOnUpdate: true,
  validate: validateEvent,
  validateUpdate: (object, old) => {
    const [event, before] = [eventToCore(object), eventToCore(old)];
    const reporter = unchanged(event, before, ["reportingComponent"]).map((cause) => ({ ...cause, field: "reportingController" }));
    return [...unchanged(event, before, KEPT), ...reporter, ...unchanged(event, before, ["reportingInstance"])];
  },
};
