// Schemas of ClusterClass variables as schemas that can be compiled. Here: decoding of nested parts, conversion, compiled forms.
// Not here: whether a schema is a good one (clusterclass-variables.ts), values (cluster-variables.ts). Source: spec/api/clusterclass.md section 4.
import type { JsonSchema, ValidationRule } from "../api/meta/schema.ts";
import { type VariableSchemaProps, variableSchemaHolder } from "../api/variable-schema.ts";
import { type CompiledSchema, compileSchema } from "../schema/compile.ts";
import { child, type FieldError, indexed, keyed, ROOT_FIELD, shown } from "../schema/field.ts";
import { type CompiledRules, compileRules } from "../schema/rules.ts";
import { decodeFault } from "./decode.ts";
import { listAt, plain } from "./draft.ts";

const LEVEL: JsonSchema = variableSchemaHolder.properties?.openAPIV3Schema ?? {};

/** A level's parts that are schemas themselves, with their paths. @param value need not have the right types */
export function nestedSchemas(value: unknown, path: string): readonly (readonly [schema: unknown, path: string])[] {
  const level = plain(value) ?? {};
  const one = (name: string) => (level[name] === undefined || level[name] === null ? [] : [[level[name], child(path, name)] as const]);
  return [
    ...one("additionalProperties"),
    ...Object.entries(plain(level.properties) ?? {}).map(([name, schema]) => [schema, keyed(child(path, "properties"), name)] as const),
    ...one("items"),
    ...one("not"),
    ...["allOf", "oneOf", "anyOf"].flatMap((name) =>
      listAt(level, name).map((schema, i) => [schema, indexed(child(path, name), i)] as const),
    ),
  ];
}

/** Nested schemas are opaque to the server and decoded here first. @returns the first value that does not fit its type, in words */
export function schemaDecodeFault(value: unknown, path: string): string | undefined {
  const level = plain(value);
  if (!level) return `${path} is ${shown(value)}, but must be a map`;
  const { properties, allOf, oneOf, anyOf } = level;
  if (properties !== undefined && properties !== null && !plain(properties))
    return `${path}.properties is ${shown(properties)}, but must be a map`;
  for (const [name, branches] of Object.entries({ allOf, oneOf, anyOf }))
    if (branches !== undefined && branches !== null && !Array.isArray(branches))
      return `${path}.${name} is ${shown(branches)}, but must be a list`;
  const own = decodeFault(LEVEL, level, path);
  if (own) return own;
  for (const [schema, below] of nestedSchemas(level, path)) {
    const fault = schemaDecodeFault(schema, below);
    if (fault) return fault;
  }
  return undefined;
}

const SCALARS = ["type", "format", "pattern", "maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"] as const;
const FLAGS = [
  "uniqueItems",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
] as const;

/** Unknown keys, descriptions and x-metadata mean nothing for values and are left out; nulls count as absent. */
export function toJsonSchema(schema: VariableSchemaProps): JsonSchema {
  const scalars = [...SCALARS, "maximum", "minimum"] as const;
  const given = scalars
    .filter((key) => schema[key] !== undefined && schema[key] !== null && schema[key] !== "")
    .map((key) => [key, schema[key]]);
  const flags = FLAGS.filter((key) => schema[key] === true).map((key) => [key, true]);
  const values = (["default", "example"] as const).filter((key) => (schema[key] ?? null) !== null).map((key) => [key, schema[key]]);
  const permitted = (schema.enum ?? []).filter((value) => value !== null);
  const rules = schema["x-kubernetes-validations"] ?? [];
  return {
    ...Object.fromEntries([...given, ...flags, ...values]),
    ...((schema.required ?? []).length > 0 ? { required: schema.required } : {}),
    ...(permitted.length > 0 ? { enum: permitted } : {}),
    ...(rules.length > 0 ? { "x-kubernetes-validations": rules.map(toRule) } : {}),
    ...nestedParts(schema),
  };
}

function nestedParts(schema: VariableSchemaProps): JsonSchema {
  const { properties, additionalProperties, items, not } = schema;
  const junctors = (["allOf", "oneOf", "anyOf"] as const).filter((key) => (schema[key] ?? []).length > 0);
  return {
    ...(properties && Object.keys(properties).length > 0
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, toJsonSchema(property)])) }
      : {}),
    ...(additionalProperties ? { additionalProperties: toJsonSchema(additionalProperties) } : {}),
    ...(items ? { items: toJsonSchema(items) } : {}),
    ...(not ? { not: toJsonSchema(not) } : {}),
    ...Object.fromEntries(junctors.map((key) => [key, (schema[key] ?? []).map(toJsonSchema)])),
  };
}

/** Empty texts count as absent, except that of the rule. */
const toRule = (rule: ValidationRule): ValidationRule => ({
  rule: rule.rule ?? "",
  ...Object.fromEntries(
    (["message", "messageExpression", "reason", "fieldPath"] as const)
      .filter((key) => (rule[key] ?? "") !== "")
      .map((key) => [key, rule[key]]),
  ),
});

export function withoutRules(schema: JsonSchema): JsonSchema {
  const { "x-kubernetes-validations": _rules, ...rest } = schema;
  const { properties, additionalProperties, items } = schema;
  return {
    ...rest,
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(([name, p]) => [name, withoutRules(p)])) } : {}),
    ...(typeof additionalProperties === "object" ? { additionalProperties: withoutRules(additionalProperties) } : {}),
    ...(items ? { items: withoutRules(items) } : {}),
  };
}

/** A path below another; the root's errors belong to the other itself. */
export function below(path: string, field: string): string {
  if (field === ROOT_FIELD || field === "") return path;
  return field.startsWith("[") ? `${path}${field}` : child(path, field);
}

const placed = (errors: readonly FieldError[], path: string): readonly FieldError[] =>
  errors.map((error) => ({ ...error, field: below(path, error.field) }));

/** One value's checks, apart: types and bounds first, then rules. */
export interface ValueChecks {
  readonly schemaErrors: (value: unknown, path: string) => readonly FieldError[];
  /** Rules that compare with the old value run only when there is one; nothing is excused for being as it was. */
  readonly ruleErrors: (value: unknown, old: unknown, path: string) => readonly FieldError[];
  /** Paths of fields that the schema does not know. */
  readonly unknownFields: (value: unknown) => readonly string[];
  /** The value with defaults; undefined when there is none and the schema has no default. */
  readonly withDefaults: (value: unknown) => unknown;
}

export function valueChecks(schema: JsonSchema): ValueChecks {
  const plainSchema = compileSchema(withoutRules(schema), { root: "value" });
  const rules = compileRules(schema, false);
  // In a map, since a schema's own default is set by what is around it.
  const holder: CompiledSchema = compileSchema({ type: "object", properties: { value: withoutRules(schema) } }, { root: "value" });
  return {
    schemaErrors: (value, path) => placed(plainSchema.validate(value), path),
    ruleErrors: (value, old, path) => placed(rules ? unexcused(rules, value, old) : [], path),
    unknownFields(value) {
      const unknown: string[] = [];
      plainSchema.defaultAndPrune(value, { onUnknown: (path) => unknown.push(path) });
      return unknown;
    },
    withDefaults: (value) => holder.defaultAndPrune(value === undefined ? {} : { value }, { prune: false, keepNulls: true }).value,
  };
}

function unexcused(rules: CompiledRules, value: unknown, old: unknown): readonly FieldError[] {
  const always = rules.validate(value, undefined);
  if (!rules.usesOldSelf || old === undefined || old === null) return always;
  const isNew = (e: FieldError): boolean => !always.some((a) => a.field === e.field && a.reason === e.reason && a.message === e.message);
  return [...always, ...rules.validate(value, old).filter(isNew)];
}

// Objects of a store are frozen and shared, so that a class's schemas are compiled once.
const compiled = new WeakMap<object, ValueChecks>();

/** @param schema of a variable, as the class holds it; decoded */
export function checksOf(schema: VariableSchemaProps): ValueChecks {
  const known = compiled.get(schema);
  if (known) return known;
  const checks = valueChecks(toJsonSchema(schema));
  compiled.set(schema, checks);
  return checks;
}
