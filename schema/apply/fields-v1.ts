// FieldsV1, the wire form of a set of fields. Here: reading and writing it, both remembered by object. Not here: entries (managers.ts).
import type { JsonObject } from "../../api/meta/object.ts";
import { EMPTY, type FieldSet, LEAF, node } from "./field-set.ts";
import { isMap } from "../json-values.ts";
import { canonicalElement, compareElements } from "./path-element.ts";

// Stored objects are never changed, so what was read from one stays true as long as it lives.
const parsed = new WeakMap<object, FieldSet>();
const written = new WeakMap<FieldSet, JsonObject>();

/** Deeper than any real object; keeps a hostile one from using up the stack. */
const DEPTH_MAX = 500;

/** @returns undefined when it is no FieldsV1. Unknown kinds of path elements are passed over, as upstream does. */
export function parseFieldsV1(fields: unknown): FieldSet | undefined {
  if (!isMap(fields)) return undefined;
  const known = parsed.get(fields);
  if (known !== undefined) return known;
  const set = parseNode(fields, false, 0);
  if (set !== undefined && Object.isFrozen(fields)) parsed.set(fields, set);
  return set;
}

function parseNode(fields: unknown, member: boolean, depth: number): FieldSet | undefined {
  if (!isMap(fields) || depth > DEPTH_MAX) return undefined;
  let children: Map<string, FieldSet> | undefined;
  let isMember = member;
  for (const key in fields) {
    if (key === ".") {
      isMember = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element === undefined) continue;
    if (typeof element !== "string") return undefined;
    const below = fields[key];
    // An empty object is a member; one with content is a member only when it says so with a dot.
    const child = isMap(below) ? parseNode(below, Object.keys(below).length === 0, depth + 1) : undefined;
    if (child === undefined) return undefined;
    children ??= new Map();
    children.set(element, child);
  }
  return node(isMember, children);
}

/** Keys come in Kubernetes' order. The same set gives the same object, deeply frozen. */
export function fieldsV1(set: FieldSet): JsonObject {
  if (set === LEAF || set === EMPTY) return NOTHING_BELOW;
  const known = written.get(set);
  if (known !== undefined) return known;
  const fields: Record<string, JsonObject> = {};
  if (set.member && set.children !== undefined) fields["."] = NOTHING_BELOW;
  for (const element of sortedElements(set.children)) fields[element] = fieldsV1(set.children?.get(element) ?? EMPTY);
  Object.freeze(fields);
  written.set(set, fields);
  if (!set.member) parsed.set(fields, set);
  return fields;
}

const NOTHING_BELOW: JsonObject = Object.freeze({});

function sortedElements(children: FieldSet["children"]): readonly string[] {
  if (children === undefined) return [];
  const elements = [...children.keys()];
  return elements.length < 2 ? elements : elements.sort(compareElements);
}
