// Replicas of sets under the OnDelete strategy: people delete machines, the new set fills up. Here: the pure plan.
// Source: spec/controllers/machinedeployment.md section 7.
import { byAge } from "../rollout/compare.ts";
import { mayHave, type RolloutPlan, type RolloutView, type SetPlan, type SetView } from "./plan-view.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Old sets lose the places whose machine is gone, and what a smaller MachineDeployment no longer wants, oldest set first. */
export function planOnDelete(view: Pick<RolloutView, "replicas" | "newSet" | "oldSets">): RolloutPlan {
  const oldSets = [...view.oldSets].sort(byAge);
  const newReplicas = replicasOfNewSet(view);
  const replicas = new Map(oldSets.map((set) => [set.name, Math.min(set.replicas, set.current)]));
  let surplus = sum([...replicas.values()]) + newReplicas - view.replicas;
  for (const set of oldSets) {
    const down = Math.min(Math.max(surplus, 0), replicas.get(set.name) ?? 0);
    replicas.set(set.name, (replicas.get(set.name) ?? 0) - down);
    surplus -= down;
  }
  const plan = (set: SetView, wanted: number): SetPlan => ({
    name: set.name,
    replicas: wanted,
    ...(wanted === set.replicas
      ? {}
      : { because: wanted > set.replicas ? "machines are missing" : "its machines were deleted or are not wanted" }),
  });
  return {
    do: "apply",
    newSet: plan(view.newSet, newReplicas),
    oldSets: oldSets.map((set) => plan(set, replicas.get(set.name) ?? set.replicas)),
    replaced: [],
    surgePutOff: 0,
  };
}

function replicasOfNewSet({ replicas, newSet, oldSets }: Pick<RolloutView, "replicas" | "newSet" | "oldSets">): number {
  if (newSet.replicas >= replicas) return replicas;
  const total = sum([newSet, ...oldSets].map(mayHave));
  return newSet.replicas + Math.max(replicas - total, 0);
}
