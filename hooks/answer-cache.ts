// Answer cache: values by key for a limited time. Here: life, bound, sweeping. Not here: what is worth keeping (client.ts, inplace.ts).
import type { Clock } from "../runtime/base/clock.ts";

/** More keys than objects a manager looks after; beyond it the oldest go first. */
const ENTRIES_MAX = 50_000;

export interface AnswerCache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

export function createAnswerCache<T>(clock: Clock, lifeMs: number): AnswerCache<T> {
  const entries = new Map<string, { readonly value: T; readonly untilMs: number }>();
  /** Insertion order is order of expiry, since all live equally long. */
  const sweep = (): void => {
    for (const [key, { untilMs }] of entries) {
      if (untilMs > clock.nowMs() && entries.size <= ENTRIES_MAX) return;
      entries.delete(key);
    }
  };
  return {
    get: (key) => {
      const entry = entries.get(key);
      return entry && entry.untilMs > clock.nowMs() ? entry.value : undefined;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, { value, untilMs: clock.nowMs() + lifeMs });
      sweep();
    },
  };
}
