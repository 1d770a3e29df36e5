// Facts of control plane Machines that every rule of this folder asks for. Here: pure reads. Not here: rules.
// Source: spec/controllers/kubeadmcontrolplane.md sections 1 and 10.
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import { clusterNameLabel, deleteMachineAnnotation, machineControlPlaneLabel } from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { findCondition } from "../../runtime/conditions.ts";

/** Conditions about Pods that every control plane Machine has; with managed etcd two more. */
export const componentPodConditions = ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy"] as const;
export const etcdConditions = ["EtcdPodHealthy", "EtcdMemberHealthy"] as const;

export const nameOf = (object: KubeObject): string => object.metadata.name ?? "";
export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;
export const nodeNameOf = (machine: Machine): string | undefined => machine.status?.nodeRef?.name;
export const hasAnnotation = (object: KubeObject, key: string): boolean => object.metadata.annotations?.[key] !== undefined;
export const hasDeleteWish = (machine: Machine): boolean => hasAnnotation(machine, deleteMachineAnnotation);

export const statusOf = (machine: Machine, type: string): Condition["status"] | undefined =>
  findCondition(machine.status?.conditions, type)?.status;
export const isTrueOn = (machine: Machine, type: string): boolean => statusOf(machine, type) === "True";
export const isFalseOn = (machine: Machine, type: string): boolean => statusOf(machine, type) === "False";

export const hasManagedEtcd = (kcp: KubeadmControlPlane): boolean =>
  kcp.spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.external === undefined;

/** The conditions that tell whether the control plane part of a Machine works. */
export const healthConditions = (managedEtcd: boolean): readonly string[] =>
  managedEtcd ? [...componentPodConditions, ...etcdConditions] : componentPodConditions;

export const replicasOf = (kcp: KubeadmControlPlane): number => kcp.spec.replicas ?? 1;

/** 0 or 1. Source: spec/api/common.md section 6: a text is read as a number, anything else as 1. */
export function maxSurgeOf(kcp: KubeadmControlPlane): number {
  const value = kcp.spec.rollout?.strategy?.rollingUpdate?.maxSurge ?? 1;
  return Number.parseInt(String(value), 10) === 0 ? 0 : 1;
}

export const isControlPlaneMachineOf = (machine: Machine, cluster: string): boolean =>
  machine.metadata.labels?.[clusterNameLabel] === cluster && machine.metadata.labels[machineControlPlaneLabel] !== undefined;

export const selectorOf = (cluster: string): string => `${clusterNameLabel}=${cluster},${machineControlPlaneLabel}`;

export const createdMs = (object: KubeObject): number => {
  const ms = parseTimestamp(object.metadata.creationTimestamp ?? "");
  return Number.isNaN(ms) ? 0 : ms;
};

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
export const byAge = (a: KubeObject, b: KubeObject): number => createdMs(a) - createdMs(b) || compareText(nameOf(a), nameOf(b));
export const byName = (a: KubeObject, b: KubeObject): number => compareText(nameOf(a), nameOf(b));

export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
