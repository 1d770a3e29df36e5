// How long machines in the middle of an update have been surplus without an order to hand them on. Here: the memory and the plan made with it.
// Not here: the plan itself (plan.ts). A MachineDeployment that changes its mind tells the set where such a machine goes; the set may be quicker.
import type { ReconcileContext } from "../../runtime/controller.ts";
import { planReplicas, type ReplicaPlan } from "./plan.ts";
import { type MachineSetView, machineViews, readMoveTarget, setViewOf, type Target } from "./view.ts";

/** A MachineDeployment reacts within one of its runs; upstream's run at most once a second. */
const GRACE_MS = 2_000;

/** Milliseconds since the epoch by uid of the set. */
export type SurplusMemory = Map<string, number>;

export interface Planned {
  readonly plan: ReplicaPlan;
  readonly target?: Target;
  /** When the plan may change without any event, milliseconds from now. */
  readonly lookAgainMs?: number;
}

export function planWithGrace(view: MachineSetView, context: Pick<ReconcileContext, "cache">, memory: SurplusMemory): Planned {
  const uid = view.set.metadata.uid ?? "";
  const target = readMoveTarget(view, context);
  const machines = machineViews(view);
  const setView = setViewOf(view, target);
  const spared = planReplicas({ ...setView, spareUpdating: true }, machines, view.nowMs);
  const waiting = spared.do === "remove" && !target && machines.some((m) => m.updating && !m.deleting && spared.waitFor.includes(m.name));
  if (!waiting) {
    memory.delete(uid);
    return { plan: spared, target };
  }
  const sinceMs = memory.get(uid) ?? view.nowMs;
  memory.set(uid, sinceMs);
  const left = sinceMs + GRACE_MS - view.nowMs;
  return left > 0 ? { plan: spared, target, lookAgainMs: left } : { plan: planReplicas(setView, machines, view.nowMs), target };
}
