// Would the control plane still work afterwards? Here: the rules for components and etcd quorum, pure.
// Not here: when they are asked (preflight.ts, remediation.ts, hook.ts). Source: spec/controllers/kubeadmcontrolplane.md 12.3.
import type { Node } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import { componentPodConditions, isTrueOn, nameOf, nodeNameOf } from "./machines.ts";

export interface Verdict {
  readonly safe: boolean;
  /** Why not, or figures. */
  readonly because: string;
}

export interface ComponentTarget {
  /** All Machines of the control plane now. */
  readonly machines: readonly Machine[];
  readonly managedEtcd: boolean;
  /** Machine that goes. */
  readonly without?: Machine;
}

/** At least one Machine that stays has all its components; an added one counts as sick. */
export function componentsStay({ machines, managedEtcd, without }: ComponentTarget): Verdict {
  const types = managedEtcd ? [...componentPodConditions, "EtcdPodHealthy"] : componentPodConditions;
  const left = machines.filter((m) => m !== without);
  if (left.length === 0) return { safe: true, because: "no Machine is left to run components" };
  const healthy = left.filter((m) => types.every((type) => isTrueOn(m, type)));
  if (healthy.length > 0) return { safe: true, because: `${healthy.length} of ${left.length} Machines run all components` };
  return { safe: false, because: "there are no other Machines on which all Kubernetes control plane components run" };
}

export interface EtcdTarget {
  readonly members: readonly EtcdMember[];
  readonly alarms: readonly EtcdAlarm[];
  readonly machines: readonly Machine[];
  /** Name of the member that goes. */
  readonly without?: string;
  /** Members that come, 0 or 1. */
  readonly added: number;
}

/** The quorum rule, with unhealthy members counted against it. */
export function etcdStays({ members, alarms, machines, without, added }: EtcdTarget): Verdict {
  const byNode = new Map(machines.flatMap((m) => (nodeNameOf(m) === undefined ? [] : [[nodeNameOf(m), m] as const])));
  const kept = members.filter((m) => without === undefined || m.name !== without);
  let learners = 0;
  let unhealthy = members.length > 1 ? added : 0;
  for (const member of kept) {
    const owner = byNode.get(member.name);
    if (member.name === "") {
      learners++;
      unhealthy++;
    } else if (member.isLearner) learners++;
    else if (owner ? !isTrueOn(owner, "EtcdMemberHealthy") : alarms.some((a) => a.memberId === member.id)) unhealthy++;
  }
  const voting = kept.filter((m) => m.name !== "" && !m.isLearner).length + added;
  const quorum = Math.floor(voting / 2) + 1;
  const figures = `${voting} voting members, ${unhealthy} of them unhealthy, quorum ${quorum}`;
  if (learners > 0) return { safe: false, because: `etcd has ${learners} learner members (${figures})` };
  return voting - unhealthy >= quorum
    ? { safe: true, because: figures }
    : { safe: false, because: `etcd would lose its quorum (${figures})` };
}

/** Name of a Machine's etcd member: its Node's name. @param providerIds of the Machine and its infrastructure object */
export function memberNameOf(machine: Machine, nodes: readonly Node[], providerIds: readonly (string | undefined)[]): string | undefined {
  const known = nodeNameOf(machine);
  if (known !== undefined) return known;
  const ids = providerIds.filter((id) => id !== undefined && id !== "");
  const found = nodes.filter((n) => n.spec?.providerID !== undefined && ids.includes(n.spec.providerID));
  return found.length === 1 && found[0] ? nameOf(found[0]) : undefined;
}
