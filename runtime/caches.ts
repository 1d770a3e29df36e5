// Caches: one store and one reflector per watched kind, shared by all controllers. Here: starting them, reading across them.
// Not here: what a change means for a controller (manager.ts).
import type { KubeObject } from "../api/meta/object.ts";
import type { ObjectKey, Resource } from "../api/meta/resource.ts";
import { isNotFound } from "../api/meta/status.ts";
import type { Clock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import { type Cache, CacheNotWatched } from "./cache.ts";
import type { Client } from "./client.ts";
import { createReflector, type Reflector } from "./reflector.ts";
import { ofClusterIn, ownedIn, Store } from "./store.ts";

export interface CachesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly namespace?: string;
  readonly pageSize?: number;
  readonly watchTimeoutSeconds?: number;
}

export interface Caches {
  readonly cache: Cache;
  /** The store of a kind; from the first call on it is watched (at once when start() was called). */
  watch<K extends KubeObject>(resource: Resource<K>): Store<K>;
  /** The store of a kind when it is watched. */
  storeOf<K extends KubeObject>(resource: Resource<K>): Store<K> | undefined;
  /** Reads one object live into its store, for when the watch is late; without a name, all of its namespace.
   *  @throws what the client throws but NotFound */
  refresh(resource: Resource, key: ObjectKey): Promise<void>;
  start(): void;
  stop(): void;
}

/** One text per cache. A kind read whole and the same kind read as metadata are two. */
export const resourceId = (r: Resource): string => `${r.group}/${r.version}/${r.plural}${r.metadataOnly ? "#metadata" : ""}`;

export function createCaches(options: CachesOptions): Caches {
  const stores = new Map<string, { readonly store: Store<KubeObject>; readonly reflector: Reflector }>();
  let started = false;

  const storeOf = <K extends KubeObject>(resource: Resource<K>): Store<K> | undefined =>
    stores.get(resourceId(resource))?.store as unknown as Store<K> | undefined;
  const watched = <K extends KubeObject>(resource: Resource<K>): Store<K> => {
    const store = storeOf(resource);
    if (!store) throw new CacheNotWatched(resource);
    return store;
  };
  const watch = <K extends KubeObject>(resource: Resource<K>): Store<K> => {
    const known = storeOf(resource);
    if (known) return known;
    const store = new Store<K>();
    const namespace = resource.namespaced ? options.namespace : undefined;
    const reflector = createReflector({ ...options, namespace, resource, store });
    stores.set(resourceId(resource), { store: store as unknown as Store<KubeObject>, reflector });
    if (started) reflector.start();
    return store;
  };

  return {
    cache: {
      get: (resource, key) => watched(resource).get(key),
      list: (resource, namespace) => watched(resource).list(namespace),
      by: (index, value) => watched(index.resource).by(index, value),
      ownedBy: (resource, uid) => ownedIn(watched(resource), uid),
      ofCluster: (resource, cluster) => ofClusterIn(watched(resource), cluster),
      synced: (resource) => storeOf(resource)?.synced() ?? false,
    },
    watch,
    storeOf,
    refresh: async (resource, key) => {
      const store = storeOf(resource);
      if (!store) return;
      if (key.name === "") {
        const { items } = await options.client.list(resource, { namespace: key.namespace || undefined });
        for (const object of items) store.apply({ type: "found", object });
        return;
      }
      const cached = store.get(key);
      try {
        store.apply({ type: "found", object: await options.client.get(resource, key) });
      } catch (e) {
        if (!isNotFound(e)) throw e;
        if (cached && store.get(key) === cached) store.apply({ type: "lost", object: cached });
      }
    },
    start: () => {
      started = true;
      for (const { reflector } of stores.values()) reflector.start();
    },
    stop: () => {
      for (const { reflector } of stores.values()) reflector.stop();
    },
  };
}
