// Read your own writes: what a reconcile wrote, and whether the cache shows it yet.
// Here: a client that notes its writes, the question. Not here: who waits, and for how long (manager.ts).
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, type ObjectKey, type Resource } from "../api/meta/resource.ts";
import type { Caches } from "./caches.ts";
import type { Client, WriteOptions } from "./client.ts";

/** One write that later reads of the cache must show. Only kinds that are watched are noted. */
export interface OwnWrite {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** What the server answered; absent for a delete. */
  readonly resourceVersion?: string;
  /** Delete only: the object that was to go, as far as the cache knew it. */
  readonly uid?: string;
  /** No answer came: it may have been written or not, so it must be read live. The name is empty when the server was to make it. */
  readonly unanswered?: true;
}

/** True when the cache shows the write: its version or a later one, or that the object is going or gone. */
export function isShown(caches: Caches, write: OwnWrite): boolean {
  const store = caches.storeOf(write.resource);
  if (!store) return true;
  if (write.resourceVersion !== undefined) return store.shows(write.key, write.resourceVersion);
  const object = store.get(write.key);
  return !object || object.metadata.deletionTimestamp !== undefined || object.metadata.uid !== write.uid;
}

/** The server did not say whether it wrote: the connection broke, or it failed on the way. */
const isUnanswered = (e: unknown): boolean => {
  const code = (e as { status?: { code?: unknown } } | undefined)?.status?.code;
  return typeof code !== "number" || code >= 500;
};

/** A client that tells `note` about every write to a watched kind. Dry runs are not writes. */
export function trackingClient(client: Client, caches: Caches, note: (write: OwnWrite) => void): Client {
  const watched = async <T>(
    resource: Resource,
    key: ObjectKey,
    options: { readonly dryRun?: boolean } | undefined,
    answer: Promise<T>,
  ): Promise<T> => {
    try {
      return await answer;
    } catch (e) {
      if (isUnanswered(e) && !options?.dryRun && caches.storeOf(resource)) note({ resource, key, unanswered: true });
      throw e;
    }
  };
  const noted = async <K extends KubeObject>(
    resource: Resource<K>,
    key: ObjectKey,
    options: WriteOptions | undefined,
    answer: Promise<K>,
  ): Promise<K> => {
    const object = await watched(resource, key, options, answer);
    const resourceVersion = object.metadata?.resourceVersion;
    // A subresource such as eviction answers with another kind, which says nothing about the object.
    if (resourceVersion && !options?.dryRun && object.kind === resource.kind && caches.storeOf(resource)) {
      note({ resource, key: keyOf(object), resourceVersion });
    }
    return object;
  };
  return {
    get: (resource, key, o) => client.get(resource, key, o),
    list: (resource, o) => client.list(resource, o),
    watch: (resource, o, handler) => client.watch(resource, o, handler),
    raw: (path) => client.raw(path),
    create: (resource, object, o) => noted(resource, keyOf(object), o, client.create(resource, object, o)),
    update: (resource, object, o) => noted(resource, keyOf(object), o, client.update(resource, object, o)),
    patch: (resource, key, patch, o) => noted(resource, key, o, client.patch(resource, key, patch, o)),
    apply: (resource, object, o) => noted(resource, keyOf(object), o, client.apply(resource, object, o)),
    delete: async (resource, key, o) => {
      const cached = caches.storeOf(resource)?.get(key);
      await watched(resource, key, o, client.delete(resource, key, o));
      if (cached && !o?.dryRun) note({ resource, key, uid: cached.metadata.uid });
    },
    as: (fieldManager) => trackingClient(client.as(fieldManager), caches, note),
  };
}
