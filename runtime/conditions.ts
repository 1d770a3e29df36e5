// Conditions as lists of small checks. Here: first hit wins, when lastTransitionTime moves, the order on the wire. Not here: any kind's checks.
// Source: metav1.Condition; spec/api/common.md, conditions.
import type { Condition } from "../api/meta/object.ts";

/** A condition before anyone knows when it changed. */
export type Finding = Omit<Condition, "lastTransitionTime">;

export interface Because {
  readonly status?: Condition["status"];
  readonly reason: string;
  readonly message: string;
}

/** One reason for a condition not to have its good status; false, nothing or undefined = no hit. */
export type Check<V> = (view: V) => Because | false | undefined | null | "";

/** A hit. @param status default False */
export const because = (reason: string, message = "", status: Condition["status"] = "False"): Because => ({ reason, message, status });

/** The first check that hits decides. Order is priority. */
export function firstHit<V>(type: string, checks: readonly Check<V>[], view: V): Finding | undefined {
  for (const check of checks) {
    const hit = check(view);
    if (hit) return { type, status: hit.status ?? "False", reason: hit.reason, message: hit.message };
  }
  return undefined;
}

/** @param reason default: the type itself, which is what v1beta2 conditions use when all is well */
export const isTrue = (type: string, reason = type, message = ""): Finding => ({ type, status: "True", reason, message });
export const isFalse = (type: string, reason: string, message = ""): Finding => ({ type, status: "False", reason, message });
export const isUnknown = (type: string, reason: string, message = ""): Finding => ({ type, status: "Unknown", reason, message });

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((c) => c.type === type);

export const hasStatus = (conditions: readonly Condition[] | undefined, type: string, status: Condition["status"]): boolean =>
  findCondition(conditions, type)?.status === status;

/** True when nothing a reader could notice differs; lastTransitionTime is not compared. */
export const sameFinding = (a: Finding, b: Finding): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration;

/** The order of well-known types on the wire; other types by name after those before Paused. Source: spec/api/common.md, section 5. */
const LEADING_TYPES: readonly string[] = (
  "Available Ready UpToDate RemoteConnectionProbe BootstrapConfigReady InfrastructureReady ControlPlaneInitialized ControlPlaneAvailable " +
  "WorkersAvailable CertificatesAvailable Initialized EtcdClusterHealthy ControlPlaneComponentsHealthy NodeHealthy NodeReady " +
  "NodeKubeadmLabelsAndTaintsSet EtcdPodHealthy EtcdMemberHealthy APIServerPodHealthy ControllerManagerPodHealthy SchedulerPodHealthy " +
  "HealthCheckSucceeded OwnerRemediated TopologyReconciled Updating RollingOut Remediating ScalingDown ScalingUp MachinesReady " +
  "ControlPlaneMachinesReady WorkerMachinesReady MachinesUpToDate ControlPlaneMachinesUpToDate WorkerMachinesUpToDate"
).split(" ");
const TRAILING_TYPES: readonly string[] = ["Paused", "Deleting"];
const RANKS: ReadonlyMap<string, number> = new Map([
  ...LEADING_TYPES.map((type, i) => [type, i] as const),
  ...TRAILING_TYPES.map((type, i) => [type, LEADING_TYPES.length + 1 + i] as const),
]);
const rankOf = (type: string): number => RANKS.get(type) ?? LEADING_TYPES.length;

/** Order of two condition types in `status.conditions`; for sort(). */
export const compareConditionTypes = (a: string, b: string): number => rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0);

/** Lays findings over the conditions that are there, sorted as on the wire.
 *  lastTransitionTime moves to `now` only when the status changes; an equal condition stays the very same object,
 *  and a list in which nothing changed is returned as it was.
 *  @param now RFC 3339, whole seconds
 *  @param observedGeneration of the object, put on each finding that has none */
export function setConditions(
  existing: readonly Condition[] | undefined,
  findings: readonly Finding[],
  now: string,
  observedGeneration?: number,
): readonly Condition[] {
  const merged = new Map((existing ?? []).map((c) => [c.type, c]));
  for (const bare of findings) {
    const finding = bare.observedGeneration === undefined && observedGeneration !== undefined ? { ...bare, observedGeneration } : bare;
    const old = merged.get(finding.type);
    if (old && sameFinding(old, finding)) continue;
    merged.set(finding.type, { ...finding, lastTransitionTime: old?.status === finding.status ? old.lastTransitionTime : now });
  }
  const sorted = [...merged.values()].sort((a, b) => compareConditionTypes(a.type, b.type));
  const unchanged = existing !== undefined && existing.length === sorted.length && sorted.every((c, i) => c === existing[i]);
  return unchanged ? existing : sorted;
}

export const withoutConditions = (existing: readonly Condition[] | undefined, types: readonly string[]): readonly Condition[] =>
  (existing ?? []).filter((c) => !types.includes(c.type));
