// The schema of metadata, which no CRD writes down. Here: its fields, for pruning; its checks for embedded objects.
// Not here: the metadata checks of whole objects (the API server's, with names and namespaces of the request).
import type { JsonSchema } from "../api/meta/schema.ts";
import { child, type FieldError, invalid, keyed, required, typeInvalid } from "./field.ts";
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
    if (value === undefined) errors.push(required(field, "must not be empty"));
    else if (typeof value !== "string") errors.push(typeInvalid(field, value, `must be a string`));
    else if (value.trim() === "") errors.push(invalid(field, value, "must not be empty"));
    else if (name === "apiVersion" && value.split("/").length > 2) errors.push(invalid(field, value, "must be group/version"));
    else if (name === "kind" && dns1035Label(value.toLowerCase()).length > 0) errors.push(invalid(field, value, "must be a valid kind"));
  }
}

function stringMap(value: unknown, path: string, check: (v: string) => readonly string[], errors: FieldError[]): void {
  if (value === undefined) return;
  if (!isRecord(value)) {
    errors.push(typeInvalid(path, value, "must be an object of strings"));
    return;
  }
  for (const [key, entry] of Object.entries(value)) {
    for (const fault of qualifiedName(key)) errors.push(invalid(path, key, fault));
    if (typeof entry !== "string") errors.push(typeInvalid(keyed(path, key), entry, "must be a string"));
    else for (const fault of check(entry)) errors.push(invalid(path, entry, fault));
  }
}

/** What an embedded object must say of itself. @param path of the object */
export function embeddedErrors(object: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  typeFields(object, path, errors);
  const metadata = object.metadata;
  const field = child(path, "metadata");
  if (metadata === undefined) return errors;
  if (!isRecord(metadata)) return [...errors, typeInvalid(field, metadata, "must be an object")];
  stringMap(metadata.labels, child(field, "labels"), labelValue, errors);
  stringMap(metadata.annotations, child(field, "annotations"), () => [], errors);
  for (const name of ["name", "generateName", "namespace"]) {
    const value = metadata[name];
    if (value !== undefined && typeof value !== "string") errors.push(typeInvalid(child(field, name), value, "must be a string"));
    else if (typeof value === "string" && (/[/%]/.test(value) || value === "." || value === ".."))
      errors.push(invalid(child(field, name), value, "may not contain '/' or '%', nor be '.' or '..'"));
  }
  return errors;
}
