// Watches that lag, or break, in front of a Transport. Here: two wrappers on the given clock and chance. Not here: when a scenario asks for them.
import type { ApiResponse, Transport, WatchEvent, WatchSink } from "../../api/meta/transport.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { Random } from "../../runtime/base/random.ts";

type Watch = Extract<ApiResponse, { kind: "watch" }>;

const wrapWatches =
  (transport: Transport, wrap: (watch: Watch["subscribe"]) => Watch["subscribe"]): Transport =>
  async (request) => {
    const response = await transport(request);
    return response.kind === "watch" ? { ...response, subscribe: wrap(response.subscribe) } : response;
  };

export interface LagOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The longest that an event may take, milliseconds; asked for each event. 0 = none. */
  readonly lagMs: () => number;
}

/** Each event of a watch comes up to `lagMs` late; events of one watch keep their order, watches of different kinds do not wait for each other. */
export const laggingWatches = (transport: Transport, { clock, random, lagMs }: LagOptions): Transport =>
  wrapWatches(transport, (subscribe) => (sink) => {
    let dueMs = 0;
    let open = true;
    const late = (task: () => void): void => {
      dueMs = Math.max(dueMs, clock.nowMs() + Math.floor(random.next() * lagMs()));
      const delayMs = dueMs - clock.nowMs();
      if (delayMs <= 0) task();
      else {
        clock.after(delayMs, () => {
          if (open) task();
        });
      }
    };
    const cancel = subscribe({
      event: (event: WatchEvent, encoded) => {
        late(() => sink.event(event, encoded));
        return true;
      },
      end: () => late(() => sink.end()),
    });
    return () => {
      open = false;
      cancel();
    };
  });

export interface Breaks {
  readonly transport: Transport;
  /** Ends every open watch, as a load balancer does that is restarted. */
  breakAll(): void;
}

/** Watches that can be cut. After each event one is cut by itself with this probability; events that were on their way are lost. */
export function breakingWatches(transport: Transport, random: Random, probability: () => number): Breaks {
  const open = new Set<() => void>();
  return {
    transport: wrapWatches(
      transport,
      (subscribe) => (sink) => breakable(subscribe, sink, { open, breaks: () => random.next() < probability() }),
    ),
    breakAll: () => {
      for (const cut of [...open]) cut();
    },
  };
}

function breakable(
  subscribe: Watch["subscribe"],
  sink: WatchSink,
  { open, breaks }: { readonly open: Set<() => void>; readonly breaks: () => boolean },
): () => void {
  let over = false;
  let cancel: (() => void) | undefined;
  const close = (): void => {
    over = true;
    open.delete(cut);
    cancel?.();
  };
  const cut = (): void => {
    if (over) return;
    close();
    sink.end();
  };
  open.add(cut);
  cancel = subscribe({
    event: (event, encoded) => {
      if (over) return false;
      if (cancel && breaks()) {
        cut();
        return false;
      }
      return sink.event(event, encoded);
    },
    end: () => {
      if (over) return;
      close();
      sink.end();
    },
  });
  if (over) cancel();
  return close;
}
