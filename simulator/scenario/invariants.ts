// What no order of events and no fault may break. Here: the checks, one per owner of Machines, cheap enough for every step.
// Not here: what a scenario expects besides (expectations.ts).
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { rolloutLimits } from "../../controllers/rollout/numbers.ts";
import type { MachineFacts, Tally } from "../observe/machines.ts";

export type Owner = MachineDeployment | KubeadmControlPlane;

/** Bounds of one owner. They follow what the user wants: up at once, down when the owner has come to rest there. */
export interface Guard {
  /** The user's latest wish. */
  wants(owner: Owner): void;
  /** Everything is as wanted: from here on the narrower bounds hold. */
  settled(): void;
  /** @param lost names of Machines whose Node the scenario took away @returns what is broken now, in words */
  check(tally: Pick<Tally, "machines" | "present" | "available">, lost: ReadonlySet<string>): string | undefined;
}

export function createGuard(name: string): Guard {
  let most = 0;
  let fewest = Number.POSITIVE_INFINITY;
  let wanted: { readonly most: number; readonly fewest: number } | undefined;
  let begun = false;
  return {
    wants(owner) {
      wanted = boundsOf(owner);
      most = Math.max(most, wanted.most);
      fewest = Math.min(fewest, wanted.fewest);
    },
    settled() {
      if (!wanted) return;
      ({ most, fewest } = wanted);
      begun = true;
    },
    check(tally, lost) {
      if (!begun) return undefined;
      if (tally.present > most) return `${name} has ${tally.present} Machines, at most ${most} are allowed`;
      if (tally.available >= fewest) return undefined;
      const excused = tally.machines().filter((m) => !m.available && !m.deleting && isExcused(m, lost)).length;
      if (tally.available + excused >= fewest) return undefined;
      return `${name} has ${tally.available} available Machines${excused > 0 ? ` and ${excused} lost or failing ones` : ""}, at least ${fewest} are needed`;
    },
  };
}

/** Out of service by no decision of ours: its Node was taken away, or its update fails. */
function isExcused({ name, machine }: MachineFacts, lost: ReadonlySet<string>): boolean {
  if (lost.has(name)) return true;
  const updating = findCondition(machine.status?.conditions, "Updating");
  return updating?.status === "True" && updating.reason === "InPlaceUpdateFailed";
}

function boundsOf(owner: Owner): { readonly most: number; readonly fewest: number } {
  const { replicas = 1 } = owner.spec;
  if (isDeployment(owner)) {
    const { strategy } = owner.spec.rollout ?? {};
    if (strategy?.type === "OnDelete") return { most: replicas, fewest: 0 };
    const { maxSurge, maxUnavailable } = rolloutLimits(replicas, strategy?.rollingUpdate);
    return { most: replicas + maxSurge, fewest: Math.max(replicas - maxUnavailable, 0) };
  }
  const surge = Number(owner.spec.rollout?.strategy?.rollingUpdate?.maxSurge ?? 1);
  return { most: replicas + surge, fewest: Math.max(replicas - 1, 0) };
}

const isDeployment = (owner: Owner): owner is MachineDeployment => owner.kind === "MachineDeployment";
