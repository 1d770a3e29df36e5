// JSON schemas of built-in kinds, made from the served types when first asked for. Here: types, list and patch markers.
// Not here: enums and rules (rules.ts), documents (../openapi/).
import type { JsonSchema } from "../../api/meta/schema.ts";
import type { Field, FieldType, ScalarCode, TypeDef, TypeSet } from "./types.ts";

const SCALARS: Readonly<Record<ScalarCode, JsonSchema>> = {
  s: { type: "string" },
  b: { type: "boolean" },
  i: { type: "integer", format: "int32" },
  l: { type: "integer", format: "int64" },
  d: { type: "number", format: "double" },
  t: { type: "string", format: "date-time" },
  m: { type: "string", format: "date-time" },
  y: { type: "string", format: "byte" },
  k: { "x-kubernetes-int-or-string": true },
  q: { "x-kubernetes-int-or-string": true },
  o: { "x-kubernetes-preserve-unknown-fields": true },
};
const ANYTHING: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const TYPE_NAME = Symbol("name of the served type");

/** e.g. `core.PodSpec`: which served type a schema (also with markers added) was made from. */
export const typeNameOf = (schema: JsonSchema): string | undefined => (schema as { readonly [TYPE_NAME]?: string })[TYPE_NAME];

/** Defaults that are part of a list key, so that apply can tell entries apart before defaults run. */
const KEY_DEFAULTS: Readonly<Record<string, string>> = { "core.ContainerPort.protocol": "TCP", "core.ServicePort.protocol": "TCP" };

export interface SchemaSource {
  /** The schema of a type; nested types are inlined, one that contains itself accepts anything below. The same object each time. */
  schemaOf(typeKey: string): JsonSchema;
}

export function createSchemas(types: TypeSet): SchemaSource {
  const made = new Map<string, JsonSchema>();
  const underWay = new Set<string>();

  function ofType(type: FieldType): JsonSchema {
    if (type.is === "scalar") return SCALARS[type.code];
    if (type.is === "list") return { type: "array", items: ofType(type.of) };
    if (type.is === "map") return { type: "object", additionalProperties: ofType(type.of) };
    return type.loose ? SCALARS.o : schemaOf(type.key);
  }

  function ofField(owner: TypeDef, field: Field): JsonSchema {
    const { list, presence } = field;
    const base = ofType(field.type);
    const fallback = KEY_DEFAULTS[`${owner.key}.${field.name}`];
    const writesNull = presence === "null" || (presence === "always" && isNullable(field.type));
    return {
      ...base,
      ...(writesNull ? { nullable: true } : {}),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(list && field.type.is === "list" ? { "x-kubernetes-list-type": list.listType } : {}),
      ...(list && list.mapKeys.length > 0 ? { "x-kubernetes-list-map-keys": list.mapKeys } : {}),
      ...(list && field.type.is !== "list" && list.listType === "atomic" && list.patchStrategy === undefined
        ? { "x-kubernetes-map-type": "atomic" as const }
        : {}),
      ...(list?.patchStrategy === undefined ? {} : { "x-kubernetes-patch-strategy": list.patchStrategy }),
      ...(list?.patchMergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": list.patchMergeKey }),
    };
  }

  function schemaOf(key: string): JsonSchema {
    const known = made.get(key);
    if (known) return known;
    if (underWay.has(key)) return ANYTHING;
    underWay.add(key);
    const type = types.get(key);
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const field of type.fields.values()) {
      properties[field.name] = ofField(type, field);
      if (field.required) required.push(field.name);
    }
    underWay.delete(key);
    const schema: JsonSchema & { readonly [TYPE_NAME]: string } = {
      [TYPE_NAME]: key,
      type: "object",
      properties,
      ...(required.length === 0 ? {} : { required }),
      ...(type.atomic ? { "x-kubernetes-map-type": "atomic" as const } : {}),
    };
    // A type that was cut because it contains itself must not be kept in its cut form by an outer type under way.
    if (underWay.size === 0 || !containsAnything(schema)) made.set(key, schema);
    return schema;
  }

  return { schemaOf };
}

const isNullable = (type: FieldType): boolean =>
  type.is === "list" || type.is === "map" || (type.is === "scalar" && "tmyo".includes(type.code));

const containsAnything = (schema: JsonSchema): boolean =>
  Object.values(schema.properties ?? {}).some((p) => p === ANYTHING || p.items === ANYTHING || p.additionalProperties === ANYTHING);
