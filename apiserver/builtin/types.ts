// The served types of built-in kinds: fields, presence, list facts. Here: reading the tables, one type at a time when first asked for.
// Not here: the tables (fields.data.ts, facts.ts), what is made of them (decode.ts, schema.ts).
import { invariant } from "../../runtime/base/invariant.ts";
import { ATOMIC, LISTS, LOOSE, PRESENCE, QUANTITIES } from "./facts.ts";
import { FIELDS } from "./fields.data.ts";

/** `q` is a quantity, `y` bytes, `k` int or string, `o` anything; the rest as in fields.data.ts. */
export type ScalarCode = "s" | "b" | "i" | "l" | "d" | "t" | "m" | "y" | "k" | "q" | "o";

export type FieldType =
  | { readonly is: "scalar"; readonly code: ScalarCode }
  | { readonly is: "list"; readonly of: FieldType }
  | { readonly is: "map"; readonly of: FieldType }
  /** `loose`: an object of the type, a list of such, or any other JSON value. */
  | { readonly is: "type"; readonly key: string; readonly loose: boolean };

/** always: written with its zero value when unset; null: written as null when unset; given: as given; nonzero: left out when zero. */
type Presence = "always" | "null" | "given" | "nonzero";

interface ListFacts {
  readonly listType: "map" | "set" | "atomic";
  readonly mapKeys: readonly string[];
  readonly patchStrategy?: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
  readonly patchMergeKey?: string;
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly presence: Presence;
  readonly required: boolean;
  readonly list?: ListFacts;
}

export interface TypeDef {
  /** e.g. `core.PodSpec` */
  readonly key: string;
  /** Apply treats it as one value. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
}

type Table = ReadonlyMap<string, string>;

const linesOf = (text: string): Table => {
  const table = new Map<string, string>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    if (space > 0) table.set(line.slice(0, space), line.slice(space + 1));
  }
  return table;
};

const MARKS: Readonly<Record<string, Presence>> = { "!": "always", "?": "given", "~": "nonzero", "#": "null" };

const typeKey = (name: string, group: string): string => (name.includes(".") ? name : `${group}.${name}`);

function parseType(code: string, group: string, quantity: boolean, loose: boolean): FieldType {
  const first = code[0];
  if (first === "[" || first === "{") {
    const of = parseType(code.slice(1), group, quantity, loose);
    return first === "[" ? { is: "list", of } : { is: "map", of };
  }
  if (first === "@") return { is: "type", key: typeKey(code.slice(1), group), loose: false };
  if (loose) return { is: "type", key: `${group}.JSONSchemaProps`, loose: true };
  return { is: "scalar", code: quantity ? "q" : (code as ScalarCode) };
}

function presenceOf(type: FieldType, required: boolean): Presence {
  if (required) return "always";
  const struct = type.is === "type" || (type.is === "scalar" && "tmko".includes(type.code));
  return struct ? "given" : "nonzero";
}

function listFacts(fact: string): ListFacts {
  const [kind = "", patch] = fact.split("+");
  const keys = kind.replace(/-$/, "");
  const listType = keys === "set" ? "set" : keys === "atomic" || keys === "" ? "atomic" : "map";
  const mapKeys = listType === "map" ? keys.split(",") : [];
  const [strategy, mergeKey = mapKeys[0]] =
    patch === undefined ? [listType === "map" && !kind.endsWith("-") ? "merge" : undefined] : patch.split("/");
  return {
    listType,
    mapKeys,
    ...(strategy === undefined ? {} : { patchStrategy: strategy as ListFacts["patchStrategy"] }),
    ...(strategy === undefined || mergeKey === undefined ? {} : { patchMergeKey: mergeKey }),
  };
}

const pairs = (line: string | undefined): ReadonlyMap<string, string> =>
  new Map((line ?? "").split(" ").flatMap((pair) => (pair.includes("=") ? [pair.split("=", 2) as [string, string]] : [])));

const marks = (line: string | undefined): ReadonlyMap<string, Presence> =>
  new Map((line ?? "").split(" ").flatMap((word) => (word === "" ? [] : [[word.slice(0, -1), MARKS[word.at(-1) ?? ""] ?? "given"]])));

/** One set of served types; each type is parsed when it is first asked for. */
export interface TypeSet {
  /** @throws InvariantError for a name that the tables lack */
  get(key: string): TypeDef;
  keys(): readonly string[];
}

export function createTypeSet(): TypeSet {
  const fieldLines = linesOf(FIELDS);
  const presence = linesOf(PRESENCE);
  const lists = linesOf(LISTS);
  const quantities = linesOf(QUANTITIES);
  const loose = linesOf(LOOSE);
  const atomic = new Set(ATOMIC.split(/\s+/));
  const parsed = new Map<string, TypeDef>();

  function parse(key: string): TypeDef {
    const line = fieldLines.get(key);
    invariant(line !== undefined, `built-in type ${key} is in the field table`);
    const group = key.slice(0, key.indexOf("."));
    const given = marks(presence.get(key));
    const listed = pairs(lists.get(key));
    const quantity = new Set((quantities.get(key) ?? "").split(" "));
    const anyShape = new Set((loose.get(key) ?? "").split(" "));
    const fields = new Map<string, Field>();
    for (const word of line.split(" ")) {
      const colon = word.indexOf(":");
      if (colon < 0) continue;
      const name = word.slice(0, colon);
      const required = word.endsWith("!");
      const code = word.slice(colon + 1, required ? -1 : undefined);
      const type = parseType(code, group, quantity.has(name), anyShape.has(name));
      const fact = listed.get(name);
      const isRoot = name === "metadata" && fieldLines.get(key)?.includes("apiVersion:s");
      fields.set(name, {
        name,
        type,
        required,
        presence: given.get(name) ?? (isRoot ? "always" : presenceOf(type, required)),
        ...(fact === undefined ? {} : { list: listFacts(fact) }),
      });
    }
    return { key, atomic: atomic.has(key), fields };
  }

  return {
    get(key) {
      let type = parsed.get(key);
      if (!type) {
        type = parse(key);
        parsed.set(key, type);
      }
      return type;
    },
    keys: () => [...fieldLines.keys()],
  };
}
