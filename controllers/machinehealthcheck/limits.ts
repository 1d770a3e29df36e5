// Whether remediation may go on, and how many may start. Here: the pure rule. Source: spec/controllers/machinehealthcheck.md section 4.
import type { MachineHealthCheck } from "../../api/machinehealthcheck.ts";
import { resolveIntOrPercent } from "../rollout/numbers.ts";

export interface Limit {
  readonly allowed: boolean;
  /** status.remediationsAllowed; 0 when not allowed. */
  readonly left: number;
  /** Why not, for people. */
  readonly message: string;
}

export class RangeInvalid extends Error {
  readonly code = "RangeInvalid";
}

const RANGE = /^\[(\d+)-(\d+)\]$/;

/** @throws RangeInvalid for a range that holds nothing */
export function limitOf({ spec }: Pick<MachineHealthCheck, "spec">, expected: number, healthy: number): Limit {
  const count = expected - healthy;
  const { unhealthyInRange, unhealthyLessThanOrEqualTo } = spec.remediation?.triggerIf ?? {};
  if (unhealthyInRange) {
    const [, from, to] = RANGE.exec(unhealthyInRange) ?? [];
    const [min, max] = [Number(from), Number(to)];
    if (from === undefined || max < min)
      throw new RangeInvalid(`spec.remediation.triggerIf.unhealthyInRange is "${unhealthyInRange}": write [MIN-MAX], such as [1-3]`);
    return verdict(min <= count && count <= max, max - count, `unhealthy: ${count}, unhealthyInRange: ${unhealthyInRange}`, expected);
  }
  const limit = unhealthyLessThanOrEqualTo ?? "100%";
  const most = resolveIntOrPercent(limit, expected, "down");
  return verdict(count <= most, most - count, `unhealthy: ${count}, unhealthyLessThanOrEqualTo: ${limit}`, expected);
}

const verdict = (allowed: boolean, left: number, why: string, expected: number): Limit =>
  allowed
    ? { allowed, left, message: "" }
    : {
        allowed,
        left: 0,
        message: `Remediation is not allowed, the number of not started or unhealthy machines is out of bounds (total: ${expected}, ${why})`,
      };
