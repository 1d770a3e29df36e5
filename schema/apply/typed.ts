// What server-side apply needs to know of a schema, compiled once: which parts are owned one by one and which as a whole.
// Here: the compiled form, metadata included. Not here: walks over values (owned-fields.ts, merge.ts, compare.ts, prune.ts).
import type { JsonSchema } from "../../api/meta/schema.ts";

export type ScalarType = "string" | "number" | "boolean" | "any";

export type TypeNode =
  | { readonly kind: "scalar"; readonly type: ScalarType }
  | MapNode
  | ListNode
  /** Whatever the value is: maps field by field, lists as a whole. */
  | { readonly kind: "deduced" }
  /** Kept as it is: neither owned nor compared nor merged (managedFields). */
  | { readonly kind: "ignored" };

export interface MapNode {
  readonly kind: "map";
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, TypedField>;
  /** What fields are that are not in `fields`; undefined when there may be none. */
  readonly items: TypeNode | undefined;
}

export interface ListNode {
  readonly kind: "list";
  readonly list: "atomic" | "set" | "map";
  /** Sorted by name; of a list of type map only. */
  readonly keys: readonly ListKey[];
  readonly items: TypeNode;
}

export interface TypedField {
  /** `f:` and the name. */
  readonly element: string;
  readonly type: TypeNode;
  /** False for what nobody owns: apiVersion, kind, metadata itself, and what the server sets in it. */
  readonly owned: boolean;
}

export interface ListKey {
  readonly name: string;
  /** The text before the value in a path element: `k:{"name":` for the first key, `,"name":` for others. */
  readonly prefix: string;
  /** Stands in for an absent key. */
  readonly fallback: unknown;
}

/** One version of a kind. */
export interface Typed {
  readonly root: MapNode;
}

const scalar = (type: ScalarType): TypeNode => ({ kind: "scalar", type });
const STRING = scalar("string");
const NUMBER = scalar("number");
const BOOLEAN = scalar("boolean");
const ANY = scalar("any");
const DEDUCED: TypeNode = { kind: "deduced" };
const NO_FIELDS: ReadonlyMap<string, TypedField> = new Map();
const DEDUCED_MAP: MapNode = { kind: "map", atomic: false, fields: NO_FIELDS, items: DEDUCED };
const DEDUCED_LIST: ListNode = { kind: "list", list: "atomic", keys: [], items: DEDUCED };

/** What a value of a deduced type is; other types are what they say. */
export function resolve(type: TypeNode, value: unknown): TypeNode {
  if (type.kind !== "deduced") return type;
  if (Array.isArray(value)) return DEDUCED_LIST;
  return typeof value === "object" ? DEDUCED_MAP : ANY;
}

const field = (name: string, type: TypeNode, owned = true): [string, TypedField] => [name, { element: `f:${name}`, type, owned }];

const mapOf = (items: TypeNode): MapNode => ({ kind: "map", atomic: false, fields: NO_FIELDS, items });
const struct = (fields: Iterable<readonly [string, TypedField]>, atomic = false): MapNode => ({
  kind: "map",
  atomic,
  fields: new Map(fields),
  items: undefined,
});

const OWNER_REFERENCE = struct(
  [
    field("apiVersion", STRING),
    field("blockOwnerDeletion", BOOLEAN),
    field("controller", BOOLEAN),
    field("kind", STRING),
    field("name", STRING),
    field("uid", STRING),
  ],
  true,
);

const OBJECT_META = struct([
  field("annotations", mapOf(STRING)),
  field("creationTimestamp", STRING, false),
  field("deletionGracePeriodSeconds", NUMBER),
  field("deletionTimestamp", STRING),
  field("finalizers", { kind: "list", list: "set", keys: [], items: STRING }),
  field("generateName", STRING),
  field("generation", NUMBER, false),
  field("labels", mapOf(STRING)),
  field("managedFields", { kind: "ignored" }),
  field("name", STRING, false),
  field("namespace", STRING, false),
  field("ownerReferences", {
    kind: "list",
    list: "map",
    keys: [{ name: "uid", prefix: 'k:{"uid":', fallback: undefined }],
    items: OWNER_REFERENCE,
  }),
  field("resourceVersion", STRING, false),
  field("selfLink", STRING, false),
  field("uid", STRING, false),
]);

/**
 * @param schema of a whole object; what it says of apiVersion, kind and metadata is not asked
 * Never throws: parts that make no sense are deduced from the values.
 */
export function compileTyped(schema: JsonSchema): Typed {
  const compiled = compileNode(schema, false);
  const root = compiled.kind === "map" ? compiled : DEDUCED_MAP;
  return { root: { ...root, atomic: false, fields: withResourceFields(root.fields, false) } };
}

function withResourceFields(fields: ReadonlyMap<string, TypedField>, owned: boolean): ReadonlyMap<string, TypedField> {
  return new Map([...fields, field("apiVersion", STRING, owned), field("kind", STRING, owned), field("metadata", OBJECT_META, owned)]);
}

/** @param free an object above said x-kubernetes-preserve-unknown-fields, which holds for all below it */
function compileNode(schema: JsonSchema, free: boolean): TypeNode {
  const preserve = free || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema["x-kubernetes-int-or-string"] === true) return ANY;
  switch (schema.type) {
    case "object":
      return compileMap(schema, preserve);
    case "array":
      return compileList(schema, preserve);
    case "string":
      return STRING;
    case "integer":
    case "number":
      return NUMBER;
    case "boolean":
      return BOOLEAN;
    default:
      return schema.properties === undefined ? DEDUCED : compileMap(schema, preserve);
  }
}

function compileMap(schema: JsonSchema, preserve: boolean): MapNode {
  const properties = Object.entries(schema.properties ?? {});
  const own = new Map(properties.map(([name, below]) => field(name, compileNode(below, preserve))));
  return {
    kind: "map",
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    fields: schema["x-kubernetes-embedded-resource"] === true ? withResourceFields(own, true) : own,
    items: itemsOf(schema, preserve, properties.length === 0),
  };
}

function itemsOf(schema: JsonSchema, preserve: boolean, bare: boolean): TypeNode | undefined {
  const additional = schema.additionalProperties;
  if (typeof additional === "object") return compileNode(additional, preserve);
  if (additional === true) return DEDUCED;
  // An object that says nothing about its fields is free-form.
  return preserve || (bare && additional === undefined) ? DEDUCED : undefined;
}

function compileList(schema: JsonSchema, preserve: boolean): ListNode {
  const items = schema.items === undefined ? DEDUCED : compileNode(schema.items, preserve);
  const names = mapKeysOf(schema);
  const list = listTypeOf(schema);
  if (list !== "map" || names.length === 0) return { kind: "list", list: list === "map" ? "set" : list, keys: [], items };
  const keys = [...names].sort().map((name, i) => ({
    name,
    prefix: `${i === 0 ? "k:{" : ","}${JSON.stringify(name)}:`,
    fallback: schema.items?.properties?.[name]?.default,
  }));
  return { kind: "list", list, keys, items };
}

// Built-in kinds that only carry strategic merge markers merge here as they do there.
function listTypeOf(schema: JsonSchema): ListNode["list"] {
  const declared = schema["x-kubernetes-list-type"];
  if (declared !== undefined) return declared;
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy === undefined || !strategy.split(",").includes("merge")) return "atomic";
  return schema["x-kubernetes-patch-merge-key"] === undefined ? "set" : "map";
}

function mapKeysOf(schema: JsonSchema): readonly string[] {
  const mergeKey = schema["x-kubernetes-patch-merge-key"];
  return schema["x-kubernetes-list-map-keys"] ?? (mergeKey === undefined ? [] : [mergeKey]);
}
