// Asking update extensions about MachineSets. Here: the seam, and a memory of failures that keeps a fast loop from calling a broken one.
// Not here: registry, transport, patches and verdict (hooks/). Source: spec/controllers/inplace-workers.md section 4, spec/runtime/hooks.md section 5.
import type { MachineSet } from "../../api/machineset.ts";
import type { Unstructured } from "../contract/contract.ts";

/** What a set is made from. */
export interface SetWithTemplates {
  readonly machineSet: MachineSet;
  readonly infrastructureMachineTemplate: Unstructured;
  /** Absent: the set refers to none. */
  readonly bootstrapConfigTemplate?: Unstructured;
}

export interface MachineSetQuestion {
  readonly current: SetWithTemplates;
  readonly desired: SetWithTemplates;
}

export interface MachineSetAnswer {
  /** The extension's patches turn current into desired. */
  readonly covered: boolean;
  /** Why not, one text per object that would still differ, or that nobody was asked. */
  readonly reasons: readonly string[];
}

/** Rejects when it cannot be decided (no answer, several extensions, a patch that does not apply): then nothing may be changed. Its message
 *  names the extension. Answers, not errors, may be kept for a pair of set names. */
export type CanUpdateMachineSet = (question: MachineSetQuestion) => Promise<MachineSetAnswer>;

const FIRST_WAIT_MS = 1_000;
/** Longer would hide an extension that has come back. */
const WAIT_MAX_MS = 300_000;
const REMEMBERED_MAX = 10_000;

interface Failure {
  readonly count: number;
  readonly notBeforeMs: number;
  readonly error: unknown;
}

/** Failures by what was asked. A status that changes with each failure must not restart the loop: calls wait 1 s, 2 s, 4 s, up to 5 min. */
export interface AskMemory {
  /** @param key what is asked about and everything whose change is a reason to ask at once @throws what `call` threw, now or last time */
  call<T>(key: string, nowMs: number, call: () => Promise<T>): Promise<T>;
  /** How long until the next call after a failure, milliseconds; 0 = it may be made now. */
  waitMs(key: string, nowMs: number): number;
}

export function createAskMemory(): AskMemory {
  const failures = new Map<string, Failure>();
  return {
    waitMs: (key, nowMs) => Math.max(0, (failures.get(key)?.notBeforeMs ?? 0) - nowMs),
    call: async (key, nowMs, call) => {
      const known = failures.get(key);
      if (known && nowMs < known.notBeforeMs) throw known.error;
      try {
        const answer = await call();
        failures.delete(key);
        return answer;
      } catch (error) {
        const count = (known?.count ?? 0) + 1;
        failures.delete(key);
        failures.set(key, { count, notBeforeMs: nowMs + Math.min(FIRST_WAIT_MS * 2 ** (count - 1), WAIT_MAX_MS), error });
        if (failures.size > REMEMBERED_MAX)
          for (const oldest of failures.keys()) {
            failures.delete(oldest);
            break;
          }
        throw error;
      }
    },
  };
}
