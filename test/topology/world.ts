// A cluster from a ClusterClass on virtual time, for stories about topologies. Here: class, Cluster, questions. Not here: the world itself (simulator/virtual.ts).
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { developmentFeatureGates } from "../../api/feature-gates.ts";
import { allKinds } from "../../api/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import type { Client } from "../../runtime/client.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { simulationPki } from "../../simulator/real/pki.ts";
import { macrotask } from "../../simulator/real/turn.ts";
import { startVirtual, type Virtual } from "../../simulator/virtual.ts";

export const NAMESPACE = "default";
const KEY = { namespace: NAMESPACE, name: "demo" };
const infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2";
const bootstrap = "bootstrap.cluster.x-k8s.io/v1beta2";
const controlPlane = "controlplane.cluster.x-k8s.io/v1beta2";

const start = { provisioning: { startupDuration: "1s" } };
const template = (apiVersion: string, kind: string, name: string, spec: object) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec: { template: { spec } },
});
const ref = (apiVersion: string, kind: string, name: string) => ({ templateRef: { apiVersion, kind, name } });

const filesPatch = {
  name: "files",
  enabledIf: "{{ if .files }}true{{ end }}",
  definitions: [
    {
      selector: { apiVersion: controlPlane, kind: "KubeadmControlPlaneTemplate", matchResources: { controlPlane: true } },
      jsonPatches: [{ op: "add", path: "/spec/template/spec/kubeadmConfigSpec/files", valueFrom: { variable: "files" } }],
    },
    {
      selector: { apiVersion: bootstrap, kind: "KubeadmConfigTemplate", matchResources: { machineDeploymentClass: { names: ["work*"] } } },
      jsonPatches: [
        {
          op: "add",
          path: "/spec/template/spec/files",
          valueFrom: {
            template:
              '{{ range .files }}- path: {{ .path }}\n  content: {{ printf "%s on %s" .content $.builtin.machineDeployment.topologyName | quote }}\n{{ end }}',
          },
        },
      ],
    },
  ],
};

export const classObjects = (change: object = {}): readonly object[] => [
  template(infrastructure, "DevClusterTemplate", "infra", { backend: { inMemory: {} } }),
  template(controlPlane, "KubeadmControlPlaneTemplate", "cp", {
    rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } },
    kubeadmConfigSpec: { format: "cloud-config" },
  }),
  template(infrastructure, "DevMachineTemplate", "cp", {
    backend: { inMemory: { vm: start, node: start, etcd: start, apiServer: start } },
  }),
  template(infrastructure, "DevMachineTemplate", "worker", { backend: { inMemory: { vm: start, node: start } } }),
  template(bootstrap, "KubeadmConfigTemplate", "worker", { format: "cloud-config" }),
  {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "ClusterClass",
    metadata: { name: "fleet", namespace: NAMESPACE },
    spec: {
      infrastructure: ref(infrastructure, "DevClusterTemplate", "infra"),
      controlPlane: {
        ...ref(controlPlane, "KubeadmControlPlaneTemplate", "cp"),
        machineInfrastructure: ref(infrastructure, "DevMachineTemplate", "cp"),
      },
      workers: {
        machineDeployments: [
          {
            class: "worker",
            bootstrap: ref(bootstrap, "KubeadmConfigTemplate", "worker"),
            infrastructure: ref(infrastructure, "DevMachineTemplate", "worker"),
          },
        ],
      },
      variables: [
        {
          name: "files",
          required: false,
          schema: {
            openAPIV3Schema: {
              type: "array",
              items: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
            },
          },
        },
      ],
      patches: [filesPatch],
      ...change,
    },
  },
];

export const pool = (name: string, change: object = {}): object => ({
  class: "worker",
  name,
  replicas: 2,
  rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
  ...change,
});
export const files = (content: string): object => ({ variables: [{ name: "files", value: [{ path: "/etc/motd", content }] }] });

const cluster = (topology: object): object => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: KEY,
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
    topology: {
      classRef: { name: "fleet" },
      version: "v1.34.0",
      controlPlane: { replicas: 3 },
      workers: { machineDeployments: [pool("md-0")] },
      ...topology,
    },
  },
});

export interface TopologyWorld {
  readonly virtual: Virtual;
  readonly client: Client;
  cluster(): Promise<Cluster>;
  /** Merges into spec.topology, as a user. */
  change(topology: object): Promise<void>;
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void>;
  list<K extends KubeObject>(resource: Resource<K>): Promise<readonly K[]>;
  /** Until the condition says so. */
  until(statusAndReason: string, limitSeconds?: number): Promise<void>;
  /** Until everything is complete and nothing changes any more. */
  settle(limitSeconds?: number): Promise<void>;
  condition(type: string): Promise<string>;
  lines(pattern: RegExp, from?: number): readonly string[];
  mark(): number;
}

export interface WorldSettings {
  readonly topology?: object;
  readonly clusterClass?: object;
  readonly inPlace?: boolean;
  readonly hooks?: (updater: HookTransport) => HookTransport;
  readonly extra?: readonly object[];
}

export async function startTopology(settings: WorldSettings = {}): Promise<TopologyWorld> {
  const virtual = await startVirtual({
    seed: 1,
    gates: fixedGates({ ...developmentFeatureGates, InPlaceUpdates: settings.inPlace ?? true }),
    turn: macrotask,
    pki: (clock) => simulationPki(clock),
    ...(settings.hooks ? { hooks: settings.hooks } : {}),
  });
  const client = virtual.world.management;
  for (const object of [...(settings.extra ?? []), ...classObjects(settings.clusterClass), cluster(settings.topology ?? {})]) {
    const definition = allKinds.find((k) => k.resource.kind === (object as KubeObject).kind);
    if (!definition) throw new Error(`no kind ${(object as KubeObject).kind}`);
    await client.apply(definition.resource, object as KubeObject, { fieldManager: "user", force: true });
  }
  const get = () => client.get(clusterResource, KEY);
  const condition = async (type: string): Promise<string> => {
    const found = findCondition((await get()).status?.conditions, type);
    return found ? `${found.status}/${found.reason}${found.message === "" ? "" : `: ${found.message}`}` : "absent";
  };
  const isSettled = async (): Promise<boolean> => {
    const { status, metadata } = await get();
    const counts = [status?.controlPlane, status?.workers];
    const complete = counts.every(
      (c) =>
        c?.replicas === c?.desiredReplicas && c?.availableReplicas === c?.desiredReplicas && c?.upToDateReplicas === c?.desiredReplicas,
    );
    const isDone =
      (await condition("TopologyReconciled")) === "True/ReconcileSucceeded" && (await condition("RollingOut")).startsWith("False");
    return complete && isDone && status?.observedGeneration === metadata.generation && (await condition("Available")).startsWith("True");
  };
  return {
    virtual,
    client,
    cluster: get,
    condition,
    change: async (topology) => {
      await client.patch(clusterResource, KEY, { type: "merge", body: { spec: { topology } } }, { fieldManager: "user" });
      await virtual.pass(2_000);
    },
    annotate: async (annotations) => {
      await client.patch(clusterResource, KEY, { type: "merge", body: { metadata: { annotations } } }, { fieldManager: "user" });
    },
    list: async (resource) => (await client.list(resource, { namespace: NAMESPACE })).items,
    until: (wanted, limitSeconds = 600) =>
      virtual.until(wanted, async () => (await condition("TopologyReconciled")).startsWith(wanted), limitSeconds * 1_000),
    settle: async (limitSeconds = 600) => {
      await virtual.until("everything is complete", isSettled, limitSeconds * 1_000);
      await virtual.pass(5_000);
    },
    lines: (pattern, from = 0) => virtual.log.lines.slice(from).filter((line) => pattern.test(line)),
    mark: () => virtual.log.lines.length,
  };
}

export const namesOf = (objects: readonly KubeObject[]): readonly string[] => objects.map((o) => o.metadata.name ?? "").sort();
export const uidsOf = (objects: readonly KubeObject[]): readonly string[] => objects.map((o) => o.metadata.uid ?? "").sort();
