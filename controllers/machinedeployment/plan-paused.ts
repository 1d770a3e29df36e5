// Replicas of sets while spec.paused is set: no rollout, but the MachineDeployment still scales, and hand-overs that were ordered end well.
// Here: the pure plan. Not here: the annotation cluster.x-k8s.io/paused, which stops the controller altogether.
// Source: spec/controllers/machinedeployment.md section 8. Ours differs on purpose: machines on their way from set to set are counted
// before anything is scaled, and a share is worked out from the annotations as they were, so that pausing neither makes nor deletes machines.
import type { RolloutLimits } from "../rollout/numbers.ts";
import type { OldSetView, SetPlan, SetView } from "./plan-view.ts";

export interface PausedSet {
  /** Stored annotations desired-replicas and max-replicas; undefined when missing or not a number. */
  readonly desiredReplicas?: number;
  readonly maxReplicas?: number;
  /** Stored move and receive annotations. */
  readonly moveTo?: string;
  readonly receiveFrom?: readonly string[];
}

export interface PausedView {
  readonly replicas: number;
  readonly limits: RolloutLimits;
  readonly strategy: "RollingUpdate" | "OnDelete";
  /** Absent: no set has the present template, and none is made while paused. */
  readonly newSet?: SetView & PausedSet;
  readonly oldSets: readonly (OldSetView & PausedSet)[];
  /** Machines that changed their set and are not counted yet, and those that are, by the set that controls them. */
  readonly pendingMoves: ReadonlyMap<string, readonly string[]>;
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  /** status.replicas of the MachineDeployment. */
  readonly current: number;
}

export interface PausedPlan {
  readonly newSet?: SetPlan;
  readonly oldSets: readonly SetPlan[];
}

type Active = SetView & PausedSet;
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

export function planPaused(view: PausedView): PausedPlan {
  const sets: readonly Active[] = view.newSet ? [view.newSet, ...view.oldSets] : view.oldSets;
  const counted = new Map(sets.map((set) => [set.name, countMoves(view, set)]));
  const withCounted = sets.map((set) => ({ ...set, replicas: counted.get(set.name)?.replicas ?? set.replicas }));
  // A set that takes machines back goes on with it when the pause is over.
  const holds = (set: Active): boolean => view.strategy === "RollingUpdate" && set.holding === true;
  const handingOver = sets.some(
    (set) => holds(set) || (set.moveTo !== undefined && set.current > set.replicas) || (view.pendingMoves.get(set.name)?.length ?? 0) > 0,
  );
  const scaled = handingOver ? new Map<string, number>() : scale(view, withCounted);
  const plan = (set: Active): SetPlan => {
    const wanted = scaled.get(set.name) ?? counted.get(set.name)?.replicas ?? set.replicas;
    const acknowledged = counted.get(set.name)?.acknowledged ?? [];
    return {
      name: set.name,
      replicas: wanted,
      ...(wanted === set.replicas ? {} : { because: scaled.has(set.name) ? "scaled while paused" : "counts moved machines" }),
      ...(handingOver && set.moveTo !== undefined ? { moveTo: set.moveTo } : {}),
      ...(handingOver && set.receiveFrom && set.receiveFrom.length > 0 ? { receiveFrom: set.receiveFrom } : {}),
      ...(acknowledged.length > 0 ? { acknowledged } : {}),
      ...(holds(set) ? { holdCreation: true } : {}),
    };
  };
  return { ...(view.newSet ? { newSet: plan(view.newSet) } : {}), oldSets: view.oldSets.map(plan) };
}

/** A machine that has arrived is counted by the set it arrived at, paused or not; otherwise that set would delete it. */
function countMoves(view: PausedView, set: Active): { readonly replicas: number; readonly acknowledged: readonly string[] } {
  const pending = view.pendingMoves.get(set.name) ?? [];
  const stored = view.acknowledged.get(set.name) ?? [];
  return { replicas: set.replicas + pending.filter((name) => !stored.includes(name)).length, acknowledged: [...pending].sort() };
}

function scale(view: PausedView, sets: readonly Active[]): Map<string, number> {
  const active = sets.filter((set) => set.replicas > 0);
  const { newSet } = view;
  if (active.length <= 1) {
    const only = active[0] ?? newSet ?? [...sets].sort((a, b) => b.createdMs - a.createdMs)[0];
    return new Map(only && only.replicas !== view.replicas ? [[only.name, view.replicas]] : []);
  }
  const current = sets.find((set) => set.name === newSet?.name);
  if (current && current.replicas === view.replicas && current.desiredReplicas === view.replicas && current.available === view.replicas) {
    return new Map(active.filter((set) => set.name !== current.name).map((set) => [set.name, 0]));
  }
  const ceiling = view.replicas > 0 ? view.replicas + view.limits.maxSurge : 0;
  const asked = active.some(
    (set) => set.desiredReplicas !== view.replicas || (set.maxReplicas ?? 0) !== view.replicas + view.limits.maxSurge,
  );
  if (view.strategy !== "RollingUpdate" || !asked) return new Map();
  return share(view, active, ceiling - sum(active.map((set) => set.replicas)));
}

/** Splits `delta` over the sets by size; the largest gets what rounding leaves. */
function share(view: PausedView, active: readonly Active[], delta: number): Map<string, number> {
  const order = [...active].sort(
    (a, b) => b.replicas - a.replicas || (delta > 0 ? b.createdMs - a.createdMs : a.createdMs - b.createdMs) || (a.name < b.name ? -1 : 1),
  );
  const result = new Map<string, number>();
  let left = delta;
  for (const set of order) {
    const part = view.replicas === 0 ? -set.replicas : proportion(view, set) - set.replicas;
    const bounded = left > 0 ? Math.min(Math.max(part, 0), left) : Math.max(Math.min(part, 0), left);
    result.set(set.name, set.replicas + bounded);
    left -= bounded;
  }
  const first = order[0];
  if (first && left !== 0) result.set(first.name, Math.max((result.get(first.name) ?? 0) + left, 0));
  return new Map([...result].filter(([name, replicas]) => active.some((set) => set.name === name && set.replicas !== replicas)));
}

function proportion(view: PausedView, set: Active): number {
  const before = set.maxReplicas && set.maxReplicas > 0 ? set.maxReplicas : view.current;
  if (before <= 0) return set.replicas;
  const exact = (set.replicas * (view.replicas + view.limits.maxSurge)) / before;
  return Math.floor(exact + 0.5);
}
