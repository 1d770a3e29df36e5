// Names to look at, one after the other, right after the write that caused it: no timer lies between a CRD and its kind.
// Here: order, de-duplication, retry. Not here: what is done with a name (controller.ts).
import type { Cancel } from "../../runtime/base/clock.ts";
import type { ServerContext } from "../context.ts";

/** Wait before a name whose look failed is looked at again, milliseconds. */
const RETRY_MS = 1_000;

export interface Turns {
  add(name: string): void;
  addAfter(name: string, delayMs: number): void;
  /** Settles when no name waits for its turn (timers do not count). */
  settled(): Promise<void>;
  stop(): void;
}

export function createTurns(server: ServerContext, look: (name: string) => Promise<void>): Turns {
  const waiting = new Set<string>();
  const timers = new Map<string, Cancel>();
  let running: Promise<void> | undefined;
  let stopped = false;

  async function drain(): Promise<void> {
    for (const name of waiting) {
      if (stopped) break;
      waiting.delete(name);
      try {
        await look(name);
      } catch (error) {
        server.log.warn("CRD controller: trying again", { name, error: error instanceof Error ? error.message : String(error) });
        turns.addAfter(name, RETRY_MS);
      }
    }
    running = undefined;
  }

  const turns: Turns = {
    add(name) {
      if (stopped) return;
      waiting.add(name);
      // From within a commit: what it wrote is read in the next microtask, when all listeners have been told.
      running ??= Promise.resolve().then(drain);
    },
    addAfter(name, delayMs) {
      if (stopped || timers.has(name)) return;
      const cancel = server.clock.after(delayMs, () => {
        timers.delete(name);
        turns.add(name);
      });
      timers.set(name, cancel);
    },
    async settled() {
      while (running) await running;
    },
    stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      timers.clear();
      waiting.clear();
    },
  };
  return turns;
}
