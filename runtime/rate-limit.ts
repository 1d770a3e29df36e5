// Rate limit: at most so many requests a second leave a client. Here: a token bucket in front of a Transport. Not here: retries.
// Source: client-go flow control, `--kube-api-qps` and `--kube-api-burst`.
import type { Transport } from "../api/meta/transport.ts";
import { type Clock, sleep } from "./base/clock.ts";

export interface RateLimit {
  /** Requests a second in the long run, above 0. */
  readonly qps: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** Requests wait for their turn in the order they were made; watches count like any other. */
export function rateLimited(transport: Transport, clock: Clock, { qps, burst }: RateLimit): Transport {
  let tokens = burst;
  let atMs = clock.nowMs();
  return async (request) => {
    const nowMs = clock.nowMs();
    tokens = Math.min(burst, tokens + ((nowMs - atMs) * qps) / 1_000) - 1;
    atMs = nowMs;
    if (tokens < 0) await sleep(clock, (-tokens * 1_000) / qps);
    return transport(request);
  };
}
