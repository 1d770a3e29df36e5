// Step driver: one ready key at a time over any number of managers, chosen by a seeded generator. For simulations.
// Here: the choice, quiescence, the check that nothing waits for real I/O. Not here: advancing time (simulator), worker pools (real/).
import { InvariantError } from "./base/invariant.ts";
import { type Random, randomInt } from "./base/random.ts";
import type { Manager, RunReport } from "./manager.ts";

export interface StepDriverOptions {
  /** Asked before each step, so that a simulated restart may swap one. */
  readonly managers: () => readonly Manager[];
  readonly random: Random;
  /** Resolves after a macrotask; what was waiting in microtasks has run by then. */
  readonly turn: () => Promise<void>;
  /** `shuffled` (default): any ready key may be next. `oldest`: the oldest key of the first controller that has one. */
  readonly order?: "shuffled" | "oldest";
}

export interface StepDriver {
  /** Runs one ready key to its end. @returns nothing when quiescent: no key running, queues empty after a macrotask turn
   *  @throws RealIoInSimulation when a run still waits after the turn */
  step(): Promise<RunReport | undefined>;
}

export class RealIoInSimulation extends Error {
  readonly code = "RealIoInSimulation";
  constructor(what: string) {
    super(`real I/O in simulation: ${what} still waits after a macrotask turn; everything it awaits must settle in microtasks`);
    this.name = "RealIoInSimulation";
  }
}

export function stepDriver({ managers, random, turn, order = "shuffled" }: StepDriverOptions): StepDriver {
  const readyNow = (): number => managers().reduce((total, m) => total + m.readyCount(), 0);
  return {
    step: async () => {
      if (readyNow() === 0) await turn();
      const ready = readyNow();
      if (ready === 0) {
        const stuck = managers().reduce((total, m) => total + m.runningCount(), 0);
        if (stuck > 0) throw new RealIoInSimulation(`a reconcile (${stuck} running)`);
        return undefined;
      }
      return runAt(managers(), order === "oldest" ? 0 : randomInt(random, ready), turn);
    },
  };
}

async function runAt(managers: readonly Manager[], position: number, turn: () => Promise<void>): Promise<RunReport> {
  let rest = position;
  for (const manager of managers) {
    if (rest >= manager.readyCount()) {
      rest -= manager.readyCount();
      continue;
    }
    const taken = manager.takeAt(rest);
    const report = await Promise.race([taken.run(), turn().then(() => undefined)]);
    if (!report) throw new RealIoInSimulation(`${taken.controller} ${taken.key}`);
    return report;
  }
  throw new InvariantError("the position lies among the ready keys");
}
