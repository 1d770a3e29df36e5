// Reflector: keeps a store equal to the server with one list and then watches. Here: resume, relist on 410, bookmarks, back-off.
// Not here: the store itself (store.ts), what events mean for it (fold.ts).
import type { KubeObject } from "../api/meta/object.ts";
import type { Resource } from "../api/meta/resource.ts";
import { isExpired } from "../api/meta/status.ts";
import type { WatchEvent } from "../api/meta/transport.ts";
import type { Cancel, Clock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Client, WatchHandle } from "./client.ts";
import type { Store } from "./store.ts";

// client-go: from 800 ms, doubling, to 30 s, plus up to as much again.
const BACKOFF_FIRST_MS = 800;
const BACKOFF_MAX_MS = 30_000;
/** A watch that ends sooner than this without an event counts as a failure, or a broken server would be asked without pause. */
const SHORT_WATCH_MS = 1_000;
/** How long after its own timeout a watch is given up when the server did not end it. */
const WATCH_GRACE_MS = 30_000;

export interface ReflectorOptions<K extends KubeObject> {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly resource: Resource<K>;
  readonly store: Store<K>;
  readonly namespace?: string;
  /** Objects per list request; absent = all at once. */
  readonly pageSize?: number;
  /** How long one watch lasts, seconds, up to twice of it by chance; absent = until it breaks (in process). */
  readonly watchTimeoutSeconds?: number;
}

export interface Reflector {
  start(): void;
  stop(): void;
}

export function createReflector<K extends KubeObject>(options: ReflectorOptions<K>): Reflector {
  const { client, clock, random, resource, store, namespace } = options;
  const log = options.log.with({ resource: resource.plural });
  let stopped = false;
  let failures = 0;
  let watchFrom: string | undefined;
  let handle: WatchHandle | undefined;
  let cancelTimer: Cancel = () => {};

  const list = async (): Promise<void> => {
    store.apply({ type: "relistStart" });
    let next: string | undefined;
    do {
      const page = await client.list(resource, { namespace, limit: options.pageSize, continue: next });
      if (stopped) return;
      for (const object of page.items) store.apply({ type: "relistItem", object });
      next = page.metadata.continue || undefined;
      if (!next) {
        watchFrom = page.metadata.resourceVersion;
        store.apply({ type: "relistEnd", resourceVersion: watchFrom });
      }
    } while (next);
  };

  const onEvent = (event: WatchEvent<K>): void => {
    if (stopped) return;
    watchFrom = event.object.metadata.resourceVersion ?? watchFrom;
    const { type, object } = event;
    if (type === "ADDED" || type === "MODIFIED") store.apply({ type: "upsert", object });
    else if (type === "DELETED") store.apply({ type: "remove", object });
    else if (type === "BOOKMARK") store.apply({ type: "bookmark", resourceVersion: object.metadata.resourceVersion ?? "" });
  };

  const watch = async (): Promise<void> => {
    const startedMs = clock.nowMs();
    let events = 0;
    let over = false;
    const seconds = options.watchTimeoutSeconds;
    const timeoutSeconds = seconds && Math.ceil(seconds * (1 + random.next()));
    const opened = await client.watch(
      resource,
      { namespace, resourceVersion: watchFrom, allowWatchBookmarks: true, timeoutSeconds },
      {
        event: (event) => {
          events++;
          failures = 0;
          onEvent(event);
        },
        end: (cause) => {
          over = true;
          handle = undefined;
          cancelTimer();
          if (stopped) return;
          if (cause) return fail(cause);
          if (events === 0 && clock.nowMs() - startedMs < SHORT_WATCH_MS) return fail(new Error("the watch ended at once"));
          failures = 0;
          void run();
        },
      },
    );
    if (stopped) return opened.close();
    if (over) return;
    handle = opened;
    if (timeoutSeconds) cancelTimer = clock.after(timeoutSeconds * 1_000 + WATCH_GRACE_MS, () => handle?.close());
  };

  const fail = (cause: unknown): void => {
    if (stopped) return;
    const expired = isExpired(cause);
    if (expired) watchFrom = undefined;
    failures++;
    // The first expiry is ordinary life and is cured at once; a server that says so again and again is not hurried.
    const delayMs = expired && failures === 1 ? 0 : backoffMs(failures, random);
    log[expired ? "debug" : "warn"]("list or watch failed", { error: messageOf(cause), retryInMs: Math.round(delayMs) });
    if (delayMs === 0) void run();
    else cancelTimer = clock.after(delayMs, () => void run());
  };

  const run = async (): Promise<void> => {
    try {
      if (watchFrom === undefined) await list();
      if (!stopped) await watch();
    } catch (e) {
      fail(e);
    }
  };

  return {
    start: () => void run(),
    stop: () => {
      stopped = true;
      cancelTimer();
      handle?.close();
    },
  };
}

const backoffMs = (failures: number, random: Random): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MAX_MS) * (1 + random.next());

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
