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
}

/** True when the cache shows the write: its version or a later one, or that the object is going or gone. */
export function isShown(caches: Caches, write: OwnWrite): boolean {
  const store = caches.storeOf(write.resource);
  if (!store) return true;
  if (write.resourceVersion !== undefined) return store.shows(write.key, write.resourceVersion);
  const object = store.get(write.key);
  return !object || object.metadata.deletionTimestamp !== undefined || object.metadata.uid !== write.uid;
}

/** A client that tells `note` about every write to a watched kind. Dry runs are not writes. */
export function trackingClient(client: Client, caches: Caches, note: (write: OwnWrite) => void): Client {
  const noted = async <K extends KubeObject>(resource: Resource<K>, options: WriteOptions | undefined, answer: Promise<K>): Promise<K> => {
    const object = await answer;
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
    create: (resource, object, o) => noted(resource, o, client.create(resource, object, o)),
    update: (resource, object, o) => noted(resource, o, client.update(resource, object, o)),
    patch: (resource, key, patch, o) => noted(resource, o, client.patch(resource, key, patch, o)),
    apply: (resource, object, o) => noted(resource, o, client.apply(resource, object, o)),
    delete: async (resource, key, o) => {
      const cached = caches.storeOf(resource)?.get(key);
      await client.delete(resource, key, o);
      if (cached && !o?.dryRun) note({ resource, key, uid: cached.metadata.uid });
    },
    as: (fieldManager) => trackingClient(client.as(fieldManager), caches, note),
  };
}
