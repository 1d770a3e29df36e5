// Holds: keys whose last run wrote something that the cache does not show yet. Here: waiting for it, at most 30 s.
// Not here: what was written (own-writes.ts), what happens afterwards (runner.ts).
import { resourceId, type Caches } from "./caches.ts";
import type { Cancel, Clock } from "./base/clock.ts";
import { isShown, type OwnWrite } from "./own-writes.ts";

/** Longer would hide a dead watch; afterwards the next run reads live what it wrote. */
export const OWN_WRITE_WAIT_MS = 30_000;

export interface Holds {
  /** Calls `release` once: at once, when the cache shows all writes, or with those still missing after 30 s. */
  hold(writes: readonly OwnWrite[], release: (missing: readonly OwnWrite[]) => void): void;
  /** Keys waiting now. */
  count(): number;
  stop(): void;
}

interface Hold {
  readonly release: (missing: readonly OwnWrite[]) => void;
  readonly deadlineMs: number;
  missing: readonly OwnWrite[];
}

export function createHolds(caches: Caches, clock: Clock): Holds {
  const holds = new Set<Hold>();
  const byResource = new Map<string, Set<Hold>>();
  let cancelTimer: Cancel | undefined;

  const end = (hold: Hold): void => {
    holds.delete(hold);
    for (const set of byResource.values()) set.delete(hold);
    if (holds.size === 0) {
      cancelTimer?.();
      cancelTimer = undefined;
    }
    hold.release(hold.missing);
  };
  const check = (hold: Hold): void => {
    hold.missing = hold.missing.filter((w) => !isShown(caches, w));
    if (hold.missing.length === 0) end(hold);
  };
  const listen = (write: OwnWrite): Set<Hold> => {
    const id = resourceId(write.resource);
    let waiting = byResource.get(id);
    if (!waiting) {
      const created = new Set<Hold>();
      waiting = created;
      byResource.set(id, created);
      caches.storeOf(write.resource)?.onSeen(() => {
        for (const hold of [...created]) check(hold);
      });
    }
    return waiting;
  };
  const arm = (): void => {
    const [oldest] = holds;
    if (cancelTimer || !oldest) return;
    cancelTimer = clock.after(Math.max(0, oldest.deadlineMs - clock.nowMs()), () => {
      cancelTimer = undefined;
      for (const hold of [...holds]) if (hold.deadlineMs <= clock.nowMs()) end(hold);
      arm();
    });
  };

  return {
    hold: (writes, release) => {
      const missing = writes.filter((w) => !isShown(caches, w));
      if (missing.length === 0) return release([]);
      const hold: Hold = { release, missing, deadlineMs: clock.nowMs() + OWN_WRITE_WAIT_MS };
      holds.add(hold);
      for (const write of missing) listen(write).add(hold);
      arm();
    },
    count: () => holds.size,
    stop: () => {
      cancelTimer?.();
      holds.clear();
      byResource.clear();
    },
  };
}
