// Client: what a controller may ask of an API server. Always live (no cache); answers are deeply read-only.
// Here: the seam and its options. Not here: the client over a Transport (transport-client.ts), over HTTPS (real/).
import type { KubeList, KubeObject } from "../api/meta/object.ts";
import type { ObjectKey, Resource } from "../api/meta/resource.ts";
import type { WatchEvent } from "../api/meta/transport.ts";

export interface ReadOptions {
  /** "0" = any version will do, else not older than. */
  readonly resourceVersion?: string;
}

export interface ListOptions extends ReadOptions {
  /** Absent = all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

export interface WriteOptions {
  /** Overrides the client's own field manager. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /** e.g. `status`, `scale`, `eviction`. */
  readonly subresource?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean;
}

export interface DeleteOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface WatchHandler<K extends KubeObject> {
  event(event: WatchEvent<K>): void;
  /** Called once, when the watch is over: by the server, the network or close(). */
  end(cause?: Error): void;
}

export interface WatchHandle {
  close(): void;
}

export type Patch =
  | { readonly type: "merge"; readonly body: object }
  | { readonly type: "strategic"; readonly body: object }
  | { readonly type: "json"; readonly body: readonly object[] };

/** Errors: StatusError for an answer that is a Status; any other Error for a server that could not be reached. */
export interface Client {
  get<K extends KubeObject>(resource: Resource<K>, key: ObjectKey, options?: ReadOptions): Promise<K>;
  list<K extends KubeObject>(resource: Resource<K>, options?: ListOptions): Promise<KubeList<K>>;
  create<K extends KubeObject>(resource: Resource<K>, object: K, options?: WriteOptions): Promise<K>;
  update<K extends KubeObject>(resource: Resource<K>, object: K, options?: WriteOptions): Promise<K>;
  patch<K extends KubeObject>(resource: Resource<K>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<K>;
  /** Server-side apply of `object`, which names itself. */
  apply<K extends KubeObject>(resource: Resource<K>, object: KubeObject, options?: ApplyOptions): Promise<K>;
  /** Resolves also when the object lives on with finalizers. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  watch<K extends KubeObject>(resource: Resource<K>, options: WatchOptions, handler: WatchHandler<K>): Promise<WatchHandle>;
  /** A GET of any path that answers JSON or text, such as `/` or `/version`. */
  raw(path: string): Promise<unknown>;
  /** The same client writing under another field manager. */
  as(fieldManager: string): Client;
}
