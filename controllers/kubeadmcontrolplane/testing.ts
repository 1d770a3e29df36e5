// Fixtures of this folder's tests: a control plane, its Cluster, healthy Machines, and parts to change.
import type { Cluster } from "../../api/cluster.ts";
import type { KubeadmConfig } from "../../api/kubeadmconfig.ts";
import type { KubeadmControlPlane, KubeadmControlPlaneSpec } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { EtcdMember } from "../workload/seam.ts";
import { healthConditions } from "./machines.ts";

export const nowMs = Date.parse("2026-06-01T12:00:00Z");
const HOUR_MS = 3_600_000;

export function controlPlane(spec: Partial<KubeadmControlPlaneSpec> = {}, more: Partial<KubeadmControlPlane> = {}): KubeadmControlPlane {
  return {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { name: "cp", namespace: "ns", uid: "kcp-uid", generation: 2, creationTimestamp: timestamp(nowMs - 10 * HOUR_MS) },
    spec: {
      replicas: 3,
      version: "v1.35.0",
      machineTemplate: {
        spec: { infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "t1" } },
      },
      ...spec,
    },
    ...more,
  };
}

export const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "ns", uid: "cluster-uid" },
  spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } },
  status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
};

export interface MachineParts {
  /** Minutes since it was made, default 300 minus its number. */
  readonly ageMinutes?: number;
  readonly deleting?: boolean;
  readonly node?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly failureDomain?: string;
  readonly version?: string;
  /** Status per type, over all healthy. */
  readonly conditions?: Readonly<Record<string, Condition["status"] | undefined>>;
  readonly extra?: readonly Condition[];
}

const condition = (type: string, status: Condition["status"]): Condition => ({
  type,
  status,
  reason: status,
  message: "",
  lastTransitionTime: timestamp(nowMs - HOUR_MS),
});

/** A healthy Machine; m1 is older than m2. */
export function machine(name: string, parts: MachineParts = {}): Machine {
  const number = Number(name.replace(/\D/g, "")) || 0;
  const healthy = Object.fromEntries(healthConditions(true).map((type) => [type, "True" as const]));
  const statuses: Readonly<Record<string, Condition["status"] | undefined>> = { ...healthy, ...parts.conditions };
  const created = nowMs - (parts.ageMinutes ?? 300 - number) * 60_000;
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      name,
      namespace: "ns",
      uid: `${name}-uid`,
      creationTimestamp: timestamp(created),
      labels: { "cluster.x-k8s.io/cluster-name": "demo", "cluster.x-k8s.io/control-plane": "" },
      ...(parts.annotations ? { annotations: parts.annotations } : {}),
      ...(parts.deleting ? { deletionTimestamp: timestamp(nowMs - 60_000) } : {}),
    },
    spec: {
      clusterName: "demo",
      version: parts.version ?? "v1.35.0",
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name },
      providerID: `p://${name}`,
      ...(parts.failureDomain ? { failureDomain: parts.failureDomain } : {}),
    },
    status: {
      ...(parts.node === false ? {} : { nodeRef: { name } }),
      conditions: [
        ...Object.entries(statuses).flatMap(([type, status]) => (status === undefined ? [] : [condition(type, status)])),
        ...(parts.extra ?? []),
      ],
    },
  };
}

export const member = (name: string, more: Partial<EtcdMember> = {}): EtcdMember => ({
  id: `${name}-id`,
  name,
  isLearner: false,
  peerUrls: [],
  clientUrls: [],
  ...more,
});

export const kubeadmConfig = (spec: KubeadmConfig["spec"]): KubeadmConfig => ({
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfig",
  metadata: { name: "m1", namespace: "ns" },
  spec,
});
