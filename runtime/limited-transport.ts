// A Transport that sends at most so many requests a second. Here: a token bucket on the clock. Source: client-go's flowcontrol, observed behaviour.
import type { Transport } from "../api/meta/transport.ts";
import type { Clock } from "./base/clock.ts";

/** A burst of twice the rate passes at once; what is beyond it waits its turn, in order. Watches count when they are opened.
 *  @param perSecond at least 1 */
export function limitedTransport(transport: Transport, clock: Clock, perSecond: number): Transport {
  const burst = perSecond * 2;
  let tokens = burst;
  let filledMs = clock.nowMs();
  let lastTurnMs = 0;
  const turnMs = (): number => {
    const nowMs = clock.nowMs();
    tokens = Math.min(burst, tokens + ((nowMs - filledMs) / 1_000) * perSecond);
    filledMs = nowMs;
    tokens -= 1;
    return tokens >= 0 ? 0 : Math.ceil((-tokens / perSecond) * 1_000);
  };
  return async (request) => {
    const waitMs = Math.max(turnMs(), lastTurnMs - clock.nowMs());
    if (waitMs > 0) {
      lastTurnMs = clock.nowMs() + waitMs;
      await new Promise<void>((done) => clock.after(waitMs, done));
    }
    return transport(request);
  };
}
