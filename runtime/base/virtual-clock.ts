// Virtual time: nothing passes until somebody says so.
// Here: a clock whose timers run in order of due time, then of insertion. Not here: who advances it (simulator).
import type { Cancel, Clock } from "./clock.ts";
import { invariant } from "./invariant.ts";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
  cancelled: boolean;
  /** Still in the heap. */
  waiting: boolean;
}

const before = (a: Timer, b: Timer): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** Below this many cancelled timers the heap is left as it is. */
const CANCELLED_MIN = 1_024;

export class VirtualClock implements Clock {
  #nowMs: number;
  #order = 0;
  #cancelled = 0;
  #heap: Timer[] = [];

  /** @param startMs what nowMs() says before any timer ran, milliseconds since the epoch */
  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, task: () => void): Cancel {
    invariant(delayMs >= 0, "a timer cannot be due in the past");
    const timer: Timer = { atMs: this.#nowMs + delayMs, order: this.#order++, task, cancelled: false, waiting: true };
    this.#push(timer);
    return () => {
      if (timer.cancelled || !timer.waiting) return;
      timer.cancelled = true;
      this.#cancelled++;
      if (this.#cancelled > CANCELLED_MIN && this.#cancelled * 2 > this.#heap.length) this.#compact();
    };
  }

  every(periodMs: number, task: () => void): Cancel {
    invariant(periodMs > 0, "a period needs a length");
    let cancel: Cancel = () => {};
    const again = (): void => {
      cancel = this.after(periodMs, () => {
        again();
        task();
      });
    };
    again();
    return () => cancel();
  }

  /** When the next timer is due, milliseconds since the epoch; undefined when none waits. */
  nextDueMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.atMs;
  }

  /** Moves to the next due timer and runs it. @returns false when none waits */
  runNext(): boolean {
    this.#dropCancelled();
    const due = this.#pop();
    if (!due) return false;
    this.#nowMs = Math.max(this.#nowMs, due.atMs);
    due.task();
    return true;
  }

  #dropCancelled(): void {
    while (this.#heap[0]?.cancelled) this.#pop();
  }

  /** Timers that are set and cancelled long before they are due must not pile up. */
  #compact(): void {
    for (const timer of this.#heap) timer.waiting = !timer.cancelled;
    this.#heap = this.#heap.filter((timer) => timer.waiting).sort((a, b) => (before(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let i = heap.push(timer) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent] as Timer;
      if (!before(timer, above)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = timer;
  }

  #pop(): Timer | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top) {
      top.waiting = false;
      if (top.cancelled) this.#cancelled--;
    }
    if (!top || !last || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Timer, heap[child] as Timer)) child++;
      if (!before(heap[child] as Timer, last)) break;
      heap[i] = heap[child] as Timer;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}
