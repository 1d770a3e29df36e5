// Deleting a control plane: workers first, then all Machines at once, without care for etcd. Here: the step.
// Source: spec/controllers/kubeadmcontrolplane.md section 15.
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { machineResource } from "../../api/machine.ts";
import { kubeadmControlPlaneFinalizer, preTerminateHookCleanupAnnotation } from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { removeFinalizer } from "../../runtime/patch.ts";
import { someNames, staleDeletions } from "../rollout/conditions.ts";
import { dropHook } from "./hook-steps.ts";
import { hasAnnotation, isControlPlaneMachineOf, isDeleting, messageOf, nameOf } from "./machines.ts";
import { deleteMachine } from "./scale-steps.ts";
import { clusterKeyOf, type ControlPlaneView } from "./view.ts";

const RETRY_MS = 30_000;
const again = { requeueAfterMs: RETRY_MS, stop: true } as const;

export async function deleteControlPlane(view: ControlPlaneView, context: ReconcileContext): Promise<StepOutcome> {
  if (view.machines.length === 0) {
    view.deletion = { reason: "DeletionCompleted", message: "Deletion completed" };
    await removeFinalizer(context.client, kubeadmControlPlaneResource, view.kcp, kubeadmControlPlaneFinalizer);
    view.gone = true;
    view.told.delete(view.kcp.metadata.uid ?? "");
    return { stop: true };
  }
  const workers = context.cache
    .ofCluster(machineResource, clusterKeyOf(view))
    .filter((m) => !isControlPlaneMachineOf(m, nameOf(view.cluster)));
  if (workers.length > 0) {
    const names = someNames(workers.map(nameOf).sort());
    const message = `KubeadmControlPlane deletion blocked because following objects still exist:\n* ${workers.length === 1 ? "Machine" : "Machines"}: ${names}`;
    view.deletion = { reason: "WaitingForWorkersDeletion", message };
    return again;
  }
  const failures: string[] = [];
  for (const machine of view.machines) {
    try {
      if (hasAnnotation(machine, preTerminateHookCleanupAnnotation)) await dropHook(view, context, machine);
      if (!isDeleting(machine)) await deleteMachine(context, machine);
    } catch (e) {
      failures.push(`Machine ${nameOf(machine)}: ${messageOf(e)}`);
    }
  }
  if (failures.length > 0) {
    const text = `Failed to delete control plane Machines: ${failures.join("; ")}`;
    context.record(view.kcp, "Warning", "FailedDelete", text);
    view.deletion = { reason: "InternalError", message: "Please check controller logs for errors" };
    throw new Error(text);
  }
  const count = view.machines.length;
  const stale = staleDeletions(view.machines, view.nowMs);
  const message = `Deleting ${count} ${count === 1 ? "Machine" : "Machines"}${stale === "" ? "" : `\n* ${stale}`}`;
  view.deletion = { reason: "WaitingForMachineDeletion", message };
  return again;
}
