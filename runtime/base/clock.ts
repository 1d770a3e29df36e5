// Clock: the only source of time for every decision. Here: the interface. Not here: the system clock (real/), the virtual one (virtual-clock.ts).

/** Stops a pending timer; calling it again, or after it fired, does nothing. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since the Unix epoch, never going back. */
  nowMs(): number;
  /** Runs `task` once, after `delayMs` (>= 0). Timers due at the same instant run in the order they were set. */
  after(delayMs: number, task: () => void): Cancel;
  /** Runs `task` every `periodMs` (> 0), first after one period, until cancelled. */
  every(periodMs: number, task: () => void): Cancel;
}

/** RFC 3339 in UTC with whole seconds, as metav1.Time is written: `2026-08-21T10:00:00Z`. */
export function timestamp(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 in UTC with microseconds, as metav1.MicroTime is written. */
export function microTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch of an RFC 3339 text; NaN when it is not one. */
export const parseTimestamp = (text: string): number => Date.parse(text);
