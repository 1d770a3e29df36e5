// Rollouts whose watches lag, each kind by itself, so that counters of sets and the machines themselves tell different times.
// Whatever the order: never more machines than allowed, none made where moves will do, none lost.
import { describe, expect, it, jest } from "@jest/globals";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { isUpdatingInPlace } from "../../controllers/inplace/marks.ts";
import { machineController } from "../../controllers/machine/controller.ts";
import { machineDeploymentController } from "../../controllers/machinedeployment/controller.ts";
import { machineSetController } from "../../controllers/machineset/controller.ts";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { laggingWatches } from "../../simulator/faults/watches.ts";
import { clusterIsUp, openWorkload } from "./nodes.ts";
import { deploymentOf, NAMESPACE, openWorld, START_MS, type World } from "./world.ts";

// Wall clock; all waits inside are virtual.
jest.setTimeout(120_000);

const SEEDS = Number(process.env.SEEDS ?? 6);
const LAGS_MS = [0, 50, 2_000];

async function started(
  seed: number,
  settings: Parameters<typeof deploymentOf>[0],
): Promise<{ readonly world: World; lag(on: boolean): void }> {
  const clock = new VirtualClock(START_MS);
  const workload = await openWorkload(clock);
  let lagMs = 0;
  const random = seededRandom(seed + 9_000);
  const world = await openWorld({
    controllers: [
      machineDeploymentController({ canUpdate: async () => ({ covered: true, reasons: [] }) }),
      machineSetController(),
      machineController({
        workloadClusters: workload.clusters,
        updateMachine: async () => ({ retryAfterSeconds: 0, message: "" }),
        nowMs: () => clock.nowMs(),
      }),
    ],
    seed,
    clock,
    standIn: (client) => workload.provide(client),
    between: (transport) => laggingWatches(transport, { clock, random, lagMs: () => lagMs }),
  });
  await clusterIsUp(world.client, clock);
  await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf(settings));
  await world.settle();
  return {
    world,
    lag: (on) => {
      lagMs = on ? (LAGS_MS[seed % LAGS_MS.length] ?? 0) : 0;
    },
  };
}

const edit = (world: World, spec: object): Promise<MachineDeployment> =>
  world.client.patch(machineDeploymentResource, { namespace: NAMESPACE, name: "md" }, { type: "merge", body: { spec } });
const bootstrap = (name: string): object => ({ template: { spec: { bootstrap: { configRef: { name } } } } });
const liveOf = async (world: World) => (await world.machines()).filter((m) => m.metadata.deletionTimestamp === undefined);

/** Edits at any moment. @returns peak of machines above what was allowed then */
async function tumble(
  world: World,
  seed: number,
  { maxSurge }: { readonly maxSurge: number },
  made: Set<string | undefined>,
): Promise<number> {
  const random = seededRandom(seed + 500);
  let replicas = 3;
  let allowed = replicas + maxSurge;
  let over = 0;
  const edits: readonly (() => Promise<unknown>)[] = [
    () => edit(world, bootstrap("boot-1")),
    () => edit(world, bootstrap("boot-2")),
    () => edit(world, bootstrap("boot-3")),
    () => {
      replicas++;
      allowed = Math.max(allowed, replicas + maxSurge);
      return edit(world, { replicas });
    },
  ];
  const check = async (): Promise<void> => {
    const live = await liveOf(world);
    for (const m of live) made.add(m.metadata.uid);
    over = Math.max(over, live.length - allowed);
  };
  for (let i = 0; i < 6; i++) {
    await edits[randomInt(random, edits.length)]?.();
    const steps = randomInt(random, 60);
    let done = 0;
    await world.settle({ everyStep: check, until: () => ++done > steps });
  }
  await edit(world, bootstrap("boot-2"));
  await world.settle({ everyStep: check });
  for (let i = 0; i < 5; i++) {
    await world.advance(10_000);
    await world.settle({ everyStep: check });
  }
  expect((await liveOf(world)).length).toBe(replicas);
  expect((await world.machines()).filter(isUpdatingInPlace)).toEqual([]);
  expect((await world.deployment()).status).toMatchObject({ replicas, upToDateReplicas: replicas, availableReplicas: replicas });
  return over;
}

describe.each([
  { maxSurge: 0, maxUnavailable: 1, seeds: SEEDS },
  { maxSurge: 2, maxUnavailable: 1, seeds: SEEDS / 2 },
])("maxSurge $maxSurge, maxUnavailable $maxUnavailable", ({ seeds, ...settings }) => {
  for (let seed = 1; seed <= seeds; seed++) {
    it(`makes no machine too many (seed ${seed})`, async () => {
      const { world, lag } = await started(seed, settings);
      lag(true);
      const first = (await liveOf(world)).map((m) => m.metadata.uid);
      const made = new Set<string | undefined>(first);
      expect(await tumble(world, seed, settings, made)).toBeLessThanOrEqual(0);
      // A surge machine may stand in for one that has to wait; without surge every machine stays.
      if (settings.maxSurge > 0) return;
      expect((await liveOf(world)).map((m) => m.metadata.uid)).toEqual(expect.arrayContaining(first));
      expect(made.size).toBe((await world.deployment()).spec.replicas);
    });
  }
});
