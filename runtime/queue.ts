// Work queue: which key runs next, and when.
// Here: de-duplication, two lanes, delays, back-off. Not here: running reconcilers (manager.ts), reading objects (store.ts).
// Source: client-go workqueue and controller-runtime's priority queue, observed behaviour.
import type { Cancel, Clock } from "./base/clock.ts";
import { invariant } from "./base/invariant.ts";

const BACKOFF_FIRST_MS = 5;
const BACKOFF_MAX_MS = 1_000_000;

/** Wait before a failed key runs again. @param failures consecutive failures, from 1
 *  @returns milliseconds, 5 to 1_000_000, doubling. Source: client-go's default limiter */
export function backoffDelayMs(failures: number): number {
  invariant(failures >= 1, "back-off needs a failure");
  return Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MAX_MS);
}

/** `low` waits behind every `normal` key: objects that were there before the watch began. */
export type Lane = "normal" | "low";

export interface WorkQueue {
  /** Makes a key ready; while it runs it is noted and becomes ready again afterwards. A delay that was set is dropped. */
  add(key: string, lane?: Lane): void;
  /** As add, later. Of several delays the earliest counts; a key that is ready already stays so. */
  addAfter(key: string, delayMs: number): void;
  /** Adds after the back-off for one more failure. @returns the delay, milliseconds */
  addRateLimited(key: string): number;
  /** The key did well: its next failure starts from the shortest back-off. */
  forget(key: string): void;
  readyCount(): number;
  /** Takes a ready key; it runs until done(). @param position 0 = the oldest of the normal lane */
  takeAt(position: number): string;
  /** The key no longer runs. */
  done(key: string): void;
  runningCount(): number;
  /** Keys with a delay. */
  delayedCount(): number;
  /** Drops delays and refuses whatever comes after. */
  stop(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Called each time a key becomes ready. */
  readonly onReady?: () => void;
}

export function createWorkQueue({ clock, onReady = () => {} }: WorkQueueOptions): WorkQueue {
  const lanes: Readonly<Record<Lane, Ring>> = { normal: new Ring(), low: new Ring() };
  const ready = new Map<string, Lane>();
  const running = new Set<string>();
  const dirty = new Map<string, Lane>();
  const delays = new Map<string, { readonly atMs: number; readonly cancel: Cancel }>();
  const failures = new Map<string, number>();
  let stopped = false;

  const dropDelay = (key: string): void => {
    delays.get(key)?.cancel();
    delays.delete(key);
  };
  const makeReady = (key: string, lane: Lane): void => {
    ready.set(key, lane);
    lanes[lane].push(key);
    onReady();
  };
  const add = (key: string, lane: Lane = "normal"): void => {
    if (stopped) return;
    dropDelay(key);
    if (running.has(key)) {
      dirty.set(key, dirty.get(key) === "normal" ? "normal" : lane);
      return;
    }
    const at = ready.get(key);
    if (at === undefined) makeReady(key, lane);
    else if (at === "low" && lane === "normal") {
      lanes.low.remove(key);
      ready.set(key, "normal");
      lanes.normal.push(key);
    }
  };
  const addAfter = (key: string, delayMs: number): void => {
    if (delayMs <= 0) add(key);
    if (delayMs <= 0 || stopped || ready.has(key)) return;
    const atMs = clock.nowMs() + delayMs;
    const set = delays.get(key);
    if (set && set.atMs <= atMs) return;
    set?.cancel();
    const cancel = clock.after(delayMs, () => {
      delays.delete(key);
      add(key);
    });
    delays.set(key, { atMs, cancel });
  };

  return {
    add,
    addAfter,
    addRateLimited: (key) => {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      const delayMs = backoffDelayMs(count);
      addAfter(key, delayMs);
      return delayMs;
    },
    forget: (key) => void failures.delete(key),
    readyCount: () => ready.size,
    takeAt: (position) => {
      invariant(position >= 0 && position < ready.size, "a key is taken from those that are ready");
      const first = lanes.normal.size;
      const key = position < first ? lanes.normal.takeAt(position) : lanes.low.takeAt(position - first);
      ready.delete(key);
      invariant(!running.has(key), "a key never runs twice at once");
      running.add(key);
      return key;
    },
    done: (key) => {
      invariant(running.delete(key), "only a running key can be done");
      const lane = dirty.get(key);
      dirty.delete(key);
      if (lane !== undefined) add(key, lane);
    },
    runningCount: () => running.size,
    delayedCount: () => delays.size,
    stop: () => {
      stopped = true;
      for (const key of [...delays.keys()]) dropDelay(key);
      for (const lane of Object.values(lanes)) lane.clear();
      ready.clear();
      dirty.clear();
    },
  };
}

/** First in, first out; taking from the middle moves the oldest into the gap, so every operation is constant time. */
class Ring {
  #keys: string[] = [];
  #head = 0;
  readonly #slots = new Map<string, number>();

  get size(): number {
    return this.#slots.size;
  }

  push(key: string): void {
    this.#slots.set(key, this.#keys.push(key) - 1);
  }

  takeAt(position: number): string {
    const slot = this.#head + position;
    const key = this.#keys[slot];
    const oldest = this.#keys[this.#head];
    invariant(key !== undefined && oldest !== undefined, "a ring holds a key in each slot");
    this.#keys[slot] = oldest;
    this.#slots.set(oldest, slot);
    this.#slots.delete(key);
    this.#head++;
    if (this.#head > 1_024 && this.#head * 2 > this.#keys.length) this.#compact();
    return key;
  }

  remove(key: string): void {
    const slot = this.#slots.get(key);
    invariant(slot !== undefined, "only a key that waits can be removed");
    this.takeAt(slot - this.#head);
  }

  clear(): void {
    this.#keys = [];
    this.#head = 0;
    this.#slots.clear();
  }

  #compact(): void {
    this.#keys = this.#keys.slice(this.#head);
    this.#head = 0;
    this.#keys.forEach((key, slot) => {
      this.#slots.set(key, slot);
    });
  }
}
