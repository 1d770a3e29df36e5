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
 * @param like a set that the result probably equals (the last apply's): where it does, its parts are used and nothing is made
 * @throws TypedValueError on an unknown field, a wrong type, a list entry without key or one that comes twice
 */
export function ownedFields(typed: Typed, object: object, like: FieldSet = EMPTY): FieldSet {
  const below = at(typed.root, object, like.children, { path: [], elements: [], nodes: [] });
  return below === WHOLE ? LEAF : made(false, below, like);
}

/** Where the walk is, and what it found so far in all maps and lists on the way. */
interface Walk {
  readonly path: string[];
  readonly elements: string[];
  readonly nodes: FieldSet[];
}

type Children = FieldSet["children"];
const WHOLE = Symbol("owned as one");

const made = (member: boolean, children: Children, like: FieldSet | undefined): FieldSet =>
  like !== undefined && like.member === member && like.children === children ? like : node(member, children);

const unfit = (path: readonly string[], why: string): TypedValueError => new TypedValueError(`${pathText(path)}: ${why}`);
const fail = (path: readonly string[], why: string): never => {
  throw unfit(path, why);
};

const shown = (value: unknown): string => (Array.isArray(value) ? "a list" : isMap(value) ? "an object" : JSON.stringify(value));

/** @returns WHOLE for what is owned as one, else what is owned below */
function at(type: TypeNode, value: unknown, like: Children, walk: Walk): Children | typeof WHOLE {
  const actual = resolve(type, value);
  switch (actual.kind) {
    case "map":
      return ofMap(actual, value, like, walk);
    case "list":
      return ofList(actual, value, like, walk);
    case "scalar":
      if (value !== null && !fits(actual.type, value)) fail(walk.path, `expected ${WORDS[actual.type]}, got ${shown(value)}`);
      return WHOLE;
    default:
      return undefined;
  }
}

const WORDS: Readonly<Record<ScalarType, string>> = {
  string: "string",
  number: "numeric (int or float)",
  boolean: "boolean",
  any: "any scalar",
};

const fits = (type: ScalarType, value: unknown): boolean => (type === "any" ? typeof value !== "object" : type === typeof value);

function ofMap(type: MapNode, value: unknown, like: Children, walk: Walk): Children | typeof WHOLE {
  if (value === null) return undefined;
  if (!isMap(value)) return fail(walk.path, `expected map, got ${shown(value)}`);
  if (walk.path.length > DEPTH_MAX) fail([], `nested deeper than ${DEPTH_MAX} levels`);
  const start = walk.nodes.length;
  for (const key in value) if (value[key] !== undefined) noteField(type, key, value[key], like, walk);
  const children = collected(walk, start, like);
  return type.atomic ? WHOLE : children;
}

function noteField(type: MapNode, key: string, value: unknown, like: Children, walk: Walk): void {
  const field = type.fields.get(key);
  const element = field?.element ?? `f:${key}`;
  const itemType = field?.type ?? type.items;
  walk.path.push(element);
  if (itemType === undefined) throw unfit(walk.path, "field not declared in schema");
  const before = like?.get(element);
  const below = at(itemType, value, before?.children, walk);
  walk.path.pop();
  const owned = field?.owned !== false;
  if (below === WHOLE) {
    if (owned) note(walk, element, LEAF);
    return;
  }
  const member = owned && itemType.kind !== "ignored" && (field === undefined || isHollow(value));
  const child = made(member, below, before);
  if (child !== EMPTY) note(walk, element, child);
}

function note(walk: Walk, element: string, child: FieldSet): void {
  walk.elements.push(element);
  walk.nodes.push(child);
}

/** Takes what was noted from `start` on. @returns `like` itself when that is the same */
function collected({ elements, nodes }: Walk, start: number, like: Children): Children {
  const count = nodes.length - start;
  let same = count === (like?.size ?? 0);
  for (let i = start; same && i < nodes.length; i++) same = like?.get(elements[i] as string) === nodes[i];
  let children = like;
  if (!same) {
    const fresh = new Map<string, FieldSet>();
    for (let i = start; i < nodes.length; i++) fresh.set(elements[i] as string, nodes[i] as FieldSet);
    children = fresh.size === 0 ? undefined : fresh;
  }
  elements.length = start;
  nodes.length = start;
  return children;
}

const isHollow = (value: unknown): boolean => value === null || (isMap(value) && isEmptyMap(value as Fields));

function ofList(type: ListNode, value: unknown, like: Children, walk: Walk): Children | typeof WHOLE {
  if (value === null) return type.list === "atomic" ? WHOLE : undefined;
  if (!Array.isArray(value)) return fail(walk.path, `expected list, got ${shown(value)}`);
  if (type.list === "atomic") return checkedAtomic(type, value, walk);
  const start = walk.nodes.length;
  for (let i = 0; i < value.length; i++) {
    const element = elementOf(type, value[i], walk.path, i);
    walk.path.push(element);
    const before = like?.get(element);
    const below = at(type.items, value[i], before?.children, walk);
    note(walk, element, below === WHOLE ? LEAF : made(true, below, before));
    walk.path.pop();
  }
  refuseTwins(type, walk, start);
  return collected(walk, start, like);
}

function checkedAtomic(type: ListNode, value: readonly unknown[], walk: Walk): typeof WHOLE {
  for (let i = 0; i < value.length; i++) {
    walk.path.push(`i:${i}`);
    at(type.items, value[i], undefined, walk);
    walk.path.pop();
  }
  return WHOLE;
}

function refuseTwins(type: ListNode, { elements, path }: Walk, start: number): void {
  if (elements.length - start < 2) return;
  const seen = new Set<string>();
  for (let i = start; i < elements.length; i++) {
    const element = elements[i] as string;
    if (seen.has(element)) fail([...path, element], type.list === "map" ? "duplicate entries for key" : "duplicate entries of a set");
    seen.add(element);
  }
}

function elementOf(type: ListNode, item: unknown, path: readonly string[], index: number): string {
  try {
    return itemElement(type, item);
  } catch (error) {
    return fail([...path, `i:${index}`], (error as Error).message);
  }
}
