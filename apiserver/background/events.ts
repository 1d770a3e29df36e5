// Expiry of Events. Here: deleting those that nobody wrote for an hour, as kube-apiserver's --event-ttl does.
import { type Cancel, parseTimestamp } from "../../runtime/base/clock.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";

export const EVENT_TTL_MS = 3_600_000;
/** Events that expire close to each other go together, milliseconds. */
const BATCH_MS = 60_000;

/** When the event was written last. */
function writtenMs({ metadata }: ApiObject): number {
  const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map((entry) => entry.time)];
  return Math.max(...times.flatMap((time) => (time === undefined ? [] : [parseTimestamp(time)])));
}

/** @returns stop */
export function eventExpiry(server: ServerContext): () => void {
  const events = server.registry.byKind("", "v1", "Event");
  if (!events) return () => {};
  let timer: Cancel | undefined;
  let stopped = false;

  const schedule = (delayMs: number): void => {
    if (timer || stopped) return;
    timer = server.clock.after(delayMs, () => {
      timer = undefined;
      void sweep();
    });
  };

  async function sweep(): Promise<void> {
    const nowMs = server.clock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const event of server.objects.list(events as NonNullable<typeof events>)) {
      const dueMs = writtenMs(event) + EVENT_TTL_MS;
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      const { namespace = "", name = "", uid = "" } = event.metadata;
      try {
        await server.objects.delete(events as NonNullable<typeof events>, namespace, name, { uid });
      } catch (error) {
        server.log.warn("event expiry: trying again", { namespace, name, error: error instanceof Error ? error.message : String(error) });
        nextMs = Math.min(nextMs, nowMs + BATCH_MS);
      }
    }
    if (nextMs !== Number.POSITIVE_INFINITY) schedule(nextMs - nowMs + BATCH_MS);
  }

  const stopWatching = server.objects.watch(events, ({ type }) => {
    if (type !== "DELETED") schedule(EVENT_TTL_MS + BATCH_MS);
  });
  if (server.objects.list(events).length > 0) schedule(0);
  return () => {
    stopped = true;
    stopWatching();
    timer?.();
  };
}
