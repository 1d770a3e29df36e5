// Decoding of built-in kinds: from any JSON object to the form in which the typed server holds and writes it.
// Here: types, unknown fields, nulls and zero values, canonical times and quantities; one closure per type. Not here: defaults (defaults.ts).
import { microTimestamp, parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { badRequest } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import { canonicalQuantity } from "./quantity.ts";
import type { Field, FieldType, ScalarCode, TypeSet } from "./types.ts";

interface Walk {
  readonly path: (string | number)[];
  readonly unknown: string[];
}

/** @returns the same value when it is in its final form already */
type Decoder = (value: unknown, walk: Walk) => unknown;

/** Sets what the kind's defaults say on one struct. @returns the same struct when nothing was missing */
export type StructDefaults = (typeKey: string) => ((value: Record<string, unknown>) => Record<string, unknown>) | undefined;

const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>((text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`), "");

const jsonKind = (value: unknown): string => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);

function wrongType(value: unknown, walk: Walk, wanted: string): never {
  throw badRequest(`json: cannot unmarshal ${jsonKind(value)} into field ${pathText(walk.path)} of type ${wanted}`);
}

const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const MICROS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function time(value: unknown, walk: Walk, canonical: RegExp, write: (ms: number) => string): string {
  if (typeof value !== "string") return wrongType(value, walk, "time");
  if (canonical.test(value) && !Number.isNaN(parseTimestamp(value))) return value;
  const ms = RFC3339.test(value) ? parseTimestamp(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw badRequest(`parsing time ${JSON.stringify(value)} of ${pathText(walk.path)}: write it as 2006-01-02T15:04:05Z`);
  if (write === timestamp) return timestamp(ms);
  const micros = (/\.(\d+)/.exec(value)?.[1] ?? "").padEnd(6, "0").slice(0, 6);
  return `${microTimestamp(ms).slice(0, 19)}.${micros}Z`;
}

const integer =
  (bits: 32 | 64): Decoder =>
  (value, walk) => {
    const limit = 2 ** (bits - 1);
    if (typeof value !== "number" || !Number.isInteger(value) || value < -limit || value > limit)
      return wrongType(value, walk, `int${bits}`);
    return value;
  };

const SCALARS: Readonly<Record<ScalarCode, Decoder>> = {
  s: (value, walk) => (typeof value === "string" ? value : wrongType(value, walk, "string")),
  b: (value, walk) => (typeof value === "boolean" ? value : wrongType(value, walk, "bool")),
  i: integer(32),
  l: integer(64),
  d: (value, walk) => (typeof value === "number" ? value : wrongType(value, walk, "float64")),
  t: (value, walk) => time(value, walk, SECONDS, timestamp),
  m: (value, walk) => time(value, walk, MICROS, microTimestamp),
  y: (value, walk) => {
    if (typeof value !== "string") return wrongType(value, walk, "[]byte");
    const text = value.includes("\n") || value.includes("\r") ? value.replace(/[\r\n]/g, "") : value;
    if (!BASE64.test(text)) throw badRequest(`illegal base64 data in ${pathText(walk.path)}`);
    return text;
  },
  k: (value, walk) => (typeof value === "string" ? value : (integer(32)(value, walk) as number)),
  q: (value, walk) => {
    if (typeof value !== "string" && typeof value !== "number") return wrongType(value, walk, "quantity");
    const text = canonicalQuantity(value);
    if (text === undefined)
      throw badRequest(
        `${pathText(walk.path)}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
      );
    return text;
  },
  o: (value) => value,
};

const SCALAR_ZERO: Readonly<Record<ScalarCode, unknown>> = {
  s: "",
  b: false,
  i: 0,
  l: 0,
  d: 0,
  t: null,
  m: null,
  y: null,
  k: 0,
  q: "0",
  o: null,
};

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (typeof value !== "object" || value === null) return value === null;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** Stands for a field that is left out. */
const DROPPED = Symbol("left out");

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export interface TypedDecoder {
  /** @throws ApiError 400 for a value of a wrong type */
  decode(typeKey: string, object: object): { readonly object: ApiObject; readonly unknown: readonly string[] };
}

export function createDecoder(types: TypeSet, defaults: StructDefaults = () => undefined): TypedDecoder {
  const structs = new Map<string, Decoder>();

  const list =
    (item: Decoder, zero: () => unknown): Decoder =>
    (value, walk) => {
      if (!Array.isArray(value)) return wrongType(value, walk, "slice");
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length; i++) {
        walk.path.push(i);
        const before: unknown = value[i];
        const after = before === null ? zero() : item(before, walk);
        walk.path.pop();
        if (after !== before) {
          copy ??= [...value];
          copy[i] = after;
        }
      }
      return copy ?? value;
    };

  const map =
    (item: Decoder, zero: () => unknown): Decoder =>
    (value, walk) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return wrongType(value, walk, "map");
      let copy: Record<string, unknown> | undefined;
      for (const [key, before] of Object.entries(value)) {
        if (key === "__proto__") continue; // would set the prototype of a copy
        walk.path.push(key);
        const after = before === null ? zero() : item(before, walk);
        walk.path.pop();
        if (after !== before) {
          copy ??= { ...value };
          copy[key] = after;
        }
      }
      return copy ?? value;
    };

  function zeroOf(type: FieldType): unknown {
    if (type.is === "scalar") return SCALAR_ZERO[type.code];
    if (type.is !== "type") return null;
    return struct(type.key)({}, { path: [], unknown: [] });
  }

  function decoderOf(type: FieldType): Decoder {
    if (type.is === "scalar") return SCALARS[type.code];
    if (type.is === "type") {
      let inner: Decoder | undefined;
      const plain: Decoder = (value, walk) => {
        inner ??= struct(type.key);
        return inner(value, walk);
      };
      if (!type.loose) return plain;
      const each = list(plain, () => null);
      return (value, walk) => (Array.isArray(value) ? each(value, walk) : typeof value === "object" ? plain(value, walk) : value);
    }
    const item = decoderOf(type.of);
    return type.is === "list" ? list(item, () => zeroOf(type.of)) : map(item, () => zeroOf(type.of));
  }

  function struct(key: string): Decoder {
    const known = structs.get(key);
    if (known) return known;
    const made = makeStruct(key);
    structs.set(key, made);
    return made;
  }

  function makeStruct(key: string): Decoder {
    const type = types.get(key);
    const fields = new Map([...type.fields].map(([name, field]) => [name, { field, decode: decoderOf(field.type) }]));
    const always = [...type.fields.values()].filter((f) => f.presence === "always" || f.presence === "null");
    const fill = defaults(key);
    const zero = (field: Field): unknown => (field.presence === "null" ? null : zeroOf(field.type));

    /** @returns the value as the typed server holds it, or DROPPED */
    function decodeField(name: string, value: unknown, walk: Walk): unknown {
      if (value === undefined) return DROPPED;
      const known = fields.get(name);
      if (!known) {
        walk.unknown.push(pathText(walk.path));
        return DROPPED;
      }
      const { presence } = known.field;
      if (value === null) return presence === "always" || presence === "null" ? zero(known.field) : DROPPED;
      const decoded = known.decode(value, walk);
      return presence === "nonzero" && isZero(decoded) ? DROPPED : decoded;
    }

    return (value, walk) => {
      if (!isRecord(value)) return wrongType(value, walk, key.slice(key.indexOf(".") + 1));
      let copy: Record<string, unknown> | undefined;
      for (const name of Object.keys(value)) {
        walk.path.push(name);
        const decoded = decodeField(name, value[name], walk);
        walk.path.pop();
        if (decoded === value[name]) continue;
        copy ??= { ...value };
        if (decoded === DROPPED) delete copy[name];
        else copy[name] = decoded;
      }
      for (const field of always) {
        if (value[field.name] !== undefined) continue;
        copy ??= { ...value };
        copy[field.name] = zero(field);
      }
      return fill ? fill(copy ?? value) : (copy ?? value);
    };
  }

  return {
    decode(typeKey, object) {
      const walk: Walk = { path: [], unknown: [] };
      return { object: struct(typeKey)(object, walk) as ApiObject, unknown: walk.unknown };
    },
  };
}
