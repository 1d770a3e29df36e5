// What happens to machines that cannot be updated in place. Here: the annotation that says so. Not here: what it means for a plan (plan.ts of a kind).
import type { KubeObject } from "../../api/meta/object.ts";

/** On a MachineDeployment or control plane: PreferInPlace (also when absent) replaces machines where an in-place update is not possible;
 *  RequireInPlace leaves them alone and tells why. Ours; upstream's controllers do not know it. */
export const rolloutPolicyAnnotation = "rollout.theseus.x-k8s.io/policy";
export type RolloutPolicy = "PreferInPlace" | "RequireInPlace";

export class RolloutPolicyInvalid extends Error {
  readonly code = "RolloutPolicyInvalid";
}

/** @throws RolloutPolicyInvalid for another value: a typing mistake must not replace machines */
export function rolloutPolicy(object: KubeObject): RolloutPolicy {
  const value = object.metadata.annotations?.[rolloutPolicyAnnotation] ?? "PreferInPlace";
  if (value === "PreferInPlace" || value === "RequireInPlace") return value;
  throw new RolloutPolicyInvalid(`annotation ${rolloutPolicyAnnotation} is "${value}": write PreferInPlace or RequireInPlace`);
}
