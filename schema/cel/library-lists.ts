// List functions of rules: Kubernetes' own (sum, min, max, indexOf) and cel-go's lists extension. Here: their registration and bodies.
// Source: Kubernetes documentation, "Common Expression Language in Kubernetes"; cel-go ext/lists.
import type { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import type { Register } from "./register.ts";
import { celEqual } from "./value.ts";

const compare = (a: never, b: never): number => (a < b ? -1 : a > b ? 1 : 0);

function extreme(list: Iterable<never>, name: string, sign: 1 | -1): unknown {
  const all = [...list];
  if (all.length === 0) throw new Error(`${name} called on empty list`);
  return all.reduce((best, next) => (compare(next, best) * sign > 0 ? next : best));
}

const SPAN = "google.protobuf.Duration";
const ORDERED = ["int", "double", "bool", "string", "bytes", SPAN, "google.protobuf.Timestamp"];
const SUMMABLE: readonly (readonly [type: string, zero: unknown])[] = [
  ["int", 0n],
  ["double", 0],
  [SPAN, new Duration(0n)],
];

function isSorted(list: Iterable<never>): boolean {
  const all = [...list];
  return all.every((item, i) => i === 0 || compare(all[i - 1] as never, item) <= 0);
}

function sum(list: Iterable<unknown>, zero: unknown): unknown {
  const all = [...list];
  if (all.length === 0) return zero;
  if (typeof all[0] === "bigint") return (all as bigint[]).reduce((total, item) => total + item, 0n);
  if (typeof all[0] === "number") return (all as number[]).reduce((total, item) => total + item, 0);
  return (all as Duration[]).reduce((total, item) => total.addDuration(item));
}

/** Items of lists in the list, down to `depth`. */
function flatten(list: Iterable<unknown>, depth: number): unknown[] {
  return [...list].flatMap((item) => (depth > 0 && (Array.isArray(item) || item instanceof Set) ? flatten(item, depth - 1) : [item]));
}

function slice(list: Iterable<unknown>, start: bigint, end: bigint): unknown[] {
  const all = [...list];
  if (start < 0n || end < start || end > BigInt(all.length))
    throw new Error(`cannot slice(${start}, ${end}), list is length ${all.length}`);
  return all.slice(Number(start), Number(end));
}

function distinct(list: Iterable<unknown>): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) if (!kept.some((other) => celEqual(other, item))) kept.push(item);
  return kept;
}

const RANGE_MAX = 100_000n; // a rule that needs more numbers has no bound of its own

function range(count: bigint): bigint[] {
  if (count > RANGE_MAX) throw new Error(`lists.range(${count}) is too long`);
  return Array.from({ length: Number(count < 0n ? 0n : count) }, (_, i) => BigInt(i));
}

class ListsNamespace {}

export function registerLists(environment: Environment, register: Register): void {
  for (const type of ORDERED) {
    register(`list<${type}>.isSorted(): bool`, isSorted);
    register(`list<${type}>.min(): ${type}`, (list: Iterable<never>) => extreme(list, "min", -1));
    register(`list<${type}>.max(): ${type}`, (list: Iterable<never>) => extreme(list, "max", 1));
  }
  for (const [type, zero] of SUMMABLE) register(`list<${type}>.sum(): ${type}`, (list: Iterable<unknown>) => sum(list, zero));
  register("list<T>.__indexOf(T): int", (list: Iterable<unknown>, item: unknown) =>
    BigInt([...list].findIndex((other) => celEqual(other, item))),
  );
  register("list<T>.__lastIndexOf(T): int", (list: Iterable<unknown>, item: unknown) =>
    BigInt([...list].findLastIndex((other) => celEqual(other, item))),
  );
  register("list<T>.reverse(): list<T>", (list: Iterable<unknown>) => [...list].reverse());
  register("list<T>.slice(int, int): list<T>", slice);
  register("list<T>.sort(): list<T>", (list: Iterable<never>) => [...list].sort(compare));
  register("list<T>.distinct(): list<T>", distinct);
  register("list.flatten(): list<dyn>", (list: Iterable<unknown>) => flatten(list, 1));
  register("list.flatten(int): list<dyn>", (list: Iterable<unknown>, depth: bigint) => flatten(list, Number(depth)));
  environment.registerType("ListsNamespace", ListsNamespace);
  environment.registerConstant("lists", "ListsNamespace", new ListsNamespace() as never);
  register("ListsNamespace.range(int): list<int>", (_: unknown, count: bigint) => range(count));
}
