// Paused: who says so, and the condition that tells it. Source: spec/api/common.md section 5.
import type { Cluster } from "../../api/cluster.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { pausedAnnotation } from "../../api/names.ts";
import { type Finding, isFalse } from "../../runtime/conditions.ts";

const hasPausedAnnotation = (object: KubeObject): boolean => object.metadata.annotations?.[pausedAnnotation] !== undefined;

/** Controllers leave the object alone: no status, no deletion work. */
export const isPaused = (cluster: Cluster | undefined, object: KubeObject): boolean =>
  cluster?.spec.paused === true || hasPausedAnnotation(object);

export function pausedFinding(cluster: Cluster | undefined, object: KubeObject): Finding {
  const causes = [
    ...(cluster?.spec.paused ? ["Cluster spec.paused is set to true"] : []),
    ...(hasPausedAnnotation(object) ? [`${object.kind} has the ${pausedAnnotation} annotation`] : []),
  ];
  if (causes.length === 0) return isFalse("Paused", "NotPaused");
  return { type: "Paused", status: "True", reason: "Paused", message: causes.join(", ") };
}
