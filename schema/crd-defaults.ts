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
}

/** As it stands: what defaults below it would add does not count. */
function ofOne(schema: JsonSchema, path: string): readonly FieldError[] {
  const compiled = compileSchema(schema, { root: "value" });
  let hasUnknown = false;
  compiled.defaultAndPrune(schema.default, { onUnknown: () => (hasUnknown = true) });
  const unknown = hasUnknown ? [invalid(path, schema.default, "must not have unknown fields")] : [];
  return [...unknown, ...compiled.validate(schema.default).map((error) => ({ ...error, field: below(path, error.field) }))];
}

function below(path: string, field: string): string {
  if (field === ROOT_FIELD) return path;
  return field.startsWith("[") ? `${path}${field}` : child(path, field);
}
