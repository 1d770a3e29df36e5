// Patches by difference. Here: a merge patch from two objects, and writers that send nothing when nothing changed. Not here: JSON patch, apply.
// Source: RFC 7386.
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, type Resource } from "../api/meta/resource.ts";
import type { Client, WriteOptions } from "./client.ts";

type Plain = { readonly [key: string]: unknown };

const isPlain = (x: unknown): x is Plain => typeof x === "object" && x !== null && !Array.isArray(x);

/** Deep equality of JSON values; a key that is undefined counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((x, i) => sameJson(x, b[i]));
  if (!isPlain(a) || !isPlain(b)) return false;
  for (const key in a) if (!sameJson(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}

/** The merge patch that turns `before` into `after`; undefined when they are equal. Lists are replaced whole, lost keys become null. */
export function mergePatch(before: object, after: object): object | undefined {
  const [a, b] = [before as Plain, after as Plain];
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(b)) {
    const [old, wanted] = [a[key], b[key]];
    if (wanted === undefined || sameJson(old, wanted)) continue;
    patch[key] = isPlain(old) && isPlain(wanted) ? mergePatch(old, wanted) : wanted;
  }
  for (const key of Object.keys(a)) if (a[key] !== undefined && b[key] === undefined) patch[key] = null;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

export interface PatchOptions extends WriteOptions {
  /** Refused with Conflict when the object changed since `before` was read. */
  readonly onlyIfUnchanged?: boolean;
}

/** Writes the difference of the `status` of two versions of an object. @returns what the server answered, or `before` when nothing differs */
export async function patchStatus<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  before: K,
  status: object,
  options: PatchOptions = {},
): Promise<K> {
  const old = (before as { status?: object }).status ?? {};
  const difference = mergePatch(old, status);
  if (!difference) return before;
  return send(client, resource, before, { status: difference }, { ...options, subresource: "status" });
}

/** Writes the difference of everything but status. @returns what the server answered, or `before` when nothing differs */
export async function patchObject<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  before: K,
  after: K,
  options: PatchOptions = {},
): Promise<K> {
  const difference = mergePatch(withoutStatus(before), withoutStatus(after));
  return difference ? send(client, resource, before, difference, options) : before;
}

/** Adds a finalizer when it is missing; fails with Conflict when others changed the list meanwhile. */
export async function ensureFinalizer<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  finalizer: string,
): Promise<K> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return object;
  return send(client, resource, object, { metadata: { finalizers: [...finalizers, finalizer] } }, { onlyIfUnchanged: true });
}

/** Removes a finalizer when it is there; fails with Conflict when others changed the list meanwhile. */
export async function removeFinalizer<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  finalizer: string,
): Promise<K> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return object;
  return send(client, resource, object, { metadata: { finalizers: finalizers.filter((f) => f !== finalizer) } }, { onlyIfUnchanged: true });
}

function send<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  before: K,
  difference: object,
  { onlyIfUnchanged, ...options }: PatchOptions,
): Promise<K> {
  const metadata = (difference as { metadata?: object }).metadata;
  const body = onlyIfUnchanged
    ? { ...difference, metadata: { ...metadata, resourceVersion: before.metadata.resourceVersion } }
    : difference;
  return client.patch(resource, keyOf(before), { type: "merge", body }, options);
}

const withoutStatus = (object: KubeObject): object => {
  const { status: _status, ...rest } = object as KubeObject & { status?: unknown };
  return rest;
};
