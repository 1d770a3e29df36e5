// In-place rollouts with the real Machine controller, an updater that takes its time, and keys that run in random order.
import { describe, expect, it, jest } from "@jest/globals";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { inPlaceAnnotations, isUpdatingInPlace } from "../../controllers/inplace/marks.ts";
import type { UpdateMachine } from "../../controllers/machine/inplace.ts";
import { machineController } from "../../controllers/machine/controller.ts";
import { machineDeploymentController } from "../../controllers/machinedeployment/controller.ts";
import { machineSetController } from "../../controllers/machineset/controller.ts";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { clusterIsUp, openWorkload } from "./nodes.ts";
import { deploymentOf, NAMESPACE, openWorld, resourceOf, START_MS, type World } from "./world.ts";

// Wall clock; all waits inside are virtual.
jest.setTimeout(180_000);

const SEEDS = 5;

interface Updater {
  readonly call: UpdateMachine;
  /** `machine content` whenever an update was done. */
  readonly done: string[];
}

/** Needs two calls, one second apart, for each content of the machine's files. */
function updater(): Updater {
  const seen = new Map<string, number>();
  const done: string[] = [];
  const call: UpdateMachine = async (machine, desired) => {
    const files = (desired.bootstrapConfig as { spec?: { files?: { content: string }[] } } | undefined)?.spec?.files;
    const key = `${machine.metadata.name} ${files?.[0]?.content}`;
    const calls = (seen.get(key) ?? 0) + 1;
    seen.set(key, calls % 2 === 0 ? 0 : calls);
    if (calls % 2 === 1) return { retryAfterSeconds: 1, message: "writing files" };
    done.push(key);
    return { retryAfterSeconds: 0, message: "" };
  };
  return { call, done };
}

async function started(
  seed: number,
  settings: Parameters<typeof deploymentOf>[0] = {},
): Promise<{ readonly world: World; readonly done: string[] }> {
  const clock = new VirtualClock(START_MS);
  const workload = await openWorkload(clock);
  const { call, done } = updater();
  const controllers = [
    machineDeploymentController({ canUpdate: async () => ({ covered: true, reasons: [] }) }),
    machineSetController(),
    machineController({ workloadClusters: workload.clusters, updateMachine: call, nowMs: () => clock.nowMs() }),
  ];
  const world = await openWorld({ controllers, seed, clock, standIn: (client) => workload.provide(client) });
  await clusterIsUp(world.client, clock);
  await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf(settings));
  await world.settle();
  return { world, done };
}

const changeBootstrap = (world: World, name: string): Promise<MachineDeployment> =>
  world.client.patch(
    machineDeploymentResource,
    { namespace: NAMESPACE, name: "md" },
    { type: "merge", body: { spec: { template: { spec: { bootstrap: { configRef: { name } } } } } } },
  );

async function expectAllAt(world: World, replicas: number, bootstrap: string): Promise<void> {
  const { status } = await world.deployment();
  expect(status).toMatchObject({ replicas, readyReplicas: replicas, availableReplicas: replicas, upToDateReplicas: replicas });
  for (const machine of await world.machines()) {
    for (const key of inPlaceAnnotations) expect(machine.metadata.annotations ?? {}).not.toHaveProperty([key]);
    const config = await world.client.get(resourceOf("KubeadmConfig"), { namespace: NAMESPACE, name: machine.metadata.name ?? "" });
    expect(config).toMatchObject({ spec: { files: [{ content: bootstrap }] } });
  }
  expect(await world.sets()).toHaveLength(1);
}

/** One machine in place, none made or deleted, at any time. */
const oneByOne = (world: World, uids: readonly (string | undefined)[]) => async (): Promise<void> => {
  const machines = await world.machines();
  const inPlace = machines.filter(isUpdatingInPlace).map((m) => m.metadata.name);
  expect(inPlace.length).toBeLessThanOrEqual(1);
  expect(
    machines
      .filter((m) => m.metadata.deletionTimestamp === undefined)
      .map((m) => m.metadata.uid)
      .sort(),
  ).toEqual(uids);
};

describe("in place with real Machines", () => {
  it("comes up, and is quiet then", async () => {
    const { world } = await started(1);
    await expectAllAt(world, 3, "boot-1");
    world.writes.length = 0;
    await world.advance(3_600_000);
    expect(world.writes).toEqual([]);
  });

  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`updates each machine once, one at a time (seed ${seed})`, async () => {
      const { world, done } = await started(seed);
      const uids = (await world.machines()).map((m) => m.metadata.uid).sort();
      await changeBootstrap(world, "boot-2");
      await world.settle({ everyStep: oneByOne(world, uids) });
      await expectAllAt(world, 3, "boot-2");
      expect(done).toHaveLength(3);
    });

    it(`a third template in mid-flight, and back again: nothing is lost, one at a time (seed ${seed})`, async () => {
      const { world, done } = await started(seed);
      const uids = (await world.machines()).map((m) => m.metadata.uid).sort();
      const check = oneByOne(world, uids);
      await changeBootstrap(world, "boot-2");
      await world.settle({ everyStep: check, until: () => done.length === 1 + (seed % 2) });
      for (let i = 0; i < (seed * 3) % 41; i++) await world.step();
      await changeBootstrap(world, "boot-3");
      await world.settle({ everyStep: check, until: () => done.some((d) => d.endsWith("boot-3")) });
      for (let i = 0; i < (seed * 2) % 37; i++) await world.step();
      await changeBootstrap(world, "boot-2");
      await world.settle({ everyStep: check });
      await expectAllAt(world, 3, "boot-2");
    });
  }

  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`any order of edits ends well and keeps the first machines (seed ${seed})`, async () => {
      const { world } = await started(seed);
      const uids = (await world.machines()).map((m) => m.metadata.uid);
      const random = seededRandom(seed + 500);
      let replicas = 3;
      const edit = (spec: object): Promise<MachineDeployment> =>
        world.client.patch(machineDeploymentResource, { namespace: NAMESPACE, name: "md" }, { type: "merge", body: { spec } });
      const edits: readonly (() => Promise<unknown>)[] = [
        () => changeBootstrap(world, "boot-1"),
        () => changeBootstrap(world, "boot-2"),
        () => changeBootstrap(world, "boot-3"),
        () => edit({ replicas: ++replicas }),
        () => edit({ paused: true }),
        () => edit({ paused: null }),
      ];
      for (let i = 0; i < 8; i++) {
        await edits[randomInt(random, edits.length)]?.();
        const steps = randomInt(random, 60);
        let done = 0;
        await world.settle({ until: () => ++done > steps });
        const live = (await world.machines()).filter((m) => m.metadata.deletionTimestamp === undefined);
        expect(live.map((m) => m.metadata.uid)).toEqual(expect.arrayContaining(uids));
        expect(live.length).toBeLessThanOrEqual(replicas);
      }
      await edit({ paused: null });
      await changeBootstrap(world, "boot-2");
      await world.settle();
      await expectAllAt(world, replicas, "boot-2");
      expect((await world.machines()).map((m) => m.metadata.uid)).toEqual(expect.arrayContaining(uids));
    });
  }

  it("replaces with a surge machine where nothing may be unavailable", async () => {
    const { world, done } = await started(3, { maxSurge: 1, maxUnavailable: 0 });
    await changeBootstrap(world, "boot-2");
    await world.settle();
    await expectAllAt(world, 3, "boot-2");
    expect(done).toHaveLength(2);
  });
});
