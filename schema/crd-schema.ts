// Is a CustomResourceDefinition's schema one that the server can serve?
// Here: forbidden and malformed parts, list and map types, in the order kube-apiserver looks. Not here: structure (structural.ts),
// defaults (crd-defaults.ts), rules (crd-rules.ts), the rest of a CRD (apiserver/crd). Source: apiextensions validation.
import type { JsonSchema } from "../api/meta/schema.ts";
import { defaultErrors } from "./crd-defaults.ts";
import { ruleErrors, ruleTextErrors } from "./crd-rules.ts";
import { isRecord } from "./equal.ts";
import { child, type FieldError, forbidden, indexed, invalid, keyed, notSupported, required, typeInvalid } from "./field.ts";
import { compilePattern } from "./re2.ts";
import { structuralErrors } from "./structural.ts";

export interface CrdSchemaOptions {
  /** The version has a status subresource, which leaves less room at the root. */
  readonly statusSubresource?: boolean;
}

/**
 * @param schema openAPIV3Schema, decoded: fields of the right JSON types
 * @param path such as `spec.validation.openAPIV3Schema`
 * @returns empty when the schema is structural, its defaults fit and its rules compile
 */
export function validateCrdSchema(schema: JsonSchema, path: string, options: CrdSchemaOptions = {}): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (options.statusSubresource === true) errors.push(...rootErrors(schema, path));
  if (schema.nullable === true) errors.push(forbidden(child(path, "nullable"), "nullable cannot be true at the root"));
  const openApi: FieldError[] = [];
  openApiErrors(schema, path, openApi);
  metaDefaults(schema, path, openApi);
  const readable = isReadable(schema, path);
  const structure = readable ? structuralErrors(schema, path) : [];
  const defaults = readable && structure.length === 0 ? defaultErrors(schema, path) : [];
  errors.push(...structure, ...defaults, ...openApi);
  // Types of a broken schema would only give misleading errors of its rules: those at or above a fault are left out.
  const isSound = (node: string): boolean => !openApi.some(({ field }) => field.startsWith(node));
  if (readable && structure.length === 0 && defaults.length === 0) errors.push(...ruleErrors(schema, path, isSound));
  return errors;
}

/** False for a schema with parts that have no structure: then only these parts are told. */
function isReadable(schema: JsonSchema, path: string): boolean {
  const faults: FieldError[] = [];
  foreignErrors(schema, path, faults);
  if (faults.length > 0 || schema["x-kubernetes-preserve-unknown-fields"] === false) return false;
  for (const [part, partPath] of parts(schema, path)) if (!isReadable(part, partPath)) return false;
  return true;
}

const META_FIELDS = ["apiVersion", "kind", "metadata"];

/** apiVersion, kind and metadata: of the object itself they are set by its author only; no further object lies in them. */
function metaDefaults(schema: JsonSchema, path: string, errors: FieldError[], isRoot = true): void {
  for (const [part, partPath] of parts(schema, path)) metaDefaults(part, partPath, errors, false);
  if (!isRoot && schema["x-kubernetes-embedded-resource"] !== true) return;
  for (const name of META_FIELDS) {
    const property = schema.properties?.[name];
    if (property) insideMeta(property, keyed(child(path, "properties"), name), isRoot ? `in top-level ${name}` : undefined, errors);
  }
}

function insideMeta(node: JsonSchema, path: string, noDefault: string | undefined, errors: FieldError[]): void {
  if (node.default !== undefined && noDefault !== undefined) errors.push(forbidden(child(path, "default"), `must not be set ${noDefault}`));
  if (node["x-kubernetes-embedded-resource"] === true)
    errors.push(forbidden(child(path, "x-kubernetes-embedded-resource"), "must not be used inside of resource meta"));
  for (const [part, partPath] of parts(node, path)) {
    const isEntry = part === node.additionalProperties;
    insideMeta(part, partPath, isEntry ? (noDefault ?? "inside additionalProperties applying to object metadata") : noDefault, errors);
  }
}

const ROOT_FIELDS: ReadonlySet<string> = new Set(
  (
    "description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems " +
    "multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations"
  ).split(" "),
);

function rootErrors(schema: JsonSchema, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== "object")
    return [invalid(child(path, "type"), schema.type, "must be object at the root")];
  const odd = Object.entries(schema).find(([name, value]) => !ROOT_FIELDS.has(name) && value !== undefined && value !== false);
  if (!odd) return [];
  return [invalid(path, odd[0], "is not allowed at the root of the schema if the status subresource is enabled")];
}

const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** Parts of OpenAPI that no schema here may have, and parts that contradict each other. */
function openApiErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema.uniqueItems === true)
    errors.push(forbidden(child(path, "uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  additionalErrors(schema, path, errors);
  foreignErrors(schema, path, errors);
  typeErrors(schema, path, errors);
  if (schema.pattern !== undefined) patternErrors(schema.pattern, child(path, "pattern"), errors);
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalid(child(path, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"));
  mapTypeErrors(schema, path, errors);
  listTypeErrors(schema, path, errors);
  errors.push(...ruleTextErrors(schema, path));
  for (const [part, partPath] of parts(schema, path)) openApiErrors(part, partPath, errors);
}

/** All schemas right below one, with their paths. */
function* parts(schema: JsonSchema, path: string): Generator<readonly [JsonSchema, string]> {
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield [property, keyed(child(path, "properties"), name)];
  if (typeof schema.additionalProperties === "object") yield [schema.additionalProperties, child(path, "additionalProperties")];
  if (schema.items && !Array.isArray(schema.items)) yield [schema.items, child(path, "items")];
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [i, branch] of (schema[junctor] ?? []).entries()) yield [branch, indexed(child(path, junctor), i)];
  }
  if (schema.not) yield [schema.not, child(path, "not")];
}

function additionalErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const extra = schema.additionalProperties;
  const field = child(path, "additionalProperties");
  if (extra === undefined) return;
  if (typeof extra !== "boolean" && !isRecord(extra)) errors.push(typeInvalid(field, extra, "must be a boolean or a schema"));
  if (Object.keys(schema.properties ?? {}).length > 0 && extra !== true)
    errors.push(forbidden(field, "additionalProperties and properties are mutual exclusive"));
}

const FOREIGN: Readonly<Record<string, string>> = {
  patternProperties: "patternProperties is not supported",
  additionalItems: "additionalItems is not supported",
  definitions: "definitions is not supported",
  dependencies: "dependencies is not supported",
  id: "id is not supported",
  $ref: "$ref is not supported",
};

function foreignErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  for (const [name, why] of Object.entries(FOREIGN)) {
    const value = (schema as Readonly<Record<string, unknown>>)[name];
    const isEmpty = value === undefined || value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
    if (!isEmpty) errors.push(forbidden(child(path, name), why));
  }
  if (Array.isArray(schema.items)) errors.push(forbidden(child(path, "items"), "items must be a schema object and not an array"));
}

function typeErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type: string | undefined = schema.type;
  if (type === undefined || type === "") return;
  if (type === "null") errors.push(forbidden(child(path, "type"), "type cannot be set to null, use nullable as an alternative"));
  if (!TYPES.includes(type)) errors.push(notSupported(child(path, "type"), type, TYPES));
}

function patternErrors(pattern: string, field: string, errors: FieldError[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    errors.push(invalid(field, pattern, `must be a valid regular expression, but isn't: ${(error as Error).message}`));
  }
}

function wrongType(schema: JsonSchema, path: string, wanted: string, because: string): FieldError {
  const field = child(path, "type");
  const detail = `must be ${wanted} if ${because} is specified`;
  return schema.type === undefined ? required(field, detail) : invalid(field, schema.type, detail);
}

function mapTypeErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type: string | undefined = schema["x-kubernetes-map-type"];
  if (type === undefined) return;
  if (schema.type !== "object") errors.push(wrongType(schema, path, "object", "x-kubernetes-map-type"));
  if (type !== "atomic" && type !== "granular")
    errors.push(notSupported(child(path, "x-kubernetes-map-type"), type, ["atomic", "granular"]));
}

function listTypeErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type: string | undefined = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const field = child(path, "x-kubernetes-list-type");
  if (type !== undefined) {
    if (schema.type !== "array") errors.push(wrongType(schema, path, "array", "x-kubernetes-list-type"));
    else if (type !== "atomic" && type !== "set" && type !== "map") errors.push(notSupported(field, type, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && type !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(type === undefined ? required(field, detail) : invalid(field, type, detail));
  }
  if (type === "map") listMapErrors(schema, keys, path, errors);
  if (type === "set" || type === "map") memberErrors(schema, type, keys, path, errors);
}

function listMapErrors(schema: JsonSchema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const keysField = child(path, "x-kubernetes-list-map-keys");
  const { items } = schema;
  if (keys.length === 0) errors.push(required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  if (!items) {
    errors.push(required(child(path, "items"), "must have a schema if x-kubernetes-list-type is map"));
    return;
  }
  if (items.type !== "object") {
    errors.push(
      invalid(child(child(path, "items"), "type"), items.type ?? "", "must be object if parent array's x-kubernetes-list-type is map"),
    );
    return;
  }
  for (const [i, key] of keys.entries()) {
    const property = items.properties?.[key];
    if (!property) errors.push(invalid(keysField, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object")
      errors.push(
        invalid(
          child(keyed(child(child(path, "items"), "properties"), key), "type"),
          property.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (keys.indexOf(key) < i) errors.push(invalid(keysField, keys, "must not contain duplicate entries"));
  }
}

/** What members of sets and keyed lists must be, so that each has an identity. */
function memberErrors(schema: JsonSchema, type: "set" | "map", keys: readonly string[], path: string, errors: FieldError[]): void {
  const { items } = schema;
  if (!items) return;
  const field = child(path, "items");
  if (items.nullable === true)
    errors.push(forbidden(child(field, "nullable"), `cannot be nullable when x-kubernetes-list-type is ${type}`));
  if (type === "set") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
      errors.push(invalid(child(field, "x-kubernetes-map-type"), items["x-kubernetes-map-type"] ?? "", detail));
    const inner = items["x-kubernetes-list-type"];
    if (items.type === "array" && inner !== undefined && inner !== "atomic")
      errors.push(invalid(child(field, "x-kubernetes-list-type"), inner, detail));
    return;
  }
  for (const key of keys) {
    const property = items.properties?.[key];
    if (!property) continue;
    const keyField = keyed(child(field, "properties"), key);
    if (items.required?.includes(key) !== true && property.default === undefined)
      errors.push(
        required(
          child(keyField, "default"),
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    if (property.nullable === true)
      errors.push(forbidden(child(keyField, "nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
  }
}
