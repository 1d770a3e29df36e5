// Definitions of variables in a ClusterClass: names, metadata, schemas. Not here: values in Clusters (cluster-variables.ts),
// conversion of schemas (variable-schema.ts). Source: spec/api/clusterclass.md section 5.1.
import type { JsonSchema } from "../api/meta/schema.ts";
import type { VariableSchemaProps } from "../api/variable-schema.ts";
import { defaultErrors } from "../schema/crd-defaults.ts";
import { ruleErrors, ruleTextErrors } from "../schema/crd-rules.ts";
import { child, type FieldError, forbidden, indexed, invalid, keyed, notSupported, required } from "../schema/field.ts";
import { compilePattern } from "../schema/re2.ts";
import { structuralErrors } from "../schema/structural.ts";
import { metadataErrors } from "./checks.ts";
import { at, listAt, plain, textAt } from "./draft.ts";
import { type Draft, Refusal } from "./rule-set.ts";
import { nestedSchemas, schemaDecodeFault, toJsonSchema, valueChecks } from "./variable-schema.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const MESSAGE_LENGTH_MAX = 2048;

// A structural schema is one of objects, so that a variable's is judged as that of a field.
const FIELD = "variableSchema";
const wrapped = (schema: JsonSchema): JsonSchema => ({ type: "object", properties: { [FIELD]: schema } });

/** Paths below the wrapping as if there were none. */
const unwrapped = (field: string, path: string): string => field.replace(`${path}.properties[${FIELD}]`, path);
const inPlace = (errors: readonly FieldError[], path: string): readonly FieldError[] =>
  errors.map((error) => ({ ...error, field: unwrapped(error.field, path) }));

const JUNCTOR = /^(?:not|(?:allOf|anyOf|oneOf)\[\d+\])$/;

/** Schemas right below one. Those of junctors speak of values that stand elsewhere. */
const partsOf = (schema: JsonSchema, path: string): readonly (readonly [schema: JsonSchema, path: string])[] =>
  nestedSchemas(schema, path).map(([part, partPath]) => [part as JsonSchema, partPath] as const);
const fieldsOf = (schema: unknown, path: string): ReturnType<typeof nestedSchemas> =>
  nestedSchemas(schema, path).filter(([, partPath]) => !JUNCTOR.test(partPath.slice(path.length + 1)));

function patternErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const below = partsOf(schema, path).flatMap(([part, partPath]) => patternErrors(part, partPath));
  if (schema.pattern === undefined) return below;
  try {
    compilePattern(schema.pattern);
    return below;
  } catch (error) {
    return [invalid(child(path, "pattern"), schema.pattern, `is no regular expression: ${(error as Error).message}`), ...below];
  }
}

/** Rule 3, on every level but those of junctors. */
function xMetadataErrors(schema: unknown, path: string): readonly FieldError[] {
  return [
    ...metadataErrors(at(schema, "x-metadata"), `${path}.x-metadata`),
    ...fieldsOf(schema, path).flatMap(([part, partPath]) => xMetadataErrors(part, partPath)),
  ];
}

/** Values that stand in a schema: the example and what is permitted. */
const samplesOf = (schema: JsonSchema, path: string): readonly (readonly [value: unknown, path: string])[] => [
  ...(schema.example === undefined ? [] : [[schema.example, child(path, "example")] as const]),
  ...(schema.enum ?? []).map((value, i) => [value, indexed(child(path, "enum"), i)] as const),
];

function textErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const long = (schema["x-kubernetes-validations"] ?? []).flatMap((rule, i) =>
    (rule.message ?? "").length > MESSAGE_LENGTH_MAX
      ? [invalid(`${path}.x-kubernetes-validations[${i}].message`, rule.message, `must have at most ${MESSAGE_LENGTH_MAX} characters`)]
      : [],
  );
  return [...ruleTextErrors(schema, path), ...long];
}

/** Rules 7 to 11: all but expressions. */
function levelErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  if (schema.type !== undefined && !TYPES.includes(schema.type)) return [notSupported(child(path, "type"), schema.type, TYPES)];
  const samples = samplesOf(schema, path);
  const checks = samples.length > 0 ? valueChecks(schema) : undefined;
  return [
    ...samples.flatMap(([value, at_]) => checks?.schemaErrors(value, at_) ?? []),
    ...(schema.additionalProperties !== undefined && schema.properties !== undefined
      ? [forbidden(path, "give properties or additionalProperties, not both")]
      : []),
    ...partsOf(schema, path).flatMap(([part, partPath]) => levelErrors(part, partPath)),
    ...textErrors(schema, path),
  ];
}

/** Rule 15: only where nothing at or below the level is wrong, and only for levels that have rules themselves. */
function sampleRuleErrors(schema: JsonSchema, path: string, isSound: (path: string) => boolean): readonly FieldError[] {
  const hasRules = (schema["x-kubernetes-validations"] ?? []).length > 0;
  const samples = hasRules && isSound(path) ? samplesOf(schema, path) : [];
  const checks = samples.length > 0 ? valueChecks(schema) : undefined;
  return [
    ...samples.flatMap(([value, at_]) => checks?.ruleErrors(value, undefined, at_) ?? []),
    ...fieldsOf(schema, path).flatMap(([part, partPath]) => sampleRuleErrors(part as JsonSchema, partPath, isSound)),
  ];
}

function schemaErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const structure = inPlace([...structuralErrors(wrapped(schema), path), ...patternErrors(wrapped(schema), path)], path);
  if (structure.length > 0) return structure;
  const defaults = inPlace(defaultErrors(wrapped(schema), path), path);
  if (defaults.length > 0) return defaults;
  const levels = levelErrors(schema, path);
  const isSound = (errors: readonly FieldError[]) => (node: string) => !errors.some(({ field }) => field.startsWith(unwrapped(node, path)));
  const rules = inPlace(ruleErrors(wrapped(schema), path, isSound(levels)), path);
  const found = [...levels, ...rules];
  return [...found, ...sampleRuleErrors(schema, path, isSound(found))];
}

function nameErrors(name: string, path: string): readonly FieldError[] {
  return [
    ...(name === "" ? [required(path, "name the variable")] : []),
    ...(name === "builtin" ? [invalid(path, name, "is taken by the built-in variables")] : []),
    ...(name.includes(".") ? [invalid(path, name, "must have no dot, since dots lead to fields of a variable")] : []),
  ];
}

export function variableErrors(object: Draft): readonly FieldError[] {
  const variables = listAt(object, "spec", "variables");
  const names = variables.map((variable) => textAt(variable, "name") ?? "");
  return variables.flatMap((variable, i) => {
    const name = names[i] as string;
    const path = keyed("spec.variables", name);
    const schema = plain(at(variable, "schema", "openAPIV3Schema")) ?? {};
    const schemaPath = `${path}.schema.openAPIV3Schema`;
    const fault = schemaDecodeFault(schema, schemaPath);
    if (fault) throw new Refusal(400, `ClusterClass cannot be decoded: ${fault}`);
    return [
      ...(names.indexOf(name) < i ? [invalid(`${path}.name`, name, "is used twice: names must be unique")] : []),
      ...nameErrors(name, `${path}.name`),
      ...metadataErrors(at(variable, "deprecatedV1Beta1Metadata"), `${path}.deprecatedV1Beta1Metadata`),
      ...xMetadataErrors(schema, schemaPath),
      ...schemaErrors(toJsonSchema(schema as VariableSchemaProps), schemaPath),
    ];
  });
}
