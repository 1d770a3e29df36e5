// MachineSets by the real controllers on the in-process API server: remediation, ownership, leftovers, adoption, preflight, pausing.
import { describe, expect, it, jest } from "@jest/globals";
import { clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { CanUpdateMachineSet } from "../../controllers/inplace/ask.ts";
import { machineDeploymentController } from "../../controllers/machinedeployment/controller.ts";
import { machineSetController } from "../../controllers/machineset/controller.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { findCondition, isFalse, setConditions } from "../../runtime/conditions.ts";
import { deploymentOf, NAMESPACE, openWorld, resourceOf, type World, type WorldOptions } from "./world.ts";

// Wall clock; all waits inside are virtual.
jest.setTimeout(180_000);

const covers: CanUpdateMachineSet = async () => ({ covered: true, reasons: [] });
const both = () => [machineDeploymentController({ canUpdate: covers }), machineSetController()];
const md = { namespace: NAMESPACE, name: "md" };

async function started(settings: Parameters<typeof deploymentOf>[0] = {}, more: Partial<WorldOptions> = {}): Promise<World> {
  const world = await openWorld({ controllers: both(), ...more });
  await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf(settings));
  await world.settle();
  return world;
}

const change = (world: World, body: object): Promise<MachineDeployment> =>
  world.client.patch(machineDeploymentResource, md, { type: "merge", body });
const changeBootstrap = (world: World, name: string): Promise<MachineDeployment> =>
  change(world, { spec: { template: { spec: { bootstrap: { configRef: { name } } } } } });

/** What a health check writes on a machine that it gives up. */
async function giveUp(world: World, machine: Machine): Promise<void> {
  const key = { namespace: NAMESPACE, name: machine.metadata.name ?? "" };
  const newest = await world.client.get<Machine>(machineResource, key);
  const findings = [isFalse("HealthCheckSucceeded", "UnhealthyNode", "bad"), isFalse("OwnerRemediated", "WaitingForRemediation", "")];
  const conditions = setConditions(newest.status?.conditions, findings, timestamp(world.clock.nowMs()));
  await world.client.patch(machineResource, key, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
}
const uidsOf = async (world: World): Promise<(string | undefined)[]> => (await world.machines()).map((m) => m.metadata.uid);

describe("remediation", () => {
  it("marks, then deletes, then makes a new machine; not more at a time than maxInFlight", async () => {
    const world = await started({ replicas: 4 });
    await change(world, { spec: { remediation: { maxInFlight: "25%" } } });
    await world.settle();
    const [a, b, c] = await world.machines();
    for (const machine of [a, b]) await giveUp(world, machine as Machine);
    world.writes.length = 0;
    await world.settle({ standIn: false });
    const states = (await world.machines()).flatMap((m) => findCondition(m.status?.conditions, "OwnerRemediated")?.reason ?? []);
    expect(states.sort()).toEqual(["MachineDeleting", "RemediationDeferred"]);
    const marked = world.writes.findIndex((w) => JSON.stringify(w.body)?.includes("MachineDeleting"));
    expect(marked).toBeLessThan(world.writes.findIndex((w) => w.verb === "delete"));
    await world.settle();
    expect(await world.machines()).toHaveLength(4);
    expect(await uidsOf(world)).not.toContain(a?.metadata.uid);
    expect(await uidsOf(world)).not.toContain(b?.metadata.uid);
    expect(await uidsOf(world)).toContain(c?.metadata.uid);
  });

  it("a machine of an old set that never came up does not hold up an in-place rollout: it is deleted, the others are updated", async () => {
    const world = await started();
    const [a, b, c] = await world.machines();
    const name = c?.metadata.name ?? "";
    world.broken.add(name);
    await world.client.patch(
      machineResource,
      { namespace: NAMESPACE, name },
      { type: "merge", body: { status: { nodeRef: null } } },
      { subresource: "status" },
    );
    await world.settle();
    await changeBootstrap(world, "boot-2");
    await world.settle({ standIn: false });
    await giveUp(world, c as Machine);
    await world.settle();
    const uids = await uidsOf(world);
    expect(uids).toHaveLength(3);
    expect(uids).toEqual(expect.arrayContaining([a?.metadata.uid, b?.metadata.uid]));
    expect(uids).not.toContain(c?.metadata.uid);
    expect((await world.deployment()).status).toMatchObject({ upToDateReplicas: 3, availableReplicas: 3 });
    expect(await world.sets()).toHaveLength(1);
  });
});

describe("ownership of fields", () => {
  it("comes back after managedFields were wiped, so that a label can still be taken away", async () => {
    const world = await started();
    await change(world, { spec: { template: { metadata: { labels: { tier: "gold" } } } } });
    await world.settle();
    const wipe = { type: "merge", body: { metadata: { managedFields: [{}] } } } as const;
    for (const machine of await world.machines()) {
      for (const kind of ["Machine", "DevMachine", "KubeadmConfig"]) {
        await world.client.patch(resourceOf(kind), { namespace: NAMESPACE, name: machine.metadata.name ?? "" }, wipe);
      }
    }
    for (const set of await world.sets())
      await world.client.patch(machineSetResource, { namespace: NAMESPACE, name: set.metadata.name ?? "" }, wipe);
    // Something has to happen for the objects that nobody watches.
    await change(world, { metadata: { annotations: { poke: "1" } } });
    await world.settle();
    await change(world, { spec: { template: { metadata: { labels: { tier: null } } } } });
    await world.settle();
    for (const machine of await world.machines()) {
      for (const kind of ["Machine", "DevMachine", "KubeadmConfig"]) {
        const object = await world.client.get(resourceOf(kind), { namespace: NAMESPACE, name: machine.metadata.name ?? "" });
        expect(object.metadata.labels).not.toHaveProperty("tier");
        expect(object.metadata.labels).toHaveProperty("pool", "a");
      }
    }
    expect(await world.sets()).toHaveLength(1);
  });
});

describe("making machines", () => {
  it("leaves nothing behind when the process dies between the objects of a machine", async () => {
    for (const writes of [9, 10, 11, 12, 13]) {
      const world = await openWorld({ controllers: both() });
      await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf());
      world.crashAfter(writes);
      await world.settle();
      world.restart(both());
      await world.settle();
      expect(await world.machines()).toHaveLength(3);
      for (const kind of ["DevMachine", "KubeadmConfig"]) {
        expect((await world.client.list(resourceOf(kind), { namespace: NAMESPACE })).items).toHaveLength(3);
      }
    }
  });

  it("keeps what a machine needs when the answer to its creation is lost", async () => {
    let lost = 0;
    const world = await openWorld({
      controllers: both(),
      between: (transport) => async (request) => {
        const answer = await transport(request);
        const creates = request.method === "PATCH" && /\/machines\/[^/]+$/.test(request.path) && answer.status === 201;
        if (!creates || lost === 2) return answer;
        lost++;
        throw new Error("socket hang up");
      },
    });
    await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf());
    await world.settle();
    expect(lost).toBe(2);
    const names = (await world.machines()).map((m) => m.metadata.name).sort();
    expect(names).toHaveLength(3);
    for (const kind of ["DevMachine", "KubeadmConfig"]) {
      const { items } = await world.client.list(resourceOf(kind), { namespace: NAMESPACE });
      expect(items.map((o) => o.metadata.name).sort()).toEqual(names);
    }
  });

  it("waits for preflight checks, says which, and goes on by itself", async () => {
    const world = await openWorld({ controllers: both(), preflight: true });
    const controlPlane = {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: { name: "cp", namespace: NAMESPACE },
    };
    const template = {
      spec: { infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "infra-1" } },
    };
    const spec = { version: "v1.35.0", machineTemplate: template, rollout: { strategy: { type: "RollingUpdate" } } };
    await world.client.create(resourceOf("KubeadmControlPlane"), { ...controlPlane, ...{ spec } });
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "cp" };
    await world.client.patch(
      clusterResource,
      { namespace: NAMESPACE, name: "demo" },
      { type: "merge", body: { spec: { controlPlaneRef } } },
    );
    await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf());
    await world.settle();
    expect(await world.machines()).toEqual([]);
    const [set] = await world.sets();
    const message = findCondition(set?.status?.conditions, "ScalingUp")?.message;
    expect(message).toContain('KubeadmControlPlane cp is provisioning ("ControlPlaneIsStable" preflight check failed)');
    await world.client.patch(
      resourceOf("KubeadmControlPlane"),
      { namespace: NAMESPACE, name: "cp" },
      { type: "merge", body: { status: { version: "v1.35.0" } } },
      { subresource: "status" },
    );
    await world.advance(16_000);
    await world.settle();
    expect(await world.machines()).toHaveLength(3);
  });

  it("a template that is missing is told, and machines come once it is there", async () => {
    const world = await openWorld({ controllers: both() });
    const template = await world.client.get(resourceOf("DevMachineTemplate"), { namespace: NAMESPACE, name: "infra-1" });
    await world.client.delete(resourceOf("DevMachineTemplate"), { namespace: NAMESPACE, name: "infra-1" });
    await world.client.create<MachineDeployment>(machineDeploymentResource, deploymentOf());
    await world.settle();
    expect(findCondition((await world.deployment()).status?.conditions, "ScalingUp")?.message).toContain(
      "DevMachineTemplate does not exist",
    );
    const { name, namespace } = template.metadata;
    await world.client.create(resourceOf("DevMachineTemplate"), { ...template, metadata: { name, namespace } });
    await world.advance(30_000);
    await world.settle();
    expect(await world.machines()).toHaveLength(3);
  });
});

describe("faults of objects", () => {
  it("a set that lost its hash label stops the rollout, and that is told", async () => {
    const world = await started();
    const [set] = await world.sets();
    const body = { metadata: { labels: { "machine-template-hash": null } } };
    await world.client.patch(machineSetResource, { namespace: NAMESPACE, name: set?.metadata.name ?? "" }, { type: "merge", body });
    await changeBootstrap(world, "boot-2");
    await world.settle();
    expect(findCondition((await world.deployment()).status?.conditions, "RollingOut")?.message).toContain(
      `Waiting: MachineSet ${set?.metadata.name} has no label machine-template-hash`,
    );
    expect(await world.machines()).toHaveLength(3);
  });

  it("replicas that are not set delete nothing", async () => {
    const world = await started();
    await change(world, { spec: { replicas: null } });
    const [set] = await world.sets();
    await world.client.patch(
      machineSetResource,
      { namespace: NAMESPACE, name: set?.metadata.name ?? "" },
      { type: "merge", body: { spec: { replicas: null } } },
    );
    await world.settle();
    expect(await world.machines()).toHaveLength(3);
    expect(findCondition((await world.deployment()).status?.conditions, "ScalingUp")).toMatchObject({
      status: "Unknown",
      reason: "WaitingForReplicasSet",
    });
    await change(world, { spec: { replicas: 4 } });
    await world.settle();
    expect(await world.machines()).toHaveLength(4);
  });

  it("a template of an unknown kind is told", async () => {
    const world = await openWorld({ controllers: both() });
    const deployment = deploymentOf();
    const { template } = deployment.spec;
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "UnknownTemplate", name: "x" };
    await world.client.create<MachineDeployment>(machineDeploymentResource, {
      ...deployment,
      spec: { ...deployment.spec, template: { ...template, spec: { ...template.spec, infrastructureRef } } },
    });
    await world.settle();
    expect(findCondition((await world.deployment()).status?.conditions, "ScalingUp")?.message).toContain(
      "UnknownTemplate cannot be read: no CustomResourceDefinition for kind UnknownTemplate",
    );
  });
});

describe("a set without a MachineDeployment", () => {
  const alone = (replicas: number): MachineSet => {
    const { spec } = deploymentOf();
    const labels = { role: "alone" };
    return {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: { name: "alone", namespace: NAMESPACE },
      spec: {
        clusterName: "demo",
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: spec.template.spec },
      },
    };
  };

  it("belongs to its Cluster, scales, and takes machines that it selects", async () => {
    const world = await openWorld({ controllers: both() });
    await world.client.create<MachineSet>(machineSetResource, alone(1));
    await world.settle();
    const [set] = await world.sets();
    expect(set?.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "demo" }]);
    expect(set?.spec.template.metadata?.labels).toMatchObject({ "cluster.x-k8s.io/cluster-name": "demo" });
    const [own] = await world.machines();
    const orphan = {
      ...(own as Machine),
      metadata: { name: "orphan", namespace: NAMESPACE, labels: set?.spec.template.metadata?.labels },
    };
    for (const ref of [orphan.spec.infrastructureRef, orphan.spec.bootstrap.configRef]) {
      const object = await world.client.get(resourceOf(ref?.kind ?? ""), { namespace: NAMESPACE, name: ref?.name ?? "" });
      await world.client.create(resourceOf(ref?.kind ?? ""), { ...object, metadata: { name: "orphan", namespace: NAMESPACE } });
    }
    const { infrastructureRef, bootstrap } = orphan.spec;
    const spec = {
      ...orphan.spec,
      infrastructureRef: { ...infrastructureRef, name: "orphan" },
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", ...bootstrap.configRef, name: "orphan" } },
    };
    await world.client.create<Machine>(machineResource, { ...orphan, spec });
    await world.client.patch(
      machineSetResource,
      { namespace: NAMESPACE, name: "alone" },
      { type: "merge", body: { spec: { replicas: 2 } } },
    );
    await world.settle();
    const machines = await world.machines();
    expect(machines.map((m) => m.metadata.name).sort()).toEqual([own?.metadata.name, "orphan"].sort());
    expect(machines.every((m) => m.metadata.ownerReferences?.some((o) => o.kind === "MachineSet" && o.name === "alone"))).toBe(true);
    expect((await world.events()).join("\n")).toContain('MachineSet SuccessfulAdopt: Adopted Machine "orphan"');
  });
});

describe("pausing by annotation and by the Cluster", () => {
  it.each(["annotation", "cluster"])("%s: nothing is written but the condition, and work goes on afterwards", async (how) => {
    const world = await started();
    const pause = async (on: boolean): Promise<void> => {
      if (how === "cluster") {
        await world.client.patch(
          clusterResource,
          { namespace: NAMESPACE, name: "demo" },
          { type: "merge", body: { spec: { paused: on } } },
        );
        return;
      }
      const body = { metadata: { annotations: { "cluster.x-k8s.io/paused": on ? "" : null } } };
      await change(world, body);
      for (const set of await world.sets())
        await world.client.patch(machineSetResource, { namespace: NAMESPACE, name: set.metadata.name ?? "" }, { type: "merge", body });
    };
    await pause(true);
    await world.settle();
    world.writes.length = 0;
    await change(world, { spec: { replicas: 5 } });
    await world.settle();
    expect(world.writes.filter((w) => !w.what.endsWith("/status"))).toEqual([]);
    expect(findCondition((await world.deployment()).status?.conditions, "Paused")).toMatchObject({ status: "True", reason: "Paused" });
    await pause(false);
    await world.settle();
    expect(await world.machines()).toHaveLength(5);
    expect(findCondition((await world.deployment()).status?.conditions, "Paused")).toMatchObject({ status: "False", reason: "NotPaused" });
  });
});
