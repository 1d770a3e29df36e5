// The live object with an applied one laid over it. Here: values only. Not here: who owns them (apply.ts), what goes again (prune.ts).
import { type Fields, isEmptyMap, isMap, own, put, sameJson } from "../json-values.ts";
import { itemElement } from "./path-element.ts";
import { type ListNode, type MapNode, resolve, type Typed, type TypeNode } from "./typed.ts";

/**
 * The applied value wins where both have one; atomic parts are taken whole.
 * @returns `live` itself when that changes nothing, and parts of either wherever they stay as they are
 * @throws TypedValueError when a list of the live object has entries without keys
 */
export function merge(typed: Typed, live: object, applied: object): object {
  return mergeMap(typed.root, live as Fields, applied as Fields) as object;
}

/** @param live undefined = absent @param applied undefined = not mentioned */
function mergeValue(type: TypeNode, live: unknown, applied: unknown): unknown {
  if (applied === undefined || type.kind === "ignored") return live;
  if (live === undefined) return applied;
  if (live === applied) return live;
  // null takes the shape of the other side; else the applied value says what it is.
  const actual = resolve(type, applied === null ? live : applied);
  if (actual.kind === "map") return mergeMap(actual, live, applied);
  if (actual.kind === "list") return mergeList(actual, live, applied);
  return leaf(live, applied);
}

const leaf = (live: unknown, applied: unknown): unknown => (sameJson(live, applied) ? live : applied);

function mergeMap(type: MapNode, live: unknown, applied: unknown): unknown {
  if (type.atomic) return leaf(live, applied);
  const under = isMap(live) ? live : undefined;
  const over = isMap(applied) ? applied : undefined;
  if (under === undefined || isEmptyMap(under)) return leaf(live, applied);
  if (over === undefined) return live;
  let changed: Record<string, unknown> | undefined;
  for (const key in over) {
    const itemType = type.fields.get(key)?.type ?? type.items;
    if (itemType === undefined) continue;
    const before = own(under, key);
    const after = mergeValue(itemType, before, over[key]);
    if (after === before) continue;
    changed ??= { ...under };
    put(changed, key, after);
  }
  return changed ?? live;
}

function mergeList(type: ListNode, live: unknown, applied: unknown): unknown {
  if (type.list === "atomic") return leaf(live, applied);
  const under = Array.isArray(live) ? live : undefined;
  const over = Array.isArray(applied) ? applied : undefined;
  if (under === undefined || under.length === 0) return leaf(live, applied);
  if (over === undefined || over.length === 0) return live;
  const merged = zip(type, under, over);
  return merged.length === under.length && merged.every((item, i) => item === under[i]) ? live : merged;
}

/**
 * Entries of both lists in one order: that of the applied list for its own, while live entries nobody applies keep their place before
 * the live entry that followed them. Entries in both stand where the applied order puts them.
 */
function zip(type: ListNode, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const liveElements = live.map((item) => itemElement(type, item));
  const appliedElements = applied.map((item) => itemElement(type, item));
  const liveByElement = new Map<string, unknown>();
  // A stored list may hold an element twice; neither of them is then merged into the applied one.
  for (const [i, element] of liveElements.entries()) liveByElement.set(element, liveByElement.has(element) ? undefined : live[i]);
  const inApplied = new Set(appliedElements);
  // Applied entries that live has too, in applied order: the anchors between which the rest is placed.
  const anchors = appliedElements.filter((element) => liveByElement.has(element));
  const merged: unknown[] = [];
  const taken = new Set<string>();
  let [l, a, anchor] = [0, 0, 0];
  const takeApplied = (): void => {
    const element = appliedElements[a] as string;
    taken.add(element);
    merged.push(mergeValue(type.items, liveByElement.get(element), applied[a]));
    if (element === anchors[anchor]) anchor += 1;
    a += 1;
  };
  while (l < live.length || a < applied.length) {
    const element = liveElements[l];
    if (element === undefined) takeApplied();
    else if (!inApplied.has(element)) merged.push(live[l++]);
    else if (a >= applied.length) l += 1;
    else if (element === appliedElements[a]) {
      takeApplied();
      l += 1;
    } else if (anchor < anchors.length && element !== anchors[anchor]) l += 1;
    else {
      if (taken.has(element)) l += 1;
      takeApplied();
    }
  }
  return merged;
}
