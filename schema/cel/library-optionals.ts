// Optional values of rules. Here: what the core library leaves out: equality, values that are not zero.
// Source: cel-go's optional types.
import { type Environment, Optional } from "@marcbachmann/cel-js";
import type { Register } from "./register.ts";
import { celEqual } from "./value.ts";

const ZERO_TIME_MS = Date.parse("0001-01-01T00:00:00Z");

function isZero(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "" || value === 0 || value === 0n) return true;
  if (typeof value !== "object") return false;
  if (value instanceof Date) return value.getTime() === ZERO_TIME_MS;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  if (value.constructor === Object) return Object.keys(value).length === 0;
  const plain: unknown = value.valueOf(); // durations and unsigned numbers
  return plain === 0 || plain === 0n;
}

export function registerOptionals(environment: Environment, register: Register): void {
  register("OptionalNamespace.ofNonZeroValue(A): optional<A>", (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  environment.registerOperator("optional<A> == optional<A>", (a: Optional, b: Optional) =>
    a.hasValue() && b.hasValue() ? celEqual(a.value(), b.value()) : a.hasValue() === b.hasValue(),
  );
}
