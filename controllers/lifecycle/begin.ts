// The start of a reconcile that kinds with a finalizer share: finalizer first, then the Paused condition, then work.
// Not here: what follows. Source: spec/controllers/machinedeployment.md section 0.2.
import type { Cluster } from "../../api/cluster.ts";
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { ensureFinalizer } from "../../runtime/patch.ts";
import { isPaused, pausedFinding } from "./paused.ts";
import { writeStatus } from "./status.ts";

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** @param cluster the Cluster the object belongs to
 *  @returns true when the reconcile goes on; false when something was written (its event runs the key again) or the object is paused */
export async function mayReconcile<K extends WithConditions>(
  resource: Resource<K>,
  object: K,
  cluster: Cluster,
  finalizer: string,
  { client, clock }: Pick<ReconcileContext, "client" | "clock">,
): Promise<boolean> {
  const { deletionTimestamp, finalizers = [], generation } = object.metadata;
  if (deletionTimestamp === undefined && !finalizers.includes(finalizer)) {
    await ensureFinalizer(client, resource, object, finalizer);
    return false;
  }
  const finding = pausedFinding(cluster, object);
  const old = object.status?.conditions?.find((c) => c.type === "Paused");
  const paused = isPaused(cluster, object);
  const told = old?.status === finding.status && old.message === finding.message && (!paused || old.observedGeneration === generation);
  if (!told) {
    await writeStatus(client, resource, object, (newest) => ({
      ...newest.status,
      conditions: setConditions(newest.status?.conditions, [finding], timestamp(clock.nowMs()), newest.metadata.generation),
    }));
    return false;
  }
  return !paused;
}
