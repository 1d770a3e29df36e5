// Manager: controllers and the caches they share. Here: wiring, which keys are ready, over all controllers.
// Not here: in which order keys run (step-driver.ts in simulation, real/worker-driver.ts for real), one run of a key (runner.ts).
import type { ObjectKey } from "../api/meta/resource.ts";
import type { Clock } from "./base/clock.ts";
import { InvariantError, invariant } from "./base/invariant.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Cache } from "./cache.ts";
import { createCaches } from "./caches.ts";
import type { Client } from "./client.ts";
import type { AnyController } from "./controller.ts";
import type { FeatureGates } from "./feature-gates.ts";
import { createHolds } from "./holds.ts";
import { createMetrics, type MetricsRegistry } from "./metrics.ts";
import { createRecorder } from "./recorder.ts";
import { createRunner, type Runner, type RunReport, type Shared } from "./runner.ts";

export type { RunReport } from "./runner.ts";

export interface ManagerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly gates: FeatureGates;
  /** Names must differ. */
  readonly controllers: readonly AnyController[];
  /** Restricts every namespaced watch to one namespace. */
  readonly namespace?: string;
  /** Only objects with the label `cluster.x-k8s.io/watch-filter: <this>` cause runs. */
  readonly watchFilter?: string;
  readonly metrics?: MetricsRegistry;
  /** Objects per list request; absent = all at once. */
  readonly pageSize?: number;
  /** Length of a watch request, seconds, up to twice of it by chance; absent = until it breaks (in process). */
  readonly watchTimeoutSeconds?: number;
}

/** One key of one controller that has been taken from its queue; `run` must be called exactly once. */
export interface TakenKey {
  readonly controller: string;
  /** `namespace/name`. */
  readonly key: string;
  /** Runs the reconcile; never rejects: failures are logged, counted and retried with back-off. */
  run(): Promise<RunReport>;
}

export interface Manager {
  /** Starts the caches; a controller's keys become ready once every kind it watches or reads is synced. */
  start(): void;
  readonly cache: Cache;
  readonly metrics: MetricsRegistry;
  /** True when the caches of every controller are filled. */
  synced(): boolean;
  /** Keys that could run now, over all controllers. */
  readyCount(): number;
  /** Takes the ready key at a position of 0..readyCount()-1. Positions are the same for the same seed; 0 is the oldest of the first controller. */
  takeAt(position: number): TakenKey;
  controllers(): readonly AnyController[];
  readyCountOf(controller: string): number;
  /** Takes the oldest ready key of one controller. */
  takeFrom(controller: string): TakenKey;
  /** Makes a key ready, as a change of the object would. */
  enqueue(controller: string, key: ObjectKey): void;
  /** Called whenever a key became ready. */
  onReady(listener: (controller: string) => void): void;
  /** Keys running now. */
  runningCount(): number;
  /** Keys that wait for the cache to show what they wrote. */
  heldCount(): number;
  /** Ends watches, drops timers; keys already running finish. */
  stop(): void;
}

export function createManager(options: ManagerOptions): Manager {
  const { clock, log, client } = options;
  const metrics = options.metrics ?? createMetrics();
  const caches = createCaches(options);
  const holds = createHolds(caches, clock);
  const listeners: ((controller: string) => void)[] = [];
  const shared: Shared = {
    ...options,
    caches,
    holds,
    metrics,
    recorder: createRecorder({ client, clock, log }),
    onReady: (controller) => {
      for (const listener of listeners) listener(controller);
    },
  };
  const runners = new Map<string, Runner>();
  for (const controller of options.controllers) {
    invariant(!runners.has(controller.name), `two controllers are called ${controller.name}`);
    runners.set(controller.name, createRunner(controller, shared));
  }
  const all = [...runners.values()];
  const runnerOf = (name: string): Runner => {
    const runner = runners.get(name);
    invariant(runner, `there is a controller called ${name}`);
    return runner;
  };
  const take = (runner: Runner, position: number): TakenKey => {
    const key = runner.takeAt(position);
    return { controller: runner.controller.name, key, run: () => runner.run(key) };
  };

  return {
    start: () => caches.start(),
    cache: caches.cache,
    metrics,
    synced: () => all.every((r) => r.started()),
    readyCount: () => sum(all, (r) => r.readyCount()),
    takeAt: (position) => {
      let rest = position;
      for (const runner of all) {
        if (rest < runner.readyCount()) return take(runner, rest);
        rest -= runner.readyCount();
      }
      throw new InvariantError("a key is taken from those that are ready");
    },
    controllers: () => options.controllers,
    readyCountOf: (name) => runnerOf(name).readyCount(),
    takeFrom: (name) => take(runnerOf(name), 0),
    enqueue: (name, key) => runnerOf(name).enqueue(key),
    onReady: (listener) => void listeners.push(listener),
    runningCount: () => sum(all, (r) => r.runningCount()),
    heldCount: () => holds.count(),
    stop: () => {
      caches.stop();
      holds.stop();
      for (const runner of all) runner.stop();
    },
  };
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((total, item) => total + of(item), 0);
