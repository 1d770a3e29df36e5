// A rollout waits until the last Machine it changed can be used again, so that never two are missing. Here: pure. Ours: upstream looks at the
// control plane components only, which work again before the Node does.
import type { Machine } from "../../api/machine.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { byName, createdMs, isTrueOn } from "./machines.ts";

/** A Machine that is unavailable for longer is so for another reason than the rollout, and must not hold it up. */
const SETTLE_MAX_MS = 300_000;

export interface Settling {
  readonly machine: Machine;
  readonly requeueAfterMs: number;
}

/** @param upToDate Machines that the rollout has made or changed already; none of them deleting */
export function settling(upToDate: readonly Machine[], nowMs: number): Settling | undefined {
  for (const machine of [...upToDate].sort(byName)) {
    // The Machine controller has not closed its update yet.
    const unfinished = isTrueOn(machine, "Updating");
    if (isTrueOn(machine, "Available") && !unfinished) continue;
    const leftMs = (unfinished ? nowMs : changedMs(machine)) + SETTLE_MAX_MS - nowMs;
    if (leftMs > 0) return { machine, requeueAfterMs: leftMs };
  }
  return undefined;
}

/**
 * A Machine made a moment ago fails the preflight checks because it has not come up yet: it is waited for and then updated in place. Ours:
 * upstream replaces it as if it were sick.
 */
export function startingUp(machine: Machine, nowMs: number): Settling | undefined {
  const leftMs = createdMs(machine) + SETTLE_MAX_MS - nowMs;
  return isTrueOn(machine, "Available") || leftMs <= 0 ? undefined : { machine, requeueAfterMs: leftMs };
}

/** When it was made, last became unavailable, or ended its last update. */
const changedMs = (machine: Machine): number =>
  Math.max(
    createdMs(machine),
    ...["Available", "Updating"].map(
      (type) => parseTimestamp(findCondition(machine.status?.conditions, type)?.lastTransitionTime ?? "") || 0,
    ),
  );
