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
    if (!isServers && covers(before, field !== undefined) && !covers(now, field !== undefined)) {
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
