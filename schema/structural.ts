// Is a schema structural: does it say the type of every field, in one place?
// Here: invariants outside and inside junctors, completeness. Not here: OpenAPI as such (crd-schema.ts).
// Source: apiextensions structural schema validation.
import type { JsonSchema } from "../api/meta/schema.ts";
import { sameValue } from "./equal.ts";
import { child, type FieldError, forbidden, indexed, invalid, keyed, required } from "./field.ts";

type Level = "root" | "items" | "field";

const TYPE_NEEDED: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  items: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** @returns empty when the schema is structural */
export function structuralErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  invariants(schema, "root", path, errors);
  completeness(schema, path, errors);
  return errors;
}

function invariants(schema: JsonSchema, level: Level, path: string, errors: FieldError[]): void {
  if (schema.type === "array" && !schema.items) errors.push(required(child(path, "items"), "must be specified"));
  if (schema.items) invariants(schema.items, "items", child(path, "items"), errors);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    invariants(property, "field", keyed(child(path, "properties"), name), errors);
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false && level === "root")
    errors.push(forbidden(child(path, "additionalProperties"), "must not be used at the root"));
  if (typeof schema.additionalProperties === "object")
    invariants(schema.additionalProperties, "field", child(path, "additionalProperties"), errors);
  junctors(judgedBranches(schema, path), errors);
  extensions(schema, path, errors);
  types(schema, level, path, errors);
  metaFields(schema, level, path, errors);
}

function extensions(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[name] === true) errors.push(invalid(child(path, name), true, "must be false if x-kubernetes-int-or-string is true"));
  }
}

function types(schema: JsonSchema, level: Level, path: string, errors: FieldError[]): void {
  const field = child(path, "type");
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const free = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (embedded && schema.type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(schema.type === undefined ? required(field, detail) : invalid(field, schema.type, detail));
  } else if (schema.type === undefined && !free) errors.push(required(field, TYPE_NEEDED[level]));
  if (embedded && schema.additionalProperties !== undefined)
    errors.push(forbidden(child(path, "additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"));
  if (embedded && Object.keys(schema.properties ?? {}).length === 0 && schema["x-kubernetes-preserve-unknown-fields"] !== true)
    errors.push(
      required(
        child(path, "properties"),
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
  if (level === "root" && schema.type !== undefined && schema.type !== "object")
    errors.push(invalid(field, schema.type, "must be object at the root"));
}

/** apiVersion, kind and metadata are the server's: a schema may say no more than their types and names. */
function metaFields(schema: JsonSchema, level: Level, path: string, errors: FieldError[]): void {
  if (level !== "root" && schema["x-kubernetes-embedded-resource"] !== true) return;
  const properties = child(path, "properties");
  for (const name of ["kind", "apiVersion"]) {
    const property = schema.properties?.[name];
    if (property && property.type !== "string")
      errors.push(invalid(child(keyed(properties, name), "type"), property.type ?? "", "must be string"));
  }
  const metadata = schema.properties?.metadata;
  if (!metadata) return;
  const field = keyed(properties, "metadata");
  if (metadata.type !== "object") errors.push(invalid(child(field, "type"), metadata.type ?? "", "must be object"));
  if (level !== "root") return;
  const { type: _type, default: _default, properties: names = {}, ...rest } = metadata;
  const onlyNames = Object.keys(names).every((name) => name === "name" || name === "generateName");
  if (!onlyNames || Object.values(rest).some((value) => value !== undefined))
    errors.push(forbidden(field, "must not specify anything other than name and generateName, but metadata is implicitly specified"));
}

// ---- Junctors: conditions on values, never types

const INT_OR_STRING: readonly JsonSchema[] = [{ type: "integer" }, { type: "string" }];

const isIntOrStringPattern = (schema: JsonSchema): boolean => sameValue(schema.anyOf, INT_OR_STRING);

type Branch = readonly [schema: JsonSchema, path: string];

function branchesOf(schema: JsonSchema, path: string): readonly Branch[] {
  const branches: Branch[] = [];
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [i, branch] of (schema[junctor] ?? []).entries()) branches.push([branch, indexed(child(path, junctor), i)]);
  }
  if (schema.not) branches.push([schema.not, child(path, "not")]);
  return branches;
}

/** Without the two usual ways to write int-or-string, the only places inside junctors where a type may stand. */
function judgedBranches(schema: JsonSchema, path: string): readonly Branch[] {
  const [first, ...others] = schema.allOf ?? [];
  const allOf = first && isIntOrStringPattern(first) ? [{ ...first, anyOf: undefined }, ...others] : schema.allOf;
  return branchesOf({ ...schema, allOf, ...(isIntOrStringPattern(schema) ? { anyOf: undefined } : {}) }, path);
}

function junctors(branches: readonly Branch[], errors: FieldError[]): void {
  for (const [branch, branchPath] of branches) nested(branch, branchPath, errors);
}

const FORBIDDEN_NESTED = [
  "type",
  "additionalProperties",
  "default",
  "title",
  "description",
  "nullable",
  "externalDocs",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const;

function nested(schema: JsonSchema, path: string, errors: FieldError[]): void {
  junctors(branchesOf(schema, path), errors);
  if (schema.items) nested(schema.items, child(path, "items"), errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) nested(property, keyed(child(path, "properties"), name), errors);
  for (const name of FORBIDDEN_NESTED) {
    const value = schema[name];
    if (value !== undefined && value !== false && value !== "")
      errors.push(forbidden(child(path, name), `must be ${name === "type" ? "empty" : "undefined"} to be structural`));
  }
  if (schema.properties?.metadata)
    errors.push(forbidden(keyed(child(path, "properties"), "metadata"), "must not be specified in a nested context"));
}

// ---- Completeness: what a junctor speaks of must have a type outside it

function completeness(schema: JsonSchema, path: string, errors: FieldError[]): void {
  for (const [branch, branchPath] of branchesOf(schema, path)) complete(branch, schema, path, branchPath, errors);
  if (schema.items) completeness(schema.items, child(path, "items"), errors);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    completeness(property, keyed(child(path, "properties"), name), errors);
  if (typeof schema.additionalProperties === "object")
    completeness(schema.additionalProperties, child(path, "additionalProperties"), errors);
}

function complete(branch: JsonSchema, schema: JsonSchema | undefined, path: string, branchPath: string, errors: FieldError[]): void {
  if (!schema) {
    errors.push(required(path, `because it is defined in ${branchPath}`));
    return;
  }
  for (const [inner, innerPath] of branchesOf(branch, branchPath)) complete(inner, schema, path, innerPath, errors);
  if (branch.items) complete(branch.items, schema.items, child(path, "items"), child(branchPath, "items"), errors);
  for (const [name, property] of Object.entries(branch.properties ?? {}))
    complete(
      property,
      schema.properties?.[name],
      keyed(child(path, "properties"), name),
      keyed(child(branchPath, "properties"), name),
      errors,
    );
}
