// The schema of metadata, which no CRD writes down. Here: its fields, for pruning; its checks for embedded objects.
// Not here: the metadata checks of whole objects (the API server's, with names and namespaces of the request).
import type { JsonSchema } from "../api/meta/schema.ts";
import { child, type FieldError, invalid, required } from "./field.ts";
import { isRecord } from "./equal.ts";
import { dns1035Label, labelValue, qualifiedName } from "./names.ts";

const text: JsonSchema = { type: "string" };
const whole: JsonSchema = { type: "integer", format: "int64" };
const texts: JsonSchema = { type: "object", additionalProperties: text };

/** Source: k8s.io/apimachinery meta/v1 ObjectMeta. */
export const OBJECT_META: JsonSchema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: whole,
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: whole,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
    finalizers: { type: "array", items: text },
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time: text,
          fieldsType: text,
          fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          subresource: text,
        },
      },
    },
  },
};

function typeFields(object: Readonly<Record<string, unknown>>, path: string, errors: FieldError[]): void {
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    const field = child(path, name);
    if (value === undefined || value === "") errors.push(required(field));
    else if (typeof value !== "string") continue;
    else if (name === "apiVersion" && value.split("/").length > 2) errors.push(invalid(field, value, "must be group/version"));
    else if (name === "kind" && dns1035Label(value.toLowerCase()).length > 0)
      errors.push(invalid(field, value, "may have mixed case, but should otherwise match a DNS-1035 label"));
  }
}

const isTextMap = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Object.values(value).every((entry) => typeof entry === "string"));

/** Faults of JSON type: with these the rest is not looked at. */
function shapeErrors(object: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    if (value !== undefined && typeof value !== "string") errors.push(invalid(child(path, name), value, "must be a string"));
  }
  const { metadata } = object;
  if (metadata === undefined) return errors;
  const names = isRecord(metadata) ? [metadata.name, metadata.generateName, metadata.namespace] : [];
  const fits =
    isRecord(metadata) &&
    isTextMap(metadata.labels) &&
    isTextMap(metadata.annotations) &&
    names.every((name) => name === undefined || typeof name === "string");
  if (!fits) errors.push(invalid(child(path, "metadata"), metadata, "must be the metadata of an object"));
  return errors;
}

/** What an embedded object must say of itself. @param path of the object */
export function embeddedErrors(object: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  const shape = shapeErrors(object, path);
  if (shape.length > 0) return shape;
  const errors: FieldError[] = [];
  typeFields(object, path, errors);
  const metadata = (object.metadata ?? {}) as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  const field = child(path, "metadata");
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    for (const fault of qualifiedName(key)) errors.push(invalid(child(field, "labels"), key, fault));
    for (const fault of labelValue(value)) errors.push(invalid(child(field, "labels"), value, fault));
  }
  for (const key of Object.keys(metadata.annotations ?? {})) {
    for (const fault of qualifiedName(key.toLowerCase())) errors.push(invalid(child(field, "annotations"), key, fault));
  }
  for (const name of ["name", "generateName", "namespace"]) {
    const value: unknown = metadata[name];
    if (typeof value === "string" && (/[/%]/.test(value) || value === "." || value === ".."))
      errors.push(invalid(child(field, name), value, "may not contain '/' or '%', nor be '.' or '..'"));
  }
  return errors;
}
