// Defaults of a CRD's schema: each must itself be what the schema accepts.
// Here: the checks of default values. Not here: setting them (default.ts). Source: apiextensions structural defaulting.
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";
import { child, type FieldError, invalid, keyed, ROOT_FIELD } from "./field.ts";
import { embeddedErrors } from "./object-meta.ts";

/** Wraps a value of a field of metadata into an object that has it, so that it is judged as metadata. */
type Wrap = (value: unknown) => Readonly<Record<string, unknown>>;

/** For a structural schema. @returns errors below `<path>...default` */
export function defaultErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  // Defaults of the object's own metadata are forbidden as such (crd-schema.ts).
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties } = schema.properties ?? {};
  collect({ ...schema, properties }, path, errors);
  return errors;
}

const EMBEDDED = { apiVersion: "validation/v1", kind: "Validation" };
const META: Readonly<Record<string, Wrap>> = {
  apiVersion: (apiVersion) => ({ ...EMBEDDED, apiVersion }),
  kind: (kind) => ({ ...EMBEDDED, kind }),
  metadata: (metadata) => ({ ...EMBEDDED, metadata }),
};

// Not below additionalProperties: upstream does not look there.
function collect(schema: JsonSchema, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined) errors.push(...ofOne(schema, child(path, "default")));
  if (schema.items) collect(schema.items, child(path, "items"), errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = keyed(child(path, "properties"), name);
    const wrap = schema["x-kubernetes-embedded-resource"] === true && Object.hasOwn(META, name) ? META[name] : undefined;
    if (wrap) insideMeta(property, field, wrap, errors);
    else collect(property, field, errors);
  }
}

function insideMeta(schema: JsonSchema, path: string, wrap: Wrap, errors: FieldError[]): void {
  if (schema.default !== undefined) {
    const faults = embeddedErrors(wrap(schema.default), "");
    const field = child(path, "default");
    if (faults.length > 0) errors.push(invalid(field, schema.default, `must result in valid metadata: ${faults[0]?.message}`));
    else
      errors.push(
        ...compileSchema(schema, { root: "value" })
          .validate(schema.default)
          .map((error) => ({ ...error, field: below(field, error.field) })),
      );
  }
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    insideMeta(property, keyed(child(path, "properties"), name), (value) => wrap({ [name]: value }), errors);
}

// Unknown metadata is dropped by other means than pruning, and is no fault of a default.
const isMetadata = (field: string): boolean => /(^|\.)metadata\./.test(field);

/** As it stands: what defaults below it would add does not count. */
function ofOne(schema: JsonSchema, path: string): readonly FieldError[] {
  const compiled = compileSchema(schema, { root: "value" });
  let hasUnknown = false;
  compiled.defaultAndPrune(schema.default, {
    onUnknown: (field) => {
      if (!isMetadata(field)) hasUnknown = true;
    },
  });
  const unknown = hasUnknown ? [invalid(path, schema.default, "must not have unknown fields")] : [];
  return [...unknown, ...compiled.validate(schema.default).map((error) => ({ ...error, field: below(path, error.field) }))];
}

function below(path: string, field: string): string {
  if (field === ROOT_FIELD) return path;
  return field.startsWith("[") ? `${path}${field}` : child(path, field);
}
