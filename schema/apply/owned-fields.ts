// The fields that an applied object claims, and whether it fits its schema at all.
// Here: one walk that does both. Not here: comparing two objects (compare.ts).
import { EMPTY, type FieldSet, LEAF, node } from "./field-set.ts";
import { type Fields, isEmptyMap, isMap } from "../json-values.ts";
import { itemElement, pathText } from "./path-element.ts";
import { type ListNode, type MapNode, resolve, type ScalarType, type Typed, type TypeNode } from "./typed.ts";
import { TypedValueError } from "./types.ts";

/** Deeper than any real object; keeps a hostile one from using up the stack. */
const DEPTH_MAX = 500;

/**
 * Leaves, empty maps, nulls, entries of free maps and of lists of type set or map; never apiVersion, kind or what the server sets in metadata.
 * @throws TypedValueError on an unknown field, a wrong type, a list entry without key or one that comes twice
 */
export function ownedFields(typed: Typed, object: object): FieldSet {
  return at(typed.root, object, []);
}

const fail = (path: readonly string[], why: string): never => {
  throw new TypedValueError(`${pathText(path)}: ${why}`);
};

const shown = (value: unknown): string => (Array.isArray(value) ? "a list" : isMap(value) ? "an object" : JSON.stringify(value));

function at(type: TypeNode, value: unknown, path: string[]): FieldSet {
  const actual = resolve(type, value);
  switch (actual.kind) {
    case "map":
      return ofMap(actual, value, path);
    case "list":
      return ofList(actual, value, path);
    case "scalar":
      if (value !== null && !fits(actual.type, value)) fail(path, `expected ${WORDS[actual.type]}, got ${shown(value)}`);
      return LEAF;
    default:
      return EMPTY;
  }
}

const WORDS: Readonly<Record<ScalarType, string>> = {
  string: "string",
  number: "numeric (int or float)",
  boolean: "boolean",
  any: "any scalar",
};

const fits = (type: ScalarType, value: unknown): boolean => (type === "any" ? typeof value !== "object" : type === typeof value);

function ofMap(type: MapNode, value: unknown, path: string[]): FieldSet {
  if (value === null) return EMPTY;
  if (!isMap(value)) return fail(path, `expected map, got ${shown(value)}`);
  if (path.length > DEPTH_MAX) fail([], `nested deeper than ${DEPTH_MAX} levels`);
  let children: Map<string, FieldSet> | undefined;
  for (const key in value) {
    const below = value[key];
    if (below === undefined) continue;
    const field = type.fields.get(key);
    const element = field?.element ?? `f:${key}`;
    const itemType = field?.type ?? type.items;
    path.push(element);
    if (itemType === undefined) return fail(path, "field not declared in schema");
    let child = at(itemType, below, path);
    path.pop();
    if (field?.owned === false) child = node(false, child.children);
    else if (itemType.kind !== "ignored" && (field === undefined || isHollow(below))) child = node(true, child.children);
    if (child === EMPTY) continue;
    children ??= new Map();
    children.set(element, child);
  }
  return type.atomic ? LEAF : node(false, children);
}

const isHollow = (value: unknown): boolean => value === null || (isMap(value) && isEmptyMap(value as Fields));

function ofList(type: ListNode, value: unknown, path: string[]): FieldSet {
  if (value === null) return type.list === "atomic" ? LEAF : EMPTY;
  if (!Array.isArray(value)) return fail(path, `expected list, got ${shown(value)}`);
  if (type.list === "atomic") {
    for (let i = 0; i < value.length; i++) {
      path.push(`i:${i}`);
      at(type.items, value[i], path);
      path.pop();
    }
    return LEAF;
  }
  const children = new Map<string, FieldSet>();
  for (let i = 0; i < value.length; i++) {
    const element = elementOf(type, value[i], path, i);
    path.push(element);
    if (children.has(element)) fail(path, type.list === "map" ? "duplicate entries for key" : "duplicate entries of a set");
    children.set(element, node(true, at(type.items, value[i], path).children));
    path.pop();
  }
  return node(false, children);
}

function elementOf(type: ListNode, item: unknown, path: readonly string[], index: number): string {
  try {
    return itemElement(type, item);
  } catch (error) {
    return fail([...path, `i:${index}`], (error as Error).message);
  }
}
