// Cache: what controllers read. Here: the read seam, indexes and changes, as types. Not here: how it is filled (reflector.ts, caches.ts).
import type { KubeObject } from "../api/meta/object.ts";
import type { ObjectKey, Resource } from "../api/meta/resource.ts";

/** A lookup table over the cached objects of a kind: one bucket per value. Declared once as a constant, built on first use. */
export interface Index<K extends KubeObject = KubeObject> {
  readonly resource: Resource<K>;
  /** Unique for the kind. */
  readonly name: string;
  /** Buckets an object is in; none when it does not take part. */
  readonly values: (object: K) => readonly string[];
}

export const index = <K extends KubeObject>(resource: Resource<K>, name: string, values: (object: K) => readonly string[]): Index<K> => ({
  resource,
  name,
  values,
});

/** Synchronous reads of watched kinds. Objects are deeply read-only; lists are sorted by `namespace/name`.
 *  Errors: CacheNotWatched for a kind that nobody watches (name it in `watches` or `reads`, or call `watchAlso`). */
export interface Cache {
  get<K extends KubeObject>(resource: Resource<K>, key: ObjectKey): K | undefined;
  /** @param namespace absent = all */
  list<K extends KubeObject>(resource: Resource<K>, namespace?: string): readonly K[];
  /** The objects in one bucket of an index. */
  by<K extends KubeObject>(index: Index<K>, value: string): readonly K[];
  /** Objects whose `ownerReferences` name `uid` (any owner, not only the controller). */
  ownedBy<K extends KubeObject>(resource: Resource<K>, uid: string): readonly K[];
  /** Objects in `namespace` with the label `cluster.x-k8s.io/cluster-name: name`. */
  ofCluster<K extends KubeObject>(resource: Resource<K>, cluster: ObjectKey): readonly K[];
  /** True when the kind is watched and its first list has arrived. */
  synced(resource: Resource): boolean;
}

export type Change<K extends KubeObject = KubeObject> =
  /** `initial`: it was there before the watch began. */
  | { readonly type: "added"; readonly object: K; readonly initial: boolean }
  | { readonly type: "updated"; readonly object: K; readonly old: K }
  | { readonly type: "deleted"; readonly object: K };

export class CacheNotWatched extends Error {
  readonly code = "CacheNotWatched";
  constructor(resource: Resource) {
    super(`${resource.plural}.${resource.group} is not watched: name it in the controller's watches or reads, or call watchAlso first`);
    this.name = "CacheNotWatched";
  }
}
