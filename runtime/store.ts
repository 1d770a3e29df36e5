// Store: the cached objects of one kind with their indexes. Here: lookups, keeping indexes true. Not here: how objects get in (reflector.ts).
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, keyText, type ObjectKey } from "../api/meta/resource.ts";
import type { Change, Index } from "./cache.ts";
import { type CacheEvent, compareVersions, emptyCacheState, fold } from "./fold.ts";

export type ChangeListener<K extends KubeObject> = (change: Change<K>) => void;

/** The members of one index value; sorted only when somebody looks, and again only after membership changed. */
interface Bucket {
  readonly keys: Set<string>;
  sorted: readonly string[] | undefined;
}

/** Mutable inside, read-only at its edge. */
export class Store<K extends KubeObject> {
  #state = emptyCacheState<K>();
  #sorted: readonly string[] | undefined;
  readonly #indexes = new Map<string, { readonly index: Index<K>; readonly buckets: Map<string, Bucket> }>();
  readonly #onChange: ChangeListener<K>[] = [];
  readonly #onSeen: (() => void)[] = [];

  synced(): boolean {
    return this.#state.synced;
  }

  /** Everything up to this version has been seen; empty before the first list. */
  resourceVersion(): string {
    return this.#state.resourceVersion;
  }

  size(): number {
    return this.#state.live.size;
  }

  get(key: ObjectKey): K | undefined {
    return this.#state.live.get(keyText(key));
  }

  list(namespace?: string): readonly K[] {
    if (namespace !== undefined) return this.by(namespaceIndex as unknown as Index<K>, namespace);
    this.#sorted ??= [...this.#state.live.keys()].sort();
    return this.#objects(this.#sorted);
  }

  by(index: Index<K>, value: string): readonly K[] {
    const bucket = this.#built(index).get(value);
    if (!bucket) return [];
    bucket.sorted ??= [...bucket.keys].sort();
    return this.#objects(bucket.sorted);
  }

  /** True when the cache shows the object at this version or a later one, or its deletion since. */
  shows(key: ObjectKey, resourceVersion: string): boolean {
    const object = this.get(key);
    if (object?.metadata.resourceVersion === resourceVersion) return true;
    if (compareVersions(object?.metadata.resourceVersion ?? "", resourceVersion) >= 0) return true;
    return compareVersions(this.#state.resourceVersion, resourceVersion) >= 0;
  }

  apply(event: CacheEvent<K>): void {
    const before = this.#state.live;
    const { state, changes } = fold(this.#state, event);
    this.#state = state;
    if (before !== state.live) this.#sorted = undefined;
    for (const change of changes) this.#reindex(change);
    for (const change of changes) for (const listener of this.#onChange) listener(change);
    if (event.type !== "relistStart" && event.type !== "relistItem") for (const listener of this.#onSeen) listener();
  }

  /** Called after the store shows the change. */
  onChange(listener: ChangeListener<K>): void {
    this.#onChange.push(listener);
  }

  /** Called after each event that may have moved synced() or resourceVersion(). */
  onSeen(listener: () => void): void {
    this.#onSeen.push(listener);
  }

  #objects(keys: readonly string[]): readonly K[] {
    const objects: K[] = [];
    for (const key of keys) {
      const object = this.#state.live.get(key);
      if (object) objects.push(object);
    }
    return objects;
  }

  #built(index: Index<K>): Map<string, Bucket> {
    const known = this.#indexes.get(index.name);
    if (known) return known.buckets;
    const buckets = new Map<string, Bucket>();
    for (const [key, object] of this.#state.live) for (const value of index.values(object)) put(buckets, value, key);
    this.#indexes.set(index.name, { index, buckets });
    return buckets;
  }

  #reindex(change: Change<K>): void {
    const key = keyText(keyOf(change.object));
    if (change.type !== "updated") this.#sorted = undefined;
    for (const { index, buckets } of this.#indexes.values()) {
      const old = change.type === "updated" ? index.values(change.old) : change.type === "deleted" ? index.values(change.object) : [];
      const now = change.type === "deleted" ? [] : index.values(change.object);
      for (const value of old) if (!now.includes(value)) drop(buckets, value, key);
      for (const value of now) if (!old.includes(value)) put(buckets, value, key);
    }
  }
}

function put(buckets: Map<string, Bucket>, value: string, key: string): void {
  let bucket = buckets.get(value);
  if (!bucket) {
    bucket = { keys: new Set(), sorted: undefined };
    buckets.set(value, bucket);
  }
  bucket.keys.add(key);
  bucket.sorted = undefined;
}

function drop(buckets: Map<string, Bucket>, value: string, key: string): void {
  const bucket = buckets.get(value);
  if (!bucket?.keys.delete(key)) return;
  bucket.sorted = undefined;
  if (bucket.keys.size === 0) buckets.delete(value);
}

const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";

type AnyKindIndex = Omit<Index, "resource">;
const namespaceIndex: AnyKindIndex = { name: "(namespace)", values: (o) => [o.metadata.namespace ?? ""] };
const ownerIndex: AnyKindIndex = { name: "(owner)", values: (o) => [...new Set((o.metadata.ownerReferences ?? []).map((r) => r.uid))] };
const clusterIndex: AnyKindIndex = {
  name: "(cluster)",
  values: (o) => {
    const cluster = o.metadata.labels?.[CLUSTER_NAME_LABEL];
    return cluster === undefined ? [] : [keyText({ namespace: o.metadata.namespace ?? "", name: cluster })];
  },
};

export const ownedIn = <K extends KubeObject>(store: Store<K>, uid: string): readonly K[] =>
  store.by(ownerIndex as unknown as Index<K>, uid);
export const ofClusterIn = <K extends KubeObject>(store: Store<K>, cluster: ObjectKey): readonly K[] =>
  store.by(clusterIndex as unknown as Index<K>, keyText(cluster));
