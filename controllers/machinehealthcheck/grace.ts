// The grace for Machines in the middle of an update in place. Here: the annotation and its reading. Ours; upstream does not know it.
import type { KubeObject } from "../../api/meta/object.ts";

/** On a MachineHealthCheck: for how long from the beginning of an update in place its checks of conditions spare a Machine, such as `15m`.
 *  Absent = not at all, as upstream. A deleted Node and the annotation remediate-machine count all the same. */
export const inPlaceGraceAnnotation = "rollout.theseus.x-k8s.io/in-place-grace";

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

export class InPlaceGraceInvalid extends Error {
  readonly code = "InPlaceGraceInvalid";
}

/** Milliseconds; 0 when absent. @throws InPlaceGraceInvalid: a typing mistake must not have Machines remediated */
export function inPlaceGraceMs(object: KubeObject): number {
  const text = object.metadata.annotations?.[inPlaceGraceAnnotation];
  if (text === undefined) return 0;
  const [whole, h, m, s] = DURATION.exec(text) ?? [];
  if (!whole)
    throw new InPlaceGraceInvalid(`annotation ${inPlaceGraceAnnotation} is "${text}": write a duration such as 90s, 15m or 1h30m`);
  return Number(h ?? 0) * UNITS_MS.h + Number(m ?? 0) * UNITS_MS.m + Number(s ?? 0) * UNITS_MS.s;
}
