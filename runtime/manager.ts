// Manager: controllers and the caches they share. Here: wiring, which keys are ready, one run of a key.
// Not here: in which order keys run (step-driver.ts in simulation, real/worker-driver.ts for real).
import type { Clock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import type { AnyController } from "./controller.ts";
import type { FeatureGates } from "./feature-gates.ts";
import type { MetricsRegistry } from "./metrics.ts";

export interface ManagerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly gates: FeatureGates;
  readonly controllers: readonly AnyController[];
  /** Restricts every namespaced watch to one namespace. */
  readonly namespace?: string;
  /** Only objects with the label `cluster.x-k8s.io/watch-filter: <this>` cause runs. */
  readonly watchFilter?: string;
  readonly metrics?: MetricsRegistry;
}

/** One key of one controller that has been taken from its queue; `run` must be called exactly once. */
export interface TakenKey {
  readonly controller: string;
  /** `namespace/name`. */
  readonly key: string;
  /** Runs the reconcile; never rejects: failures are logged, counted and retried with back-off. */
  run(): Promise<RunReport>;
}

export interface RunReport {
  readonly controller: string;
  readonly key: string;
  readonly outcome: "success" | "requeueAfter" | "error" | "terminal";
  readonly requeueAfterMs?: number;
  readonly error?: unknown;
}

export interface Manager {
  /** Starts the caches; controllers' keys become ready once all of a controller's caches are synced. */
  start(): void;
  readonly cache: Cache;
  /** True when the caches of every controller are filled. */
  synced(): boolean;
  /** Keys that could run now, over all controllers. */
  readyCount(): number;
  /** Takes the ready key at a position of 0..readyCount()-1; positions are stable for a seed, not for people. */
  takeAt(position: number): TakenKey;
  /** Keys ready for one controller, and its oldest one; for worker pools. */
  readyCountOf(controller: string): number;
  takeFrom(controller: string): TakenKey;
  /** Called whenever a key became ready. */
  onReady(listener: (controller: string) => void): void;
  /** Keys running now. */
  runningCount(): number;
  /** Ends watches, drops timers; keys already running finish. */
  stop(): void;
}

export declare function createManager(options: ManagerOptions): Manager;
