// The objects and the history of one resource. Here: ordered access and looking back. Not here: revisions, listeners (memory.ts).
import type { ApiObject } from "../object.ts";
import type { Change, Entry, StoreKey } from "./store.ts";

interface NamespaceIndex {
  readonly entries: Map<string, Entry>;
  /** Sorted. */
  readonly names: string[];
}

export interface Bucket {
  get(key: StoreKey): Entry | undefined;
  list(namespace?: string): readonly Entry[];
  count(): number;
  put(entry: Entry): void;
  drop(key: StoreKey): void;
  record(change: Change): void;
  /** History begins after this revision: changesAfter answers from here on. */
  oldestRevision(): number;
  changesAfter(revision: number): readonly Change[] | undefined;
  listAt(revision: number, namespace?: string): readonly Entry[] | undefined;
}

/** Index of the first element that is not less than `text`. */
function lowerBound(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert(sorted: string[], text: string): void {
  const last = sorted[sorted.length - 1];
  if (last === undefined || last < text) sorted.push(text);
  else sorted.splice(lowerBound(sorted, text), 0, text);
}

const keyOfObject = (resource: string, object: ApiObject): StoreKey => ({
  resource,
  namespace: object.metadata.namespace ?? "",
  name: object.metadata.name ?? "",
});
/** Sorts as etcd sorts the paths: the slash after the namespace counts. */
const orderText = (key: StoreKey): string => `${key.namespace}/${key.name}`;

/** @param historyMax changes kept for watches and old lists; twice as many are held for a moment */
export function createBucket(resource: string, openedAt: number, historyMax: number): Bucket {
  const byNamespace = new Map<string, NamespaceIndex>();
  const namespaceOrder: string[] = []; // with the trailing slash that decides the order
  const history: Change[] = [];
  let oldest = openedAt;
  let count = 0;

  const indexOf = (namespace: string): NamespaceIndex => {
    let index = byNamespace.get(namespace);
    if (!index) {
      index = { entries: new Map(), names: [] };
      byNamespace.set(namespace, index);
      insert(namespaceOrder, `${namespace}/`);
    }
    return index;
  };
  const listNamespace = (namespace: string, into: Entry[]): void => {
    const index = byNamespace.get(namespace);
    if (index) for (const name of index.names) into.push(index.entries.get(name) as Entry);
  };
  const list = (namespace?: string): readonly Entry[] => {
    const found: Entry[] = [];
    if (namespace !== undefined) listNamespace(namespace, found);
    else for (const ordered of namespaceOrder) listNamespace(ordered.slice(0, -1), found);
    return found;
  };
  const firstAfter = (revision: number): number => {
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((history[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const changesAfter = (revision: number): readonly Change[] | undefined =>
    revision < oldest ? undefined : history.slice(firstAfter(revision));

  return {
    get: (key) => byNamespace.get(key.namespace)?.entries.get(key.name),
    list,
    count: () => count,
    put(entry) {
      const index = indexOf(entry.key.namespace);
      if (!index.entries.has(entry.key.name)) {
        insert(index.names, entry.key.name);
        count += 1;
      }
      index.entries.set(entry.key.name, entry);
    },
    drop(key) {
      const index = byNamespace.get(key.namespace);
      if (!index?.entries.delete(key.name)) return;
      count -= 1;
      index.names.splice(lowerBound(index.names, key.name), 1);
      if (index.names.length > 0) return;
      byNamespace.delete(key.namespace);
      namespaceOrder.splice(lowerBound(namespaceOrder, `${key.namespace}/`), 1);
    },
    record(change) {
      history.push(change);
      if (history.length < historyMax * 2) return;
      const cut = history.length - historyMax;
      oldest = (history[cut - 1] as Change).revision;
      // Changes of one revision stay or go together.
      let whole = cut;
      while (whole < history.length && (history[whole] as Change).revision === oldest) whole += 1;
      history.splice(0, whole);
    },
    oldestRevision: () => oldest,
    changesAfter,
    listAt(revision, namespace) {
      const later = changesAfter(revision);
      if (!later) return undefined;
      if (later.length === 0) return list(namespace);
      const before = new Map<string, Entry | undefined>();
      for (const change of later) {
        const key = keyOfObject(resource, change.object);
        if (namespace !== undefined && key.namespace !== namespace) continue;
        const id = orderText(key);
        if (before.has(id)) continue;
        const object = change.previous;
        before.set(id, object && { key, object, revision: Number(object.metadata.resourceVersion) });
      }
      const kept = list(namespace).filter((entry) => !before.has(orderText(entry.key)));
      for (const entry of before.values()) if (entry) kept.push(entry);
      return kept.sort((a, b) => (orderText(a.key) < orderText(b.key) ? -1 : 1));
    },
  };
}
