// Calls that change etcd: leadership away from a Machine, members out of the list. Here: effects.
// Not here: whether it is safe (targets.ts, hook.ts, strays.ts). Source: spec/controllers/kubeadmcontrolplane.md 13.
import type { Machine } from "../../api/machine.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import type { EtcdClient, EtcdMember, WorkloadCluster, WorkloadClusters } from "../workload/seam.ts";
import { etcdHealthy } from "./aggregates.ts";
import { etcdNodes, keyAlgorithmOf } from "./inspect.ts";
import { createdMs, isDeleting, isTrueOn, messageOf, nameOf, nodeNameOf } from "./machines.ts";
import { planStrays } from "./strays.ts";
import { clusterKeyOf, type ControlPlaneView, etcdOf } from "./view.ts";

const AFTER_REMOVAL_MS = 1_000;

async function withEtcd<T>(
  view: ControlPlaneView,
  workload: WorkloadCluster,
  nodeNames: readonly string[],
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  const client = await workload.etcd(nodeNames, keyAlgorithmOf(view));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** Healthiest first, then newest. */
const byFitness = (a: Machine, b: Machine): number => {
  for (const type of ["EtcdMemberHealthy", "HealthCheckSucceeded", "UpToDate"]) {
    if (isTrueOn(a, type) !== isTrueOn(b, type)) return isTrueOn(a, type) ? -1 : 1;
  }
  return createdMs(b) - createdMs(a) || (nameOf(a) < nameOf(b) ? -1 : 1);
};

/** Hands leadership to another Machine's member when `machine` has it. @throws Error when no other takes it */
export async function moveLeadership(view: ControlPlaneView, workload: WorkloadCluster, machine: Machine): Promise<void> {
  const etcd = view.facts?.etcd;
  if (etcd?.state !== "known") throw new Error("the leader of etcd is not known");
  const leader = etcd.members.find((m) => m.id === etcd.leaderId);
  if (!leader) throw new Error("etcd has no leader");
  const nodeName = nodeNameOf(machine);
  if (nodeName === undefined || leader.name !== nodeName) return;
  const candidates = view.machines.filter((m) => m !== machine && !isDeleting(m) && nodeNameOf(m) !== undefined).sort(byFitness);
  const failures: string[] = [];
  for (const candidate of candidates) {
    const target = etcd.members.find((m) => m.name === nodeNameOf(candidate));
    try {
      if (!target) throw new Error("it has no etcd member");
      await withEtcd(view, workload, [nodeName], async (client) => {
        // Somebody else may have led on meanwhile.
        if (client.leaderId === leader.id) await client.moveLeader(target.id);
      });
      return;
    } catch (e) {
      failures.push(`${nameOf(candidate)}: ${messageOf(e)}`);
    }
  }
  throw new Error(
    `etcd leadership cannot be moved away from Machine ${nameOf(machine)}: ${failures.length === 0 ? "there is no other Machine" : failures.join("; ")}`,
  );
}

/** Takes a member out of the list, asked at another member. A member that is not listed is gone already. */
async function removeMember(
  view: ControlPlaneView,
  workload: WorkloadCluster,
  member: EtcdMember,
  nodeNames: readonly string[],
): Promise<void> {
  await withEtcd(view, workload, nodeNames, async (client) => {
    const { members } = await client.memberList();
    if (!members.some((m) => m.id === member.id)) return;
    if (members.length === 1) throw new Error(`etcd member ${member.name || member.id} is the only one and cannot be removed`);
    await client.memberRemove(member.id);
  });
}

export const removeMemberOf = (view: ControlPlaneView, workload: WorkloadCluster, machine: Machine, memberName: string): Promise<void> => {
  const member = etcdOf(view).members?.find((m) => m.name === memberName);
  return member ? removeMember(view, workload, member, etcdNodes(view, machine)) : Promise.resolve();
};

/** Members that belong to no Machine go, one a run. */
export async function removeStrays(
  view: ControlPlaneView,
  { log }: Pick<ReconcileContext, "log">,
  clusters: WorkloadClusters,
): Promise<StepOutcome> {
  const { members, alarms } = etcdOf(view);
  if (!view.facts || !members || !alarms) return undefined;
  const healthy = etcdHealthy(view.machines, view.facts).status === "True";
  const step = planStrays({ machines: view.machines, members, alarms, etcdHealthy: healthy });
  if (step.do === "fail") throw new Error(step.because);
  if (step.do === "nothing") {
    if (step.because) log.debug(step.because);
    return undefined;
  }
  const { member } = step;
  const nodeNames = etcdNodes(view).filter((name) => name !== member.name);
  await removeMember(view, clusters.get(clusterKeyOf(view)), member, nodeNames);
  log.info("removed an etcd member that belongs to no Machine", { member: member.name || member.id });
  return { requeueAfterMs: AFTER_REMOVAL_MS, stop: true };
}
