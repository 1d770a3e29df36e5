// Conditions that MachineDeployments and MachineSets share. Here: pure findings over machines. Not here: Available and RollingOut
// (machinedeployment/conditions.ts). Source: spec/controllers/machinedeployment.md section 10, machineset.md section 10.
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { type Finding, findCondition, hasStatus, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { type AggregateSource, aggregate } from "../summary/summary.ts";

/** Machines that have no UpToDate condition yet are left out for so long. */
export const UP_TO_DATE_GRACE_MS = 10_000;
/** A deletion that takes longer is worth a line. */
const STALE_DELETION_MS = 15 * 60_000;
const NAMES_MAX = 3;

export interface ReplicaFacts {
  readonly machines: readonly Machine[];
  /** Undefined: not known yet. */
  readonly desired?: number;
  /** Machines that count against `desired`; undefined: not known yet. */
  readonly current?: number;
  readonly deleting: boolean;
  readonly nowMs: number;
  /** Why no machine may be made now. */
  readonly blockedBy: readonly string[];
  /** Kinds of templates that do not exist. */
  readonly missingTemplates: readonly string[];
}

const nameOf = (machine: Machine): string => machine.metadata.name ?? "";
const isDeleting = (machine: Machine): boolean => machine.metadata.deletionTimestamp !== undefined;

/** Up to three names, and how many more. */
export function someNames(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(", ")}, ... (${more} more)` : names.join(", ");
}

const bullets = (texts: readonly string[]): string => texts.map((text) => `* ${text}`).join("\n");

export function scalingUp(facts: ReplicaFacts): Finding {
  const { desired, current, deleting, blockedBy, missingTemplates } = facts;
  if (current === undefined) return isUnknown("ScalingUp", "InternalError", "Please check controller logs for errors");
  if (desired === undefined) return isUnknown("ScalingUp", "WaitingForReplicasSet", "Waiting for spec.replicas set");
  const wanted = deleting ? 0 : desired;
  const missing = missingTemplates.map((kind) => `${kind} does not exist`);
  if (current >= wanted) {
    const wouldBe = missing.length > 0 && !deleting ? `Scaling up would be blocked because ${missing.join(" and ")}` : "";
    return isFalse("ScalingUp", "NotScalingUp", wouldBe);
  }
  const causes = [...blockedBy, ...missing];
  const text = `Scaling up from ${current} to ${wanted} replicas`;
  return isTrue("ScalingUp", "ScalingUp", causes.length > 0 ? `${text} is blocked because:\n${bullets(causes)}` : text);
}

export function scalingDown(facts: ReplicaFacts): Finding {
  const { desired, current, deleting, machines, nowMs } = facts;
  if (current === undefined) return isUnknown("ScalingDown", "InternalError", "Please check controller logs for errors");
  if (desired === undefined) return isUnknown("ScalingDown", "WaitingForReplicasSet", "Waiting for spec.replicas set");
  const wanted = deleting ? 0 : desired;
  if (current <= wanted) return isFalse("ScalingDown", "NotScalingDown");
  const stale = staleDeletions(machines, nowMs);
  const text = `Scaling down from ${current} to ${wanted} replicas`;
  return isTrue("ScalingDown", "ScalingDown", stale === "" ? text : `${text}:\n* ${stale}`);
}

/** Names of machines whose deletion takes long, and where they are; empty when there is none. */
export function staleDeletions(machines: readonly Machine[], nowMs: number): string {
  const stale = machines.filter((m) => isDeleting(m) && nowMs - parseTimestamp(m.metadata.deletionTimestamp ?? "") > STALE_DELETION_MS);
  if (stale.length === 0) return "";
  const stages = new Set(stale.map((m) => findCondition(m.status?.conditions, "Deleting")?.reason ?? "Deleting"));
  const what = stale.length === 1 ? "Machine" : "Machines";
  const verb = stale.length === 1 ? "is" : "are";
  return `${what} ${someNames(stale.map(nameOf).sort())} ${verb} in deletion since more than 15m (${[...stages].sort().join(", ")})`;
}

const sources = (machines: readonly Machine[], type: string): readonly AggregateSource[] =>
  machines.map((m) => ({ name: nameOf(m), condition: findCondition(m.status?.conditions, type) }));

export function machinesReady(machines: readonly Machine[]): Finding {
  if (machines.length === 0) return isTrue("MachinesReady", "NoReplicas");
  const reasons = { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" };
  return aggregate(sources(machines, "Ready"), { type: "MachinesReady", sourceType: "Ready", kind: "Machine", reasons });
}

/** A new machine gets some seconds before a missing UpToDate condition counts. */
const isTooYoung = (machine: Machine, nowMs: number): boolean =>
  !findCondition(machine.status?.conditions, "UpToDate") &&
  nowMs - parseTimestamp(machine.metadata.creationTimestamp ?? "") < UP_TO_DATE_GRACE_MS;

export function machinesUpToDate(machines: readonly Machine[], nowMs: number): Finding {
  const counted = machines.filter((m) => !isTooYoung(m, nowMs));
  if (counted.length === 0) return isTrue("MachinesUpToDate", "NoReplicas");
  const reasons = { good: "UpToDate", bad: "NotUpToDate", unknown: "UpToDateUnknown" };
  return aggregate(sources(counted, "UpToDate"), { type: "MachinesUpToDate", sourceType: "UpToDate", kind: "Machine", reasons });
}

/** When the youngest machine left out by machinesUpToDate has to be looked at again; milliseconds from now, undefined = none is left out. */
export function upToDateGraceLeftMs(machines: readonly Machine[], nowMs: number): number | undefined {
  const left = machines
    .filter((m) => isTooYoung(m, nowMs))
    .map((m) => parseTimestamp(m.metadata.creationTimestamp ?? "") + UP_TO_DATE_GRACE_MS - nowMs);
  return left.length === 0 ? undefined : Math.max(...left);
}

export function remediating(kind: string, machines: readonly Machine[]): Finding {
  const conditionsOf = (m: Machine): readonly Condition[] | undefined => m.status?.conditions;
  const unhealthy = machines.filter((m) => hasStatus(conditionsOf(m), "HealthCheckSucceeded", "False"));
  const treated = unhealthy.filter((m) => hasStatus(conditionsOf(m), "OwnerRemediated", "False"));
  if (treated.length > 0) {
    const reasons = { good: "NotRemediating", bad: "Remediating", unknown: "Remediating" };
    const { message } = aggregate(sources(treated, "OwnerRemediated"), {
      type: "Remediating",
      sourceType: "OwnerRemediated",
      kind: "Machine",
      reasons,
    });
    return isTrue("Remediating", "Remediating", message);
  }
  if (unhealthy.length === 0) return isFalse("Remediating", "NotRemediating");
  const [what, verb] = unhealthy.length === 1 ? ["Machine", "is"] : ["Machines", "are"];
  return isFalse(
    "Remediating",
    "NotRemediating",
    `${what} ${someNames(unhealthy.map(nameOf).sort())} ${verb} not healthy (not to be remediated by ${kind})`,
  );
}

export function deletingCondition(deleting: boolean, machines: readonly Machine[], nowMs: number): Finding {
  if (!deleting) return isFalse("Deleting", "NotDeleting");
  if (machines.length === 0) return isTrue("Deleting", "Deleting", "Deletion completed");
  const stale = staleDeletions(machines, nowMs);
  const text = `Deleting ${machines.length} ${machines.length === 1 ? "Machine" : "Machines"}`;
  return isTrue("Deleting", "Deleting", stale === "" ? text : `${text}\n* ${stale}`);
}
