// A Machine's part of an in-place update. Here: what is due (pure), the request, back-off after failures.
// Not here: calling and taking the marks off (inplace-steps.ts), how marks look (../inplace/marks.ts).
// Source: spec/controllers/inplace-workers.md section 6, spec/runtime/hooks.md section 5.
import type { MachineObjects } from "../../api/hooks/index.ts";
import type { Machine } from "../../api/machine.ts";
import { hasMark, hasPendingHook, UPDATE_IN_PROGRESS, UPDATE_MACHINE_HOOK } from "../inplace/marks.ts";
import type { MachineView } from "./view.ts";

export interface UpdateMachineAnswer {
  /** 0 = done. */
  readonly retryAfterSeconds: number;
  readonly message: string;
}

/** Sends what an extension may see of these objects to the one extension that is registered for UpdateMachine and serves the Machine's namespace.
 *  Rejects when there is none or more than one, when it cannot be reached, and when it answers Failure: the message tells what and who. */
export type UpdateMachine = (machine: Machine, desired: MachineObjects) => Promise<UpdateMachineAnswer>;

export type UpdateDue =
  | { readonly do: "nothing" | "finish" | "call" }
  | { readonly do: "wait"; readonly because: string }
  | { readonly do: "fail"; readonly because: string };

/** First hit decides; the gate is on. */
export function updateDue({ machine, infrastructure, bootstrap, status }: MachineView): UpdateDue {
  const marked = hasMark(machine, UPDATE_IN_PROGRESS);
  const pending = hasPendingHook(machine, UPDATE_MACHINE_HOOK);
  if (!marked) return { do: pending ? "finish" : "nothing" };
  if (!pending) return { do: "wait", because: "waiting for the owner to write the new specs" };
  const now = { ...machine.status, ...status };
  const started = now.initialization;
  if (!started?.infrastructureProvisioned || !started.bootstrapDataSecretCreated || !now.nodeRef) {
    return { do: "wait", because: "waiting for the Machine to be provisioned" };
  }
  if (!infrastructure?.object) {
    const what = infrastructure ? `${infrastructure.ref.kind} ${infrastructure.ref.name}` : "the infrastructure object";
    return {
      do: "fail",
      because: `${what} ${infrastructure?.missing ? "does not exist" : `could not be read: ${infrastructure?.error?.message}`}`,
    };
  }
  if (!hasMark(infrastructure.object, UPDATE_IN_PROGRESS))
    return { do: "wait", because: `waiting for ${infrastructure.ref.kind} to be marked` };
  if (bootstrap?.object && !hasMark(bootstrap.object, UPDATE_IN_PROGRESS)) {
    return { do: "wait", because: `waiting for ${bootstrap.ref.kind} to be marked` };
  }
  return { do: "call" };
}

/** Longer would hide a dead extension. */
const RETRY_MAX_MS = 3_600_000;
const FAILURE_FIRST_MS = 1_000;
const FAILURE_STEP_MS = 5;
const FAILURE_MAX_MS = 1_000_000;

/** When an extension that answered "working" wants to be asked again. @returns milliseconds */
export const retryDelayMs = (retryAfterSeconds: number): number => Math.min(retryAfterSeconds * 1_000, RETRY_MAX_MS);

/** Wait after the n-th failed call in a row: about a second at first, doubling in the end. @param failures from 1 */
export const failureDelayMs = (failures: number): number =>
  FAILURE_FIRST_MS + Math.min(FAILURE_STEP_MS * 2 ** Math.min(failures, 30), FAILURE_MAX_MS);

/** What is known about the calls for one Machine; in memory only, a restart asks again. */
export interface CallMemory {
  /** No call before this moment, whatever else happens. */
  readonly notBeforeMs: number;
  /** Failed calls in a row. */
  readonly failures: number;
  /** The last answer, told while waiting. */
  readonly outcome: { readonly state: "running" | "failed"; readonly message: string };
}

export interface CallMemories {
  get(machine: Machine): CallMemory | undefined;
  set(machine: Machine, memory: CallMemory): void;
  drop(machine: Machine): void;
}

const MEMORY_LIFE_MS = 24 * 3_600_000;

/** Memory by name and uid; entries that nobody touched for 24 h go. */
export function callMemories(nowMs: () => number): CallMemories {
  const memories = new Map<string, { readonly memory: CallMemory; readonly untilMs: number }>();
  const keyOf = (machine: Machine): string => `${machine.metadata.namespace}/${machine.metadata.name}/${machine.metadata.uid}`;
  const sweep = (): void => {
    for (const [key, { untilMs }] of memories) {
      if (untilMs > nowMs()) return;
      memories.delete(key);
    }
  };
  return {
    get: (machine) => memories.get(keyOf(machine))?.memory,
    set(machine, memory) {
      sweep();
      memories.delete(keyOf(machine));
      memories.set(keyOf(machine), { memory, untilMs: nowMs() + MEMORY_LIFE_MS });
    },
    drop: (machine) => void memories.delete(keyOf(machine)),
  };
}
