// Objects as the API server handles them: any kind, deeply frozen, shared between store, cache, watchers and in-process clients.
// Here: the type, freezing, copy-on-write helpers. Not here: what a field means (schema, strategies).
import type { KubeObject, ObjectMeta } from "../api/meta/object.ts";

export { sameJson } from "../schema/json-values.ts";

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

/** The same without fields whose value is undefined; a copy only when there are some. */
export function withoutUndefined<T extends object>(value: T): T {
  let copy: Record<string, unknown> | undefined;
  for (const key in value) if (value[key] === undefined) copy ??= {};
  if (!copy) return value;
  for (const key in value) if (value[key] !== undefined) copy[key] = value[key];
  return copy as T;
}

/** A shallow copy without one field. */
export function without(object: ApiObject, field: string): ApiObject {
  if (!(field in object)) return object;
  const { [field]: _, ...rest } = object;
  return rest as ApiObject;
}
