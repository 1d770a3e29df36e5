// What the real Machine controller needs around it: a workload cluster with Nodes, and providers that are quick and always succeed.
// Not here: simulated infrastructure with stages and faults (simulator/).
import { createApiServer } from "../../apiserver/server.ts";
import { builtinTypes } from "../../apiserver/builtin/index.ts";
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type Node, nodeResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { WorkloadCluster, WorkloadClusters, WorkloadEvent } from "../../controllers/workload/seam.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import type { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import type { Client } from "../../runtime/client.ts";
import { setConditions, isTrue } from "../../runtime/conditions.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { NAMESPACE, resourceOf } from "./world.ts";

const TYPES = builtinTypes();

export interface Workload {
  readonly clusters: WorkloadClusters;
  /** Infrastructure, bootstrap data and Node of every Machine that lacks them. @returns true when something was written */
  provide(client: Client): Promise<boolean>;
}

export async function openWorkload(clock: VirtualClock): Promise<Workload> {
  const key: ObjectKey = { namespace: NAMESPACE, name: "demo" };
  const server = createApiServer({ clock, random: seededRandom(5), types: TYPES });
  const user = { username: "admin", groups: ["system:masters"] };
  const api = transportClient({ transport: (request) => server.handle({ ...request, user }), fieldManager: "workload" });
  const nodes = new Map<string, Node>();
  const listeners = new Set<(event: WorkloadEvent) => void>();
  const cluster: WorkloadCluster = {
    key,
    client: api,
    nodes: {
      byName: (name) => nodes.get(name),
      byProviderId: (id) => [...nodes.values()].filter((n) => n.spec?.providerID === id),
      controlPlane: () => [],
      all: () => [...nodes.values()],
    },
    controlPlanePods: { byName: () => undefined, all: () => [] },
    etcd: () => Promise.reject(new Error("no etcd here")),
    apiServerCertificateExpiryMs: () => Promise.reject(new Error("no control plane here")),
  };
  const clusters: WorkloadClusters = {
    get: () => cluster,
    connect: () => {},
    hint: () => {},
    forget: () => {},
    state: () => ({ connected: true, lastProbeMs: clock.nowMs(), lastProbeSuccessMs: clock.nowMs(), consecutiveFailures: 0 }),
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    probeGrace: () => {},
  };
  await api.watch<Node>(
    nodeResource,
    { resourceVersion: "0" },
    {
      event: ({ type, object }) => {
        const gone = type === "DELETED";
        if (gone) nodes.delete(object.metadata.name ?? "");
        else nodes.set(object.metadata.name ?? "", object);
        for (const listener of listeners) listener({ type: "node", cluster: key, node: object, gone });
      },
      end: () => {},
    },
  );
  const join = async (name: string, version: string): Promise<void> => {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { providerID: `test://${name}` },
      status: {
        conditions: ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
          type,
          status: type === "Ready" ? "True" : "False",
          lastTransitionTime: timestamp(clock.nowMs()),
          reason: "x",
        })),
        nodeInfo: { kubeletVersion: version },
      },
    };
    await api.create(nodeResource, node as unknown as Node);
    await api.patch(nodeResource, { namespace: "", name }, { type: "merge", body: { status: node.status } }, { subresource: "status" });
  };

  const provideOne = async (client: Client, machine: Machine): Promise<boolean> => {
    const { infrastructureRef, bootstrap } = machine.spec;
    const name = machine.metadata.name ?? "";
    const at = (n: string): ObjectKey => ({ namespace: NAMESPACE, name: n });
    if (machine.metadata.deletionTimestamp || nodes.has(name) || !bootstrap.configRef) return false;
    // Providers wait until the Machine has taken their object over.
    const infra = await client.get(resourceOf(infrastructureRef.kind), at(infrastructureRef.name));
    if (!infra.metadata.ownerReferences?.some((o) => o.kind === "Machine")) return false;
    await client.patch(
      resourceOf(bootstrap.configRef.kind),
      at(bootstrap.configRef.name),
      { type: "merge", body: { status: { initialization: { dataSecretCreated: true }, dataSecretName: name } } },
      { subresource: "status" },
    );
    await client.patch(resourceOf(infrastructureRef.kind), at(infrastructureRef.name), {
      type: "merge",
      body: { spec: { providerID: `test://${name}` } },
    });
    await client.patch(
      resourceOf(infrastructureRef.kind),
      at(infrastructureRef.name),
      { type: "merge", body: { status: { initialization: { provisioned: true } } } },
      { subresource: "status" },
    );
    await join(name, machine.spec.version ?? "v1.35.0");
    return true;
  };

  return {
    clusters,
    provide: async (client) => {
      let changed = false;
      for (const machine of (await client.list<Machine>(machineResource, { namespace: NAMESPACE })).items) {
        changed = (await provideOne(client, machine)) || changed;
      }
      return changed;
    },
  };
}

/** The Cluster as its controller leaves it once the control plane is up. */
export async function clusterIsUp(client: Client, clock: VirtualClock): Promise<void> {
  const status = {
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    conditions: setConditions([], [isTrue("ControlPlaneInitialized", "Initialized")], timestamp(clock.nowMs())),
  };
  await client.patch<Cluster>(
    clusterResource,
    { namespace: NAMESPACE, name: "demo" },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
}
