// Lists with a meaning: sets and maps. Here: doubled members, and which old item is the same item as a new one.
// Source: kube-apiserver's structural list types; correlation as ratcheting and transition rules use it.
import type { JsonSchema } from "../api/meta/schema.ts";
import { canonical, isRecord } from "./equal.ts";
import { duplicate, invalid, pathText } from "./field.ts";
import type { TypedCheck } from "./walk.ts";

/** Keys of a list map; empty for any other list. */
export const listMapKeys = (schema: JsonSchema): readonly string[] =>
  schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [];

/** One text per identity of an item; undefined for an item that is no object. */
function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isRecord(item)) return undefined;
  if (keys.length === 1) {
    const only = item[keys[0] as string];
    if (typeof only === "string") return `"${only}`;
    return canonical(only);
  }
  let text = "";
  for (const key of keys) text += `${canonical(item[key])},`;
  return text;
}

export function compileListType(schema: JsonSchema): TypedCheck<readonly unknown[]> | undefined {
  const keys = listMapKeys(schema);
  if (keys.length > 0) {
    const unique = uniqueBy(
      (item) => keyOf(item ?? {}, keys),
      (item) => pick(item ?? {}, keys),
    );
    return (value, walk) => {
      const odd = value.findIndex((item) => item !== null && !isRecord(item));
      if (odd < 0) unique(value, walk);
      else walk.listErrors.push(invalid(pathText([...walk.path, odd]), value[odd], "must be an object for an array of list-type map"));
    };
  }
  if (schema["x-kubernetes-list-type"] === "set") return uniqueBy((item) => (typeof item === "string" ? `"${item}` : canonical(item)));
  return undefined;
}

function pick(item: unknown, keys: readonly string[]): unknown {
  return isRecord(item) ? Object.fromEntries(keys.filter((key) => key in item).map((key) => [key, item[key]])) : item;
}

function uniqueBy(
  identity: (item: unknown) => string | undefined,
  show: (item: unknown) => unknown = (item) => item,
): TypedCheck<readonly unknown[]> {
  return (value, walk) => {
    if (value.length < 2) return;
    const seen = new Map<string, number>();
    for (let i = 0; i < value.length; i++) {
      const key = identity(value[i]);
      if (key === undefined) continue;
      const times = seen.get(key) ?? 0;
      // Only the second of equal members is told.
      if (times === 1) walk.listErrors.push(duplicate(pathText([...walk.path, i]), show(value[i])));
      seen.set(key, times + 1);
    }
  };
}

/** Given the old list, finds the old item of a new one. */
export type Correlate = (old: readonly unknown[]) => (item: unknown, index: number) => unknown;

/** @returns undefined for lists whose items have no identity */
export function correlation(schema: JsonSchema): Correlate | undefined {
  const keys = listMapKeys(schema);
  if (keys.length === 0) return undefined;
  return (old) => {
    let byKey: Map<string, unknown> | undefined;
    return (item, index) => {
      // Mostly nothing moved: then no index is needed.
      if (old[index] === item) return item;
      const key = keyOf(item, keys);
      if (key === undefined) return undefined;
      if (keyOf(old[index], keys) === key) return old[index];
      byKey ??= new Map(old.map((entry) => [keyOf(entry, keys) ?? "", entry]));
      return byKey.get(key);
    };
  };
}
