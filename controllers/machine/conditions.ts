// Conditions of a Machine, each a list of small checks or a summary. Pure: no check reads or writes anything.
// Not here: NodeReady and NodeHealthy (node-conditions.ts), writing (status.ts). Source: spec/controllers/machine.md section 7.
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { revisionAnnotation } from "../../api/names.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { because, type Check, type Finding, findCondition, firstHit, hasStatus, isFalse, isTrue } from "../../runtime/conditions.ts";
import { mirrored } from "../contract/mirror.ts";
import { isUpdatingInPlace } from "../inplace/marks.ts";
import { dueForRollout, ROLLOUT_DUE, templateDifferences } from "../rollout/compare.ts";
import { type SummaryPart, summary } from "../summary/summary.ts";
import type { Referenced } from "../contract/read.ts";
import { isDeleting, type MachineView } from "./view.ts";

/** What the checks of one of the two references look at. */
interface ReferenceView {
  readonly referenced: Referenced | undefined;
  /** The object has done its part, now or before. */
  readonly flag: boolean;
  readonly deleting: boolean;
}

const kindOf = (v: ReferenceView): string => v.referenced?.ref.kind ?? "Object";
const referenceChecks: readonly Check<ReferenceView>[] = [
  (v) => v.referenced?.error && because("InternalError", v.referenced.error.message, "Unknown"),
  ({ referenced, flag }) => mirrored({ referenced, flag, source: "Ready", good: "Ready", bad: "NotReady" }),
];
const bootstrapChecks: readonly Check<ReferenceView>[] = [
  (v) => !v.referenced && because("DataSecretProvided", "", "True"),
  ...referenceChecks,
  (v) => v.deleting && v.flag && because("ObjectDeleted", `${kindOf(v)} has been deleted`),
  (v) => because("ObjectDoesNotExist", `${kindOf(v)} does not exist`),
];
const infrastructureChecks: readonly Check<ReferenceView>[] = [
  ...referenceChecks,
  (v) => v.flag && v.deleting && because("ObjectDeleted", `${kindOf(v)} has been deleted`),
  (v) => v.flag && because("ObjectDeleted", `${kindOf(v)} has been deleted while the Machine still exists`),
  (v) => because("ObjectDoesNotExist", `${kindOf(v)} does not exist`),
];

export function bootstrapConfigReady(view: MachineView, machine: Machine): Finding {
  const flag = initialized(view, machine)?.bootstrapDataSecretCreated === true;
  const hit = firstHit("BootstrapConfigReady", bootstrapChecks, { referenced: view.bootstrap, flag, deleting: isDeleting(machine) });
  return hit ?? isTrue("BootstrapConfigReady", "Ready");
}

export function infrastructureReady(view: MachineView, machine: Machine): Finding {
  const flag = initialized(view, machine)?.infrastructureProvisioned === true;
  const hit = firstHit("InfrastructureReady", infrastructureChecks, {
    referenced: view.infrastructure,
    flag,
    deleting: isDeleting(machine),
  });
  return hit ?? isTrue("InfrastructureReady", "Ready");
}

const initialized = (view: MachineView, machine: Machine): NonNullable<Machine["status"]>["initialization"] => ({
  ...machine.status?.initialization,
  ...view.status.initialization,
});

export const deleting = (view: MachineView, machine: Machine): Finding =>
  isDeleting(machine)
    ? isTrue("Deleting", view.deletion?.reason ?? "Deleting", view.deletion?.message ?? "Deletion started")
    : isFalse("Deleting", "NotDeleting");

const UPDATING_TEXT = "In-place update in progress";

/** @param machine newest version: a mark set since the view was loaded counts */
export function updating(view: MachineView, machine: Machine): Finding {
  if (!isUpdatingInPlace(machine)) return isFalse("Updating", "NotUpdating");
  const { update } = view;
  if (update?.state === "failed") return isTrue("Updating", "InPlaceUpdateFailed", `In-place update failed: ${update.message}`);
  return isTrue("Updating", "InPlaceUpdating", update?.message ? `${UPDATING_TEXT}: ${update.message}` : UPDATING_TEXT);
}

/** Nothing for Machines that belong to no MachineDeployment: others judge them. */
export function upToDate({ set, deployment, nowMs, node }: MachineView, machine: Machine, updatingNow: Finding): Finding | undefined {
  if (!set || !deployment) return undefined;
  const differences = [...templateDifferences(set.spec.template.spec, deployment.spec.template.spec)];
  const createdMs = parseTimestamp(set.metadata.creationTimestamp ?? "");
  const after = deployment.spec.rollout?.after;
  if (dueForRollout(after === undefined ? undefined : parseTimestamp(after), createdMs, nowMs)) differences.push(ROLLOUT_DUE);
  if (differences.length > 0) return isFalse("UpToDate", "NotUpToDate", differences.map((d) => `* ${d}`).join("\n"));
  if (updatingNow.status === "True") return isFalse("UpToDate", "Updating", `* ${updatingNow.message}`);
  const kubelet = (node.state === "found" ? node.node.status?.nodeInfo : machine.status?.nodeInfo)?.kubeletVersion;
  if (kubelet !== undefined && kubelet !== machine.spec.version) {
    const name = node.state === "found" ? node.node.metadata.name : machine.status?.nodeRef?.name;
    return isFalse(
      "UpToDate",
      "Updating",
      `* Node ${name} runs kubelet ${kubelet || "(unknown)"}, ${machine.spec.version ?? "no version"} required`,
    );
  }
  return isTrue("UpToDate");
}

/** Milliseconds until `rollout.after` makes this Machine out of date; nothing when it does not. */
export function rolloutDueInMs({ set, deployment, nowMs }: MachineView): number | undefined {
  const after = set && deployment?.spec.rollout?.after;
  if (!set || !after) return undefined;
  // One second more: the moment itself does not count as passed.
  const dueMs = Math.max(parseTimestamp(after) - nowMs, 0) + 1_000;
  return dueForRollout(parseTimestamp(after), parseTimestamp(set.metadata.creationTimestamp ?? ""), nowMs + dueMs) &&
    parseTimestamp(after) >= nowMs
    ? dueMs
    : undefined;
}

const LONG_DELETION_MS = 15 * 60_000;
const LONG_DRAIN_MS = 5 * 60_000;

/** Short text of the stage that a deletion is in; details are in Deleting. */
function deletionStage(machine: Machine, condition: Condition, nowMs: number): string {
  const sinceMs = nowMs - parseTimestamp(machine.metadata.deletionTimestamp ?? "");
  const drainSince = machine.status?.deletion?.nodeDrainStartTime;
  if (condition.reason === "DrainingNode" && drainSince && nowMs - parseTimestamp(drainSince) > LONG_DRAIN_MS) {
    return `Machine deletion in progress, stage: ${condition.reason}, draining since ${drainSince}`;
  }
  if (sinceMs > LONG_DELETION_MS) {
    return `Machine deletion in progress since more than 15m, stage: ${condition.reason}, since ${timestamp(nowMs - sinceMs)}`;
  }
  return `Machine deletion in progress, stage: ${condition.reason}`;
}

const GONE = ["ObjectDeleted", "ObjectDoesNotExist", "NodeDeleted", "NodeDoesNotExist"];
const COMPONENT_GATE = /^(APIServer|ControllerManager|Scheduler)|^EtcdPodHealthy$/;

function readyParts(machine: Machine, nowMs: number): readonly SummaryPart[] {
  const goneIsFine = (c: Condition) => (isDeleting(machine) && GONE.includes(c.reason) ? ({ weight: "info", message: "" } as const) : {});
  return [
    {
      type: "Deleting",
      negative: true,
      override: (c) => (c.status === "True" ? { message: deletionStage(machine, c, nowMs) } : {}),
    },
    { type: "Updating", negative: true },
    { type: "BootstrapConfigReady", override: goneIsFine },
    { type: "InfrastructureReady", override: goneIsFine },
    { type: "NodeHealthy", override: goneIsFine },
    { type: "HealthCheckSucceeded", optional: true },
    ...(machine.spec.readinessGates ?? []).map((gate) => ({
      type: gate.conditionType,
      negative: gate.polarity === "Negative",
      group: COMPONENT_GATE.test(gate.conditionType) ? "Control plane components" : undefined,
    })),
  ];
}

/** @param conditions the other conditions of this run, laid over those that are stored */
export const ready = (machine: Machine, conditions: readonly Condition[], nowMs: number): Finding =>
  summary("Ready", readyParts(machine, nowMs), conditions, { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" });

/** @param conditions with the Ready of this run in them */
export function available(machine: Machine, conditions: readonly Condition[], nowMs: number): Finding {
  if (!findCondition(conditions, "Ready"))
    return { type: "Available", status: "Unknown", reason: "InternalError", message: "Condition Ready is missing" };
  if (!hasStatus(conditions, "Ready", "True")) return isFalse("Available", "NotReady");
  return availableInMs(machine, conditions, nowMs) > 0 ? isFalse("Available", "WaitingForMinReadySeconds") : isTrue("Available");
}

/** Milliseconds until a ready Machine counts as available; 0 when it does, or when it is not ready. */
export function availableInMs(machine: Machine, conditions: readonly Condition[], nowMs: number): number {
  const readyNow = findCondition(conditions, "Ready");
  if (readyNow?.status !== "True") return 0;
  const waitMs = (machine.spec.minReadySeconds ?? 0) * 1_000;
  return Math.max(0, parseTimestamp(readyNow.lastTransitionTime) + waitMs - nowMs);
}

/** The revision that an object carries. @returns undefined when it has none  @throws when it is no number */
export function revisionOf(annotations: Readonly<Record<string, string>> | undefined): number | undefined {
  const text = annotations?.[revisionAnnotation];
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`annotation ${revisionAnnotation} is "${text}": it must be a number`);
  return Number(text);
}
