// Worker driver: ready keys of a manager run in worker pools, one pool per controller. Here: p-queue, stopping in order.
// Not here: which keys are ready (../manager.ts), the order in simulation (../step-driver.ts).
import PQueue from "p-queue";
import type { Manager, TakenKey } from "../manager.ts";

const CONCURRENCY_DEFAULT = 10;
/** In one process with its API server nothing a key awaits leaves the turn: without a limit, requests wait until all keys are done. */
const TURN_MS = 10;

export interface WorkerDriverOptions {
  /** Keys that run at once, by controller; absent = what the controller says, else 10. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** stop() gives up waiting for running keys after this, default 30 s. */
  readonly stopTimeoutMs?: number;
}

export interface WorkerDriver {
  /** Stops the manager and waits for keys that run. @returns false when some still ran after the limit */
  stop(): Promise<boolean>;
}

/** @returns a function that answers at once while the turn is young, and with the next turn when it is not: sockets and timers come in between */
function turnsOf(limitMs: number): () => Promise<void> | undefined {
  let startedMs: number | undefined;
  let next: Promise<void> | undefined;
  return () => {
    const nowMs = performance.now();
    if (startedMs === undefined) {
      startedMs = nowMs;
      setImmediate(() => {
        startedMs = undefined;
      });
    }
    if (nowMs - startedMs < limitMs) return undefined;
    next ??= new Promise((done) =>
      setImmediate(() => {
        next = undefined;
        done();
      }),
    );
    return next;
  };
}

/** Starts the manager and runs its keys as they become ready. */
export function startWorkers(manager: Manager, options: WorkerDriverOptions = {}): WorkerDriver {
  let stopped = false;
  const nextTurn = turnsOf(TURN_MS);
  const run = async (taken: TakenKey): Promise<void> => {
    for (let turn = nextTurn(); turn; turn = nextTurn()) await turn;
    await taken.run();
  };
  const pools = new Map<string, PQueue>();
  for (const { name, concurrency } of manager.controllers()) {
    pools.set(name, new PQueue({ concurrency: options.concurrency?.[name] ?? concurrency ?? CONCURRENCY_DEFAULT }));
  }
  const fill = (name: string): void => {
    const pool = pools.get(name);
    if (!pool || stopped) return;
    // Only as many as can start now are taken, so that a key that waits keeps its place and its de-duplication.
    while (manager.readyCountOf(name) > 0 && pool.pending + pool.size < pool.concurrency) {
      const taken = manager.takeFrom(name);
      void pool.add(() => run(taken)).then(() => fill(name));
    }
  };
  manager.onReady((name) => queueMicrotask(() => fill(name)));
  manager.start();
  return {
    stop: async () => {
      stopped = true;
      manager.stop();
      const idle = Promise.all([...pools.values()].map((pool) => pool.onIdle())).then(() => true);
      const limit = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => limit.resolve(false), options.stopTimeoutMs ?? 30_000);
      const inTime = await Promise.race([idle, limit.promise]);
      clearTimeout(timer);
      return inTime;
    },
  };
}
