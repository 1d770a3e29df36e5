// Replacing a sick Machine: marks on it and on the control plane, then the delete. Here: the step. Not here: the plan (remediation.ts).
// Source: spec/controllers/kubeadmcontrolplane.md section 12.
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { remediationInProgressAnnotation } from "../../api/names.ts";
import { isFalse } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { moveLeadership } from "./etcd-steps.ts";
import { writeFindings } from "./inspect.ts";
import { messageOf, nameOf } from "./machines.ts";
import { formatRemediation, planRemediation, type RemediationData } from "./remediation.ts";
import { deleteMachine, dropRemediationMark } from "./scale-steps.ts";
import { clusterKeyOf, type ControlPlaneView, etcdOf, memberName } from "./view.ts";

const TYPE = "OwnerRemediated";

export async function remediate(view: ControlPlaneView, context: ReconcileContext, clusters: WorkloadClusters): Promise<StepOutcome> {
  const { kcp, cluster, machines, managedEtcd, initialized, nowMs } = view;
  const plan = planRemediation({
    kcp,
    cluster,
    machines,
    managedEtcd,
    initialized,
    nowMs,
    ...etcdOf(view),
    memberName: memberName(view),
  });
  for (const machine of plan.clear) await writeFindings(view, context, machine, [], [TYPE]);
  if (plan.dropMark) await dropRemediationMark(view, context);
  const { step } = plan;
  if (step.do === "nothing") return undefined;
  if (step.do === "refuse") {
    await say(view, context, step.machine, step.reason, `KubeadmControlPlane can't remediate this Machine: ${step.because}`);
    return step.requeueAfterMs === undefined ? undefined : { requeueAfterMs: step.requeueAfterMs };
  }
  return replace(view, context, clusters, step.machine, step.data);
}

const say = (view: ControlPlaneView, context: ReconcileContext, machine: Machine, reason: string, message: string): Promise<void> =>
  writeFindings(view, context, machine, [isFalse(TYPE, reason, message)]);

async function replace(
  view: ControlPlaneView,
  context: ReconcileContext,
  clusters: WorkloadClusters,
  machine: Machine,
  data: RemediationData,
): Promise<StepOutcome> {
  if (view.initialized && view.managedEtcd) {
    try {
      await moveLeadership(view, clusters.get(clusterKeyOf(view)), machine);
    } catch (e) {
      await say(view, context, machine, "CannotBeRemediated", `KubeadmControlPlane can't remediate this Machine: ${messageOf(e)}`);
      throw e;
    }
  }
  try {
    await deleteMachine(context, machine);
  } catch (e) {
    await say(view, context, machine, "InternalError", "Please check controller logs for errors");
    throw e;
  }
  // Only now: a mark without a delete would wait for a replacement that nobody makes.
  const annotations = { [remediationInProgressAnnotation]: formatRemediation(data) };
  view.kcp = await context.client.patch(kubeadmControlPlaneResource, keyOf(view.kcp), {
    type: "merge",
    body: { metadata: { annotations } },
  });
  await say(view, context, machine, "MachineDeleting", "Machine is deleting");
  context.log.info("deleted a Machine that is not healthy", { machine: nameOf(machine), retryCount: data.retryCount });
  return { stop: true };
}
