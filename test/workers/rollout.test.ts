// Rollouts of a MachineDeployment by the real controllers on the in-process API server; a stand-in plays machines.
import { describe, expect, it, jest } from "@jest/globals";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { findCondition } from "../../runtime/conditions.ts";
import type { CanUpdateMachineSet } from "../../controllers/inplace/ask.ts";
import { inPlaceAnnotations, isUpdatingInPlace } from "../../controllers/inplace/marks.ts";
import { rolloutPolicyAnnotation } from "../../controllers/inplace/policy.ts";
import { machineDeploymentController } from "../../controllers/machinedeployment/controller.ts";
import { machineSetController } from "../../controllers/machineset/controller.ts";
import { deploymentOf, NAMESPACE, openWorld, resourceOf, type World, type WorldOptions } from "./world.ts";

// Wall clock; all waits inside are virtual.
jest.setTimeout(180_000);

const covers: CanUpdateMachineSet = async () => ({ covered: true, reasons: [] });
const declines: CanUpdateMachineSet = async () => ({
  covered: false,
  reasons: ["KubeadmConfigTemplate .spec.template.spec.files is not covered"],
});
const both = (canUpdate: CanUpdateMachineSet) => [machineDeploymentController({ canUpdate }), machineSetController()];

type Settings = Parameters<typeof deploymentOf>[0];

async function started(canUpdate: CanUpdateMachineSet, settings: Settings = {}, more: Partial<WorldOptions> = {}): Promise<World> {
  const world = await openWorld({ controllers: both(canUpdate), ...more });
  await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf(settings));
  await world.settle();
  return world;
}

const md = { namespace: NAMESPACE, name: "md" };
const patch = (world: World, body: object): Promise<MachineDeployment> =>
  world.client.patch(machineDeploymentResource, md, { type: "merge", body });
const changeBootstrap = (world: World, name: string): Promise<MachineDeployment> =>
  patch(world, { spec: { template: { spec: { bootstrap: { configRef: { name } } } } } });
const names = async (world: World): Promise<string[]> => (await world.machines()).map((m) => m.metadata.name ?? "").sort();
const isLive = (m: Machine): boolean => m.metadata.deletionTimestamp === undefined;

/** What must be so when everything is over. */
async function expectDone(world: World, replicas: number, bootstrap: string): Promise<void> {
  const { status } = await world.deployment();
  expect(status).toMatchObject({
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    upToDateReplicas: replicas,
    phase: "Running",
  });
  expect(findCondition(status?.conditions, "RollingOut")).toMatchObject({ status: "False", message: "" });
  const machines = await world.machines();
  expect(machines).toHaveLength(replicas);
  expect((await world.sets()).map((s) => s.spec.template.spec.bootstrap.configRef?.name)).toEqual([bootstrap]);
  for (const machine of machines) {
    for (const ref of [machine.spec.infrastructureRef, machine.spec.bootstrap.configRef]) {
      const object = ref && (await world.client.get(resourceOf(ref.kind), { namespace: NAMESPACE, name: ref.name }));
      for (const key of inPlaceAnnotations) expect(object?.metadata.annotations ?? {}).not.toHaveProperty([key]);
      if (ref?.kind === "KubeadmConfig") expect(object).toMatchObject({ spec: { files: [{ content: bootstrap }] } });
    }
    for (const key of inPlaceAnnotations) expect(machine.metadata.annotations ?? {}).not.toHaveProperty([key]);
  }
}

/** Highest number of live machines, lowest number of available ones, over every step. */
interface Bounds {
  peak: number;
  minAvailable: number;
}

function watchBounds(world: World): { readonly bounds: Bounds; readonly check: () => Promise<void> } {
  const bounds: Bounds = { peak: 0, minAvailable: Number.POSITIVE_INFINITY };
  return {
    bounds,
    check: async () => {
      const live = (await world.machines()).filter(isLive);
      const available = live.filter(
        (m) => findCondition(m.status?.conditions, "Available")?.status === "True" && !isUpdatingInPlace(m),
      ).length;
      bounds.peak = Math.max(bounds.peak, live.length);
      bounds.minAvailable = Math.min(bounds.minAvailable, available);
    },
  };
}

describe("bring-up", () => {
  it("makes one set and its machines, and then writes nothing any more", async () => {
    const world = await started(covers);
    expect(world.errors).toEqual([]);
    await expectDone(world, 3, "boot-1");
    expect((await world.deployment()).metadata.annotations).toEqual({ "machinedeployment.clusters.x-k8s.io/revision": "1" });
    world.writes.length = 0;
    await world.advance(24 * 3_600_000);
    expect(world.writes).toEqual([]);
  });

  it("names, labels and owners are those of Cluster API", async () => {
    const world = await started(covers);
    const [set] = await world.sets();
    const [machine] = await world.machines();
    expect(set?.metadata.name).toMatch(/^md-[b-z2-9]{5}$/);
    expect(machine?.metadata.name).toMatch(new RegExp(`^${set?.metadata.name}-[b-z2-9]{5}$`));
    expect(set?.metadata.labels).toEqual({
      pool: "a",
      "cluster.x-k8s.io/cluster-name": "demo",
      "cluster.x-k8s.io/deployment-name": "md",
      "machine-template-hash": expect.stringMatching(/^\d+-[b-z2-9]{5}$/),
    });
    expect(machine?.metadata.labels).toEqual({ ...set?.metadata.labels, "cluster.x-k8s.io/set-name": set?.metadata.name });
    const infra = await world.client.get(resourceOf("DevMachine"), { namespace: NAMESPACE, name: machine?.metadata.name ?? "" });
    expect(infra.metadata.annotations).toEqual({
      "cluster.x-k8s.io/cloned-from-name": "infra-1",
      "cluster.x-k8s.io/cloned-from-groupkind": "DevMachineTemplate.infrastructure.cluster.x-k8s.io",
    });
    const owns = (manager: string): object | undefined =>
      infra.metadata.managedFields?.find((e) => e.manager === manager && e.operation === "Apply")?.fieldsV1;
    expect(owns("capi-machineset")).not.toHaveProperty(["f:metadata", "f:labels"]);
    expect(owns("capi-machineset-metadata")).toHaveProperty(["f:metadata", "f:labels", "f:pool"]);
  });
});

// Figures of whole rollouts: spec conformance/rollouts.
describe("whole rollouts", () => {
  const rows: [
    mode: "InPlace" | "Replace",
    replicas: number,
    surge: number,
    unavailable: number,
    kept: number,
    created: number,
    peak: number,
    min: number,
  ][] = [
    ["InPlace", 3, 1, 0, 2, 1, 4, 3],
    ["InPlace", 3, 0, 1, 3, 0, 3, 2],
    ["InPlace", 6, 3, 1, 6, 0, 6, 5],
    ["InPlace", 6, 1, 3, 6, 0, 6, 3],
    ["InPlace", 6, 0, 10, 6, 0, 6, 0],
    ["InPlace", 6, 10, 0, 5, 1, 7, 6],
    ["Replace", 3, 1, 0, 0, 3, 4, 3],
    ["Replace", 3, 0, 1, 0, 3, 3, 2],
    ["Replace", 6, 3, 1, 0, 6, 9, 5],
    ["Replace", 6, 0, 10, 0, 6, 6, 0],
  ];
  it.each(rows)(
    "%s, %d replicas, surge %d, unavailable %d: keeps %d, makes %d",
    async (mode, replicas, maxSurge, maxUnavailable, kept, created, peak, min) => {
      for (const seed of [1, 2]) {
        const world = await started(mode === "InPlace" ? covers : declines, { replicas, maxSurge, maxUnavailable }, { seed });
        const before = await world.machines();
        const uids = before.map((m) => m.metadata.uid);
        await changeBootstrap(world, "boot-2");
        const { bounds, check } = watchBounds(world);
        await world.settle({ everyStep: check });
        await expectDone(world, replicas, "boot-2");
        const after = (await world.machines()).map((m) => m.metadata.uid);
        expect(after.filter((uid) => uids.includes(uid))).toHaveLength(kept);
        const made = world.writes.filter((w) => w.verb === "apply" && w.what.startsWith("machines/") && !(w.body as Machine).metadata.uid);
        expect(made).toHaveLength(replicas + created);
        expect(bounds.minAvailable).toBeGreaterThanOrEqual(min);
        if (mode === "InPlace") expect(bounds.peak).toBe(peak);
        else expect(bounds.peak).toBeLessThanOrEqual(peak);
      }
    },
  );

  it("OnDelete changes nothing by itself and fills up behind a user", async () => {
    const world = await started(covers, { strategy: "OnDelete" });
    await changeBootstrap(world, "boot-2");
    await world.settle();
    const before = await names(world);
    expect(world.writes.filter((w) => w.verb === "delete")).toEqual([]);
    for (const name of before) {
      await world.client.delete(machineResource, { namespace: NAMESPACE, name });
      await world.settle();
      expect(await world.machines()).toHaveLength(3);
    }
    await expectDone(world, 3, "boot-2");
  });
});

describe("in place, write by write", () => {
  it("hands machines over in the order of the protocol", async () => {
    const asked: string[] = [];
    let setsWhenAsked = 0;
    let world: World | undefined;
    world = await started(async ({ current, desired }) => {
      asked.push(`${current.machineSet.metadata.name} => ${desired.machineSet.metadata.name}`);
      setsWhenAsked ||= (await world?.sets())?.length ?? 0;
      expect(desired.bootstrapConfigTemplate?.metadata.name).toBe("boot-2");
      return { covered: true, reasons: [] };
    });
    const [old] = await world.sets();
    world.writes.length = 0;
    await changeBootstrap(world, "boot-2");
    await world.settle();
    expect(setsWhenAsked).toBe(1);
    const [now] = await world.sets();
    expect(new Set(asked)).toEqual(new Set([`${old?.metadata.name} => ${now?.metadata.name}`]));

    const first = (test: (w: World["writes"][0]) => boolean): number => (world as World).writes.findIndex(test);
    const annotationsOf = (w: World["writes"][0]): object => (w.body as MachineSet).metadata?.annotations ?? {};
    const has = (key: string) => (w: World["writes"][0]) => key in annotationsOf(w);
    const created = first((w) => w.verb === "apply" && w.what === `machinesets/${now?.metadata.name}`);
    expect(world.writes[created]?.body).toMatchObject({ spec: { replicas: 0 } });
    expect(annotationsOf(world.writes[created] as World["writes"][0])).toHaveProperty(
      ["in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets"],
      old?.metadata.name,
    );
    const told = first(has("in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset"));
    expect(world.writes[told]?.body).toMatchObject({ spec: { replicas: 2 } });
    const moved = first(
      (w) => w.what.startsWith("machines/") && has("in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move")(w),
    );
    expect(world.writes[moved]).toMatchObject({ verb: "patch", manager: "manager" });
    expect(world.writes[moved]?.body).toMatchObject({
      metadata: {
        labels: { "machine-template-hash": now?.metadata.labels?.["machine-template-hash"] },
        ownerReferences: [{ kind: "MachineSet", name: now?.metadata.name, controller: true }],
        annotations: { "in-place-updates.internal.cluster.x-k8s.io/update-in-progress": "" },
      },
    });
    const machine = world.writes[moved]?.what.split("/")[1];
    const acknowledged = first(has("in-place-updates.internal.cluster.x-k8s.io/acknowledged-move"));
    expect(world.writes[acknowledged]?.body).toMatchObject({ spec: { replicas: 1 } });
    const marked = (kind: string): number =>
      first(
        (w) =>
          w.what === `${kind}/${machine}` &&
          w.manager === "capi-machineset" &&
          has("in-place-updates.internal.cluster.x-k8s.io/update-in-progress")(w),
      );
    const triggered = first((w) => w.what === `machines/${machine}` && has("runtime.cluster.x-k8s.io/pending-hooks")(w));
    const spec = world.writes.findIndex(
      (w, i) => i < triggered && i > marked("kubeadmconfigs") && w.what === `machines/${machine}` && w.verb === "apply",
    );
    expect(world.writes[triggered]?.body).toMatchObject({
      metadata: { annotations: { "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move": null } },
    });
    const order = [created, told, moved, acknowledged, marked("devmachines"), marked("kubeadmconfigs"), spec, triggered];
    expect(order.every((at) => at >= 0)).toBe(true);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect((await world.events()).filter((e) => e.startsWith("Machine SuccessfulStartInPlaceUpdate"))).toHaveLength(3);
  });

  it("ends well when the process dies after any write", async () => {
    const whole = await started(covers);
    const start = whole.writes.length;
    await changeBootstrap(whole, "boot-2");
    await whole.settle();
    const writes = whole.writes.length - start;
    for (let at = 1; at <= writes; at += 4) {
      const world = await started(covers);
      const uids = new Set((await world.machines()).map((m) => m.metadata.uid));
      await changeBootstrap(world, "boot-2");
      world.crashAfter(at);
      const { bounds, check } = watchBounds(world);
      await world.settle({ everyStep: check });
      world.restart(both(covers));
      await world.settle({ everyStep: check });
      await expectDone(world, 3, "boot-2");
      expect((await world.machines()).filter((m) => uids.has(m.metadata.uid))).toHaveLength(3);
      expect(bounds).toEqual({ peak: 3, minAvailable: 2 });
    }
  });
});

describe("changes in mid-flight", () => {
  /** Runs until the first machine is done and the next one is in place. */
  async function untilSecondMoves(world: World): Promise<void> {
    for (let round = 0; round < 60; round++) {
      await world.settle({ standIn: false });
      const updating = (await world.machines()).filter(isUpdatingInPlace);
      const done = (await world.sets()).some(
        (s) => s.spec.template.spec.bootstrap.configRef?.name === "boot-2" && (s.status?.availableReplicas ?? 0) > 0,
      );
      if (done && updating.length > 0) return;
      await world.advance(1_000);
      await world.standInOnce();
    }
    throw new Error("the second machine was never moved");
  }

  for (const seed of [1, 2, 3, 4]) {
    it(`a third template is reached by every machine, one at a time (seed ${seed})`, async () => {
      const world = await started(covers, {}, { seed, updateMs: 3_000 });
      const uids = new Set((await world.machines()).map((m) => m.metadata.uid));
      await changeBootstrap(world, "boot-2");
      await untilSecondMoves(world);
      await changeBootstrap(world, "boot-3");
      const { bounds, check } = watchBounds(world);
      await world.settle({ everyStep: check });
      await expectDone(world, 3, "boot-3");
      expect((await world.machines()).filter((m) => uids.has(m.metadata.uid))).toHaveLength(3);
      expect(bounds).toEqual({ peak: 3, minAvailable: 2 });
    });

    it(`a revert never has two machines in place (seed ${seed})`, async () => {
      const world = await started(covers, {}, { seed, updateMs: 3_000 });
      const uids = new Set((await world.machines()).map((m) => m.metadata.uid));
      await changeBootstrap(world, "boot-2");
      await untilSecondMoves(world);
      await changeBootstrap(world, "boot-1");
      const { bounds, check } = watchBounds(world);
      await world.settle({ everyStep: check });
      await expectDone(world, 3, "boot-1");
      expect((await world.machines()).filter((m) => uids.has(m.metadata.uid))).toHaveLength(3);
      expect(bounds).toEqual({ peak: 3, minAvailable: 2 });
    });

    it(`scale up makes what is missing at once, scale down takes old machines (seed ${seed})`, async () => {
      const world = await started(covers, {}, { seed, updateMs: 3_000 });
      const uids = new Set((await world.machines()).map((m) => m.metadata.uid));
      await changeBootstrap(world, "boot-2");
      await untilSecondMoves(world);
      await patch(world, { spec: { replicas: 5 } });
      await world.settle();
      await expectDone(world, 5, "boot-2");
      expect((await world.machines()).filter((m) => uids.has(m.metadata.uid))).toHaveLength(3);

      await changeBootstrap(world, "boot-3");
      for (let i = 0; i < 6; i++) await world.standInOnce();
      await world.settle({ standIn: false });
      await patch(world, { spec: { replicas: 2 } });
      await world.settle({
        everyStep: async () => {
          for (const machine of await world.machines()) expect(!isLive(machine) && isUpdatingInPlace(machine)).toBe(false);
        },
      });
      await expectDone(world, 2, "boot-3");
    });
  }
});

describe("telling why", () => {
  it("an extension that fails leaves everything alone, is named, and is asked again ever less often", async () => {
    let broken = true;
    let calls = 0;
    const world = await started(async () => {
      calls++;
      if (broken) throw new Error(`CanUpdateMachineSet: extension can-update.updater failed at ${calls}`);
      return { covered: true, reasons: [] };
    });
    const uids = new Set((await world.machines()).map((m) => m.metadata.uid));
    world.writes.length = 0;
    await changeBootstrap(world, "boot-2");
    await world.settle();
    await world.advance(600_000);
    expect(calls).toBeGreaterThanOrEqual(4);
    expect(calls).toBeLessThanOrEqual(20);
    expect(world.writes.filter((w) => w.verb === "delete" || /^machine(set)?s\/[^/]+$/.test(w.what))).toEqual([]);
    const rolling = findCondition((await world.deployment()).status?.conditions, "RollingOut");
    expect(rolling?.status).toBe("True");
    expect(rolling?.message).toContain("extension can-update.updater failed");
    expect((await world.events()).join("\n")).toContain("MachineDeployment CanUpdateMachineSetFailed: Rollout waits, nothing is changed");
    broken = false;
    await patch(world, { metadata: { annotations: { "example.dev/poke": "1" } } });
    await world.settle();
    await expectDone(world, 3, "boot-2");
    expect((await world.machines()).filter((m) => uids.has(m.metadata.uid))).toHaveLength(3);
  });

  it("a template that is gone stops an in-place rollout instead of replacing machines", async () => {
    const world = await started(covers);
    await world.client.delete(resourceOf("KubeadmConfigTemplate"), { namespace: NAMESPACE, name: "boot-1" });
    world.writes.length = 0;
    await changeBootstrap(world, "boot-2");
    await world.settle();
    expect(world.writes.filter((w) => w.verb === "delete")).toEqual([]);
    expect(findCondition((await world.deployment()).status?.conditions, "RollingOut")?.message).toContain("KubeadmConfigTemplate boot-1");
  });

  it("why machines are replaced is in an Event and in the condition while it goes on", async () => {
    const world = await started(declines);
    await changeBootstrap(world, "boot-2");
    await world.settle({ standIn: false });
    expect(findCondition((await world.deployment()).status?.conditions, "RollingOut")?.message).toContain(
      "cannot be updated in place and are replaced: KubeadmConfigTemplate .spec.template.spec.files is not covered",
    );
    expect((await world.events()).join("\n")).toContain("InPlaceUpdateNotPossible: Machines of MachineSet");
  });

  it("with in-place updates required nothing is replaced, and the missing path is told", async () => {
    const world = await openWorld({ controllers: both(declines) });
    const deployment = deploymentOf();
    await world.client.create<MachineDeployment>(machineDeploymentResource, {
      ...deployment,
      metadata: { ...deployment.metadata, annotations: { [rolloutPolicyAnnotation]: "RequireInPlace" } },
    });
    await world.settle();
    const uids = (await world.machines()).map((m) => m.metadata.uid);
    await changeBootstrap(world, "boot-2");
    await world.settle();
    await world.advance(3_600_000);
    expect((await world.machines()).map((m) => m.metadata.uid)).toEqual(uids);
    const { status } = await world.deployment();
    expect(findCondition(status?.conditions, "RollingOut")?.message).toContain("Blocked, nothing is replaced: MachineSet");
    expect(status?.availableReplicas).toBe(3);
    world.writes.length = 0;
    await world.advance(3_600_000);
    expect(world.writes).toEqual([]);
  });
});

describe("other ways to begin and to stop", () => {
  it("rollout.after starts at its time, without any event, and replaces", async () => {
    const world = await started(covers);
    const uids = (await world.machines()).map((m) => m.metadata.uid);
    const after = new Date(world.clock.nowMs() + 60_000).toISOString().replace(/\.\d+/, "");
    await patch(world, { spec: { rollout: { after } } });
    await world.settle();
    expect((await world.machines()).map((m) => m.metadata.uid)).toEqual(uids);
    await world.advance(61_000);
    await world.settle();
    await expectDone(world, 3, "boot-1");
    expect((await world.machines()).filter((m) => uids.includes(m.metadata.uid))).toEqual([]);
  });

  it("labels, annotations and pushed fields reach machines without a rollout, and leave them again", async () => {
    const world = await started(covers);
    const uids = (await world.machines()).map((m) => m.metadata.uid);
    await patch(world, {
      spec: {
        template: {
          metadata: { labels: { tier: "gold" }, annotations: { note: "hello" } },
          spec: { minReadySeconds: 2, deletion: { nodeDrainTimeoutSeconds: 30 } },
        },
        deletion: { order: "Newest" },
      },
    });
    await world.settle();
    expect((await world.machines()).map((m) => m.metadata.uid)).toEqual(uids);
    expect(await world.sets()).toHaveLength(1);
    for (const machine of await world.machines()) {
      expect(machine.spec).toMatchObject({ minReadySeconds: 2, deletion: { nodeDrainTimeoutSeconds: 30 } });
      for (const kind of ["Machine", "DevMachine", "KubeadmConfig"]) {
        const object = await world.client.get(resourceOf(kind), { namespace: NAMESPACE, name: machine.metadata.name ?? "" });
        expect(object.metadata.labels).toMatchObject({ tier: "gold" });
        expect(object.metadata.annotations).toMatchObject({ note: "hello" });
      }
    }
    await patch(world, {
      spec: { template: { metadata: { labels: { tier: null }, annotations: null }, spec: { minReadySeconds: null, deletion: null } } },
    });
    await world.settle();
    for (const machine of await world.machines()) {
      expect(machine.spec.minReadySeconds).toBeUndefined();
      for (const kind of ["Machine", "DevMachine", "KubeadmConfig"]) {
        const object = await world.client.get(resourceOf(kind), { namespace: NAMESPACE, name: machine.metadata.name ?? "" });
        expect(object.metadata.labels).not.toHaveProperty("tier");
        expect(object.metadata.annotations ?? {}).not.toHaveProperty("note");
      }
    }
  });

  it("pausing in mid-move neither makes nor deletes machines, and going on ends well", async () => {
    const world = await started(covers, {}, { updateMs: 3_000 });
    const uids = (await world.machines()).map((m) => m.metadata.uid).sort();
    await changeBootstrap(world, "boot-2");
    for (let steps = 0; steps < 40; steps++) {
      await world.step();
      if ((await world.machines()).some(isUpdatingInPlace)) break;
    }
    await patch(world, { spec: { paused: true } });
    await world.settle();
    expect((await world.machines()).map((m) => m.metadata.uid).sort()).toEqual(uids);
    await patch(world, { spec: { paused: null } });
    await world.settle();
    await expectDone(world, 3, "boot-2");
    expect((await world.machines()).map((m) => m.metadata.uid).sort()).toEqual(uids);
  });

  it("a paused deployment with a new template scales what it has and makes no set", async () => {
    const world = await started(covers);
    await patch(world, { spec: { paused: true } });
    await changeBootstrap(world, "boot-2");
    await patch(world, { spec: { replicas: 4 } });
    await world.settle();
    expect((await world.sets()).map((s) => s.spec.replicas)).toEqual([4]);
    expect((await world.deployment()).metadata.annotations).toMatchObject({ "machinedeployment.clusters.x-k8s.io/revision": "1" });
    await patch(world, { spec: { paused: null } });
    await world.settle();
    await expectDone(world, 4, "boot-2");
  });

  it("machines whose labels were taken away are not made again and again", async () => {
    const world = await started(covers, { replicas: 2 });
    for (const name of await names(world)) {
      await world.client.patch(
        machineResource,
        { namespace: NAMESPACE, name },
        { type: "merge", body: { metadata: { labels: { pool: null } } } },
      );
    }
    await world.settle();
    await world.advance(600_000);
    expect(await world.machines()).toHaveLength(2);
    const [set] = await world.sets();
    expect(findCondition(set?.status?.conditions, "ScalingUp")?.message).toContain("no longer match its selector");
  });

  it("deletes sets and machines with the deployment", async () => {
    const world = await started(covers);
    await world.client.delete(machineDeploymentResource, md);
    await world.settle();
    expect(await world.machines()).toEqual([]);
    expect((await world.client.list<MachineSet>(machineSetResource, { namespace: NAMESPACE })).items).toEqual([]);
    await expect(world.deployment()).rejects.toThrow();
  });
});
