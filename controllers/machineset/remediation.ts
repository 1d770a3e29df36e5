// Which unhealthy machines a set replaces now. Here: the pure plan. Not here: who calls a machine unhealthy (MachineHealthCheck), writing.
// Source: spec/controllers/machineset.md section 7.
import type { Machine } from "../../api/machine.ts";
import { remediateMachineAnnotation } from "../../api/names.ts";
import { findCondition, hasStatus } from "../../runtime/conditions.ts";
import { compareText } from "../rollout/compare.ts";

export interface RemediationInput {
  readonly machines: readonly Machine[];
  /** The set that its MachineDeployment makes machines with. */
  readonly current: boolean;
  /** How many may be remediated at a time; undefined = all. */
  readonly inFlightMax?: number;
}

export interface Mark {
  readonly name: string;
  readonly reason: "CannotBeRemediated" | "RemediationDeferred" | "MachineDeleting";
  readonly message: string;
}

export interface RemediationPlan {
  /** Healthy again: OwnerRemediated is removed. */
  readonly clear: readonly string[];
  /** Not now, and why. */
  readonly defer: readonly Mark[];
  /** To be deleted if the preflight checks pass, in this order. */
  readonly remediate: readonly string[];
}

const nameOf = (machine: Machine): string => machine.metadata.name ?? "";
const isDeleting = (machine: Machine): boolean => machine.metadata.deletionTimestamp !== undefined;
const ownerRemediatedFalse = (machine: Machine): boolean => hasStatus(machine.status?.conditions, "OwnerRemediated", "False");

const isCandidate = (machine: Machine): boolean =>
  !isDeleting(machine) && hasStatus(machine.status?.conditions, "HealthCheckSucceeded", "False") && ownerRemediatedFalse(machine);

export function planRemediation({ machines, current, inFlightMax }: RemediationInput): RemediationPlan {
  const clear = machines
    .filter((m) => !isDeleting(m) && hasStatus(m.status?.conditions, "HealthCheckSucceeded", "True") && ownerRemediatedFalse(m))
    .map(nameOf);
  const candidates = machines.filter(isCandidate).sort(byUrgency);
  if (candidates.length === 0) return { clear, defer: [], remediate: [] };
  if (!current) {
    const message = "Machine won't be remediated because it is pending removal due to rollout";
    return { clear, defer: candidates.map((m) => ({ name: nameOf(m), reason: "CannotBeRemediated", message })), remediate: [] };
  }
  const room = inFlightMax === undefined ? candidates.length : Math.max(inFlightMax - machines.filter(isInFlight).length, 0);
  const message = `Waiting because there are already too many remediations in progress (spec.remediation.maxInFlight allows ${inFlightMax ?? "any number of"})`;
  return {
    clear,
    remediate: candidates.slice(0, room).map(nameOf),
    defer: candidates.slice(room).map((m) => ({ name: nameOf(m), reason: "RemediationDeferred", message })),
  };
}

const isInFlight = (machine: Machine): boolean =>
  isDeleting(machine) &&
  ownerRemediatedFalse(machine) &&
  findCondition(machine.status?.conditions, "OwnerRemediated")?.reason === "MachineDeleting";

/** Asked for by a person first, then the newest, then by name. */
function byUrgency(a: Machine, b: Machine): number {
  const asked = (m: Machine): number => (m.metadata.annotations?.[remediateMachineAnnotation] === undefined ? 1 : 0);
  return (
    asked(a) - asked(b) ||
    compareText(b.metadata.creationTimestamp ?? "", a.metadata.creationTimestamp ?? "") ||
    compareText(nameOf(a), nameOf(b))
  );
}
