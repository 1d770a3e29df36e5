// Stories of Clusters, Machines and KubeadmConfigs: the real controllers on the in-process API server, with simulated machines, in virtual time.
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
  nodeResource,
  type Pod,
  podDisruptionBudgetResource,
  podResource,
  secretResource,
} from "../../api/core/index.ts";
import { customResourceDefinition } from "../../api/crd.ts";
import { type DevCluster, devClusterResource } from "../../api/devcluster.ts";
import { type DevMachine, devMachineResource } from "../../api/devmachine.ts";
import { allKinds } from "../../api/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import { type KubeadmConfig, kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { builtinTypes } from "../../apiserver/builtin/index.ts";
import { ALL_VERBS, type ResourceType } from "../../apiserver/registry.ts";
import { createApiServer } from "../../apiserver/server.ts";
import { createMemoryStore } from "../../apiserver/store/memory.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { createManager } from "../../runtime/manager.ts";
import { stepDriver } from "../../runtime/step-driver.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { hostsIn } from "../../simulator/host/host.ts";
import { devClusterController } from "../../simulator/provider/devcluster.ts";
import { devMachineController } from "../../simulator/provider/devmachine.ts";
import { simulationPki } from "../../simulator/real/pki.ts";
import { macrotask } from "../../simulator/real/turn.ts";
import { openWorkloadApi } from "../../simulator/servers.ts";
import { countedPorts, simulatedClusters } from "../../simulator/workload/clusters.ts";
import { storeState } from "../../simulator/workload/state.ts";
import { clusterController } from "../../controllers/cluster/controller.ts";
import { PENDING_HOOKS, UPDATE_IN_PROGRESS } from "../../controllers/inplace/marks.ts";
import { kubeadmConfigController } from "../../controllers/kubeadmconfig/controller.ts";
import { createWorkloadClusters } from "../../controllers/workload/clusters.ts";
import { textOf } from "../../controllers/workload/secrets.ts";
import { machineController } from "../../controllers/machine/controller.ts";
import type { UpdateMachine } from "../../controllers/machine/inplace.ts";

// Long on a busy machine only: virtual time costs none.
jest.setTimeout(180_000);

const START_MS = Date.parse("2026-06-01T00:00:00Z");
const gates = fixedGates({
  InPlaceUpdates: true,
  RuntimeSDK: true,
  ClusterTopology: true,
  MachineTaintPropagation: false,
  MachineWaitForVolumeDetachConsiderVolumeAttachments: true,
});

const served = ({ resource, ...kind }: KindDefinition): ResourceType => ({
  ...resource,
  listKind: kind.listKind,
  singular: kind.singular,
  shortNames: kind.shortNames,
  categories: kind.categories,
  verbs: ALL_VERBS,
  storageKey: `${resource.group}/${resource.plural}`,
  storageVersion: `${resource.group}/${resource.version}`,
  schema: kind.schema,
  custom: true,
  subresources: { status: kind.statusSubresource },
  strategy: { generation: "allButStatusAndMetadata", generationOnDelete: true, allowUnconditionalUpdate: false },
});

const worlds: { stop(): void }[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.stop();
});

async function startWorld(updateMachine: UpdateMachine = () => Promise.reject(new Error("no extension is registered"))) {
  const clock = new VirtualClock(START_MS);
  const random = seededRandom(7);
  const store = createMemoryStore();
  const log = silentLogger;
  const server = createApiServer({ clock, random, store, types: [...builtinTypes(), ...allKinds.map(served)] });
  const user = { username: "theseus", groups: ["system:masters"] };
  const client = transportClient({ transport: server.handle, user, fieldManager: "test" });
  for (const kind of allKinds)
    await client.create<CustomResourceDefinition>(customResourceDefinitionResource, customResourceDefinition(kind));
  const state = storeState(store);
  const simulated = simulatedClusters({ clock, random, log, state, openApi: openWorkloadApi({ clock, random, log, store }) });
  const pki = simulationPki(clock);
  const workloadClusters = createWorkloadClusters({ clock, random, log, dial: simulated.dial, pki, management: client });
  const provider = { clusters: simulated, hosts: hostsIn(state), front: countedPorts() };
  const errors: string[] = [];
  const manager = createManager({
    client: transportClient({ transport: server.handle, user, fieldManager: "manager" }),
    clock,
    random,
    log: {
      ...log,
      error: (_m, f) => errors.push(String(f?.error)),
      with: (f) => ({
        ...log,
        error: (_m, g) => errors.push(`${f.controller ?? ""} ${g?.error}`),
        with: () => ({ ...log, error: (_m, g) => void errors.push(`${f.controller ?? ""} ${g?.error}`) }),
      }),
    } as typeof log,
    gates,
    controllers: [
      clusterController({ workloadClusters, pki }),
      machineController({ workloadClusters, updateMachine, nowMs: () => clock.nowMs() }),
      kubeadmConfigController({ workloadClusters, pki }),
      devClusterController(provider),
      devMachineController(provider),
    ],
  });
  const driver = stepDriver({ managers: () => [manager], random: seededRandom(11), turn: macrotask });
  manager.start();
  const settle = async (): Promise<void> => {
    for (let steps = 0; await driver.step(); steps++) if (steps > 20_000) throw new Error(`no rest: ${errors.slice(-5).join("; ")}`);
  };
  const pass = async (seconds: number): Promise<void> => {
    const endMs = clock.nowMs() + seconds * 1_000;
    clock.after(seconds * 1_000, () => {});
    await settle();
    while (clock.nowMs() < endMs && (clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= endMs) {
      clock.runNext();
      await settle();
    }
  };
  const find = async <K extends KubeObject>(resource: Resource<K>, name: string): Promise<K | undefined> => {
    try {
      return await client.get(resource, { namespace: resource.namespaced ? "ns" : "", name });
    } catch (e) {
      if (isNotFound(e)) return undefined;
      throw e;
    }
  };
  const get = async <K extends KubeObject>(resource: Resource<K>, name: string): Promise<K> => {
    const found = await find(resource, name);
    if (!found) throw new Error(`${resource.kind} ${name} is not there; ${errors.slice(-5).join("; ")}`);
    return found;
  };
  const world = {
    clock,
    client,
    workload: () => workloadClusters.get({ namespace: "ns", name: "demo" }),
    pass,
    find,
    get,
    errors,
    stop: () => {
      manager.stop();
      workloadClusters.stop();
      simulated.stop();
      server.stop();
    },
  };
  worlds.push(world);
  return world;
}
type World = Awaited<ReturnType<typeof startWorld>>;

const api = (group: string) => `${group}.cluster.x-k8s.io/v1beta2`;

async function createCluster({ client }: World): Promise<void> {
  const cluster: Cluster = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "demo", namespace: "ns" },
    spec: { infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevCluster", name: "demo" } },
  };
  await client.create(clusterResource, cluster);
  const infra: DevCluster = {
    apiVersion: api("infrastructure"),
    kind: "DevCluster",
    metadata: { name: "demo", namespace: "ns" },
    spec: { backend: { inMemory: {} } },
  };
  await client.create(devClusterResource, infra);
}

async function createMachine(
  { client }: World,
  name: string,
  change: { labels?: Record<string, string>; spec?: object; startupDuration?: string } = {},
): Promise<void> {
  const started = { provisioning: { startupDuration: change.startupDuration ?? "5s" } };
  const config: KubeadmConfig = {
    apiVersion: api("bootstrap"),
    kind: "KubeadmConfig",
    metadata: { name, namespace: "ns" },
    spec: { format: "cloud-config" },
  };
  const infra: DevMachine = {
    apiVersion: api("infrastructure"),
    kind: "DevMachine",
    metadata: { name, namespace: "ns" },
    spec: { backend: { inMemory: { vm: started, node: started, etcd: started, apiServer: started } } },
  };
  const machine: Machine = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name, namespace: "ns", labels: { "cluster.x-k8s.io/cluster-name": "demo", ...change.labels } },
    spec: {
      clusterName: "demo",
      version: "v1.35.0",
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name },
      deletion: { nodeDeletionTimeoutSeconds: 10 },
      ...change.spec,
    },
  };
  await client.create(kubeadmConfigResource, config);
  await client.create(devMachineResource, infra);
  await client.create(machineResource, machine);
}
const controlPlane = { "cluster.x-k8s.io/control-plane": "" };

/** A running cluster of one control plane machine and one worker. */
async function runningWorld(updateMachine?: UpdateMachine): Promise<World> {
  const world = await startWorld(updateMachine);
  await createCluster(world);
  await createMachine(world, "cp", { labels: controlPlane });
  await createMachine(world, "w", { labels: { "node.cluster.x-k8s.io/pool": "a" } });
  await world.pass(180);
  return world;
}
const statusOf = (o: { status?: { conditions?: readonly { type: string; status: string; reason: string }[] } }, type: string): string => {
  const c = o.status?.conditions?.find((x) => x.type === type);
  return c ? `${c.status} ${c.reason}` : "(none)";
};

describe("from nothing to a running cluster", () => {
  it("one control plane machine initializes, a worker waits for it and joins", async () => {
    const world = await startWorld();
    await createCluster(world);
    await createMachine(world, "cp", { labels: controlPlane });
    await createMachine(world, "w");
    await world.pass(5);
    expect(statusOf(await world.get(kubeadmConfigResource, "w"), "DataSecretAvailable")).toBe("False NotAvailable");
    const data = textOf(await world.get(secretResource, "cp"), "value") ?? "";
    expect(data).toContain("kubeadm init --config /run/kubeadm/kubeadm.yaml");
    expect(data).toContain("path: /etc/kubernetes/pki/ca.key");
    await world.pass(175);
    const cluster = await world.get(clusterResource, "demo");
    expect(cluster.status?.phase).toBe("Provisioned");
    expect(cluster.spec.controlPlaneEndpoint?.port).toBeGreaterThan(0);
    expect(
      ["ControlPlaneInitialized", "RemoteConnectionProbe", "InfrastructureReady", "Available"].map((t) => statusOf(cluster, t)),
    ).toEqual(["True Initialized", "True ProbeSucceeded", "True Ready", "True Available"]);
    for (const name of ["cp", "w"]) {
      const machine = await world.get(machineResource, name);
      expect(machine.status).toMatchObject({ phase: "Running", nodeRef: { name }, nodeInfo: { kubeletVersion: "v1.35.0" } });
      expect([statusOf(machine, "Ready"), statusOf(machine, "Available"), statusOf(machine, "NodeHealthy")]).toEqual([
        "True Ready",
        "True Available",
        "True NodeHealthy",
      ]);
      expect(machine.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "demo" }]);
    }
    const config = await world.get(kubeadmConfigResource, "w");
    const discovery = config.spec?.joinConfiguration?.discovery?.bootstrapToken;
    expect(discovery?.token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    expect(discovery?.caCertHashes?.[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(textOf(await world.get(secretResource, "w"), "value")).toContain(discovery?.token);
    expect(config.metadata.ownerReferences).toMatchObject([{ kind: "Machine", name: "w", controller: true }]);
    expect(world.errors).toEqual([]);
  });

  it("writes on the Node whose it is, and comes to rest", async () => {
    const world = await runningWorld();
    const node = await world.workload().client.get(nodeResource, { namespace: "", name: "w" });
    expect(node.metadata.labels).toMatchObject({ "node.cluster.x-k8s.io/pool": "a" });
    expect(node.metadata.annotations).toMatchObject({
      "cluster.x-k8s.io/machine": "w",
      "cluster.x-k8s.io/labels-from-machine": "node.cluster.x-k8s.io/pool",
    });
    expect((node.spec?.taints ?? []).map((t) => t.key)).not.toContain("node.cluster.x-k8s.io/uninitialized");
    const before = [
      await world.get(machineResource, "w"),
      await world.get(clusterResource, "demo"),
      await world.get(kubeadmConfigResource, "w"),
    ];
    await world.pass(3_600);
    const after = [
      await world.get(machineResource, "w"),
      await world.get(clusterResource, "demo"),
      await world.get(kubeadmConfigResource, "w"),
    ];
    expect(after.map((o) => o.metadata.resourceVersion)).toEqual(before.map((o) => o.metadata.resourceVersion));
  });
});

describe("what goes wrong", () => {
  it("infrastructure that is lost under a running Machine is told, and nothing is reset", async () => {
    const world = await runningWorld();
    await world.client.patch(
      devMachineResource,
      { namespace: "ns", name: "w" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    );
    await world.client.delete(devMachineResource, { namespace: "ns", name: "w" });
    await world.pass(5);
    await world.client
      .patch(devMachineResource, { namespace: "ns", name: "w" }, { type: "merge", body: { metadata: { finalizers: null } } })
      .catch(() => {});
    await world.pass(30);
    const machine = await world.get(machineResource, "w");
    expect(statusOf(machine, "InfrastructureReady")).toBe("False ObjectDeleted");
    expect(machine.status?.initialization?.infrastructureProvisioned).toBe(true);
    expect(machine.spec.providerID).toBe("in-memory://w");
  });

  it("a paused Machine is left alone until it goes on", async () => {
    const world = await runningWorld();
    const pause = (value: string | null) =>
      world.client.patch(
        machineResource,
        { namespace: "ns", name: "w" },
        { type: "merge", body: { metadata: { annotations: { "cluster.x-k8s.io/paused": value } } } },
      );
    await pause("");
    await world.pass(2);
    expect(statusOf(await world.get(machineResource, "w"), "Paused")).toBe("True Paused");
    await world.client.delete(machineResource, { namespace: "ns", name: "w" });
    await world.pass(60);
    expect(statusOf(await world.get(machineResource, "w"), "Deleting")).toBe("False NotDeleting");
    await pause(null);
    await world.pass(60);
    expect(await world.find(machineResource, "w")).toBeUndefined();
  });

  it("the token of a machine that takes long to join is kept alive, without new data", async () => {
    const world = await startWorld();
    await createCluster(world);
    await createMachine(world, "cp", { labels: controlPlane });
    await world.pass(90);
    await createMachine(world, "slow", { startupDuration: "1h" });
    await world.pass(10);
    const token = (await world.get(kubeadmConfigResource, "slow")).spec?.joinConfiguration?.discovery?.bootstrapToken?.token ?? "";
    const data = await world.get(secretResource, "slow");
    await world.pass(2_400);
    const secret = await world
      .workload()
      .client.get(secretResource, { namespace: "kube-system", name: `bootstrap-token-${token.slice(0, 6)}` });
    expect(Date.parse(textOf(secret, "expiration") ?? "")).toBeGreaterThan(world.clock.nowMs());
    expect((await world.get(secretResource, "slow")).metadata.resourceVersion).toBe(data.metadata.resourceVersion);
  });

  it("the init lock of a machine that is gone is released for another", async () => {
    const world = await startWorld();
    await createCluster(world);
    await createMachine(world, "cp-1", { labels: controlPlane, startupDuration: "10h" });
    await world.pass(10);
    await createMachine(world, "cp-2", { labels: controlPlane });
    await world.pass(60);
    expect((await world.get(kubeadmConfigResource, "cp-2")).status?.initialization?.dataSecretCreated).toBeUndefined();
    await world.client.delete(machineResource, { namespace: "ns", name: "cp-1" });
    await world.pass(200);
    expect((await world.get(machineResource, "cp-2")).status?.phase).toBe("Running");
  });
});

describe("an update in place", () => {
  const mark = { metadata: { annotations: { [UPDATE_IN_PROGRESS]: "" } } };

  /** What an owner writes, in its order. */
  async function trigger({ client }: World, name: string): Promise<void> {
    const key = { namespace: "ns", name };
    await client.patch(machineResource, key, { type: "merge", body: mark });
    await client.patch(devMachineResource, key, { type: "merge", body: mark });
    await client.patch(kubeadmConfigResource, key, { type: "merge", body: mark });
    await client.patch(machineResource, key, {
      type: "merge",
      body: { metadata: { annotations: { [PENDING_HOOKS]: "Other,UpdateMachine" } } },
    });
  }
  const marksOf = (o: KubeObject): string[] => [UPDATE_IN_PROGRESS, PENDING_HOOKS].filter((k) => o.metadata.annotations?.[k] !== undefined);

  it("asks until it is done, not sooner than told, and takes the marks off in order", async () => {
    const calls: number[] = [];
    const world = await runningWorld(async (_machine, desired) => {
      calls.push((world.clock.nowMs() - startedMs) / 1_000);
      expect(Object.keys(desired)).toEqual(["machine", "infrastructureMachine", "bootstrapConfig"]);
      return calls.length < 3 ? { retryAfterSeconds: 15, message: `step ${calls.length} of 3` } : { retryAfterSeconds: 0, message: "done" };
    });
    const startedMs = world.clock.nowMs();
    await trigger(world, "w");
    await world.pass(1);
    const during = await world.get(machineResource, "w");
    expect(during.status?.phase).toBe("Updating");
    expect(during.status?.conditions?.find((c) => c.type === "Updating")).toMatchObject({
      status: "True",
      reason: "InPlaceUpdating",
      message: "In-place update in progress: step 1 of 3",
    });
    expect([statusOf(during, "Ready"), statusOf(during, "Available")]).toEqual(["False NotReady", "False NotReady"]);
    await world.client.patch(
      machineResource,
      { namespace: "ns", name: "w" },
      { type: "merge", body: { metadata: { labels: { poke: "1" } } } },
    );
    await world.pass(13);
    expect(calls).toEqual([0]);
    await world.pass(17);
    expect(calls).toEqual([0, 15, 30]);
    const after = await world.get(machineResource, "w");
    expect(after.metadata.annotations?.[PENDING_HOOKS]).toBe("Other");
    expect(marksOf(await world.get(devMachineResource, "w"))).toEqual([]);
    expect(marksOf(await world.get(kubeadmConfigResource, "w"))).toEqual([]);
    expect([statusOf(after, "Updating"), statusOf(after, "Ready"), after.status?.phase]).toEqual([
      "False NotUpdating",
      "True Ready",
      "Running",
    ]);
  });

  it("tells a failure with its text, backs off, and goes on when the extension works again", async () => {
    let broken = true;
    const calls: number[] = [];
    const world = await runningWorld(async () => {
      calls.push(world.clock.nowMs());
      if (broken) throw new Error(`cannot update: disk full at ${world.clock.nowMs()}`);
      return { retryAfterSeconds: 0, message: "" };
    });
    await trigger(world, "w");
    await world.pass(600);
    const failed = (await world.get(machineResource, "w")).status?.conditions?.find((c) => c.type === "Updating");
    expect(failed).toMatchObject({
      status: "True",
      reason: "InPlaceUpdateFailed",
      message: expect.stringContaining("cannot update: disk full"),
    });
    expect(calls.length).toBeLessThanOrEqual(20);
    expect(calls.length).toBeGreaterThan(10);
    broken = false;
    await world.pass(1_000);
    expect(marksOf(await world.get(machineResource, "w"))).toEqual([PENDING_HOOKS]);
    expect(statusOf(await world.get(machineResource, "w"), "Updating")).toBe("False NotUpdating");
  });

  it("never takes away a mark that was set after the update was done", async () => {
    const world = await runningWorld(async () => ({ retryAfterSeconds: 0, message: "" }));
    await trigger(world, "w");
    await world.pass(1);
    expect(marksOf(await world.get(machineResource, "w"))).toEqual([PENDING_HOOKS]);
    await world.client.patch(machineResource, { namespace: "ns", name: "w" }, { type: "merge", body: mark });
    await world.pass(60);
    const moved = await world.get(machineResource, "w");
    expect(marksOf(moved)).toEqual([UPDATE_IN_PROGRESS, PENDING_HOOKS]);
    expect(statusOf(moved, "Updating")).toBe("True InPlaceUpdating");
  });
});

describe("deletion", () => {
  const remove = (world: World, name: string) => world.client.delete(machineResource, { namespace: "ns", name });

  it("waits for hooks, drains within the budget, then takes infrastructure, bootstrap and Node", async () => {
    const world = await runningWorld();
    const hook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup";
    await world.client.patch(
      machineResource,
      { namespace: "ns", name: "w" },
      { type: "merge", body: { metadata: { annotations: { [hook]: "" } } } },
    );
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "app", namespace: "default" },
      spec: { nodeName: "w", containers: [{ name: "c", image: "i" }] },
    };
    const workload = world.workload().client;
    await workload.create(podResource, pod);
    await remove(world, "w");
    await world.pass(5);
    expect(statusOf(await world.get(machineResource, "w"), "Deleting")).toBe("True WaitingForPreDrainHook");
    expect((await workload.get(nodeResource, { namespace: "", name: "w" })).spec?.unschedulable).toBeUndefined();
    await world.client.patch(
      machineResource,
      { namespace: "ns", name: "w" },
      { type: "merge", body: { metadata: { annotations: { [hook]: null } } } },
    );
    await world.pass(1);
    const draining = await world.get(machineResource, "w");
    expect(statusOf(draining, "Deleting")).toBe("True DrainingNode");
    expect(draining.status?.deletion?.nodeDrainStartTime).toBeDefined();
    expect(draining.status?.conditions?.find((c) => c.type === "Deleting")?.message).toContain("Pod default/app");
    expect((await workload.get(nodeResource, { namespace: "", name: "w" })).spec?.unschedulable).toBe(true);
    expect(await world.find(devMachineResource, "w")).toBeDefined();
    // Whether the kubelet has taken the evicted Pod away already is its own business.
    await workload.delete(podResource, { namespace: "default", name: "app" }, { gracePeriodSeconds: 0 }).catch(() => {});
    await world.pass(60);
    expect([
      await world.find(machineResource, "w"),
      await world.find(devMachineResource, "w"),
      await world.find(kubeadmConfigResource, "w"),
    ]).toEqual([undefined, undefined, undefined]);
    await expect(workload.get(nodeResource, { namespace: "", name: "w" })).rejects.toThrow();
  });

  const app: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "app", namespace: "default", labels: { app: "x" } },
    spec: { nodeName: "w", containers: [{ name: "c", image: "i" }] },
  };

  it("respects a disruption budget until the drain's time is over", async () => {
    const world = await runningWorld();
    const workload = world.workload().client;
    await workload.create(podResource, app);
    await workload.patch(
      podResource,
      { namespace: "default", name: "app" },
      { type: "merge", body: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } } },
      { subresource: "status" },
    );
    await workload.create(podDisruptionBudgetResource, {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "keep", namespace: "default" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
    });
    await world.client.patch(
      machineResource,
      { namespace: "ns", name: "w" },
      { type: "merge", body: { spec: { deletion: { nodeDrainTimeoutSeconds: 50 } } } },
    );
    await remove(world, "w");
    await world.pass(30);
    const draining = (await world.get(machineResource, "w")).status?.conditions?.find((c) => c.type === "Deleting");
    expect(draining).toMatchObject({ reason: "DrainingNode", message: expect.stringContaining("disruption budget") });
    expect(await world.find(devMachineResource, "w")).toMatchObject({ kind: "DevMachine" });
    await world.pass(60);
    expect(await world.find(machineResource, "w")).toBeUndefined();
    expect(await workload.get(podResource, { namespace: "default", name: "app" })).toMatchObject({ kind: "Pod" });
  });

  it("skips the drain when told so", async () => {
    const world = await runningWorld();
    await world.workload().client.create(podResource, app);
    const annotations = { "machine.cluster.x-k8s.io/exclude-node-draining": "" };
    await world.client.patch(machineResource, { namespace: "ns", name: "w" }, { type: "merge", body: { metadata: { annotations } } });
    await remove(world, "w");
    await world.pass(15);
    expect(await world.find(machineResource, "w")).toBeUndefined();
  });

  it("does not touch the Node of the last control plane machine", async () => {
    const world = await runningWorld();
    await world
      .workload()
      .client.create(podResource, { ...app, spec: { ...app.spec, nodeName: "cp", containers: [{ name: "c", image: "i" }] } });
    await remove(world, "cp");
    await world.pass(15);
    expect(await world.find(machineResource, "cp")).toBeUndefined();
  });

  it("of a Cluster goes in order and leaves nothing", async () => {
    const world = await runningWorld();
    const hook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup";
    const setHook = (value: string | null) =>
      world.client.patch(
        machineResource,
        { namespace: "ns", name: "w" },
        { type: "merge", body: { metadata: { annotations: { [hook]: value } } } },
      );
    await setHook("");
    await world.client.delete(clusterResource, { namespace: "ns", name: "demo" });
    await world.pass(30);
    const waiting = (await world.get(clusterResource, "demo")).status?.conditions?.find((c) => c.type === "Deleting");
    expect(waiting).toMatchObject({ reason: "WaitingForWorkersDeletion", message: "Waiting for Machine w to be deleted" });
    expect((await world.get(devClusterResource, "demo")).metadata.deletionTimestamp).toBeUndefined();
    await setHook(null);
    await world.pass(120);
    for (const [resource, name] of [
      [machineResource, "cp"],
      [machineResource, "w"],
      [devClusterResource, "demo"],
      [clusterResource, "demo"],
    ] as const) {
      expect(await world.find<KubeObject>(resource, name)).toBeUndefined();
    }
  });
});
