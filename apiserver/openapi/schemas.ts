// Schemas of kinds as OpenAPI documents carry them. Here: names of definitions, references between them, the two dialects.
// Not here: paths (documents.ts). Source: Kubernetes API, /openapi/v2 and /openapi/v3 of a kube-apiserver.
import type { JsonSchema } from "../../api/meta/schema.ts";
import { createSchemas, typeNameOf } from "../builtin/schema.ts";
import { createTypeSet } from "../builtin/types.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";

export type Dialect = "v2" | "v3";
type Document = Record<string, unknown>;

const PACKAGES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** `core.PodSpec` -> `io.k8s.api.core.v1.PodSpec` */
function builtinName(typeKey: string): string {
  const dot = typeKey.indexOf(".");
  const group = typeKey.slice(0, dot);
  return `${PACKAGES[group] ?? `io.k8s.api.${group}`}.v1.${typeKey.slice(dot + 1)}`;
}

/** The name of a kind's definition: upstream's for built-in kinds, the reversed group for custom ones. */
function definitionName(type: ResourceType): string {
  const name = type.schema && typeNameOf(type.schema);
  if (name !== undefined) return builtinName(name);
  return `${type.group.split(".").reverse().join(".")}.${type.version}.${type.kind}`;
}

const META = "meta.";

/** Fields that the two dialects lack or spell otherwise. */
const DROPPED: ReadonlySet<string> = new Set([
  "nullable",
  "example",
  "externalDocs",
  "properties",
  "items",
  "additionalProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "required",
]);
const V2_DROPPED: ReadonlySet<string> = new Set(["oneOf", "anyOf", "not"]);

export interface Definitions {
  readonly schemas: Readonly<Record<string, unknown>>;
  /** Adds a kind. @returns the name of its definition */
  add(type: ResourceType): string;
  /** Adds a type of metav1 such as `ObjectMeta`. @returns its name */
  addMeta(type: string): string;
}

export function createDefinitions(dialect: Dialect): Definitions {
  const metaTypes = createSchemas(createTypeSet());
  const schemas: Document = {};
  const prefix = dialect === "v2" ? "#/definitions/" : "#/components/schemas/";
  const reference = (name: string): Document => ({ $ref: `${prefix}${name}` });

  function markers(schema: JsonSchema): Document {
    const kept: Document = {};
    for (const [key, value] of Object.entries(schema)) {
      if (DROPPED.has(key) || (dialect === "v2" && V2_DROPPED.has(key))) continue;
      kept[key] = value;
    }
    return kept;
  }

  function intOrString(schema: JsonSchema, custom: boolean): Document {
    const kept = markers(schema);
    if (custom) return kept;
    delete kept["x-kubernetes-int-or-string"];
    if (dialect === "v2") return { ...kept, type: "string", format: "int-or-string" };
    return { ...kept, format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] };
  }

  /** A served type stands by reference, with the markers of the field beside it. */
  function typed(schema: JsonSchema, name: string): Document {
    const definition = define(name, schema);
    const { type: _, ...beside } = markers(schema);
    delete beside["x-kubernetes-map-type"];
    if (Object.keys(beside).length === 0) return reference(definition);
    return dialect === "v2" ? { ...reference(definition), ...beside } : { allOf: [reference(definition)], ...beside };
  }

  function below(schema: JsonSchema, custom: boolean): Document {
    const name = typeNameOf(schema);
    if (name !== undefined) return typed(schema, name);
    if (schema["x-kubernetes-int-or-string"] === true) return intOrString(schema, custom);
    const kept = inner(schema, custom);
    // A built-in field without a fixed shape is any object to a client.
    if (!custom && schema["x-kubernetes-preserve-unknown-fields"] === true) return { type: "object" };
    return kept;
  }

  function inner(schema: JsonSchema, custom: boolean): Document {
    const made = markers(schema);
    // On built-in kinds this is a matter of apply: to a client these are plain fields that may be absent.
    if (custom && schema.nullable === true) {
      if (dialect === "v3") made.nullable = true;
      else delete made.type;
    }
    if (schema.required) made.required = schema.required;
    if (schema.properties) {
      made.properties = Object.fromEntries(Object.entries(schema.properties).map(([key, value]) => [key, below(value, custom)]));
    }
    if (schema.items) made.items = below(schema.items, custom);
    const { additionalProperties: more } = schema;
    if (typeof more === "object") made.additionalProperties = below(more, custom);
    else if (more !== undefined) made.additionalProperties = more;
    for (const key of ["allOf", "anyOf", "oneOf"] as const) {
      const list = schema[key];
      if (list && !(dialect === "v2")) made[key] = list.map((s) => below(s, custom));
    }
    if (schema.not && dialect !== "v2") made.not = below(schema.not, custom);
    return made;
  }

  function define(typeKey: string, schema: JsonSchema): string {
    const name = builtinName(typeKey);
    if (schemas[name] === undefined) {
      schemas[name] = {}; // types may contain each other
      schemas[name] = inner({ type: "object", ...pickShape(schema) }, false);
    }
    return name;
  }

  function addMeta(type: string): string {
    return define(`${META}${type}`, metaTypes.schemaOf(`${META}${type}`));
  }

  return {
    schemas,
    addMeta,
    add(type) {
      const name = definitionName(type);
      const gvk = [{ group: type.group, kind: type.kind, version: type.version }];
      const built = type.schema ? typeNameOf(type.schema) : undefined;
      if (type.schema && built !== undefined) {
        define(built, type.schema);
        schemas[name] = { ...(schemas[name] as Document), "x-kubernetes-group-version-kind": gvk };
        return name;
      }
      const schema = type.schema ? inner(type.schema, true) : { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const metadata = reference(addMeta("ObjectMeta"));
      const properties = {
        apiVersion: { type: "string", description: `The version of the schema, ${apiVersionOfType(type)}.` },
        kind: { type: "string", description: `The kind of the object, ${type.kind}.` },
        ...(schema.properties as Document | undefined),
        metadata: dialect === "v2" ? metadata : { allOf: [metadata] },
      };
      schemas[name] = { ...schema, properties, "x-kubernetes-group-version-kind": gvk };
      return name;
    },
  };
}

/** A field's own markers are not part of the type it refers to. */
function pickShape(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  return {
    ...(properties ? { properties } : {}),
    ...(required ? { required } : {}),
    ...(schema["x-kubernetes-map-type"] === undefined ? {} : { "x-kubernetes-map-type": schema["x-kubernetes-map-type"] }),
  };
}
