// Order in which a Cluster goes: workers, control plane, infrastructure. Here: what is next, as a pure plan, and doing it.
// Source: spec/controllers/cluster.md section 7.
import { clusterResource } from "../../api/cluster.ts";
import { machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { clusterFinalizer, okToDeleteAnnotation } from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { removeFinalizer } from "../../runtime/patch.ts";
import type { Referenced } from "../contract/read.ts";
import type { ClusterView } from "./view.ts";

const DESCENDANTS_RETRY_MS = 5_000;
const NAMES_MAX = 5;

interface Doomed {
  readonly resource: Resource;
  readonly object: KubeObject;
}

export type DeletionStep =
  | { readonly do: "wait"; readonly reason: string; readonly message: string }
  | { readonly do: "deleteWorkers"; readonly delete: readonly Doomed[]; readonly message: string }
  | { readonly do: "deleteReference"; readonly reason: string; readonly referenced: Referenced; readonly message: string }
  | { readonly do: "fail"; readonly message: string }
  | { readonly do: "finish" };

/** @param asksHook a BeforeClusterDelete hook must agree first (topology with runtime extensions) */
export function planDeletion(view: ClusterView, asksHook: boolean): DeletionStep {
  const { cluster, controlPlane, infrastructure } = view;
  if (asksHook && cluster.metadata.annotations?.[okToDeleteAnnotation] === undefined) {
    return { do: "wait", reason: "WaitingForBeforeDeleteHook", message: "Waiting for the BeforeClusterDelete hook to agree" };
  }
  const left = remaining(view);
  if (left.length > 0) return { do: "deleteWorkers", delete: doomed(view), message: `Waiting for ${describe(left)} to be deleted` };
  for (const [referenced, reason] of [
    [controlPlane, "WaitingForControlPlaneDeletion"],
    [infrastructure, "WaitingForInfrastructureDeletion"],
  ] as const) {
    if (!referenced || referenced.missing) continue;
    const what = `${referenced.ref.kind} ${referenced.ref.name}`;
    if (!referenced.object) return { do: "fail", message: `${what} could not be read: ${referenced.error?.message}` };
    return { do: "deleteReference", reason, referenced, message: `Waiting for ${referenced.ref.kind} to be deleted` };
  }
  return { do: "finish" };
}

const doomedOf = (resource: Resource, objects: readonly KubeObject[]): readonly Doomed[] => objects.map((object) => ({ resource, object }));

/** All that must be gone before the control plane goes. Control plane Machines count when nobody else deletes them. */
function remaining({ cluster, descendants }: ClusterView): readonly Doomed[] {
  const { deployments, sets, workerMachines, controlPlaneMachines } = descendants;
  return [
    ...doomedOf(machineDeploymentResource, deployments),
    ...doomedOf(machineSetResource, sets),
    ...doomedOf(machineResource, workerMachines),
    ...doomedOf(machineResource, cluster.spec.controlPlaneRef ? [] : controlPlaneMachines),
  ];
}

/** What is deleted from here: only direct children; the rest goes with its owner. Control plane Machines last. */
const doomed = (view: ClusterView): readonly Doomed[] =>
  remaining(view).filter(
    ({ object }) =>
      object.metadata.deletionTimestamp === undefined &&
      (object.metadata.ownerReferences ?? []).some((o) => o.kind === clusterResource.kind && o.uid === view.cluster.metadata.uid),
  );

function describe(left: readonly Doomed[]): string {
  const kinds = [...new Set(left.map((d) => d.resource.kind))];
  return kinds
    .map((kind) => {
      const names = left.filter((d) => d.resource.kind === kind).map((d) => d.object.metadata.name ?? "");
      const more = names.length - NAMES_MAX;
      const list = more > 0 ? `${names.slice(0, NAMES_MAX).join(", ")}, ... (${more} more)` : names.join(", ");
      return `${kind}${names.length > 1 ? "s" : ""} ${list}`;
    })
    .join("; ");
}

/** One step of the deletion. */
export async function deleteCluster(view: ClusterView, context: ReconcileContext): Promise<StepOutcome> {
  const asksHook =
    view.cluster.spec.topology !== undefined && context.gates.enabled("RuntimeSDK") && context.gates.enabled("ClusterTopology");
  const next = planDeletion(view, asksHook);
  switch (next.do) {
    case "wait":
      view.deletion = next;
      return { stop: true };
    case "deleteWorkers":
      view.deletion = { reason: "WaitingForWorkersDeletion", message: next.message };
      for (const { resource, object } of next.delete) await deleteOnce(context, resource, object);
      return { requeueAfterMs: DESCENDANTS_RETRY_MS, stop: true };
    case "deleteReference":
      view.deletion = next;
      if (next.referenced.kind && next.referenced.object) await deleteOnce(context, next.referenced.kind.resource, next.referenced.object);
      return { stop: true };
    case "fail":
      view.deletion = { reason: "InternalError", message: next.message };
      throw new Error(next.message);
    case "finish":
      view.deletion = { reason: "DeletionCompleted", message: "Deletion completed" };
      context.record(view.cluster, "Normal", "Deleted", `Cluster ${view.cluster.metadata.name} has been deleted`);
      view.cluster = await removeFinalizer(context.client, clusterResource, view.cluster, clusterFinalizer);
      return undefined;
  }
}

async function deleteOnce({ client }: ReconcileContext, resource: Resource, object: KubeObject): Promise<void> {
  if (object.metadata.deletionTimestamp) return;
  try {
    await client.delete(resource, keyOf(object));
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
