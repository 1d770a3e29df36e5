// Lists under a strategic merge patch. Here: merging by merge key or by value, directives in entries, the order of the result.
// Not here: maps and which list merges at all (strategic.ts).
import { type Fields, isMap, own, sameJson } from "../json-values.ts";
import { PatchError } from "./types.ts";

export interface ListMerge {
  /** Undefined for lists of scalars. */
  readonly mergeKey: string | undefined;
  readonly mergeItem: (item: Fields, patch: Fields) => unknown;
  /** An entry that is new to the list. */
  readonly added: (item: unknown) => unknown;
}

type List = readonly unknown[];

export const badDirective = (directive: unknown): PatchError =>
  new PatchError("internal", `unknown patch type found: ${JSON.stringify(directive)}`);

const noMergeKey = (item: Fields, key: string): PatchError =>
  new PatchError("internal", `map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);

export function mergeList(merge: ListMerge, before: List, patch: List): List {
  if (before.length === 0 && patch.length === 0) return before;
  const maps = kindOf([...before, ...patch]);
  if (!maps) return inOrder(undefined, [...new Set([...before, ...patch])], patch, before);
  const key = merge.mergeKey;
  if (key === undefined) throw new PatchError("internal", "cannot merge lists without merge key");
  const { kept, additions } = entryDirectives(key, before as readonly Fields[], patch as readonly Fields[]);
  const merged: unknown[] = [...kept];
  for (const item of additions) {
    const value = own(item, key);
    if (value === undefined) throw noMergeKey(item, key);
    const at = merged.findIndex((m) => sameJson(own(m as Fields, key), value));
    if (at < 0) merged.push(merge.added(item));
    else merged[at] = merge.mergeItem(merged[at] as Fields, item);
  }
  return inOrder(key, merged, additions, kept);
}

/** @returns whether the entries are maps @throws PatchError on a mixture, and on lists of lists */
function kindOf(items: List): boolean {
  const maps = items.filter(isMap).length;
  if (items.some(Array.isArray)) throw new PatchError("unprocessable", "lists of lists are not supported");
  if (maps > 0 && maps < items.length) throw new PatchError("internal", "list element types are not identical");
  return maps > 0;
}

function entryDirectives(
  key: string,
  before: readonly Fields[],
  patch: readonly Fields[],
): { kept: readonly Fields[]; additions: readonly Fields[] } {
  const additions = patch.filter((item) => own(item, "$patch") === undefined);
  let kept = before;
  let replace = false;
  for (const item of patch) {
    const directive = own(item, "$patch");
    if (directive === undefined) continue;
    if (directive === "replace") replace = true;
    else if (directive === "delete") {
      const gone = own(item, key);
      if (gone === undefined) throw noMergeKey(item, key);
      kept = kept.filter((entry) => !sameJson(own(entry, key), gone));
    } else throw badDirective(directive);
  }
  return replace ? { kept: additions, additions: [] } : { kept, additions };
}

export const withoutFromList = (before: List, gone: List): List => before.filter((item) => !gone.some((g) => sameJson(g, item)));

/** Puts a merged list in the order of a $setElementOrder list. @throws PatchError when the patch's own entries contradict it */
export function orderList(merge: ListMerge, merged: List, order: List, before: List, patch: List): List {
  const additions = patch.filter((item) => !(isMap(item) && own(item, "$patch") !== undefined));
  let last = -1;
  for (const item of additions) {
    const at = position(merge.mergeKey, order, item);
    if (order.length > 0 && at <= last) {
      throw new PatchError("internal", "The order in patch list doesn't match $setElementOrder list, or it lacks an item of the patch");
    }
    last = at;
  }
  return inOrder(merge.mergeKey, merged, order, before);
}

const same = (key: string | undefined, a: unknown, b: unknown): boolean =>
  key !== undefined && isMap(a) && isMap(b) ? sameJson(own(a, key), own(b, key)) : sameJson(a, b);

const position = (key: string | undefined, list: List, item: unknown): number => list.findIndex((other) => same(key, other, item));

/**
 * Entries that `wanted` names stand in its order. The others keep theirs from `before` and go in front of the first named entry that
 * stood behind them.
 */
function inOrder(key: string | undefined, merged: List, wanted: List, before: List): List {
  const named = merged.filter((item) => position(key, wanted, item) >= 0);
  const others = merged.filter((item) => position(key, wanted, item) < 0);
  named.sort((a, b) => position(key, wanted, a) - position(key, wanted, b));
  others.sort((a, b) => position(key, before, a) - position(key, before, b));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const end = position(key, before, item);
    while (end >= 0 && next < others.length && isBefore(position(key, before, others[next]), end)) result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

const isBefore = (a: number, b: number): boolean => a >= 0 && a < b;
