// Transport: one request to an API server and its answer, with or without a socket. The only type runtime and apiserver share.
// Source: the Kubernetes API conventions; design/architecture.md sections 3 and 4.

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ApiRequest {
  readonly method: string;
  /** Path as on the wire (percent-encoded), without the query. */
  readonly path: string;
  /** Query as on the wire, without the question mark; empty when there is none. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes from a socket, or in process an object that must not be changed any more by the sender. */
  readonly body?: Uint8Array | object;
  /** Who asks, when the caller has authenticated already (in process, client certificates); else headers decide. */
  readonly user?: UserInfo;
  /** Aborted when the peer went away. */
  readonly signal?: AbortSignal;
}

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

export interface WatchEvent<T = unknown> {
  readonly type: WatchEventType;
  readonly object: T;
}

/** Where a watch delivers. `encoded` gives the event as one JSON line; made once for all watchers of that form. */
export interface WatchSink {
  /** @returns false when the reader is too slow and wants to be cut off */
  event(event: WatchEvent, encoded: () => Uint8Array): boolean;
  end(): void;
}

/** A two-way byte stream after a protocol switch (port-forward, exec). */
export interface UpgradeStream {
  write(bytes: Uint8Array): void;
  onData(listener: (bytes: Uint8Array) => void): void;
  onEnd(listener: () => void): void;
  end(): void;
}

export type ApiResponse =
  | { readonly kind: "object"; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly object: object }
  | { readonly kind: "bytes"; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly bytes: Uint8Array }
  | {
      readonly kind: "watch";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Starts delivery; events already due are delivered before it returns. @returns a function that ends the watch */
      readonly subscribe: (sink: WatchSink) => () => void;
    }
  | {
      readonly kind: "upgrade";
      readonly status: 101;
      readonly headers: Readonly<Record<string, string>>;
      readonly accept: (stream: UpgradeStream) => void;
    };

/** An API server as a function. In process the answer's objects are frozen and shared, never copied. */
export type Transport = (request: ApiRequest) => Promise<ApiResponse>;
