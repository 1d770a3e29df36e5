// Fixtures of this folder's tests: a view of a healthy running Machine, and parts to change.
import type { Cluster } from "../../api/cluster.ts";
import type { Node } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import type { Referenced } from "../contract/read.ts";
import type { MachineView } from "./view.ts";

export const NOW = "2026-06-01T12:00:00Z";
export const nowMs = Date.parse(NOW);

export const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "ns" },
  spec: {},
  status: {
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    conditions: [
      { type: "ControlPlaneInitialized", status: "True", reason: "Initialized", message: "", lastTransitionTime: "2026-06-01T11:00:00Z" },
    ],
  },
};

export function machine(change: { metadata?: object; spec?: object; status?: object } = {}): Machine {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      name: "m1",
      namespace: "ns",
      uid: "u1",
      generation: 3,
      labels: { "cluster.x-k8s.io/cluster-name": "demo" },
      ...change.metadata,
    },
    spec: {
      clusterName: "demo",
      version: "v1.35.0",
      providerID: "p://m1",
      bootstrap: { configRef: { apiGroup: "b.x", kind: "KubeadmConfig", name: "m1" }, dataSecretName: "m1" },
      infrastructureRef: { apiGroup: "i.x", kind: "DevMachine", name: "m1" },
      ...change.spec,
    },
    status: {
      initialization: { bootstrapDataSecretCreated: true, infrastructureProvisioned: true },
      nodeRef: { name: "m1" },
      ...change.status,
    },
  };
}

export function node(change: { metadata?: object; spec?: object; status?: object } = {}): Node {
  const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: "2026-06-01T11:30:00Z" });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "m1", resourceVersion: "7", ...change.metadata },
    spec: { providerID: "p://m1", ...change.spec },
    status: {
      conditions: [condition("Ready", "True"), ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((t) => condition(t, "False"))],
      nodeInfo: { kubeletVersion: "v1.35.0" },
      ...change.status,
    } as unknown as Node["status"],
  };
}

export function referenced(kind: string, change: { metadata?: object; spec?: object; status?: object } = {}): Referenced {
  const apiGroup = kind === "DevMachine" ? "i.x" : "b.x";
  return {
    ref: { apiGroup, kind, name: "m1" },
    kind: {
      resource: { group: apiGroup, version: "v1beta2", kind, plural: `${kind.toLowerCase()}s`, namespaced: true },
      contract: "v1beta2",
    },
    missing: false,
    object: {
      apiVersion: `${apiGroup}/v1beta2`,
      kind,
      metadata: { name: "m1", namespace: "ns", resourceVersion: "5", ...change.metadata },
      spec: { providerID: "p://m1", ...change.spec },
      status: {
        initialization: { provisioned: true, dataSecretCreated: true },
        dataSecretName: "m1",
        conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "" }],
        ...change.status,
      },
    },
  };
}

export function view(change: Partial<MachineView> = {}): MachineView {
  return {
    machine: machine(),
    cluster,
    bootstrap: referenced("KubeadmConfig"),
    infrastructure: referenced("DevMachine"),
    connection: { connected: true, lastProbeMs: nowMs, lastProbeSuccessMs: nowMs, consecutiveFailures: 0 },
    node: { state: "found", node: node() },
    nowMs,
    status: {},
    failures: [],
    ...change,
  };
}
