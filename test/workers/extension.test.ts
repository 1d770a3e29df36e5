// MachineDeployments and a real update extension, called in process: one question per pair of sets, partial cover, several extensions.
import { describe, expect, it, jest } from "@jest/globals";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineDeploymentController } from "../../controllers/machinedeployment/controller.ts";
import { machineSetController } from "../../controllers/machineset/controller.ts";
import { coversMachineSet } from "../../hooks/answers.ts";
import { type Extension, extension } from "../../hooks/extension.ts";
import { wired } from "../../hooks/testing/fixtures.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { deploymentOf, NAMESPACE, openWorld, type World } from "./world.ts";

// Wall clock; all waits inside are virtual.
jest.setTimeout(180_000);

const FILES = [".spec.template.spec.files"];
const updater = (name: string): Extension =>
  extension(name).on("CanUpdateMachineSet", (request) =>
    coversMachineSet(request, { bootstrapConfigTemplate: FILES, machineSet: [".spec.template.spec.version"] }),
  );

async function started(...extensions: readonly Extension[]) {
  const hooks = wired({ [NAMESPACE]: {} });
  for (const e of extensions) await hooks.register(e);
  hooks.registry.endWarmUp();
  const world = await openWorld({
    controllers: [machineDeploymentController({ canUpdate: hooks.inPlace.canUpdateMachineSet }), machineSetController()],
  });
  await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf());
  await world.settle();
  const uids = (await world.machines()).map((m) => m.metadata.uid);
  const kept = async (): Promise<number> => (await world.machines()).filter((m) => uids.includes(m.metadata.uid)).length;
  return { hooks, world, kept };
}

const change = (world: World, spec: object): Promise<MachineDeployment> =>
  world.client.patch(
    machineDeploymentResource,
    { namespace: NAMESPACE, name: "md" },
    { type: "merge", body: { spec: { template: { spec } } } },
  );
const files = { bootstrap: { configRef: { name: "boot-2" } } };
const image = { infrastructureRef: { name: "infra-2" } };
const rollingOut = async (world: World): Promise<string> =>
  findCondition((await world.deployment()).status?.conditions, "RollingOut")?.message ?? "";

describe("with an extension that covers files and versions", () => {
  it("a covered change is asked about once and made in place", async () => {
    const { hooks, world, kept } = await started(updater("updater"));
    await change(world, { ...files, version: "v1.35.1" });
    await world.settle();
    expect(await kept()).toBe(3);
    expect(hooks.paths()).toHaveLength(1);
    expect((await world.machines()).map((m) => m.spec.version)).toEqual(["v1.35.1", "v1.35.1", "v1.35.1"]);
  });

  it("a change that is covered in part replaces machines, and the path is told", async () => {
    const { hooks, world, kept } = await started(updater("updater"));
    await change(world, { ...files, ...image });
    await world.settle({ standIn: false });
    const path =
      "DevMachineTemplate cannot be updated in place: .spec.template.spec.backend.inMemory.vm.provisioning.startupDuration differs";
    expect(await rollingOut(world)).toContain(path);
    expect((await world.events()).join("\n")).toContain(path);
    await world.settle();
    expect(await kept()).toBe(0);
    expect(hooks.paths()).toHaveLength(1);
    expect(await rollingOut(world)).toBe("");
  });

  it("without an extension machines are replaced, and that is told too", async () => {
    const { world, kept } = await started();
    await change(world, files);
    await world.settle({ standIn: false });
    expect(await rollingOut(world)).toContain("no extension serves CanUpdateMachineSet for namespace ns");
    await world.settle();
    expect(await kept()).toBe(0);
  });

  it("with two extensions nothing is called or changed until one is left", async () => {
    const { hooks, world, kept } = await started(updater("updater-a"), updater("updater-b"));
    world.writes.length = 0;
    await change(world, files);
    await world.settle();
    await world.advance(60_000);
    expect(hooks.paths()).toEqual([]);
    expect(
      world.writes.filter((w) => w.verb === "delete" || /^machine(set)?s\//.test(w.what)).filter((w) => !w.what.endsWith("/status")),
    ).toEqual([]);
    expect(await rollingOut(world)).toContain(
      "found multiple CanUpdateMachineSet hooks (can-update-machine-set.updater-a,can-update-machine-set.updater-b)",
    );
    hooks.registry.unregister("updater-b");
    await world.advance(300_000);
    await world.settle();
    expect(await kept()).toBe(3);
    expect((await world.deployment()).status?.upToDateReplicas).toBe(3);
  });
});
