// Runner: one controller with its queue. Here: which changes run which keys, one run of a key, what its result means.
// Not here: other controllers and the shared caches (manager.ts), the order in which keys run (drivers).
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, keyText, type ObjectKey, parseKey, type Resource } from "../api/meta/resource.ts";
import { isConflict } from "../api/meta/status.ts";
import type { Clock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Change } from "./cache.ts";
import { type Caches, resourceId } from "./caches.ts";
import type { Client } from "./client.ts";
import type { AnyController, AnyWatch, ReconcileContext, Result, Watch, WatchEnvironment } from "./controller.ts";
import type { FeatureGates } from "./feature-gates.ts";
import type { Holds } from "./holds.ts";
import type { Metric, MetricsRegistry } from "./metrics.ts";
import { type OwnWrite, trackingClient } from "./own-writes.ts";
import { createWorkQueue, type Lane } from "./queue.ts";
import type { Recorder } from "./recorder.ts";

export const WATCH_FILTER_LABEL = "cluster.x-k8s.io/watch-filter";

/** A failure that is retried this slowly has lasted, and is told each time. */
const LASTING_MS = 10_000;

export interface RunReport {
  readonly controller: string;
  readonly key: string;
  readonly outcome: "success" | "requeueAfter" | "error" | "terminal";
  readonly requeueAfterMs?: number;
  readonly error?: unknown;
}

export interface Shared {
  readonly client: Client;
  readonly caches: Caches;
  readonly holds: Holds;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly gates: FeatureGates;
  readonly metrics: MetricsRegistry;
  readonly watchFilter?: string;
  /** A key became ready. */
  readonly onReady: (controller: string) => void;
}

export interface Runner {
  readonly controller: AnyController;
  /** True once every kind it watches or reads is synced and its first keys are in the queue. */
  started(): boolean;
  readyCount(): number;
  takeAt(position: number): string;
  /** Runs a taken key. Never rejects. */
  run(key: string): Promise<RunReport>;
  runningCount(): number;
  enqueue(key: ObjectKey): void;
  stop(): void;
}

const TOTAL: Metric = { name: "controller_runtime_reconcile_total", help: "Reconciles per controller and result", type: "counter" };
const ERRORS: Metric = { name: "controller_runtime_reconcile_errors_total", help: "Failed reconciles per controller", type: "counter" };
const ACTIVE: Metric = { name: "controller_runtime_active_workers", help: "Keys running per controller", type: "gauge" };
const ADDS: Metric = { name: "workqueue_adds_total", help: "Keys made ready per queue", type: "counter" };
const DEPTH: Metric = { name: "workqueue_depth", help: "Keys ready per queue", type: "gauge" };
const SECONDS: Metric = {
  name: "controller_runtime_reconcile_time_seconds",
  help: "Length of a reconcile, seconds",
  type: "histogram",
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
};

export function createRunner(controller: AnyController, shared: Shared): Runner {
  const { caches, clock, metrics } = shared;
  const { name, resource: primary } = controller;
  const labels = { controller: name };
  const log = shared.log.with({ controller: name });
  const queue = createWorkQueue({
    clock,
    onReady: () => {
      metrics.add(ADDS, { name });
      metrics.set(DEPTH, { name }, queue.readyCount());
      shared.onReady(name);
    },
  });
  const ownClient = shared.client.as(controller.fieldManager ?? name);
  const environment: WatchEnvironment = { cache: caches.cache, primary };
  const endings: (() => void)[] = [];
  const missingWrites = new Map<string, readonly OwnWrite[]>();
  const lastFailures = new Map<string, string>();
  const watchedLate = new Map<string, Set<string>>();
  let started = false;
  let active = 0;

  const enqueue = (key: ObjectKey, lane: Lane = "normal"): void => queue.add(keyText(key), lane);
  const passesFilter = (object: KubeObject): boolean =>
    shared.watchFilter === undefined || object.metadata.labels?.[WATCH_FILTER_LABEL] === shared.watchFilter;

  const onChange = (watch: AnyWatch, change: Change): void => {
    if (!started || !passesFilter(change.object)) return;
    try {
      if (watch.when && !watch.when(change)) return;
      const lane: Lane = change.type === "added" && change.initial ? "low" : "normal";
      const keys =
        change.type === "updated"
          ? [...watch.keys(change.old, environment), ...watch.keys(change.object, environment)]
          : watch.keys(change.object, environment);
      for (const key of keys) enqueue(key, lane);
    } catch (e) {
      log.error("a watch failed to map a change", { kind: change.object.kind, name: change.object.metadata.name, error: messageOf(e) });
    }
  };
  const follow = (watch: AnyWatch): void => caches.watch<KubeObject>(watch.resource).onChange((change) => onChange(watch, change));

  const own: Watch = { resource: primary, keys: (object) => [keyOf(object)], when: controller.when };
  const needed: readonly Resource[] = [primary, ...controller.watches.map((w) => w.resource), ...(controller.reads ?? [])];
  const startWhenSynced = (): void => {
    if (started || !needed.every((r) => caches.cache.synced(r))) return;
    started = true;
    for (const object of caches.watch<KubeObject>(primary).list()) onChange(own, { type: "added", object, initial: true });
    for (const source of controller.sources ?? []) endings.push(source((key) => enqueue(key), environment));
  };
  for (const watch of [own, ...controller.watches]) follow(watch);
  for (const r of needed) caches.watch(r).onSeen(startWhenSynced);

  const watchAlso = (watch: AnyWatch, key: string): boolean => {
    const store = caches.watch<KubeObject>(watch.resource);
    const id = resourceId(watch.resource);
    let waiting = watchedLate.get(id);
    if (!waiting) {
      const created = new Set<string>();
      waiting = created;
      watchedLate.set(id, created);
      follow(watch);
      store.onSeen(() => {
        if (created.size === 0 || !store.synced()) return;
        const keys = [...created];
        created.clear();
        for (const k of keys) queue.add(k);
      });
    }
    if (store.synced()) return true;
    waiting.add(key);
    return false;
  };

  const contextFor = (key: string, writes: OwnWrite[]): ReconcileContext => {
    const { namespace, name: objectName } = parseKey(key);
    return {
      client: trackingClient(ownClient, caches, (w) => writes.push(w)),
      cache: caches.cache,
      clock,
      random: shared.random,
      log: log.with({ [primary.kind]: namespace === "" ? objectName : `${namespace}/${objectName}` }),
      gates: shared.gates,
      record: (object, type, reason, message) => shared.recorder.record(controller.eventSource ?? name, object, type, reason, message),
      watchAlso: (watch) => watchAlso(watch as AnyWatch, key),
      enqueue: (other) => enqueue(other),
    };
  };

  const attempt = async (key: string, context: ReconcileContext): Promise<Result> => {
    const missing = missingWrites.get(key) ?? [];
    for (const write of missing) await caches.refresh(write.resource, write.key);
    missingWrites.delete(key);
    return (await controller.reconcile(parseKey(key), context)) ?? {};
  };
  const succeeded = (key: string, { requeueAfterMs }: Result): RunReport => {
    queue.forget(key);
    lastFailures.delete(key);
    if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    const outcome = requeueAfterMs === undefined ? "success" : "requeueAfter";
    return { controller: name, key, outcome, requeueAfterMs };
  };
  const failed = (key: string, error: unknown, context: ReconcileContext): RunReport => {
    metrics.add(ERRORS, labels);
    if ((error as { code?: unknown })?.code === "TerminalError") {
      queue.forget(key);
      context.log.error("reconcile failed for good, waiting for a change", { error: messageOf(error) });
      return { controller: name, key, outcome: "terminal", error };
    }
    const requeueAfterMs = queue.addRateLimited(key);
    const text = messageOf(error);
    // Two writers met: ordinary, and cured by the next run. The same failure again is no news until it has lasted.
    const isNews = !isConflict(error) && (lastFailures.get(key) !== text || requeueAfterMs >= LASTING_MS);
    lastFailures.set(key, text);
    context.log[isNews ? "error" : "debug"]("reconcile failed", { error: text, retryInMs: requeueAfterMs });
    return { controller: name, key, outcome: "error", requeueAfterMs, error };
  };

  return {
    controller,
    started: () => started,
    readyCount: () => queue.readyCount(),
    takeAt: (position) => {
      const key = queue.takeAt(position);
      metrics.set(DEPTH, { name }, queue.readyCount());
      return key;
    },
    run: async (key) => {
      const writes: OwnWrite[] = [];
      const context = contextFor(key, writes);
      const startedMs = clock.nowMs();
      metrics.set(ACTIVE, labels, ++active);
      let report: RunReport;
      try {
        report = succeeded(key, await attempt(key, context));
      } catch (e) {
        report = failed(key, e, context);
      }
      metrics.set(ACTIVE, labels, --active);
      metrics.add(TOTAL, { controller: name, result: report.outcome });
      metrics.observe(SECONDS, labels, (clock.nowMs() - startedMs) / 1_000);
      // Waiting shows nothing about a write without an answer; the next run looks for itself.
      const unanswered = writes.filter((w) => w.unanswered);
      shared.holds.hold(
        writes.filter((w) => !w.unanswered),
        (late) => {
          const missing = [...unanswered, ...late];
          if (missing.length > 0) missingWrites.set(key, missing);
          queue.done(key);
        },
      );
      return report;
    },
    runningCount: () => active,
    enqueue: (key) => enqueue(key),
    stop: () => {
      queue.stop();
      for (const end of endings.splice(0)) end();
    },
  };
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
