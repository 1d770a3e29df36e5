// Defaults of a CRD's schema: each must itself be what the schema accepts.
// Here: the checks of default values. Not here: setting them (default.ts). Source: apiextensions structural defaulting.
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";
import { child, type FieldError, invalid, keyed, ROOT_FIELD } from "./field.ts";

/** For a structural schema. @returns errors below `<path>...default` */
export function defaultErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  collect(schema, path, errors);
  return errors;
}

function collect(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined) errors.push(...ofOne(schema, child(path, "default")));
  if (schema.items) collect(schema.items, child(path, "items"), errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) collect(property, keyed(child(path, "properties"), name), errors);
  if (typeof schema.additionalProperties === "object") collect(schema.additionalProperties, child(path, "additionalProperties"), errors);
}

function ofOne(schema: JsonSchema, path: string): readonly FieldError[] {
  const compiled = compileSchema(schema, { root: "value" });
  // What defaults below this one would add is there when the default is set.
  const complete = compiled.defaultAndPrune(schema.default, { prune: false });
  const errors = compiled.validate(complete).map((error) => ({ ...error, field: below(path, error.field) }));
  const unknown: string[] = [];
  compiled.defaultAndPrune(complete, { onUnknown: (field) => unknown.push(field) });
  for (const field of unknown) errors.push(invalid(below(path, field), schema.default, "must not have unknown fields"));
  return errors;
}

function below(path: string, field: string): string {
  if (field === ROOT_FIELD) return path;
  return field.startsWith("[") ? `${path}${field}` : child(path, field);
}
