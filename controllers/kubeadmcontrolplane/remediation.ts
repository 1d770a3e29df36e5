// Which sick Machine is replaced, and whether that is safe now. Here: pure plan. Not here: deleting and marking (remediation-steps.ts).
// Source: spec/controllers/kubeadmcontrolplane.md section 12.
import type { Cluster } from "../../api/cluster.ts";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { remediateMachineAnnotation, remediationForAnnotation, remediationInProgressAnnotation } from "../../api/names.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import {
  byAge,
  componentPodConditions,
  etcdConditions,
  createdMs,
  hasAnnotation,
  isDeleting,
  isFalseOn,
  isTrueOn,
  nameOf,
  nodeNameOf,
} from "./machines.ts";
import { isUpdatingInPlace } from "../inplace/marks.ts";
import { pendingTopologyVersion } from "./preflight.ts";
import { componentsStay, etcdStays } from "./targets.ts";

const MIN_HEALTHY_DEFAULT_SECONDS = 3_600;

/** What both annotations hold. */
export interface RemediationData {
  readonly machine: string;
  readonly timestamp: string;
  readonly retryCount: number;
}

export const formatRemediation = (data: RemediationData): string => JSON.stringify(data);

/** @returns undefined when the text is no remediation data: then a new series begins */
export function parseRemediation(text: string | undefined): RemediationData | undefined {
  if (text === undefined) return undefined;
  try {
    const { machine, timestamp: time, retryCount } = JSON.parse(text) as Partial<RemediationData>;
    return typeof machine === "string" ? { machine, timestamp: String(time ?? ""), retryCount: Number(retryCount ?? 0) || 0 } : undefined;
  } catch {
    return undefined;
  }
}

export interface RemediationInput {
  readonly kcp: KubeadmControlPlane;
  readonly cluster: Cluster;
  readonly machines: readonly Machine[];
  readonly managedEtcd: boolean;
  readonly initialized: boolean;
  readonly nowMs: number;
  /** Undefined: not known. */
  readonly members?: readonly EtcdMember[];
  readonly alarms?: readonly EtcdAlarm[];
  /** Name of a Machine's etcd member. */
  readonly memberName: (machine: Machine) => string | undefined;
}

export type RefusalReason = "RemediationDeferred" | "CannotBeRemediated";

export type RemediationStep =
  | { readonly do: "nothing" }
  | {
      readonly do: "refuse";
      readonly machine: Machine;
      readonly reason: RefusalReason;
      readonly because: string;
      /** When looking again may help without any event. */
      readonly requeueAfterMs?: number;
    }
  | { readonly do: "delete"; readonly machine: Machine; readonly data: RemediationData };

export interface RemediationPlan {
  /** Machines that are healthy again: OwnerRemediated goes. */
  readonly clear: readonly Machine[];
  /** The mark on the control plane is older than some Machine: its replacement exists. */
  readonly dropMark: boolean;
  readonly step: RemediationStep;
}

export function planRemediation(input: RemediationInput): RemediationPlan {
  const { kcp, machines } = input;
  const live = machines.filter((m) => !isDeleting(m));
  const clear = live.filter((m) => isTrueOn(m, "HealthCheckSucceeded") && isFalseOn(m, "OwnerRemediated"));
  const mark = parseRemediation(kcp.metadata.annotations?.[remediationInProgressAnnotation]);
  const marked = hasAnnotation(kcp, remediationInProgressAnnotation);
  const dropMark = marked && machines.some((m) => createdMs(m) > markMs(mark));
  return { clear, dropMark, step: stepFor(input, marked && !dropMark) };
}

/** An unreadable or empty time counts as long ago. */
const markMs = (data: RemediationData | undefined): number => {
  const ms = parseTimestamp(data?.timestamp ?? "");
  return Number.isNaN(ms) ? 0 : ms;
};

function stepFor(input: RemediationInput, replacementIsDue: boolean): RemediationStep {
  const todo = input.machines.filter((m) => isFalseOn(m, "HealthCheckSucceeded") && isFalseOn(m, "OwnerRemediated"));
  // One that is being updated goes first: as long as it is there, no other may go.
  const updating = todo.filter(isUpdatingInPlace);
  const machine = [...(updating.length > 0 ? updating : todo)].sort((a, b) => bySickness(a, b, input.managedEtcd))[0];
  if (!machine || isDeleting(machine) || replacementIsDue) return { do: "nothing" };
  const series = retrySeries(machine, input.kcp, input.nowMs);
  const refusal = refusalFor(machine, series, input);
  if (refusal) return { do: "refuse", machine, ...refusal };
  return { do: "delete", machine, data: { machine: nameOf(machine), timestamp: timestamp(input.nowMs), retryCount: series.retryCount } };
}

/** Sickest first. */
function bySickness(a: Machine, b: Machine, managedEtcd: boolean): number {
  const types = [
    ...(managedEtcd ? [etcdConditions[1], etcdConditions[0]] : []),
    ...componentPodConditions,
    "NodeKubeadmLabelsAndTaintsSet",
  ];
  const ranks = (m: Machine): readonly boolean[] => [
    hasAnnotation(m, remediateMachineAnnotation),
    nodeNameOf(m) === undefined,
    ...types.map((type) => !isTrueOn(m, type)),
  ];
  const [x, y] = [ranks(a), ranks(b)];
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return x[i] ? -1 : 1;
  return byAge(a, b);
}

interface RetrySeries {
  readonly retryCount: number;
  /** Until when the next try has to wait, milliseconds since the epoch; undefined = none. */
  readonly notBeforeMs?: number;
  readonly exhausted: boolean;
}

/** A Machine that was itself a replacement, and failed soon after, continues the series of the one it replaced. */
function retrySeries(machine: Machine, kcp: KubeadmControlPlane, nowMs: number): RetrySeries {
  const last = parseRemediation(machine.metadata.annotations?.[remediationForAnnotation]);
  const { minHealthyPeriodSeconds = MIN_HEALTHY_DEFAULT_SECONDS, retryPeriodSeconds = 0, maxRetry } = kcp.spec.remediation ?? {};
  if (!last || markMs(last) + minHealthyPeriodSeconds * 1_000 < nowMs) return { retryCount: 0, exhausted: false };
  const notBeforeMs = markMs(last) + retryPeriodSeconds * 1_000;
  return {
    retryCount: last.retryCount + 1,
    exhausted: maxRetry !== undefined && last.retryCount >= maxRetry,
    ...(nowMs < notBeforeMs ? { notBeforeMs } : {}),
  };
}

interface Refusal {
  readonly reason: RefusalReason;
  readonly because: string;
  readonly requeueAfterMs?: number;
}
const defer = (because: string, requeueAfterMs?: number): Refusal => ({
  reason: "RemediationDeferred",
  because,
  ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
});
const cannot = (because: string): Refusal => ({ reason: "CannotBeRemediated", because });

function refusalFor(machine: Machine, series: RetrySeries, input: RemediationInput): Refusal | undefined {
  const { kcp, cluster, initialized, nowMs } = input;
  const pending = pendingTopologyVersion(cluster, kcp);
  if (pending !== undefined) return defer(`KubeadmControlPlane has a pending version upgrade to ${pending}`);
  if (series.notBeforeMs !== undefined) {
    return defer("the retry period of spec.remediation.retryPeriodSeconds is not over yet", series.notBeforeMs - nowMs);
  }
  if (series.exhausted) {
    return cannot(`already tried ${series.retryCount} times, spec.remediation.maxRetry is ${kcp.spec.remediation?.maxRetry}`);
  }
  return initialized ? unsafe(machine, input) : undefined;
}

/** Only asked once there is something to lose. */
function unsafe(machine: Machine, input: RemediationInput): Refusal | undefined {
  const { machines, managedEtcd, members, alarms } = input;
  if (machines.length <= 1) return cannot("there is no other control plane Machine");
  const isSick = (m: Machine): boolean => isFalseOn(m, "HealthCheckSucceeded");
  const starting = machines.find((m) => !isSick(m) && nodeNameOf(m) === undefined);
  if (starting) return defer(`waiting for the Node of Machine ${nameOf(starting)}`);
  const deleting = machines.find(isDeleting);
  if (deleting) return defer(`waiting for Machine ${nameOf(deleting)} to be deleted`);
  const updating = machines.find((m) => m !== machine && isUpdatingInPlace(m));
  if (updating) return defer(`waiting for the in-place update of Machine ${nameOf(updating)}`);
  if (managedEtcd && (members === undefined || members.length === 0)) return defer("the members of etcd are not known");
  const components = componentsStay({ machines, managedEtcd, without: machine });
  if (!components.safe) return cannot(`not safe: ${components.because}`);
  const memberName = input.memberName(machine);
  if (!managedEtcd || memberName === undefined) return undefined;
  const etcd = etcdStays({ members: members ?? [], alarms: alarms ?? [], machines, without: memberName, added: 0 });
  return etcd.safe ? undefined : cannot(`not safe: ${etcd.because}`);
}
