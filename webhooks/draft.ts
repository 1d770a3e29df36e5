// Reading and changing drafts, whose fields may be missing. Here: small typed helpers. Not here: rules.
import type { KubeObject } from "../api/meta/object.ts";
import type { Draft } from "./rule-set.ts";

export type Plain = { readonly [key: string]: unknown };

export const plain = (value: unknown): Plain | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Plain) : undefined;

/** The value at a path; undefined where a parent is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown => path.reduce<unknown>((v, key) => plain(v)?.[key], value);

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
};

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

export const mapAt = (value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> =>
  (plain(at(value, ...path)) ?? {}) as Readonly<Record<string, string>>;

/** True for a value that a typed client would not send: absent, null, or empty. */
export const isZero = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (plain(value) !== undefined && Object.values(value as Plain).every(isZero));

/** A copy with a value at a path; missing parents are made. The same object when the value is there already. */
export function withAt<T>(value: T, path: readonly string[], wanted: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return wanted as T;
  const base = plain(value) ?? {};
  const inner = withAt(base[key], rest, wanted);
  return inner === base[key] && Object.hasOwn(base, key) ? value : ({ ...base, [key]: inner } as T);
}

/** A copy without the key at a path. */
export function withoutAt<T>(value: T, path: readonly string[]): T {
  const [key, ...rest] = path;
  const base = plain(value);
  if (key === undefined || !base || !Object.hasOwn(base, key)) return value;
  const { [key]: inner, ...others } = base;
  return (rest.length === 0 ? others : { ...others, [key]: withoutAt(inner, rest) }) as T;
}

export const withLabel = (object: Draft, key: string, value: string): Draft => withAt(object, ["metadata", "labels", key], value);

export const annotation = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key];

/** `v1.2.3` for `1.2.3`; empty and absent stay as they are. */
export function withVersionPrefix(object: Draft, path: readonly string[]): Draft {
  const version = textAt(object, ...path);
  return version === undefined || version === "" || version.startsWith("v") ? object : withAt(object, path, `v${version}`);
}
