// A Machine that is being deleted: its etcd member leaves, then our hook goes. Here: the step. Not here: the plan (hook.ts).
// Source: spec/controllers/kubeadmcontrolplane.md 13.3.
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { preTerminateHookCleanupAnnotation } from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { moveLeadership, removeMemberOf } from "./etcd-steps.ts";
import { planHook } from "./hook.ts";
import { nameOf } from "./machines.ts";
import { clusterKeyOf, type ControlPlaneView, etcdOf, memberName, replaceMachine } from "./view.ts";

/** Backs up the events of Machines; the workload cluster has none for everything that is waited for. */
const RETRY_MS = 30_000;

/** Ends the run as long as any Machine is being deleted: one operation at a time. */
export async function releaseDeleting(view: ControlPlaneView, context: ReconcileContext, clusters: WorkloadClusters): Promise<StepOutcome> {
  const { kcp, machines, managedEtcd } = view;
  const step = planHook({ kcp, machines, managedEtcd, ...etcdOf(view), memberName: memberName(view) });
  const again = { requeueAfterMs: RETRY_MS, stop: true } as const;
  switch (step.do) {
    case "nothing":
      return undefined;
    case "wait":
      if (step.unsafe) view.notes.waiting.push(step.because);
      context.log.debug(step.because);
      return again;
    case "fail":
      view.notes.waiting.push(step.because);
      throw new Error(step.because);
    case "removeMember": {
      const workload = clusters.get(clusterKeyOf(view));
      await moveLeadership(view, workload, step.machine);
      await removeMemberOf(view, workload, step.machine, step.memberName);
      context.log.info("removed the etcd member of a Machine that is being deleted", {
        machine: nameOf(step.machine),
        because: step.because,
      });
      await dropHook(view, context, step.machine);
      return again;
    }
    case "dropHook":
      await dropHook(view, context, step.machine);
      return again;
  }
}

export async function dropHook(view: ControlPlaneView, { client }: ReconcileContext, machine: Machine): Promise<void> {
  const body = { metadata: { annotations: { [preTerminateHookCleanupAnnotation]: null } } };
  try {
    replaceMachine(view, await client.patch(machineResource, keyOf(machine), { type: "merge", body }));
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
