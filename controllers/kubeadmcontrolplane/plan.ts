// What a control plane does next: pure, over a snapshot in which nothing is deleting, half started or updating.
// Here: rollout and number of Machines, and the decision about one Machine in place. Not here: which Machine (choose.ts), the checks
// (preflight.ts), doing it. Source: spec/controllers/kubeadmcontrolplane.md 10, kubeadmcontrolplane-inplace.md 2 and 3.
import type { Machine } from "../../api/machine.ts";
import type { MachineAnswer } from "../inplace/ask-machine.ts";
import type { RolloutPolicy } from "../inplace/policy.ts";
import { type Candidates, chooseMachine } from "./choose.ts";
import { hasDeleteWish, nameOf } from "./machines.ts";
import type { Preflight } from "./preflight.ts";

export interface ControlPlaneSnapshot extends Candidates {
  readonly replicas: number;
  /** 0 or 1. */
  readonly maxSurge: number;
  /** Gate InPlaceUpdates. */
  readonly inPlace: boolean;
  /** Names of outdated Machines that may be updated in place. */
  readonly eligible: readonly string[];
  /** RequireInPlace: nothing is replaced, and no surge Machine is made that another would have to make room for. */
  readonly required?: boolean;
}

export type NextStep =
  | { readonly do: "nothing"; readonly because: string }
  | { readonly do: "init"; readonly because: string }
  | { readonly do: "scaleUp"; readonly because: string }
  | { readonly do: "scaleDown"; readonly machine: Machine; readonly because: string }
  | { readonly do: "tryInPlace"; readonly machine: Machine; readonly because: string }
  /** Nothing may be replaced, and this Machine cannot be updated in place. */
  | { readonly do: "blocked"; readonly machine: Machine; readonly because: string };

export function nextStep(s: ControlPlaneSnapshot): NextStep {
  return s.outdated.length > 0 ? rolloutStep(s) : scaleStep(s);
}

function rolloutStep(s: ControlPlaneSnapshot): NextStep {
  const count = s.machines.length;
  const limit = s.replicas + (s.required ? 0 : s.maxSurge);
  if (count < limit) return { do: "scaleUp", because: `${count} Machines, up to ${limit} allowed during the rollout` };
  const upToDate = count - s.outdated.length;
  if (s.inPlace && upToDate < s.replicas) {
    const machine = chooseMachine(s, count > s.replicas);
    if (machine && s.eligible.includes(nameOf(machine)))
      return { do: "tryInPlace", machine, because: `${upToDate} of ${s.replicas} Machines are up to date` };
  }
  const machine = chooseMachine(s);
  if (!machine) return { do: "nothing", because: "no Machine to change" };
  if (s.required && upToDate < s.replicas && !hasDeleteWish(machine))
    return {
      do: "blocked",
      machine,
      because: s.inPlace ? "it is not eligible for an update in place" : "the feature gate InPlaceUpdates is off",
    };
  const why = upToDate >= s.replicas ? "enough Machines are up to date" : "it is not up to date";
  return { do: "scaleDown", machine, because: `${count} Machines, ${limit} allowed during the rollout; ${why}` };
}

function scaleStep(s: ControlPlaneSnapshot): NextStep {
  const count = s.machines.length;
  if (count === 0) return s.replicas > 0 ? { do: "init", because: "there is no Machine" } : { do: "nothing", because: "none wanted" };
  if (count < s.replicas) return { do: "scaleUp", because: `${count} of ${s.replicas} Machines` };
  if (count === s.replicas) return { do: "nothing", because: "all Machines are there and up to date" };
  const machine = chooseMachine({ ...s, outdated: [] });
  if (!machine) return { do: "nothing", because: "no Machine to delete" };
  return { do: "scaleDown", machine, because: `${count} Machines, ${s.replicas} wanted` };
}

// --- one Machine ---------------------------------------------------------------------------------------------------------------------

export interface InPlaceInput {
  /** Preflight over all Machines. */
  readonly all: Preflight;
  /** Preflight over all but the Machine; only looked at when the first fails. */
  readonly withoutIt: Preflight;
  readonly policy: RolloutPolicy;
  /** Undefined: nobody has been asked. */
  readonly answer?: MachineAnswer;
}

export type InPlaceDecision =
  | { readonly do: "wait"; readonly preflight: Preflight }
  | { readonly do: "ask" }
  | { readonly do: "trigger" }
  /** `reasons` empty: the Machine is sick, nobody was asked. */
  | { readonly do: "replace"; readonly reasons: readonly string[] }
  | { readonly do: "blocked"; readonly reasons: readonly string[] };

export function decideInPlace({ all, withoutIt, policy, answer }: InPlaceInput): InPlaceDecision {
  if (!all.passes) {
    if (!withoutIt.passes) return { do: "wait", preflight: all };
    const sick = all.because;
    return policy === "RequireInPlace" ? { do: "blocked", reasons: sick } : { do: "replace", reasons: [] };
  }
  if (!answer) return { do: "ask" };
  if (answer.covered) return { do: "trigger" };
  return policy === "RequireInPlace" ? { do: "blocked", reasons: answer.reasons } : { do: "replace", reasons: answer.reasons };
}
