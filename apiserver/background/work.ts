// Keys to look at, one after the other, on the clock. Here: de-duplication, order, retry of what failed. Not here: what is done with a key.
import type { Cancel } from "../../runtime/base/clock.ts";
import type { ServerContext } from "../context.ts";

/** Wait before a key that failed is looked at again, milliseconds. */
const RETRY_MS = 1_000;

export interface Work {
  /** Looks at the key soon; a key that waits already is not added twice. */
  add(key: string): void;
  /** Looks at the key after `delayMs`. */
  addAfter(key: string, delayMs: number): void;
  stop(): void;
}

/** @param look must not throw for an object that is gone; what it throws is logged and tried again */
export function createWork(server: ServerContext, name: string, look: (key: string) => Promise<void>): Work {
  const waiting = new Set<string>();
  const timers = new Map<string, Cancel>();
  let scheduled: Cancel | undefined;
  let running = false;
  let stopped = false;

  async function drain(): Promise<void> {
    running = true;
    for (const key of waiting) {
      waiting.delete(key);
      try {
        await look(key);
      } catch (error) {
        server.log.warn(`${name}: trying again`, { key, error: error instanceof Error ? error.message : String(error) });
        work.addAfter(key, RETRY_MS);
      }
      if (stopped) break;
    }
    running = false;
  }

  const work: Work = {
    add(key) {
      if (stopped) return;
      waiting.add(key);
      if (running || scheduled) return;
      scheduled = server.clock.after(0, () => {
        scheduled = undefined;
        void drain();
      });
    },
    addAfter(key, delayMs) {
      if (stopped || timers.has(key)) return;
      const cancel = server.clock.after(delayMs, () => {
        timers.delete(key);
        work.add(key);
      });
      timers.set(key, cancel);
    },
    stop() {
      stopped = true;
      scheduled?.();
      for (const cancel of timers.values()) cancel();
      timers.clear();
      waiting.clear();
    },
  };
  return work;
}
