// Objects as the API server handles them: any kind, deeply frozen, shared between store, cache, watchers and in-process clients.
// Here: the type, freezing, copy-on-write helpers. Not here: what a field means (schema, strategies).
import type { KubeObject, ObjectMeta } from "../api/meta/object.ts";

/** Any object of any kind. Deeply frozen once it left the decoder; change by building a new one. */
export interface ApiObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** Freezes `value` and all below it, stopping at what is frozen already. @returns the same value */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) deepFreeze(value[i]);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}

/** The object with some metadata fields replaced; `undefined` removes a field. */
export function withMetadata(object: ApiObject, change: Partial<ObjectMeta>): ApiObject {
  return { ...object, metadata: withoutUndefined({ ...object.metadata, ...change }) };
}

/** A shallow copy without fields whose value is undefined. */
export function withoutUndefined<T extends object>(value: T): T {
  const copy = {} as Record<string, unknown>;
  for (const [key, field] of Object.entries(value)) if (field !== undefined) copy[key] = field;
  return copy as T;
}

/** A shallow copy without one field. */
export function without(object: ApiObject, field: string): ApiObject {
  if (!(field in object)) return object;
  const { [field]: _, ...rest } = object;
  return rest as ApiObject;
}

/** Deep equality of JSON values; the order of object keys does not matter, undefined fields count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (left[key] !== undefined && !sameJson(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}
