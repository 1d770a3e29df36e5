// Calling UpdateMachine and ending an update. Here: reads of the clock, the call, the writes 7a to 7d in their order.
// Not here: whether a call is due, how long to wait (inplace.ts). Source: spec/controllers/inplace-workers.md sections 2 and 6.
import { machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import type { Client } from "../../runtime/client.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { hasMark, hasPendingHook, PENDING_HOOKS, UPDATE_IN_PROGRESS, UPDATE_MACHINE_HOOK, withoutPendingHook } from "../inplace/marks.ts";
import { type CallMemories, failureDelayMs, retryDelayMs, type UpdateMachine, updateDue } from "./inplace.ts";
import type { Referenced } from "../contract/read.ts";
import type { MachineView } from "./view.ts";

/** Writers that meet again and again are a fault; the next run tries anew. */
const CONFLICTS_MAX = 5;

export interface InPlaceTools {
  readonly updateMachine: UpdateMachine;
  readonly memories: CallMemories;
}

/** Last step of a live Machine. */
export async function updateInPlace(view: MachineView, context: ReconcileContext, tools: InPlaceTools): Promise<StepOutcome> {
  if (!context.gates.enabled("InPlaceUpdates")) return;
  const due = updateDue(view);
  switch (due.do) {
    case "nothing":
      return tools.memories.drop(view.machine);
    case "wait":
      return;
    case "fail":
      view.update = { state: "failed", message: due.because };
      throw new Error(`in-place update cannot go on: ${due.because}`);
    case "finish":
      return finish(view, context, tools);
    case "call":
      return call(view, context, tools);
  }
}

async function call(view: MachineView, context: ReconcileContext, tools: InPlaceTools): Promise<StepOutcome> {
  const { machine, infrastructure, bootstrap, nowMs } = view;
  const memory = tools.memories.get(machine);
  if (memory && memory.notBeforeMs > nowMs) {
    view.update = memory.outcome;
    return { requeueAfterMs: memory.notBeforeMs - nowMs };
  }
  if (!infrastructure?.object) return;
  const remember = (state: "running" | "failed", message: string, delayMs: number, failures: number): StepOutcome => {
    const outcome = { state, message };
    view.update = outcome;
    tools.memories.set(machine, { notBeforeMs: context.clock.nowMs() + delayMs, failures, outcome });
    return { requeueAfterMs: delayMs };
  };
  let told = "";
  try {
    const answer = await tools.updateMachine(machine, {
      machine,
      infrastructureMachine: infrastructure.object,
      ...(bootstrap?.object ? { bootstrapConfig: bootstrap.object } : {}),
    });
    if (answer.retryAfterSeconds > 0) return remember("running", answer.message, retryDelayMs(answer.retryAfterSeconds), 0);
    told = answer.message;
  } catch (e) {
    const message = e instanceof Error ? e.message : String(e);
    const failures = (memory?.failures ?? 0) + 1;
    context.log.warn("UpdateMachine failed", { failures, error: message });
    context.record(machine, "Warning", "InPlaceUpdateFailed", message);
    return remember("failed", message, failureDelayMs(failures), failures);
  }
  await finish(view, context, tools);
  context.record(
    machine,
    "Normal",
    "SuccessfulInPlaceUpdate",
    told === "" ? "Machine updated in place" : `Machine updated in place: ${told}`,
  );
}

/** Takes the marks off: Machine, infrastructure, bootstrap, then the pending hook. A stop in between is taken up by the next run without a call. */
async function finish(view: MachineView, { client }: ReconcileContext, tools: InPlaceTools): Promise<void> {
  const withoutMark = (o: KubeObject): object | undefined => (hasMark(o, UPDATE_IN_PROGRESS) ? { [UPDATE_IN_PROGRESS]: null } : undefined);
  view.machine = await changeAnnotations(client, machineResource, view.machine, withoutMark);
  for (const referenced of [view.infrastructure, view.bootstrap]) await takeMarkOff(client, referenced, withoutMark);
  view.machine = await changeAnnotations(client, machineResource, view.machine, (o) =>
    hasPendingHook(o, UPDATE_MACHINE_HOOK) ? { [PENDING_HOOKS]: withoutPendingHook(o, UPDATE_MACHINE_HOOK) } : undefined,
  );
  tools.memories.drop(view.machine);
}

async function takeMarkOff(
  client: Client,
  referenced: Referenced | undefined,
  change: (o: KubeObject) => object | undefined,
): Promise<void> {
  if (!referenced?.object || !referenced.kind) return;
  referenced.object = await changeAnnotations(client, referenced.kind.resource, referenced.object, change);
}

/** A merge patch bound to the version it was decided on. Somebody else's write in between is read, and the change decided anew,
 *  so that a mark set meanwhile is never taken for the old one. */
async function changeAnnotations<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  change: (newest: K) => object | undefined,
): Promise<K> {
  let newest = object;
  for (let attempt = 1; ; attempt++) {
    const annotations = change(newest);
    if (!annotations) return newest;
    const body = { metadata: { annotations, resourceVersion: newest.metadata.resourceVersion } };
    try {
      return await client.patch(resource, keyOf(newest), { type: "merge", body });
    } catch (e) {
      if (isNotFound(e)) return newest;
      if (!isConflict(e) || attempt === CONFLICTS_MAX) throw e;
    }
    newest = await client.get(resource, keyOf(object));
  }
}
