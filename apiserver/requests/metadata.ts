// Rules of metadata that hold for every kind. Here: coercion of custom resources' metadata, validation on create and update.
// Source: k8s.io/apimachinery api/validation/objectmeta.go.
import type { OwnerReference } from "../../api/meta/object.ts";
import type { StatusCause } from "../../api/meta/status.ts";
import { badRequest, fieldForbidden, fieldInvalid, fieldRequired } from "../errors.ts";
import { type ApiObject, sameJson } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { dnsLabelErrors, dnsSubdomainErrors, labelValueErrors, qualifiedNameErrors } from "./names.ts";

/** kube-apiserver's limit for all annotations together, bytes. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024;
const FINALIZER_NAMES_WITHOUT_PREFIX: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

type FieldType = "string" | "number" | "map" | "strings" | "owners" | "managed";
const METADATA_FIELDS: ReadonlyMap<string, FieldType> = new Map(
  Object.entries({
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "string",
    resourceVersion: "string",
    generation: "number",
    creationTimestamp: "string",
    deletionTimestamp: "string",
    deletionGracePeriodSeconds: "number",
    labels: "map",
    annotations: "map",
    ownerReferences: "owners",
    finalizers: "strings",
    managedFields: "managed",
  } as const),
);
const OWNER_FIELDS: Readonly<Record<string, string>> = {
  apiVersion: "string",
  kind: "string",
  name: "string",
  uid: "string",
  controller: "boolean",
  blockOwnerDeletion: "boolean",
};

const wrongType = (path: string, value: unknown, want: string): Error =>
  badRequest(`json: cannot unmarshal ${Array.isArray(value) ? "array" : typeof value} into Go struct field ${path} of type ${want}`);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function stringMap(value: unknown, path: string): Readonly<Record<string, string>> | undefined {
  if (!isRecord(value)) throw wrongType(path, value, "map[string]string");
  const entries = Object.entries(value);
  for (const [, item] of entries) if (typeof item !== "string" && item !== null) throw wrongType(path, item, "string");
  if (entries.length === 0) return undefined;
  if (entries.every(([, item]) => typeof item === "string")) return value as Readonly<Record<string, string>>;
  return Object.fromEntries(entries.map(([key, item]) => [key, (item as string | null) ?? ""]));
}

function isWholeOwner(item: unknown): item is OwnerReference {
  if (!isRecord(item)) return false;
  for (const key in item) if (!Object.hasOwn(OWNER_FIELDS, key) || typeof item[key] !== OWNER_FIELDS[key]) return false;
  return item.apiVersion !== undefined && item.kind !== undefined && item.name !== undefined && item.uid !== undefined;
}

function owners(value: unknown, path: string, onUnknown: (path: string) => void): readonly OwnerReference[] | undefined {
  if (!Array.isArray(value)) throw wrongType(path, value, "[]v1.OwnerReference");
  if (value.length === 0) return undefined;
  if (value.every(isWholeOwner)) return value;
  return value.map((item: unknown, i) => {
    if (!isRecord(item)) throw wrongType(`${path}[${i}]`, item, "v1.OwnerReference");
    const owner: Record<string, unknown> = { apiVersion: "", kind: "", name: "", uid: "" };
    for (const [key, field] of Object.entries(item)) {
      const want = Object.hasOwn(OWNER_FIELDS, key) ? OWNER_FIELDS[key] : undefined;
      if (want === undefined) onUnknown(`${path}[${i}].${key}`);
      else if (field === null) continue;
      else if (typeof field !== want) throw wrongType(`${path}[${i}].${key}`, field, want);
      else owner[key] = field;
    }
    return owner as unknown as OwnerReference;
  });
}

function coerceField(type: FieldType, value: unknown, path: string, onUnknown: (path: string) => void): unknown {
  switch (type) {
    case "string":
      if (typeof value !== "string") throw wrongType(path, value, "string");
      return value === "" ? undefined : value;
    case "number":
      if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(path, value, "int64");
      return value;
    case "map":
      return stringMap(value, path);
    case "strings":
      if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) throw wrongType(path, value, "[]string");
      return value.length === 0 ? undefined : value;
    case "owners":
      return owners(value, path, onUnknown);
    case "managed":
      if (!Array.isArray(value)) throw wrongType(path, value, "[]v1.ManagedFieldsEntry");
      return value;
  }
}

const IS_COERCED: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string" && value !== "",
  number: (value) => Number.isInteger(value) && value !== 0,
  map: (value) => isRecord(value) && hasTextsOnly(value),
  strings: (value) => Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"),
  owners: (value) => Array.isArray(value) && value.length > 0 && value.every(isWholeOwner),
  managed: (value) => Array.isArray(value),
};

/** Most metadata comes as the typed form would have it: told without building anything. */
function isCoerced(metadata: Readonly<Record<string, unknown>>): boolean {
  for (const key in metadata) {
    const type = METADATA_FIELDS.get(key);
    if (type === undefined || !IS_COERCED[type](metadata[key])) return false;
  }
  return true;
}

function hasTextsOnly(map: Readonly<Record<string, unknown>>): boolean {
  let some = false;
  for (const key in map) {
    if (typeof map[key] !== "string") return false;
    some = true;
  }
  return some;
}

/**
 * Metadata as the typed ObjectMeta would carry it: unknown fields told and dropped, empty ones dropped.
 * @returns the same object when nothing changes   Throws BadRequest on a wrong type.
 */
export function coerceMetadata(object: ApiObject, onUnknown: (path: string) => void): ApiObject {
  const metadata: unknown = object.metadata ?? {};
  if (!isRecord(metadata)) throw wrongType("metadata", metadata, "v1.ObjectMeta");
  if (object.metadata !== undefined && isCoerced(metadata)) return object;
  const coerced: Record<string, unknown> = {};
  let changed = object.metadata === undefined;
  for (const [key, value] of Object.entries(metadata)) {
    const type = METADATA_FIELDS.get(key);
    const kept =
      type === undefined || value === null || value === undefined ? undefined : coerceField(type, value, `metadata.${key}`, onUnknown);
    if (type === undefined) onUnknown(`metadata.${key}`);
    if (kept !== undefined) coerced[key] = kept;
    if (kept !== value) changed = true;
  }
  if (coerced.generation === 0) {
    delete coerced.generation;
    changed = true;
  }
  return changed ? ({ ...object, metadata: coerced } as ApiObject) : object;
}

function labelCauses(labels: Readonly<Record<string, string>> | undefined): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const message of qualifiedNameErrors(key)) causes.push(fieldInvalid("metadata.labels", key, message));
    for (const message of labelValueErrors(value)) causes.push(fieldInvalid("metadata.labels", value, message));
  }
  return causes;
}

function annotationCauses(annotations: Readonly<Record<string, string>> | undefined): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    bytes += key.length + value.length;
    // The rule is checked on the lower-case form: Example.com/Key is fine here.
    for (const message of qualifiedNameErrors(key.toLowerCase())) causes.push(fieldInvalid("metadata.annotations", key, message));
  }
  if (bytes > ANNOTATIONS_BYTES_MAX) {
    causes.push({
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${ANNOTATIONS_BYTES_MAX} bytes`,
      field: "metadata.annotations",
    });
  }
  return causes;
}

function ownerCauses(references: readonly OwnerReference[] | undefined): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const at = "metadata.ownerReferences";
  let controller: OwnerReference | undefined;
  for (const owner of references ?? []) {
    if (!/^([^/]+\/)?[^/]+$/.test(owner.apiVersion))
      causes.push(fieldInvalid(`${at}.apiVersion`, owner.apiVersion, "version must not be empty"));
    if (owner.kind === "") causes.push(fieldInvalid(`${at}.kind`, owner.kind, "must not be empty"));
    if (owner.name === "") causes.push(fieldInvalid(`${at}.name`, owner.name, "must not be empty"));
    if (owner.uid === "") causes.push(fieldInvalid(`${at}.uid`, owner.uid, "must not be empty"));
    if (owner.apiVersion === "v1" && owner.kind === "Event")
      causes.push(fieldInvalid(at, owner, "v1, Kind=Event is disallowed from being an owner"));
    if (owner.controller !== true) continue;
    if (controller) {
      causes.push(
        fieldInvalid(
          at,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`,
        ),
      );
    }
    controller ??= owner;
  }
  return causes;
}

function managedFieldsCauses(object: ApiObject): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  (object.metadata.managedFields ?? []).forEach((entry, i) => {
    const at = `metadata.managedFields[${i}]`;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      causes.push(fieldInvalid(`${at}.operation`, entry.operation ?? "", "must be `Apply` or `Update`"));
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== "FieldsV1") {
      causes.push(fieldInvalid(`${at}.fieldsType`, entry.fieldsType, "must be `FieldsV1`"));
    }
  });
  return causes;
}

/** Built-in kinds want a prefix on every name that is not standard; custom resources do not (`machine.cluster.x-k8s.io` is one). */
function finalizerCauses(finalizers: readonly string[] | undefined, custom: boolean): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const finalizer of finalizers ?? []) {
    for (const message of qualifiedNameErrors(finalizer)) causes.push(fieldInvalid("metadata.finalizers", finalizer, message));
    if (!custom && !finalizer.includes("/") && !FINALIZER_NAMES_WITHOUT_PREFIX.has(finalizer)) {
      causes.push(fieldInvalid("metadata.finalizers", finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  const list = finalizers ?? [];
  if (list.includes("orphan") && list.includes("foregroundDeletion")) {
    causes.push(fieldInvalid("metadata.finalizers", list, 'finalizers "orphan" and "foregroundDeletion" cannot be both set'));
  }
  return causes;
}

/** Finalizers of custom resources may have any name; new ones that could clash are warned of. */
export function finalizerWarnings(object: ApiObject, old?: ApiObject): readonly string[] {
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !(old?.metadata.finalizers ?? []).includes(finalizer));
  return [...new Set(added)]
    .filter((finalizer) => !finalizer.includes("/") && !FINALIZER_NAMES_WITHOUT_PREFIX.has(finalizer))
    .sort()
    .map(
      (finalizer) =>
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}

/** What a create must hold. */
export function metadataCauses(type: ResourceType, object: ApiObject): readonly StatusCause[] {
  const { metadata } = object;
  const causes: StatusCause[] = [];
  const nameErrors = type.strategy.validateName ?? dnsSubdomainErrors;
  const at = (field: string): string => `metadata.${field}`;
  if (metadata.generateName !== undefined && metadata.generateName !== "") {
    for (const message of nameErrors(metadata.generateName, true))
      causes.push(fieldInvalid(at("generateName"), metadata.generateName, message));
  }
  if (metadata.name === undefined || metadata.name === "") causes.push(fieldRequired(at("name"), "name or generateName is required"));
  else for (const message of nameErrors(metadata.name, false)) causes.push(fieldInvalid(at("name"), metadata.name, message));
  if (type.namespaced) {
    if (metadata.namespace === undefined || metadata.namespace === "") causes.push(fieldRequired(at("namespace")));
    else for (const message of dnsLabelErrors(metadata.namespace)) causes.push(fieldInvalid(at("namespace"), metadata.namespace, message));
  } else if (metadata.namespace !== undefined && metadata.namespace !== "") {
    causes.push(fieldForbidden(at("namespace"), "not allowed on this type"));
  }
  if ((metadata.generation ?? 0) < 0)
    causes.push(fieldInvalid(at("generation"), metadata.generation, "must be greater than or equal to 0"));
  return [
    ...causes,
    ...labelCauses(metadata.labels),
    ...annotationCauses(metadata.annotations),
    ...ownerCauses(metadata.ownerReferences),
    ...finalizerCauses(metadata.finalizers, type.custom),
    ...managedFieldsCauses(object),
  ];
}

const IMMUTABLE = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** What an update may not change. */
export function metadataUpdateCauses(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const { metadata } = object;
  if (old.metadata.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((finalizer) => !(old.metadata.finalizers ?? []).includes(finalizer));
    if (added.length > 0) {
      causes.push(
        fieldForbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
        ),
      );
    }
  }
  if ((metadata.generation ?? 0) < (old.metadata.generation ?? 0)) {
    causes.push(fieldInvalid("metadata.generation", metadata.generation ?? 0, "must not be decremented"));
  }
  for (const field of IMMUTABLE) {
    if (metadata[field] !== old.metadata[field])
      causes.push(fieldInvalid(`metadata.${field}`, metadata[field] ?? null, "field is immutable"));
  }
  return [
    ...causes,
    ...labelCauses(metadata.labels),
    ...annotationCauses(metadata.annotations),
    ...ownerCauses(metadata.ownerReferences),
    ...managedFieldsCauses(object),
  ];
}

/** True when nothing changed that the rules above look at: most writes leave it alone, and what is stored is good. */
export function sameCheckedMetadata(object: ApiObject, old: ApiObject): boolean {
  const [a, b] = [object.metadata, old.metadata];
  return (
    IMMUTABLE.every((field) => a[field] === b[field]) &&
    a.generateName === b.generateName &&
    (a.generation ?? 0) >= (b.generation ?? 0) &&
    sameJson(a.labels, b.labels) &&
    sameJson(a.annotations, b.annotations) &&
    sameJson(a.ownerReferences, b.ownerReferences) &&
    sameJson(a.finalizers, b.finalizers)
  );
}
