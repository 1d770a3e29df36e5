// When a workload cluster is dialled, probed and dropped: a pure machine of one cluster's connection.
// Here: state, signals, what to do next. Not here: doing it (clusters.ts). Source: spec/controllers/workload-cluster.md section 1.
import type { ConnectionState } from "./seam.ts";

export const PROBE_PERIOD_MS = 10_000;
/** A probe that takes longer counts as failed. */
export const PROBE_LIMIT_MS = 5_000;
/** So many failed probes in a row drop the connection. */
const PROBE_FAILURES_MAX = 5;
/** Longest wait for the first list of all caches. */
export const SYNC_LIMIT_MS = 300_000;
/** Waits after failed attempts: soon at first, since API servers come up while we ask, then as seldom as upstream. */
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;

export type Phase = "idle" | "dialling" | "waiting" | "connected";

export interface Link extends ConnectionState {
  readonly phase: Phase;
  /** Failed attempts since the last success or hint; picks the next wait. */
  readonly attempts: number;
}

export type Signal =
  /** Somebody needs the connection. */
  | { readonly type: "connect" }
  /** Something happened that may let the next attempt succeed, e.g. the kubeconfig or a control plane Machine came up. */
  | { readonly type: "hint" }
  | { readonly type: "retryDue" }
  /** Nobody needs it any more. */
  | { readonly type: "forget" }
  | { readonly type: "dialled" | "dialFailed" | "probeGood" | "probeBad"; readonly atMs: number }
  /** The server refused our credentials: the kubeconfig may be new. */
  | { readonly type: "unauthorized"; readonly atMs: number };

export type Effect = { readonly do: "dial" | "drop" | "cancelRetry" } | { readonly do: "retryAfter"; readonly delayMs: number };

export const newLink: Link = {
  phase: "idle",
  attempts: 0,
  connected: false,
  lastProbeMs: 0,
  lastProbeSuccessMs: 0,
  consecutiveFailures: 0,
};

export interface Step {
  readonly link: Link;
  readonly effects: readonly Effect[];
}

const stay = (link: Link): Step => ({ link, effects: [] });
const dialling = (link: Link): Link => ({ ...link, phase: "dialling", connected: false });

function failed(link: Link, atMs: number): Step {
  const delayMs = RETRY_DELAYS_MS[Math.min(link.attempts, RETRY_DELAYS_MS.length - 1)] ?? 30_000;
  return {
    link: {
      ...link,
      phase: "waiting",
      connected: false,
      attempts: link.attempts + 1,
      lastProbeMs: atMs,
      consecutiveFailures: link.consecutiveFailures + 1,
    },
    effects: [{ do: "retryAfter", delayMs }],
  };
}

const redial = (link: Link): Step => ({ link: dialling({ ...link, attempts: 0 }), effects: [{ do: "drop" }, { do: "dial" }] });

function probeBad(link: Link, atMs: number): Step {
  const next = { ...link, lastProbeMs: atMs, consecutiveFailures: link.consecutiveFailures + 1 };
  return next.consecutiveFailures < PROBE_FAILURES_MAX ? stay(next) : redial(next);
}

const good = (atMs: number): Link => ({
  phase: "connected",
  attempts: 0,
  connected: true,
  lastProbeMs: atMs,
  lastProbeSuccessMs: atMs,
  consecutiveFailures: 0,
});

/** What one signal changes. Signals that come too late for the phase change nothing. */
export function step(link: Link, signal: Signal): Step {
  switch (signal.type) {
    case "connect":
      return link.phase === "idle" ? { link: dialling(link), effects: [{ do: "dial" }] } : stay(link);
    case "hint":
      return link.phase === "waiting"
        ? { link: dialling({ ...link, attempts: 0 }), effects: [{ do: "cancelRetry" }, { do: "dial" }] }
        : stay(link);
    case "retryDue":
      return link.phase === "waiting" ? { link: dialling(link), effects: [{ do: "dial" }] } : stay(link);
    case "forget":
      return { link: { ...newLink }, effects: link.phase === "idle" ? [] : [{ do: "cancelRetry" }, { do: "drop" }] };
    case "dialled":
      return link.phase === "dialling" ? stay(good(signal.atMs)) : stay(link);
    case "dialFailed":
      return link.phase === "dialling" ? failed(link, signal.atMs) : stay(link);
    case "probeGood":
      return link.phase === "connected" ? stay(good(signal.atMs)) : stay(link);
    case "probeBad":
      return link.phase === "connected" ? probeBad(link, signal.atMs) : stay(link);
    case "unauthorized":
      return link.phase === "connected" ? redial(link) : stay(link);
  }
}
