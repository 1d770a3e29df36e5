// What a simulated rollout is told, and what it answers with. Here: types and their limits. Source: design/architecture.md section 5.
import type { IntOrString } from "../../api/meta/object.ts";

export const ROLLOUT_KINDS = ["machinedeployment", "kubeadmcontrolplane"] as const;
export const ROLLOUT_MODES = ["in-place", "replace", "on-delete"] as const;

export interface RolloutSettings {
  readonly kind: (typeof ROLLOUT_KINDS)[number];
  /** in-place: the updater can make the change; replace: it cannot; on-delete: the user deletes old machines, at most maxUnavailable at a time. */
  readonly mode: (typeof ROLLOUT_MODES)[number];
  readonly replicas: number;
  readonly maxSurge?: IntOrString;
  readonly maxUnavailable?: IntOrString;
  /** What the user does as soon as the first machine is affected. */
  readonly afterwards?: { readonly scaleTo: number } | "change";
  readonly seed: number;
}

export interface RolloutFigures {
  readonly finalReplicas: number;
  /** Machines with their original UID. */
  readonly keptOriginalMachines: number;
  readonly machinesCreated: number;
  readonly machinesDeleted: number;
  readonly updatedInPlace: number;
  /** Machines that are being deleted do not count. */
  readonly peakMachines: number;
  readonly minAvailable: number;
  /** From the change until everything is up to date and available. */
  readonly virtualSeconds: number;
}

export interface RolloutStory {
  readonly figures: RolloutFigures;
  readonly lines: readonly string[];
}

export class RolloutSettingsError extends Error {
  readonly code = "RolloutSettingsError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** @throws RolloutSettingsError for what no rollout can be made of */
export function checkSettings(s: RolloutSettings): void {
  const zero = (v: IntOrString | undefined): boolean => v === 0 || v === "0%";
  const refuse = (message: string, hint: string): never => {
    throw new RolloutSettingsError(message, hint);
  };
  if (s.kind === "machinedeployment") {
    if (s.mode === "on-delete" && s.maxSurge !== undefined)
      refuse("--max-surge has no meaning with --mode=on-delete", "old machines go first there; leave the flag out");
    if (zero(s.maxSurge) && zero(s.maxUnavailable ?? 0))
      refuse("--max-surge and --max-unavailable are both 0, so nothing could be changed", "set one of them to 1 or more");
    return;
  }
  if (s.mode === "on-delete")
    refuse("a KubeadmControlPlane has no strategy OnDelete", "use --mode=in-place or replace, or --kind=machinedeployment");
  if (s.maxUnavailable !== undefined) refuse("a KubeadmControlPlane has no maxUnavailable", "leave --max-unavailable out");
  if (s.maxSurge !== undefined && s.maxSurge !== 0 && s.maxSurge !== 1)
    refuse(`a KubeadmControlPlane takes a maxSurge of 0 or 1, not ${s.maxSurge}`, "give --max-surge=0 or 1");
  if (s.maxSurge === 0 && s.replicas < 3)
    refuse(`a KubeadmControlPlane with ${s.replicas} replicas takes no maxSurge of 0`, "use 3 replicas or more, or --max-surge=1");
  for (const n of [s.replicas, ...(typeof s.afterwards === "object" ? [s.afterwards.scaleTo] : [])])
    if (n % 2 === 0) refuse(`a KubeadmControlPlane with stacked etcd takes an odd number of replicas, not ${n}`, "give 1, 3, 5, ...");
}
