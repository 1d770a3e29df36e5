// Takes out of a merged object what its applier no longer applies and nobody else owns. Here: values only. Not here: when (apply.ts).
import type { FieldSet } from "./field-set.ts";
import { type Fields, isEmptyMap, isMap, own, put } from "../json-values.ts";
import { itemElement } from "./path-element.ts";
import { type ListNode, type MapNode, resolve, type Typed, type TypeNode } from "./typed.ts";

/**
 * @param last what the applier owned before @param owned what all managers own now, the applier included
 * @returns `merged` itself when nothing goes. A map or list that loses all it had, and is itself still owned, becomes null, as upstream
 * does; validation then refuses it where null is not allowed.
 */
export function prune(typed: Typed, merged: object, last: FieldSet, owned: FieldSet): object {
  const pruned = pruneMap(typed.root, merged as Fields, last, owned);
  return (pruned ?? {}) as object;
}

function pruneValue(type: TypeNode, value: unknown, last: FieldSet, owned: FieldSet | undefined): unknown {
  const actual = resolve(type, value);
  if (actual.kind === "map" && !actual.atomic && isMap(value)) return pruneMap(actual, value, last, owned);
  if (actual.kind === "list" && actual.list !== "atomic" && Array.isArray(value)) return pruneList(actual, value, last, owned);
  return value;
}

/** Whether the node stands for the field itself: named fields of a schema do as soon as something below them is in the set. */
const covers = (set: FieldSet | undefined, named: boolean): boolean =>
  set !== undefined && (set.member || (named && set.children !== undefined));

function pruneMap(type: MapNode, value: Fields, last: FieldSet, owned: FieldSet | undefined): unknown {
  let changed: Record<string, unknown> | undefined;
  for (const [element, before] of last.children ?? []) {
    if (!element.startsWith("f:")) continue;
    const key = element.slice(2);
    const item = own(value, key);
    if (item === undefined) continue;
    const field = type.fields.get(key);
    const now = owned?.children?.get(element);
    // metadata and what the server sets in it is nobody's, and stays.
    const isServers = field?.owned === false;
    const goes =
      field === undefined ? !covers(now, false) : isNameable(field.type, item) && (!covers(now, true) || vanishes(field.type, item, now));
    if (!isServers && covers(before, field !== undefined) && goes) {
      changed ??= { ...value };
      delete changed[key];
      continue;
    }
    const itemType = field?.type ?? type.items;
    if (before.children === undefined || itemType === undefined) continue;
    const left = pruneValue(itemType, item, before, now);
    if (left === item) continue;
    changed ??= { ...value };
    put(changed, key, left);
  }
  if (changed === undefined) return value;
  return isEmptyMap(changed) ? null : changed;
}

function pruneList(type: ListNode, value: readonly unknown[], last: FieldSet, owned: FieldSet | undefined): unknown {
  let changed = false;
  const left: unknown[] = [];
  for (const item of value) {
    const element = itemElement(type, item);
    const before = last.children?.get(element);
    const now = owned?.children?.get(element);
    if (before?.member && !now?.member) {
      changed = true;
      continue;
    }
    const kept = before?.children === undefined ? item : pruneValue(type.items, item, before, now);
    if (kept !== item) changed = true;
    left.push(kept);
  }
  if (!changed) return value;
  return left.length === 0 ? null : left;
}

/**
 * A map that keeps nothing an owner could name, only lists that are empty, counts as gone although somebody owns the map: upstream tells
 * what is left from the fields that it can name.
 */
const vanishes = (type: TypeNode, value: unknown, owned: FieldSet | undefined): boolean =>
  type.kind === "map" && !type.atomic && isMap(value) && remainder(type, value, owned) === "bare";

/** What stays of a map when all goes that nobody owns. `bare`: only what has no name in a set of fields. */
function remainder(type: MapNode, value: Fields, owned: FieldSet | undefined): "owned" | "bare" | "nothing" {
  let bare = false;
  for (const key in value) {
    const field = type.fields.get(key);
    const itemType = field?.type ?? type.items;
    if (itemType === undefined || value[key] === undefined) continue;
    const now = owned?.children?.get(field?.element ?? `f:${key}`);
    if (covers(now, field !== undefined)) {
      if (field === undefined || staysNameable(itemType, value[key], now)) return "owned";
      bare = true;
    } else if (field !== undefined && !isNameable(itemType, value[key])) bare = true;
  }
  return bare ? "bare" : "nothing";
}

/** Of a part that stays: whether it still has a name then. One that loses all it had becomes null, which has. */
function staysNameable(type: TypeNode, value: unknown, owned: FieldSet | undefined): boolean {
  const actual = resolve(type, value);
  if (actual.kind === "map" && !actual.atomic && isMap(value)) return isEmptyMap(value) || remainder(actual, value, owned) !== "bare";
  return isNameable(actual, value);
}

/** Whether a set of fields can say that the value is there: an empty list of type set or map leaves no trace. */
function isNameable(type: TypeNode, value: unknown): boolean {
  const actual = resolve(type, value);
  if (actual.kind === "list" && actual.list !== "atomic" && Array.isArray(value)) return value.length > 0;
  if (actual.kind !== "map" || actual.atomic || !isMap(value) || isEmptyMap(value)) return true;
  for (const key in value) {
    const field = actual.fields.get(key);
    if (field === undefined || isNameable(field.type, value[key])) return true;
  }
  return false;
}
