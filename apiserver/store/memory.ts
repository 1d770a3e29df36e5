// The store in memory. Here: revisions, transactions, telling listeners in order.
// Not here: order and history of one resource (bucket.ts), files (../real/file-store.ts).
import { deepFreeze } from "../object.ts";
import { type Bucket, createBucket } from "./bucket.ts";
import { type Change, type Entry, type Store, StoreConflict, type StoreKey, type Write } from "./store.ts";

// Long enough for a watch that reconnects after a pause; short enough that 100 clusters fit in one process.
const HISTORY_MAX = 5_000;

export interface MemoryStoreOptions {
  /** Changes kept per resource. Default 5000. */
  readonly historyMax?: number;
  /** What a file held. */
  readonly initial?: { readonly revision: number; readonly entries: Iterable<Entry> };
  /** Called before a commit takes effect; throws to refuse it. */
  readonly persist?: (revision: number, changes: readonly { readonly key: StoreKey; readonly change: Change }[]) => void;
  readonly onClose?: () => void;
}

type Listener = (change: Change) => void;
const ALL_NAMESPACES = "*";

function changeOf(write: Write, previous: Entry | undefined, revision: number): Change | undefined {
  if (write.object) {
    const object = deepFreeze(write.object(revision));
    return previous ? { type: "MODIFIED", revision, object, previous: previous.object } : { type: "ADDED", revision, object };
  }
  if (!previous) return undefined;
  const last = previous.object;
  const object = Object.freeze({ ...last, metadata: Object.freeze({ ...last.metadata, resourceVersion: String(revision) }) });
  return { type: "DELETED", revision, object, previous: last };
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const historyMax = options.historyMax ?? HISTORY_MAX;
  const buckets = new Map<string, Bucket>();
  const listeners = new Map<string, Map<string, Set<Listener>>>();
  const pending: { readonly key: StoreKey; readonly change: Change }[] = [];
  let telling = false;
  let revision = options.initial?.revision ?? 1;

  const bucketOf = (resource: string): Bucket => {
    let bucket = buckets.get(resource);
    if (!bucket) {
      bucket = createBucket(resource, revision, historyMax);
      buckets.set(resource, bucket);
    }
    return bucket;
  };
  for (const entry of options.initial?.entries ?? []) bucketOf(entry.key.resource).put(entry);

  const tell = (key: StoreKey, change: Change): void => {
    const byNamespace = listeners.get(key.resource);
    if (!byNamespace) return;
    for (const scope of [key.namespace, ALL_NAMESPACES]) for (const listener of [...(byNamespace.get(scope) ?? [])]) listener(change);
  };
  const tellPending = (): void => {
    if (telling) return;
    telling = true;
    try {
      for (let next = pending.shift(); next; next = pending.shift()) tell(next.key, next.change);
    } finally {
      telling = false;
    }
  };
  const expect = (write: Write): Entry | undefined => {
    const entry = bucketOf(write.key.resource).get(write.key);
    const want = write.expectedRevision;
    if (want !== undefined && want !== (entry?.revision ?? 0)) throw new StoreConflict(write.key);
    return entry;
  };

  return {
    revision: () => revision,
    get: (key) => buckets.get(key.resource)?.get(key),
    list: (resource, namespace) => buckets.get(resource)?.list(namespace) ?? [],
    count: (resource) => buckets.get(resource)?.count() ?? 0,
    resources: () => [...buckets.keys()].sort(),
    commit(writes) {
      const before = writes.map(expect);
      const next = revision + 1;
      const changes = writes.flatMap((write, i) => {
        const change = changeOf(write, before[i], next);
        return change ? [{ key: write.key, change }] : [];
      });
      if (changes.length === 0) return revision;
      options.persist?.(next, changes);
      revision = next;
      for (const { key, change } of changes) {
        const bucket = bucketOf(key.resource);
        if (change.type === "DELETED") bucket.drop(key);
        else bucket.put({ key, object: change.object, revision: next });
        bucket.record(change);
      }
      pending.push(...changes);
      tellPending();
      return next;
    },
    changesAfter: (resource, after) => bucketOf(resource).changesAfter(after),
    listAt: (resource, at, namespace) => bucketOf(resource).listAt(at, namespace),
    oldestRevision: (resource) => bucketOf(resource).oldestRevision(),
    open: (resource) => void bucketOf(resource),
    onChange(resource, namespace, listener) {
      const scope = namespace ?? ALL_NAMESPACES;
      const byNamespace = listeners.get(resource) ?? new Map<string, Set<Listener>>();
      listeners.set(resource, byNamespace);
      const set = byNamespace.get(scope) ?? new Set<Listener>();
      byNamespace.set(scope, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0) byNamespace.delete(scope);
      };
    },
    close: () => options.onClose?.(),
  };
}
