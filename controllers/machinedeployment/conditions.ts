// What a MachineDeployment says about itself. Here: counters, phase and conditions as pure functions of the view.
// Source: spec/controllers/machinedeployment.md section 10. Ours besides: RollingOut tells why machines are replaced, or why nothing moves.
import type { MachineDeploymentStatus } from "../../api/machinedeployment.ts";
import type { MachineSet } from "../../api/machineset.ts";
import { type Finding, findCondition, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { selectorText } from "../ownership/selector.ts";
import {
  deletingCondition,
  machinesReady,
  machinesUpToDate,
  type ReplicaFacts,
  remediating,
  scalingDown,
  scalingUp,
} from "../rollout/conditions.ts";
import { countVersions } from "../rollout/versions.ts";
import { templateFaults } from "../templates/read.ts";
import { type DeploymentView, isDeleting, strategyOf } from "./view.ts";

type Counter = "replicas" | "readyReplicas" | "availableReplicas" | "upToDateReplicas";
type Counters = Omit<MachineDeploymentStatus, "conditions" | "observedGeneration">;

/** Sum over the sets; undefined when no set reports it. */
function total(sets: readonly MachineSet[], key: Counter): number | undefined {
  const known = sets.flatMap((set) => set.status?.[key] ?? []);
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
}

export function countersOf(view: Pick<DeploymentView, "deployment" | "sets" | "selector">): Counters {
  const { sets, deployment, selector } = view;
  return {
    replicas: total(sets, "replicas"),
    readyReplicas: total(sets, "readyReplicas"),
    availableReplicas: total(sets, "availableReplicas"),
    upToDateReplicas: total(sets, "upToDateReplicas"),
    versions: countVersions(
      sets.flatMap((set) => (set.status?.versions ?? []).map((v) => ({ version: v.version, replicas: v.replicas ?? 0 }))),
    ),
    selector: selectorText(selector),
    phase: phaseOf(deployment.spec.replicas, total(sets, "replicas") ?? 0, isDeleting(deployment)),
  };
}

function phaseOf(desired: number | undefined, current: number, deleting: boolean): NonNullable<MachineDeploymentStatus["phase"]> {
  if (desired === undefined) return "Unknown";
  if (deleting || current > desired) return "ScalingDown";
  return current < desired ? "ScalingUp" : "Running";
}

export function findingsOf(view: DeploymentView): readonly Finding[] {
  const { deployment, machines, sets, nowMs } = view;
  const deleting = isDeleting(deployment);
  const faults = templateFaults([view.infrastructureTemplate, view.bootstrapTemplate]);
  const facts: ReplicaFacts = {
    machines,
    desired: deployment.spec.replicas,
    current: total(sets, "replicas") ?? 0,
    deleting,
    nowMs,
    blockedBy: faults.unreadable,
    missingTemplates: faults.missing,
  };
  return [
    available(view),
    rollingOut(view),
    machinesReady(machines),
    machinesUpToDate(machines, nowMs),
    remediating("MachineDeployment", machines),
    scalingUp(facts),
    scalingDown(facts),
    deletingCondition(deleting, machines, nowMs),
  ];
}

function available(view: DeploymentView): Finding {
  const { deployment, sets, limits } = view;
  const replicas = deployment.spec.replicas;
  if (replicas === undefined) return isUnknown("Available", "WaitingForReplicasSet", "Waiting for spec.replicas set");
  const count = total(sets, "availableReplicas");
  if (count === undefined) return isUnknown("Available", "WaitingForAvailableReplicasSet", "Waiting for status.availableReplicas set");
  const onDelete = strategyOf(view) === "OnDelete";
  const needed = onDelete ? replicas : Math.max(replicas - limits.maxUnavailable, 0);
  if (count >= needed) return isTrue("Available");
  if (isDeleting(deployment)) return isFalse("Available", "NotAvailable", "Deletion in progress");
  const setting = onDelete ? "" : `spec.rollout.strategy.rollingUpdate.maxUnavailable is ${limits.maxUnavailable}, `;
  return isFalse(
    "Available",
    "NotAvailable",
    `${count} available replicas, at least ${needed} required (${setting}spec.replicas is ${replicas})`,
  );
}

/** Lines that stand for the state of the plan; the texts of extensions in them are theirs. */
export function planTexts({ outcome }: Pick<DeploymentView, "outcome">): readonly string[] {
  return [
    ...(outcome.fault === undefined ? [] : [`Waiting: ${outcome.fault}`]),
    ...(outcome.undecided === undefined ? [] : [`Waiting: cannot decide whether machines can be updated in place: ${outcome.undecided}`]),
    ...(outcome.blocked ?? []).map((text) => `Blocked, nothing is replaced: ${text}`),
    ...outcome.replaced.map(
      ({ set, reasons }) => `Machines of MachineSet ${set} cannot be updated in place and are replaced: ${reasons.join("; ")}`,
    ),
  ];
}

export function rollingOut(view: Pick<DeploymentView, "machines" | "outcome">): Finding {
  const outdated = view.machines.filter((m) => findCondition(m.status?.conditions, "UpToDate")?.status === "False");
  const texts = planTexts(view).map((text) => `* ${text}`);
  if (outdated.length === 0 && texts.length === 0) return isFalse("RollingOut", "NotRollingOut");
  const lines = new Set(
    outdated.flatMap((m) => (findCondition(m.status?.conditions, "UpToDate")?.message ?? "").split("\n")).filter((line) => line !== ""),
  );
  const sorted = [...lines].sort((a, b) => Number(isVersionLine(b)) - Number(isVersionLine(a)) || (a < b ? -1 : 1));
  return isTrue("RollingOut", "RollingOut", [`Rolling out ${outdated.length} not up-to-date replicas`, ...sorted, ...texts].join("\n"));
}

const isVersionLine = (line: string): boolean => line.startsWith("* Version");
