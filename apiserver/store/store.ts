// Where objects live: one revision counter over all resources, ordered keys, a bounded history of changes.
// Here: the seam. Not here: memory (memory.ts), disk (../real/file-store.ts), watches (../watch/).
import type { ApiObject } from "../object.ts";

/** Where an object lives. `resource` is prefix + storage key such as `w1|apps/deployments`; namespace is empty for cluster scope. */
export interface StoreKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Entry {
  readonly key: StoreKey;
  /** Frozen, in the storage version, with metadata.resourceVersion set. */
  readonly object: ApiObject;
  readonly revision: number;
}

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  /** For DELETED: the last state, with the resourceVersion of the deletion. */
  readonly object: ApiObject;
  /** The state before; absent for ADDED. */
  readonly previous?: ApiObject;
}

/** One write. `expectedRevision` 0 = must not exist. */
export interface Write {
  readonly key: StoreKey;
  readonly expectedRevision?: number;
  /** Makes the stored object from the revision it will get; undefined = delete. */
  readonly object?: (revision: number) => ApiObject;
}

/** Another write came first, or the key exists (expected 0) or not. Told by `code`. */
export class StoreConflict extends Error {
  readonly code = "StoreConflict";
  readonly key: StoreKey;
  constructor(key: StoreKey) {
    super(`stale revision of ${key.resource}/${key.namespace}/${key.name}`);
    this.key = key;
  }
}

/** The write could not be kept (disk full, closed). Reads go on. Told by `code`. */
export class StoreUnavailable extends Error {
  readonly code = "StoreUnavailable";
}

export interface Store {
  /** Revision of the newest commit; 1 for an empty store. */
  revision(): number;
  get(key: StoreKey): Entry | undefined;
  /** Sorted as etcd sorts keys. @param namespace undefined = all */
  list(resource: string, namespace?: string): readonly Entry[];
  count(resource: string): number;
  /** All resources that have or had objects, sorted. */
  resources(): readonly string[];
  /**
   * All or nothing, at one new revision; kept (as the implementation promises) when it returns.
   * Listeners have been told, in order, unless this is called from one: then they are told when that one returns.
   * @returns the revision   @throws StoreConflict, StoreUnavailable
   */
  commit(writes: readonly Write[]): number;
  /** Changes of a resource after `revision`, oldest first; undefined when history does not reach back that far. */
  changesAfter(resource: string, revision: number): readonly Change[] | undefined;
  /** Objects as they were at `revision`, sorted; undefined when history does not reach back that far. */
  listAt(resource: string, revision: number, namespace?: string): readonly Entry[] | undefined;
  /** Oldest revision from which changesAfter answers. */
  oldestRevision(resource: string): number;
  /** Says that the resource is served from now on: its history begins here, unless it has one. */
  open(resource: string): void;
  /** Calls back for each later change of a resource, in order. @param namespace undefined = all   @returns stop */
  onChange(resource: string, namespace: string | undefined, listener: (change: Change) => void): () => void;
  close(): void;
}
