// The marks that carry the in-place protocol: how they are read and written in memory.
// Not here: their keys (api/names.ts), who writes which when (machinedeployment/plan.ts, machineset/, machine/).
// Source: spec/controllers/inplace-workers.md section 1.
import type { KubeObject } from "../../api/meta/object.ts";
import {
  acknowledgedMoveAnnotation,
  machineSetMoveMachinesToMachineSetAnnotation,
  machineSetReceiveMachinesFromMachineSetsAnnotation,
  pendingAcknowledgeMoveAnnotation,
  pendingHooksAnnotation,
  updateInProgressAnnotation,
} from "../../api/names.ts";

export { pendingHooksAnnotation as PENDING_HOOKS, updateInProgressAnnotation as UPDATE_IN_PROGRESS } from "../../api/names.ts";

export const UPDATE_MACHINE_HOOK = "UpdateMachine";

/** Keys that live and die with the protocol; they are never copied from one object to another. */
export const inPlaceAnnotations: readonly string[] = [
  updateInProgressAnnotation,
  pendingAcknowledgeMoveAnnotation,
  machineSetMoveMachinesToMachineSetAnnotation,
  machineSetReceiveMachinesFromMachineSetsAnnotation,
  acknowledgedMoveAnnotation,
];

const annotation = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key];
/** Presence counts, not the value. */
export const hasMark = (object: KubeObject, key: string): boolean => annotation(object, key) !== undefined;

/** Items of a comma list, sorted, without blanks and repeats. */
export const parseList = (text: string | undefined): readonly string[] =>
  [...new Set((text ?? "").split(",").map((item) => item.trim()))].filter((item) => item !== "").sort();
export const formatList = (items: readonly string[]): string => [...new Set(items)].sort().join(",");

export const pendingHooks = (object: KubeObject): readonly string[] => parseList(annotation(object, pendingHooksAnnotation));
export const hasPendingHook = (object: KubeObject, hook: string): boolean => pendingHooks(object).includes(hook);

/** Value of the pending-hooks annotation with one hook more. */
export const withPendingHook = (object: KubeObject, hook: string): string => formatList([...pendingHooks(object), hook]);
/** Value of the pending-hooks annotation with one hook less; null (drop the key) when none is left. */
export const withoutPendingHook = (object: KubeObject, hook: string): string | null =>
  formatList(pendingHooks(object).filter((h) => h !== hook)) || null;

/** An in-place update of this Machine is under way: from the move (or the trigger) until the last mark is gone. */
export const isUpdatingInPlace = (machine: KubeObject): boolean =>
  hasMark(machine, updateInProgressAnnotation) || hasPendingHook(machine, UPDATE_MACHINE_HOOK);

/** Handed over to another set, and not counted by the MachineDeployment yet. */
export const isPendingMove = (machine: KubeObject): boolean => hasMark(machine, pendingAcknowledgeMoveAnnotation);

/** The set that takes the machines of `set`, if it has been told one. */
export const moveTarget = (set: KubeObject): string | undefined =>
  parseMoveTarget(annotation(set, machineSetMoveMachinesToMachineSetAnnotation));

/** Reads both forms of the annotation: a plain name, and the JSON form that later releases write.
 *  @returns undefined when there is no name in it */
export function parseMoveTarget(text: string | undefined): string | undefined {
  const value = text?.trim() ?? "";
  if (!value.startsWith("{")) return value || undefined;
  try {
    const parsed = JSON.parse(value) as { readonly name?: unknown; readonly machineSetName?: unknown };
    const name = parsed.name ?? parsed.machineSetName;
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}

export const receivesFrom = (set: KubeObject): readonly string[] =>
  parseList(annotation(set, machineSetReceiveMachinesFromMachineSetsAnnotation));
export const acknowledgedMoves = (set: KubeObject): readonly string[] => parseList(annotation(set, acknowledgedMoveAnnotation));
