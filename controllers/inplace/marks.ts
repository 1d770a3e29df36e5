// The marks that carry the in-place protocol. Here: their keys, how they are read and written in memory.
// Not here: who writes which when (machinedeployment/plan.ts, machineset/, machine/). Source: spec/controllers/inplace-workers.md section 1.
import type { KubeObject } from "../../api/meta/object.ts";

const PREFIX = "in-place-updates.internal.cluster.x-k8s.io/";
/** On a Machine, its infrastructure and its bootstrap object: the owner has begun an update. */
export const UPDATE_IN_PROGRESS = `${PREFIX}update-in-progress`;
/** On a Machine: it changed its set, the MachineDeployment has not counted it yet. */
export const PENDING_ACKNOWLEDGE_MOVE = `${PREFIX}pending-acknowledge-move`;
/** On an old MachineSet: name of the set that takes its machines. */
export const MOVE_MACHINES_TO = `${PREFIX}move-machines-to-machineset`;
/** On the new MachineSet: names of the sets that may hand machines over. */
export const RECEIVE_MACHINES_FROM = `${PREFIX}receive-machines-from-machinesets`;
/** On the new MachineSet: names of the moved machines that its replicas contain. */
export const ACKNOWLEDGED_MOVE = `${PREFIX}acknowledged-move`;
/** Hooks that must still be called for this object. */
export const PENDING_HOOKS = "runtime.cluster.x-k8s.io/pending-hooks";
/** Keys that live and die with the protocol; they are never copied from one object to another. */
export const IN_PLACE_KEYS = [
  UPDATE_IN_PROGRESS,
  PENDING_ACKNOWLEDGE_MOVE,
  MOVE_MACHINES_TO,
  RECEIVE_MACHINES_FROM,
  ACKNOWLEDGED_MOVE,
] as const;

export const UPDATE_MACHINE_HOOK = "UpdateMachine";

const annotation = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key];
export const hasMark = (object: KubeObject, key: string): boolean => annotation(object, key) !== undefined;

/** Items of a comma list, sorted, without blanks and repeats. */
export const parseList = (text: string | undefined): readonly string[] =>
  [
    ...new Set(
      (text ?? "")
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    ),
  ].sort();
export const formatList = (items: readonly string[]): string => [...new Set(items)].sort().join(",");

export const pendingHooks = (object: KubeObject): readonly string[] => parseList(annotation(object, PENDING_HOOKS));
export const hasPendingHook = (object: KubeObject, hook: string): boolean => pendingHooks(object).includes(hook);

/** Value of the pending-hooks annotation with one hook more. */
export const withPendingHook = (object: KubeObject, hook: string): string => formatList([...pendingHooks(object), hook]);
/** Value of the pending-hooks annotation with one hook less; null (drop the key) when none is left. */
export const withoutPendingHook = (object: KubeObject, hook: string): string | null =>
  formatList(pendingHooks(object).filter((h) => h !== hook)) || null;

/** An in-place update of this Machine is under way: from the move (or the trigger) until the last mark is gone. */
export const isUpdatingInPlace = (machine: KubeObject): boolean =>
  hasMark(machine, UPDATE_IN_PROGRESS) || hasPendingHook(machine, UPDATE_MACHINE_HOOK);

/** The set that takes the machines of `set`, if it has been told one. */
export const moveTarget = (set: KubeObject): string | undefined => parseMoveTarget(annotation(set, MOVE_MACHINES_TO));

/** Reads both forms of the annotation: a plain name, and the JSON form that later releases write.
 *  @returns undefined when there is no name in it */
export function parseMoveTarget(text: string | undefined): string | undefined {
  const value = text?.trim() ?? "";
  if (!value.startsWith("{")) return value || undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    const name =
      (parsed as { readonly name?: unknown; readonly machineSetName?: unknown }).name ??
      (parsed as { machineSetName?: unknown }).machineSetName;
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}

export const receivesFrom = (set: KubeObject): readonly string[] => parseList(annotation(set, RECEIVE_MACHINES_FROM));
export const acknowledgedMoves = (set: KubeObject): readonly string[] => parseList(annotation(set, ACKNOWLEDGED_MOVE));
