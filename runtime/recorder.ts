// Event recorder: core/v1 Events about objects, written in the background. Here: counting up repeats, a limit per object.
// Not here: what is worth an event (controllers). Source: client-go's recorder and correlator, observed behaviour.
import type { KubeObject } from "../api/meta/object.ts";
import { type ObjectKey, resource } from "../api/meta/resource.ts";
import { isNotFound } from "../api/meta/status.ts";
import { type Clock, timestamp } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Client } from "./client.ts";
import type { EventType } from "./controller.ts";

/** Events remembered for counting up; older ones start anew. client-go keeps 4096. */
const REMEMBERED_MAX = 4_096;
/** Per object and source: this many at once, then one per five minutes, so that a loop cannot flood the server. */
const BURST_MAX = 25;
const REFILL_MS = 300_000;
/** Events waiting to be sent; more are dropped, a controller must not wait for its events. */
const WAITING_MAX = 1_000;
const MESSAGE_LENGTH_MAX = 1_024;

export interface CoreEvent extends KubeObject {
  readonly involvedObject: Readonly<Record<string, string | undefined>>;
  readonly reason: string;
  readonly message: string;
  readonly type: EventType;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly eventTime: null;
}

export const Event = resource<CoreEvent>("", "v1", "Event", "events");

export interface Recorder {
  record(source: string, object: KubeObject, type: EventType, reason: string, message: string): void;
}

interface Remembered {
  readonly key: ObjectKey;
  count: number;
}

export function createRecorder({ client, clock, log }: { client: Client; clock: Clock; log: Logger }): Recorder {
  const remembered = new Map<string, Remembered>();
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  let sequence = 0;
  let waiting = 0;
  let tail: Promise<void> = Promise.resolve();

  const allowed = (about: string): boolean => {
    const nowMs = clock.nowMs();
    const old = buckets.get(about) ?? { tokens: BURST_MAX, atMs: nowMs };
    const tokens = Math.min(BURST_MAX, old.tokens + (nowMs - old.atMs) / REFILL_MS);
    remember(buckets, about, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs });
    return tokens >= 1;
  };
  const send = async (text: string, event: CoreEvent): Promise<void> => {
    const known = remembered.get(text);
    if (known) {
      try {
        known.count++;
        const body = { count: known.count, lastTimestamp: event.lastTimestamp };
        await client.patch(Event, known.key, { type: "merge", body });
        return;
      } catch (e) {
        if (!isNotFound(e)) throw e;
      }
    }
    const created = await client.create(Event, event);
    remember(remembered, text, { key: { namespace: created.metadata.namespace ?? "", name: created.metadata.name ?? "" }, count: 1 });
  };

  return {
    record: (source, object, type, reason, message) => {
      const about = [source, object.kind, object.metadata.namespace ?? "", object.metadata.name ?? "", object.metadata.uid ?? ""].join("/");
      if (waiting >= WAITING_MAX || !allowed(about)) return log.debug("event dropped", { about, reason });
      const event = eventOf(source, object, type, reason, message, clock.nowMs(), sequence++);
      waiting++;
      tail = tail
        .then(() => send([about, type, reason, event.message].join("/"), event))
        .catch((e) => log.debug("event not written", { about, reason, error: e instanceof Error ? e.message : String(e) }))
        .then(() => void waiting--);
    },
  };
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= REMEMBERED_MAX) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

function eventOf(
  source: string,
  o: KubeObject,
  type: EventType,
  reason: string,
  message: string,
  nowMs: number,
  sequence: number,
): CoreEvent {
  const at = timestamp(nowMs);
  const m = o.metadata;
  const nanos = BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(sequence % 1_000_000);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${m.name ?? ""}.${nanos.toString(16)}`, namespace: m.namespace || "default" },
    involvedObject: {
      apiVersion: o.apiVersion,
      kind: o.kind,
      ...(m.namespace ? { namespace: m.namespace } : {}),
      name: m.name,
      uid: m.uid,
      resourceVersion: m.resourceVersion,
    },
    reason,
    message: message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX - 3)}...` : message,
    type,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component: source },
    reportingComponent: source,
    reportingInstance: "",
    eventTime: null,
  };
}
