// A cluster of three control plane machines on virtual time, for stories about the control plane controller.
// Here: building it, asking it. Not here: the world itself (simulator/virtual.ts), the stories.
import { developmentFeatureGates } from "../../api/feature-gates.ts";
import { allKinds } from "../../api/index.ts";
import { type KubeadmControlPlane, type KubeadmControlPlaneSpec, kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Client } from "../../runtime/client.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { simulationPki } from "../../simulator/real/pki.ts";
import { macrotask } from "../../simulator/real/turn.ts";
import { START_MS, startVirtual, type Virtual } from "../../simulator/virtual.ts";

export const NAMESPACE = "default";
const KCP_KEY = { namespace: NAMESPACE, name: "cp" };

export interface Settings {
  readonly seed?: number;
  readonly maxSurge?: number;
  readonly replicas?: number;
  readonly inPlace?: boolean;
  readonly version?: string;
  readonly spec?: Partial<KubeadmControlPlaneSpec>;
  readonly hooks?: (updater: HookTransport) => HookTransport;
  readonly log?: Logger;
}

const infrastructure = "infrastructure.cluster.x-k8s.io";

function objects(s: Settings): readonly object[] {
  const metadata = (name: string) => ({ name, namespace: NAMESPACE });
  const start = { provisioning: { startupDuration: "1s" } };
  return [
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: metadata("demo"),
      spec: {
        infrastructureRef: { apiGroup: infrastructure, kind: "DevCluster", name: "demo" },
        controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "cp" },
      },
    },
    { apiVersion: `${infrastructure}/v1beta2`, kind: "DevCluster", metadata: metadata("demo"), spec: { backend: { inMemory: {} } } },
    {
      apiVersion: `${infrastructure}/v1beta2`,
      kind: "DevMachineTemplate",
      metadata: metadata("cp-1"),
      spec: { template: { spec: { backend: { inMemory: { vm: start, node: start, etcd: start, apiServer: start } } } } },
    },
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: metadata("cp"),
      spec: {
        replicas: s.replicas ?? 3,
        version: s.version ?? "v1.34.1",
        rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: s.maxSurge ?? 0 } } },
        machineTemplate: { spec: { infrastructureRef: { apiGroup: infrastructure, kind: "DevMachineTemplate", name: "cp-1" } } },
        ...s.spec,
      },
    },
  ];
}

export interface ControlPlane {
  readonly virtual: Virtual;
  readonly client: Client;
  kcp(): Promise<KubeadmControlPlane>;
  machines(): Promise<readonly Machine[]>;
  /** Merges into the control plane, as a user. */
  change(body: object): Promise<void>;
  apply(object: object): Promise<void>;
  /** Until all machines are there, up to date, available and not changing. */
  settle(limitSeconds?: number): Promise<void>;
  /** Lines of the log since `from` that match. */
  lines(pattern: RegExp, from?: number): readonly string[];
  mark(): number;
  condition(type: string): Promise<string>;
  /** Seconds since the start. */
  seconds(): number;
}

export async function startControlPlane(settings: Settings = {}): Promise<ControlPlane> {
  const gates = fixedGates({ ...developmentFeatureGates, InPlaceUpdates: settings.inPlace ?? true });
  const virtual = await startVirtual({
    seed: settings.seed ?? 1,
    gates,
    turn: macrotask,
    pki: (clock) => simulationPki(clock),
    ...(settings.hooks ? { hooks: settings.hooks } : {}),
    ...(settings.log ? { log: settings.log } : {}),
  });
  const client = virtual.world.management;
  const apply = async (object: object): Promise<void> => {
    const { kind } = object as KubeObject;
    const definition = allKinds.find((k) => k.resource.kind === kind);
    if (!definition) throw new Error(`no kind ${kind}`);
    await client.apply(definition.resource, object as KubeObject, { fieldManager: "user", force: true });
  };
  for (const object of objects(settings)) await apply(object);
  const kcp = () => client.get(kubeadmControlPlaneResource, KCP_KEY);
  const machines = async () =>
    (await client.list(machineResource, { namespace: NAMESPACE, labelSelector: "cluster.x-k8s.io/control-plane" })).items;
  const isSettled = async (): Promise<boolean> => {
    const { spec, status, metadata } = await kcp();
    const wanted = spec.replicas ?? 1;
    const counts = [status?.replicas, status?.availableReplicas, status?.upToDateReplicas];
    return status?.observedGeneration === metadata.generation && counts.every((n) => n === wanted) && (await machines()).length === wanted;
  };
  return {
    virtual,
    client,
    kcp,
    machines,
    apply,
    change: async (body) => {
      await client.patch(kubeadmControlPlaneResource, KCP_KEY, { type: "merge", body }, { fieldManager: "user" });
    },
    settle: async (limitSeconds = 600) => {
      await virtual.until("the control plane is settled", isSettled, limitSeconds * 1_000);
      await virtual.pass(1_000);
    },
    lines: (pattern, from = 0) => virtual.log.lines.slice(from).filter((line) => pattern.test(line)),
    mark: () => virtual.log.lines.length,
    condition: async (type) => {
      const found = (await kcp()).status?.conditions?.find((c) => c.type === type);
      return found ? `${found.status}/${found.reason}${found.message === "" ? "" : `: ${found.message}`}` : "absent";
    },
    seconds: () => (virtual.clock.nowMs() - START_MS) / 1_000,
  };
}

export const uidsOf = (machines: readonly Machine[]): readonly string[] => machines.map((m) => m.metadata.uid ?? "").sort();

/** Names of the machines in the order in which a line of the log mentions them. */
export const namesIn = (lines: readonly string[]): readonly string[] => lines.map((l) => /cp-[a-z0-9]{5}/.exec(l)?.[0] ?? "?");
