// How many machines a rollout may add or miss. Here: maxSurge, maxUnavailable and maxInFlight as numbers. Not here: who is asked (plan.ts of a kind).
// Source: spec/controllers/machinedeployment.md 6.1, spec/api/common.md section 6.
import type { IntOrString } from "../../api/meta/object.ts";

const PERCENT = /^([+-]?[0-9]+)%$/;

/** A number, or a percentage of `total`.
 *  @param rounding `up` for maxSurge and maxInFlight, `down` for maxUnavailable
 *  @throws Error for a text that is no percentage; admission refuses those, so it names the field's value */
export function resolveIntOrPercent(value: IntOrString, total: number, rounding: "up" | "down"): number {
  if (typeof value === "number") return value;
  const percent = PERCENT.exec(value);
  if (!percent) throw new Error(`"${value}" is neither a number nor a percentage: write 1 or "25%"`);
  const share = (Number(percent[1]) * total) / 100;
  return rounding === "up" ? Math.ceil(share) : Math.floor(share);
}

export interface RolloutLimits {
  /** Machines above `replicas` at most. */
  readonly maxSurge: number;
  /** Machines that may be unavailable, 0..replicas. */
  readonly maxUnavailable: number;
}

/** maxSurge (default 1) rounded up, maxUnavailable (default 0) rounded down; when both come out 0 one machine may be unavailable.
 *  @param replicas wanted machines */
export function rolloutLimits(
  replicas: number,
  settings: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString } | undefined,
): RolloutLimits {
  const maxSurge = Math.max(resolveIntOrPercent(settings?.maxSurge ?? 1, replicas, "up"), 0);
  let maxUnavailable = Math.max(resolveIntOrPercent(settings?.maxUnavailable ?? 0, replicas, "down"), 0);
  if (maxSurge === 0 && maxUnavailable === 0) maxUnavailable = 1;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, Math.max(replicas, 0)) };
}
