// What differs between two objects, as sets of fields. Here: the comparison. Not here: whose fields those are (managers.ts).
import { EMPTY, type FieldSet, LEAF, node, recursiveDifference } from "./field-set.ts";
import { type Fields, isEmptyMap, isMap, own, sameJson } from "../json-values.ts";
import { itemElement } from "./path-element.ts";
import { type ListNode, type MapNode, resolve, type Typed, type TypeNode } from "./typed.ts";

/** Parts that appeared or went are named with all that is in them. The order of lists of type set and map does not count. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };
const MODIFIED: Comparison = { added: EMPTY, modified: LEAF, removed: EMPTY };

/** Parts that are the same reference on both sides cost nothing. @throws TypedValueError on list entries without their keys */
export function compare(typed: Typed, before: object, after: object): Comparison {
  return compareMap(typed.root, before, after);
}

/** Without these fields and all below them. */
export function exclude(c: Comparison, fields: FieldSet | undefined): Comparison {
  if (fields === undefined || c === SAME) return c;
  return {
    added: recursiveDifference(c.added, fields),
    modified: recursiveDifference(c.modified, fields),
    removed: recursiveDifference(c.removed, fields),
  };
}

function compareValue(type: TypeNode, before: unknown, after: unknown): Comparison {
  if (before === after || type.kind === "ignored") return SAME;
  if (before === undefined) return { added: everything(type, after), modified: EMPTY, removed: EMPTY };
  if (after === undefined) return { added: EMPTY, modified: EMPTY, removed: everything(type, before) };
  const was = resolve(type, before ?? after);
  const is = resolve(type, after ?? before);
  if (was.kind !== is.kind) return reshaped(was, is, before, after);
  if (is.kind === "map") return compareMap(is, before, after);
  if (is.kind === "list") return compareList(is, before, after);
  return leaf(before, after);
}

const leaf = (before: unknown, after: unknown): Comparison => (sameJson(before, after) ? SAME : MODIFIED);

// A map that became a list or a scalar, or the other way round.
function reshaped(was: TypeNode, is: TypeNode, before: unknown, after: unknown): Comparison {
  return {
    added: is.kind === "map" ? node(false, everything(is, after).children) : EMPTY,
    modified: LEAF,
    removed: was.kind === "map" ? node(false, everything(was, before).children) : EMPTY,
  };
}

interface Draft {
  added: Map<string, FieldSet> | undefined;
  modified: Map<string, FieldSet> | undefined;
  removed: Map<string, FieldSet> | undefined;
}

function note(draft: Draft | undefined, element: string, part: Comparison): Draft | undefined {
  if (part === SAME) return draft;
  const into = draft ?? { added: undefined, modified: undefined, removed: undefined };
  if (part.added !== EMPTY) into.added = (into.added ?? new Map()).set(element, part.added);
  if (part.modified !== EMPTY) into.modified = (into.modified ?? new Map()).set(element, part.modified);
  if (part.removed !== EMPTY) into.removed = (into.removed ?? new Map()).set(element, part.removed);
  return into;
}

const finish = (draft: Draft | undefined): Comparison =>
  draft === undefined
    ? SAME
    : { added: node(false, draft.added), modified: node(false, draft.modified), removed: node(false, draft.removed) };

function compareMap(type: MapNode, before: unknown, after: unknown): Comparison {
  const left = isMap(before) ? before : {};
  const right = isMap(after) ? after : {};
  if (type.atomic || (isEmptyMap(left) && isEmptyMap(right))) return leaf(before, after);
  let draft: Draft | undefined;
  for (const key in left) draft = noteField(draft, type, key, left[key], own(right, key));
  for (const key in right) if (own(left, key) === undefined) draft = noteField(draft, type, key, undefined, right[key]);
  return finish(draft);
}

function noteField(draft: Draft | undefined, type: MapNode, key: string, before: unknown, after: unknown): Draft | undefined {
  if (before === after) return draft;
  const field = type.fields.get(key);
  const itemType = field?.type ?? type.items;
  if (itemType === undefined) return draft;
  const part = compareValue(itemType, before, after);
  return note(draft, field?.element ?? `f:${key}`, field?.owned === false ? withoutItself(part) : part);
}

function withoutItself(part: Comparison): Comparison {
  if (!part.added.member && !part.modified.member && !part.removed.member) return part;
  const below = (set: FieldSet): FieldSet => node(false, set.children);
  const left = { added: below(part.added), modified: below(part.modified), removed: below(part.removed) };
  return left.added === EMPTY && left.modified === EMPTY && left.removed === EMPTY ? SAME : left;
}

function compareList(type: ListNode, before: unknown, after: unknown): Comparison {
  const left = Array.isArray(before) ? before : [];
  const right = Array.isArray(after) ? after : [];
  if (type.list === "atomic" || (left.length === 0 && right.length === 0)) return leaf(before, after);
  const was = byElement(type, left);
  const is = byElement(type, right);
  let draft: Draft | undefined;
  for (const [element, items] of was) draft = note(draft, element, compareItems(type.items, items, is.get(element)));
  for (const [element, items] of is) if (!was.has(element)) draft = note(draft, element, compareItems(type.items, undefined, items));
  return finish(draft);
}

function byElement(type: ListNode, list: readonly unknown[]): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(type, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}

// Stored lists may hold an element twice: then it counts as a whole, and is another thing than one that is there once.
function compareItems(type: TypeNode, before: readonly unknown[] = [], after: readonly unknown[] = []): Comparison {
  if (before.length < 2 && after.length < 2) return compareValue(type, before[0], after[0]);
  if (before.length > 1 && after.length > 1) return leaf(before, after);
  return { added: itemsOf(type, after), modified: EMPTY, removed: itemsOf(type, before) };
}

const itemsOf = (type: TypeNode, items: readonly unknown[]): FieldSet =>
  items.length === 0 ? EMPTY : items.length > 1 ? LEAF : everything(type, items[0]);

/** Each field there is in the value, itself included. */
function everything(type: TypeNode, value: unknown): FieldSet {
  const actual = resolve(type, value);
  if (actual.kind === "ignored") return EMPTY;
  if (actual.kind === "map" && !actual.atomic && isMap(value)) return node(true, fieldsIn(actual, value));
  if (actual.kind === "list" && actual.list !== "atomic" && Array.isArray(value)) {
    const children = new Map<string, FieldSet>();
    for (const [element, items] of byElement(actual, value)) children.set(element, itemsOf(actual.items, items));
    return node(true, children);
  }
  return LEAF;
}

function fieldsIn(type: MapNode, value: Fields): Map<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const key in value) {
    const field = type.fields.get(key);
    const itemType = field?.type ?? type.items;
    if (itemType === undefined || value[key] === undefined) continue;
    const below = everything(itemType, value[key]);
    const child = field?.owned === false ? node(false, below.children) : below;
    if (child !== EMPTY) children.set(field?.element ?? `f:${key}`, child);
  }
  return children;
}
