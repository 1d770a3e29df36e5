// The system clock. Timers keep the process alive; who sets them cancels them.
import type { Cancel, Clock } from "../clock.ts";

// setTimeout cannot wait longer than this; longer waits are cut into pieces.
const TIMER_MS_MAX = 2_147_483_647;

function after(delayMs: number, task: () => void): Cancel {
  let handle: ReturnType<typeof setTimeout>;
  const arm = (restMs: number): void => {
    const pieceMs = Math.min(restMs, TIMER_MS_MAX);
    handle = setTimeout(() => (restMs > pieceMs ? arm(restMs - pieceMs) : task()), pieceMs);
  };
  arm(Math.max(0, delayMs));
  return () => clearTimeout(handle);
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after,
  every(periodMs, task) {
    const handle = setInterval(task, periodMs);
    return () => clearInterval(handle);
  },
};
