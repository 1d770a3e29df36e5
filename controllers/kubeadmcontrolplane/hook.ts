// The pre-terminate hook: a control plane Machine ends only after its etcd member has left. Here: pure plan of the next step.
// Not here: etcd calls and patches (hook-steps.ts). Source: spec/controllers/kubeadmcontrolplane.md 13.3.
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { preTerminateDeleteHookAnnotationPrefix, preTerminateHookCleanupAnnotation } from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { parseVersion } from "../rollout/versions.ts";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import { compareText, hasAnnotation, isDeleting, nameOf } from "./machines.ts";
import { componentsStay, etcdStays } from "./targets.ts";

export interface HookInput {
  readonly kcp: KubeadmControlPlane;
  readonly machines: readonly Machine[];
  readonly managedEtcd: boolean;
  /** Undefined: not known. */
  readonly members?: readonly EtcdMember[];
  readonly alarms?: readonly EtcdAlarm[];
  readonly memberName: (machine: Machine) => string | undefined;
}

export type HookStep =
  /** No Machine is being deleted. */
  | { readonly do: "nothing" }
  /** `unsafe`: it is held back on purpose, which people should read. */
  | { readonly do: "wait"; readonly because: string; readonly unsafe?: true }
  /** Nothing can be decided: try again with back-off. */
  | { readonly do: "fail"; readonly because: string }
  | { readonly do: "dropHook"; readonly machine: Machine; readonly because: string }
  | { readonly do: "removeMember"; readonly machine: Machine; readonly memberName: string; readonly because: string };

const deletedMs = (m: Machine): number => parseTimestamp(m.metadata.deletionTimestamp ?? "");

export function planHook(input: HookInput): HookStep {
  const { kcp, machines, managedEtcd, members, alarms } = input;
  const deleting = machines.filter(isDeleting);
  if (deleting.length === 0) return { do: "nothing" };
  const released = deleting.find((m) => !hasAnnotation(m, preTerminateHookCleanupAnnotation));
  if (released) return { do: "wait", because: `waiting for Machine ${nameOf(released)} to go` };
  const machine = [...deleting].sort((a, b) => deletedMs(a) - deletedMs(b) || compareText(nameOf(a), nameOf(b)))[0];
  if (!machine) return { do: "nothing" };
  const name = nameOf(machine);

  const { minor } = parseVersion(kcp.spec.version);
  const other = Object.keys(machine.metadata.annotations ?? {})
    .sort(compareText)
    .find((key) => key.startsWith(preTerminateDeleteHookAnnotationPrefix) && key !== preTerminateHookCleanupAnnotation);
  if (minor >= 31 && other !== undefined) return { do: "wait", because: `Machine ${name} waits for the hook ${other} first` };
  const stage = findCondition(machine.status?.conditions, "Deleting");
  if (stage?.status !== "True" || stage.reason !== "WaitingForPreTerminateHook")
    return { do: "wait", because: `Machine ${name} has not come to its pre-terminate hook` };

  if (machines.length === 1) return { do: "dropHook", machine, because: "it is the last control plane Machine" };
  const components = componentsStay({ machines, managedEtcd, without: machine });
  if (!components.safe) return { do: "wait", because: `Machine ${name} stays: ${components.because}`, unsafe: true };
  if (!managedEtcd) return { do: "dropHook", machine, because: "etcd is external" };
  if (members === undefined || members.length === 0) return { do: "fail", because: "the members of etcd are not known" };
  const memberName = input.memberName(machine);
  if (memberName === undefined) return { do: "dropHook", machine, because: "it has no known etcd member" };
  if (!members.some((m) => m.name === memberName)) return { do: "dropHook", machine, because: "its etcd member is gone already" };
  const etcd = etcdStays({ members, alarms: alarms ?? [], machines, without: memberName, added: 0 });
  if (!etcd.safe) return { do: "wait", because: `Machine ${name} stays: ${etcd.because}`, unsafe: true };
  return { do: "removeMember", machine, memberName, because: etcd.because };
}
