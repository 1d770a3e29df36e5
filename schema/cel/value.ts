// Values of a rule: JSON as its schema types it. Here: CEL types of schemas and the conversion of values, both lazy.
// Not here: functions over them (library files), what a rule says (program.ts).
// Source: Kubernetes documentation of validation rules, type table and field escaping.
import type { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { canonical, isRecord, sameValue } from "../equal.ts";
import { listMapKeys } from "../list-type.ts";

/** How values of one schema node look to a rule. */
export interface CelType {
  /** Name in the environment, such as `string`, `list<Object3>`. */
  readonly name: string;
  readonly convert: (value: unknown) => unknown;
}

/** Where types of objects are declared; each gets its own name. */
export interface TypeScope {
  readonly environment: Environment;
  declared: number;
}

const RAW = Symbol("raw");
const SOURCE = Symbol("source");
const EQUAL = Symbol("equal");

/** What a converted list came from, for an equality that knows list types. */
interface Source {
  /** Undefined for a list that a rule made of others. */
  readonly raw: readonly unknown[] | undefined;
  readonly equal: (a: unknown, b: unknown) => boolean;
  readonly keys: readonly string[];
}

type Message = { readonly [RAW]: Readonly<Record<string, unknown>>; readonly [EQUAL]: (a: unknown, b: unknown) => boolean };
type SourcedList = readonly unknown[] & { readonly [SOURCE]?: Source };

const identity = (value: unknown): unknown => value;
const INT64_MAX = 2n ** 63n - 1n;
/** The largest numbers have lost their last digits on the way through JSON: 2^63 stands for the largest int. */
function toInt(value: unknown): unknown {
  if (typeof value !== "number" || !Number.isInteger(value)) return value;
  const whole = BigInt(value);
  return whole > INT64_MAX ? INT64_MAX : whole;
}
const toTimestamp = (value: unknown): unknown => (typeof value === "string" ? new Date(value) : value);
const toBytes = (value: unknown): unknown => (typeof value === "string" ? Uint8Array.from(atob(value), (c) => c.charCodeAt(0)) : value);
const toDuration = (value: unknown): unknown => (typeof value === "string" ? parseDuration(value) : value);
const intOrString = toInt;

/** Any JSON without a schema: whole numbers are ints. */
function toDyn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDyn);
  if (isRecord(value)) return new Map(Object.entries(value).map(([key, entry]) => [key, toDyn(entry)]));
  return toInt(value);
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const SECOND = 1_000_000_000n;

/** A Go duration such as `1h30m`. @throws Error when it is none */
export function parseDuration(text: string): Duration {
  const sign = text.startsWith("-") ? -1n : 1n;
  const body = text.replace(/^[+-]/, "");
  let nanos = 0n;
  if (body !== "0") {
    const parts = [...body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)];
    if (body === "" || parts.map((part) => part[0]).join("") !== body) throw new Error(`invalid duration ${JSON.stringify(text)}`);
    for (const [, whole = "", fraction = "", unit = ""] of parts) {
      if (whole === "" && fraction === "") throw new Error(`invalid duration ${JSON.stringify(text)}`);
      const scale = UNIT_NANOS[unit] as bigint;
      const digits = fraction.slice(0, 12).padEnd(12, "0");
      nanos += BigInt(whole === "" ? 0 : whole) * scale + (BigInt(digits) * scale) / 1_000_000_000_000n;
    }
  }
  nanos *= sign;
  return new Duration(nanos / SECOND, Number(nanos % SECOND));
}

// ---- Types

/** Type of items and entries. @returns undefined for a node that rules cannot see: without a type, or a list of such */
export function celType(schema: JsonSchema, scope: TypeScope, isResource = false): CelType | undefined {
  const type = plainType(schema, scope, isResource);
  if (!type || schema.nullable !== true) return type;
  return { name: "dyn", convert: (value) => (value === null ? null : type.convert(value)) };
}

function plainType(schema: JsonSchema, scope: TypeScope, isResource: boolean): CelType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return { name: "dyn", convert: intOrString };
  switch (schema.type) {
    case "boolean":
      return { name: "bool", convert: identity };
    case "integer":
      return { name: "int", convert: toInt };
    case "number":
      return { name: "double", convert: identity };
    case "string":
      return stringType(schema.format);
    case "array":
      return listType(schema, scope);
    case "object":
      return typeof schema.additionalProperties === "object" || schema.additionalProperties === true
        ? mapType(schema, scope)
        : messageType(schema, scope, isResource || schema["x-kubernetes-embedded-resource"] === true);
    default:
      return undefined;
  }
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case "byte":
      return { name: "bytes", convert: toBytes };
    case "date":
    case "date-time":
      return { name: "google.protobuf.Timestamp", convert: toTimestamp };
    case "duration":
      return { name: "google.protobuf.Duration", convert: toDuration };
    default:
      return { name: "string", convert: identity };
  }
}

function mapType(schema: JsonSchema, scope: TypeScope): CelType | undefined {
  const values =
    typeof schema.additionalProperties === "object" ? celType(schema.additionalProperties, scope) : { name: "dyn", convert: toDyn };
  if (!values) return undefined;
  return {
    name: `map<string, ${values.name}>`,
    convert: (value) => (isRecord(value) ? new Map(Object.entries(value).map(([key, entry]) => [key, values.convert(entry)])) : value),
  };
}

function listType(schema: JsonSchema, scope: TypeScope): CelType | undefined {
  const items = schema.items === undefined ? undefined : celType(schema.items, scope);
  if (!items) return undefined;
  const name = `list<${items.name}>`;
  if (schema["x-kubernetes-list-type"] === "set" && schema.items?.type !== "object" && schema.items?.type !== "array")
    return { name, convert: (value) => (Array.isArray(value) ? new Set(value.map(items.convert)) : value) };
  const equal = rawEquality(schema);
  const keys = listMapKeys(schema);
  return {
    name,
    convert: (value) => {
      if (!Array.isArray(value)) return value;
      return sourced(value.map(items.convert), { raw: value, equal, keys });
    },
  };
}

function sourced(list: unknown[], source: Source): SourcedList {
  return Object.defineProperty(list, SOURCE, { value: source });
}

const text: JsonSchema = { type: "string" };
const NAMES_ONLY: JsonSchema = { type: "object", properties: { name: text, generateName: text } };

/** What a schema says of metadata counts only when it names both names. */
function metadataOf({ properties }: JsonSchema): JsonSchema {
  const own = properties?.metadata;
  return own?.properties?.name && own.properties.generateName ? own : NAMES_ONLY;
}

function messageType(schema: JsonSchema, scope: TypeScope, isResource: boolean): CelType {
  const name = `Object${scope.declared++}`;
  const fields: Record<string, string> = Object.create(null);
  class Instance {
    readonly [RAW]: Readonly<Record<string, unknown>>;
    constructor(raw: Readonly<Record<string, unknown>>) {
      this[RAW] = raw;
    }
  }
  const resourceFields: Readonly<Record<string, JsonSchema>> = isResource
    ? { apiVersion: text, kind: text, metadata: metadataOf(schema) }
    : {};
  const properties: Readonly<Record<string, JsonSchema>> = { ...schema.properties, ...resourceFields };
  for (const [property, propertySchema] of Object.entries(properties)) {
    const celName = escapeName(property);
    // A field that is null counts as absent, so its type knows no null.
    const type = celName === undefined ? undefined : plainType(propertySchema, scope, false);
    if (celName === undefined || !type) continue;
    const read = {
      get(this: Instance) {
        const value = Object.hasOwn(this[RAW], property) ? this[RAW][property] : undefined;
        return value === undefined || value === null ? undefined : type.convert(value);
      },
    };
    // Most keywords may also stand as they are, since a field follows a dot.
    for (const name of KEYWORDS.has(property) ? [celName, property] : [celName]) {
      fields[name] = type.name;
      Object.defineProperty(Instance.prototype, name, read);
    }
  }
  scope.environment.registerType(name, { ctor: Instance, fields } as never);
  const equal = rawEquality(schema);
  Object.defineProperty(Instance.prototype, EQUAL, { value: equal });
  scope.environment.registerOperator(`${name} == ${name}`, (a: Message, b: Message) => equal(a[RAW], b[RAW]));
  return { name, convert: (value) => (isRecord(value) ? new Instance(value) : value) };
}

// ---- Names

const KEYWORDS = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

/** A property's name in rules; undefined when rules cannot name it. */
export function escapeName(property: string): string | undefined {
  if (KEYWORDS.has(property)) return `__${property}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property) || property === "constructor" || property === "__proto__") return undefined;
  return property.replace(
    /__|\.|-|\//g,
    (part) => ({ __: "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__" })[part] ?? part,
  );
}

// ---- Equality: of sets and keyed lists the order does not matter, at any depth

function rawEquality(schema: JsonSchema): (a: unknown, b: unknown) => boolean {
  if (!hasListTypes(schema)) return sameValue;
  const normal = normalizer(schema);
  return (a, b) => sameValue(a, b) || sameValue(normal(a), normal(b));
}

function hasListTypes(schema: JsonSchema): boolean {
  const own = schema["x-kubernetes-list-type"];
  if (own === "set" || own === "map") return true;
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  if (typeof schema.additionalProperties === "object") below.push(schema.additionalProperties);
  return below.some(hasListTypes);
}

/** Puts unordered lists in one order. */
function normalizer(schema: JsonSchema): (value: unknown) => unknown {
  const items = schema.items ? normalizer(schema.items) : identity;
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, normalizer(property)]));
  const additional = typeof schema.additionalProperties === "object" ? normalizer(schema.additionalProperties) : identity;
  const type = schema["x-kubernetes-list-type"];
  return (value) => {
    if (Array.isArray(value)) {
      const list = value.map(items);
      if (type !== "set" && type !== "map") return list;
      return list
        .map((item) => ({ item, key: canonical(item) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ item }) => item);
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, (properties.get(key) ?? additional)(entry)]));
  };
}

/** Equality of two lists of which at least one came from the object; undefined when none did. */
export function listsEqual(a: unknown, b: unknown): boolean | undefined {
  const [left, right] = [(a as SourcedList | null)?.[SOURCE], (b as SourcedList | null)?.[SOURCE]];
  if (left?.raw && right?.raw) return left.equal(left.raw, right.raw);
  const isKeyed = (left?.keys ?? []).length > 0 || (right?.keys ?? []).length > 0;
  if (!isKeyed || !Array.isArray(a) || !Array.isArray(b)) return undefined;
  return a.length === b.length && a.every((item) => b.some((other) => celEqual(item, other)));
}

/** `+` of sets and keyed lists: a union, the right side wins. Undefined for other values. */
export function listsJoined(a: unknown, b: unknown): unknown {
  if (a instanceof Set && (b instanceof Set || Array.isArray(b))) return new Set([...a, ...b]);
  const source = (a as SourcedList | null)?.[SOURCE];
  const keys = source?.keys ?? [];
  if (!source || keys.length === 0 || !Array.isArray(a) || !Array.isArray(b)) return undefined;
  const keyOf = (item: unknown): string => canonical(keys.map((key) => (item as Partial<Message>)[RAW]?.[key]));
  const merged = new Map<string, unknown>();
  for (const item of [...a, ...b]) merged.set(keyOf(item), item);
  return sourced([...merged.values()], { ...source, raw: undefined });
}

/** Equality as CEL's, of any two converted values; nothing is known of their schemas but what they carry. */
export function celEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "bigint" && typeof b === "number") return Number(a) === b;
  if (typeof a === "number" && typeof b === "bigint") return a === Number(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const known = listsEqual(a, b);
  if (known !== undefined) return known;
  if (Array.isArray(a) || a instanceof Set) return sameItems([...a], b);
  if (a instanceof Map || a.constructor === Object) return sameEntries(entriesOf(a), b);
  if (a.constructor !== b.constructor) return false;
  if (RAW in a) return (a as Message)[EQUAL]((a as Message)[RAW], (b as Message)[RAW]);
  if (a instanceof Uint8Array) return a.length === (b as Uint8Array).length && a.every((byte, i) => byte === (b as Uint8Array)[i]);
  const [left, right] = [a.valueOf(), b.valueOf()];
  return left !== a ? left === right : canonical(a) === canonical(b);
}

const entriesOf = (value: object): Map<unknown, unknown> => (value instanceof Map ? value : new Map(Object.entries(value)));

function sameItems(items: readonly unknown[], other: object): boolean {
  if (!Array.isArray(other) && !(other instanceof Set)) return false;
  const others: unknown[] = [...other];
  return items.length === others.length && items.every((item, i) => celEqual(item, others[i]));
}

function sameEntries(entries: Map<unknown, unknown>, other: object): boolean {
  if (!(other instanceof Map) && other.constructor !== Object) return false;
  const others = entriesOf(other);
  return entries.size === others.size && [...entries].every(([key, value]) => others.has(key) && celEqual(value, others.get(key)));
}
