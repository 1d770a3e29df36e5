// Path elements in their wire form: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`.
// Here: making, checking, ordering and showing them. Not here: trees of them (field-set.ts).
import { isMap, own } from "../json-values.ts";
import type { ListNode } from "./typed.ts";
import { TypedValueError } from "./types.ts";

/**
 * The element that stands for an item of a list of type set or map.
 * @throws TypedValueError when the item has no such element: a key is missing, the item is no map, a set holds a map
 */
export function itemElement(type: ListNode, item: unknown): string {
  if (type.list === "set") {
    if (typeof item === "object" && item !== null) throw new TypedValueError("a list of type set may hold scalars only");
    return `v:${JSON.stringify(item)}`;
  }
  if (!isMap(item)) throw new TypedValueError("an entry of a list of type map must be an object");
  let element = "";
  for (const key of type.keys) {
    const given = own(item, key.name);
    const value = given === undefined ? key.fallback : given;
    if (value === undefined) throw new TypedValueError(`an entry of a list of type map lacks the key field "${key.name}"`);
    element += key.prefix + JSON.stringify(value);
  }
  return `${element}}`;
}

/** @returns the element as we keep it (keys sorted, values without blanks); undefined for a kind of element nobody knows; `bad` for nonsense */
export function canonicalElement(element: string): string | undefined | { readonly bad: string } {
  const kind = element.slice(0, 2);
  if (kind === "f:") return element;
  if (kind === "i:") return /^-?\d+$/.test(element.slice(2)) ? `i:${Number(element.slice(2))}` : { bad: element };
  if (kind !== "v:" && kind !== "k:") return element.includes(":") ? undefined : { bad: element };
  const value = parse(element.slice(2));
  if (value === undefined) return { bad: element };
  if (kind === "v:") return `v:${JSON.stringify(value)}`;
  if (!isMap(value)) return { bad: element };
  const fields = Object.keys(value).sort();
  return `k:{${fields.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value[name])}`).join(",")}}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const KIND_ORDER = "fkvi";

/** The order of elements in managedFields: fields, keys, values, indexes; numbers by value, texts by code unit. */
export function compareElements(a: string, b: string): number {
  const kindA = a.charCodeAt(0);
  const kindB = b.charCodeAt(0);
  if (kindA !== kindB) return KIND_ORDER.indexOf(a.charAt(0)) - KIND_ORDER.indexOf(b.charAt(0));
  if (kindA === 0x66 /* f */) return a < b ? -1 : a > b ? 1 : 0;
  return compareValues(parse(a.slice(2)), parse(b.slice(2)));
}

const rankOf = (value: unknown): number =>
  typeof value === "number" ? 1 : typeof value === "string" ? 2 : typeof value === "boolean" ? 3 : isMap(value) ? 4 : 0;

function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (isMap(a) && isMap(b)) return compareKeys(Object.entries(a), Object.entries(b));
  const [x, y] = [a as string, b as string];
  return x < y ? -1 : x > y ? 1 : 0;
}

function compareKeys(a: readonly [string, unknown][], b: readonly [string, unknown][]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [left, right] = [a[i] as [string, unknown], b[i] as [string, unknown]];
    if (left[0] !== right[0]) return left[0] < right[0] ? -1 : 1;
    const order = compareValues(left[1], right[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** As conflicts show a path: `.spec.items[name="a"].value`, `.spec.tags[="x"]`, `.spec.list[0]`. */
export const pathText = (path: readonly string[]): string => path.map(elementText).join("");

function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case "f:":
      return `.${rest}`;
    case "k:": {
      const keys = parse(rest);
      return isMap(keys)
        ? `[${Object.entries(keys)
            .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
            .join(",")}]`
        : `[${rest}]`;
    }
    case "v:":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
