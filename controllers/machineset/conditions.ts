// What a MachineSet says about itself. Here: counters and conditions as pure functions of the view. Source: spec/controllers/machineset.md section 10.
import type { Machine } from "../../api/machine.ts";
import type { MachineSetStatus } from "../../api/machineset.ts";
import { type Finding, hasStatus } from "../../runtime/conditions.ts";
import { isPendingMove, isUpdatingInPlace } from "../inplace/marks.ts";
import { selectorText } from "../ownership/selector.ts";
import {
  deletingCondition,
  machinesReady,
  machinesUpToDate,
  type ReplicaFacts,
  remediating,
  scalingDown,
  scalingUp,
  someNames,
} from "../rollout/conditions.ts";
import { countVersions } from "../rollout/versions.ts";
import { templateFaults } from "../templates/read.ts";
import { isDeleting, type MachineSetView, nameOf } from "./view.ts";

/** Machines with a condition that holds, leaving out those in the middle of an in-place update: they drop out the moment they are handed over. */
const countWith = (machines: readonly Machine[], type: string): number =>
  machines.filter((m) => hasStatus(m.status?.conditions, type, "True") && !isUpdatingInPlace(m)).length;

export function countersOf({
  machines,
  selector,
}: Pick<MachineSetView, "machines" | "selector">): Omit<MachineSetStatus, "conditions" | "observedGeneration"> {
  const versions = machines.flatMap((m) => {
    const version = m.status?.nodeInfo?.kubeletVersion || m.spec.version;
    return version ? [{ version, replicas: 1 }] : [];
  });
  return {
    replicas: machines.length,
    readyReplicas: countWith(machines, "Ready"),
    availableReplicas: countWith(machines, "Available"),
    upToDateReplicas: countWith(machines, "UpToDate"),
    versions: countVersions(versions),
    selector: selectorText(selector),
  };
}

export function findingsOf(view: MachineSetView): readonly Finding[] {
  const { set, machines, nowMs } = view;
  const deleting = isDeleting(set);
  const faults = templateFaults([view.infrastructureTemplate, view.bootstrapTemplate]);
  const facts: ReplicaFacts = {
    machines,
    desired: set.spec.replicas,
    current: machines.length,
    deleting,
    nowMs,
    blockedBy: [...view.preflightFailures, ...strayText(view), ...faults.unreadable],
    missingTemplates: faults.missing,
  };
  const counted = machines.filter((m) => !isPendingMove(m)).length;
  return [
    machinesReady(machines),
    machinesUpToDate(machines, nowMs),
    remediating("MachineSet", machines),
    scalingUp(facts),
    scalingDown({ ...facts, current: counted }),
    deletingCondition(deleting, machines, nowMs),
  ];
}

/** Machines of ours that the selector no longer finds would be made again and again: they keep their places, and people are told. */
function strayText({ strays }: MachineSetView): readonly string[] {
  if (strays.length === 0) return [];
  const what = strays.length === 1 ? "Machine" : "Machines";
  return [
    `${what} ${someNames(strays.map(nameOf).sort())} controlled by this MachineSet no longer match its selector: restore the labels or delete them`,
  ];
}
