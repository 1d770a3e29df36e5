// A world on virtual time: one seeded scheduler runs one key at a time, and time moves only when nothing is left to do.
// Here: building it, letting it run to a wanted state, restarting its controllers. Not here: what is in a world (world.ts), scenarios.
import type { Transport } from "../api/meta/transport.ts";
import { createMemoryStore } from "../apiserver/store/memory.ts";
import type { ApiServer } from "../apiserver/server.ts";
import type { Store } from "../apiserver/store/store.ts";
import type { HookTransport } from "../hooks/transport.ts";
import { type Logger, silentLogger } from "../runtime/base/log.ts";
import type { Pki } from "../runtime/base/pki.ts";
import { seededRandom } from "../runtime/base/random.ts";
import { VirtualClock } from "../runtime/base/virtual-clock.ts";
import type { FeatureGates } from "../runtime/feature-gates.ts";
import { createManager, type Manager } from "../runtime/manager.ts";
import { type StepDriver, stepDriver } from "../runtime/step-driver.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { functionPlugin } from "../apiserver/admission/index.ts";
import { webhookFunctions } from "./webhook-functions.ts";
import { microtasks } from "../extensions/kubeadm-updater/engine.ts";
import { IN_PROCESS_URL, inProcessHooks, simulatedControllers, startExtension } from "./controllers.ts";
import { type HostTimings, INSTANT } from "./host/exec.ts";
import { type SequenceLog, sequenceLog } from "./sequence/log.ts";
import { managementServer } from "./servers.ts";
import { countedPorts } from "./workload/clusters.ts";
import { adminClient, clientOf, createWorld, installKinds, type World } from "./world.ts";

export interface VirtualOptions {
  readonly seed: number;
  readonly gates: FeatureGates;
  /** Resolves after a macrotask; from real/turn.ts. */
  readonly turn: () => Promise<void>;
  /** Keys and certificates; from real/pki.ts, or a pool. */
  readonly pki: (clock: VirtualClock) => Pki;
  readonly timings?: HostTimings;
  readonly log?: Logger;
  /** Stands between the hook client and the updater: faults, other extensions. */
  readonly hooks?: (updater: HookTransport) => HookTransport;
  /** Stands between the controllers and the management server; asked once per process, that is at the start and at each restart. */
  readonly between?: (transport: Transport, clock: VirtualClock) => Transport;
  /** After each run of a key. @returns `restart`: the process of the controllers ends here and a new one starts */
  readonly afterStep?: () => "restart" | undefined;
}

export interface Virtual {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly store: Store;
  readonly world: World;
  readonly log: SequenceLog;
  manager(): Manager;
  /** Runs until `holds`, looked at whenever nothing is left to do. @throws Error with the state of the queues after `limitMs` of virtual time */
  until(what: string, holds: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** Lets `ms` of virtual time pass. */
  pass(ms: number): Promise<void>;
  /** The process of the controllers ends, with its memory, and a new one starts over the same server. */
  restart(): void;
  stop(): void;
}

/** The instant at which every simulation begins. */
export const START_MS = Date.parse("2026-01-01T00:00:00Z");
const STEPS_MAX = 2_000_000;

export async function startVirtual(options: VirtualOptions): Promise<Virtual> {
  const { seed, gates, turn, log: logger = silentLogger } = options;
  const clock = new VirtualClock(START_MS);
  const log = sequenceLog(clock, START_MS);
  const store = createMemoryStore();
  const random = seededRandom(seed);
  const plain: ApiServer = managementServer({
    clock,
    random,
    log: logger,
    store,
    admission: (core) => [
      functionPlugin(
        core,
        webhookFunctions(gates.enabled, () => core),
      ),
    ],
  });
  await plain.start();
  await installKinds(plain);
  const server: ApiServer = { ...plain, handle: log.records(plain.handle) };
  const pki = options.pki(clock);
  const world = createWorld({
    clock,
    random,
    log: logger,
    store,
    pki,
    server,
    front: countedPorts,
    timings: options.timings ?? INSTANT,
    patience: microtasks,
    watchWorkload: (transport, { name }) => log.records(transport, `${name}: `),
  });
  const hookTransport = log.recordsHooks(options.hooks?.(inProcessHooks(world)) ?? inProcessHooks(world));
  const newManager = (): Manager => {
    const metrics = createMetrics();
    const client = clientOf(options.between?.(server.handle, clock) ?? server.handle, "manager");
    const parts = { world, gates, metrics, clock, log: logger, client, pki, hookTransport };
    const controllers = simulatedControllers({ ...parts, cache: () => made.cache });
    const made: Manager = createManager({ client, clock, random, log: logger, gates, controllers, metrics });
    return made;
  };
  let manager = newManager();
  const driver: StepDriver = stepDriver({ managers: () => [manager], random: seededRandom(seed ^ 0x5bd1e995), turn });
  await startExtension(adminClient(plain, "theseus-install"), { url: IN_PROCESS_URL });
  manager.start();

  let steps = 0;
  const restart = (): void => {
    manager.stop();
    manager = newManager();
    manager.start();
  };
  const drain = async (): Promise<void> => {
    for (;;) {
      const stepped = await driver.step();
      if (options.afterStep?.() === "restart") restart();
      else if (!stepped) return;
      if (++steps > STEPS_MAX) throw new Error(`no rest after ${STEPS_MAX} steps: something writes without end`);
    }
  };
  const runTo = async (endMs: number, holds: () => boolean | Promise<boolean>): Promise<boolean> => {
    for (;;) {
      await drain();
      if (await holds()) return true;
      const due = clock.nextDueMs();
      if (due === undefined || due > endMs) return false;
      clock.runNext();
    }
  };

  return {
    clock,
    server,
    store,
    world,
    log,
    manager: () => manager,
    async until(what, holds, limitMs = 3_600_000) {
      if (await runTo(clock.nowMs() + limitMs, holds)) return;
      throw new Error(`not reached within ${limitMs / 1000} s of virtual time: ${what}\n${log.lines.slice(-40).join("\n")}`);
    },
    async pass(ms) {
      const endMs = clock.nowMs() + ms;
      clock.after(ms, () => {});
      await runTo(endMs, () => clock.nowMs() >= endMs);
      await drain();
    },
    restart,
    stop() {
      manager.stop();
      world.stop();
      server.stop();
    },
  };
}
