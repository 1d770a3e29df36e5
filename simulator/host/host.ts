// A simulated host: files, binaries, images, static pods, a kubelet that runs or not.
// Here: its state and where it is kept. Not here: commands run on it (exec.ts), the Node object it shows (../workload/cluster.ts).
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { Component } from "../workload/objects.ts";
import type { StateStore } from "../workload/state.ts";
import type { BootstrapContent, HostFile } from "./cloud-config.ts";

export interface HostState {
  /** The Cluster it belongs to. */
  readonly cluster: ObjectKey;
  readonly providerId: string;
  readonly controlPlane: boolean;
  readonly address: string;
  /** New at each boot. */
  readonly bootId: string;
  /** When it was switched on, milliseconds since the epoch. */
  readonly createdMs: number;
  /** Versions of the installed binaries, with the leading v. */
  readonly binaries: { readonly kubeadm: string; readonly kubelet: string; readonly kubectl: string };
  /** Version of the kubelet process; empty while it is stopped. */
  readonly runningKubelet: string;
  /** By absolute path. */
  readonly files: Readonly<Record<string, HostFile>>;
  readonly images: readonly string[];
  /** Image by component; empty on a worker. */
  readonly staticPods: Readonly<Partial<Record<Component, string>>>;
  /** YAML that kubeadm init uploads, on the first control plane machine. */
  readonly clusterConfiguration?: string;
}

/** Hosts of all clusters, by namespace and name of the infrastructure machine. */
export interface Hosts {
  get(key: ObjectKey): HostState | undefined;
  put(key: ObjectKey, state: HostState): void;
  delete(key: ObjectKey): void;
  of(cluster: ObjectKey): readonly { readonly key: ObjectKey; readonly value: HostState }[];
}

const KIND = "hosts";

export const hostsIn = (state: StateStore): Hosts => ({
  get: (key) => state.get<HostState>(KIND, key),
  put: (key, value) => state.put(KIND, key, value),
  delete: (key) => state.delete(KIND, key),
  of: (cluster) =>
    state.list<HostState>(KIND).filter(({ value }) => value.cluster.namespace === cluster.namespace && value.cluster.name === cluster.name),
});

export interface NewHost {
  readonly cluster: ObjectKey;
  readonly providerId: string;
  readonly controlPlane: boolean;
  readonly address: string;
  readonly bootId: string;
  readonly version: string;
  readonly nowMs: number;
  readonly bootstrap: BootstrapContent;
}

/** A host right after its first boot, before kubeadm ran. */
export function bootHost(h: NewHost): HostState {
  return {
    cluster: h.cluster,
    providerId: h.providerId,
    controlPlane: h.controlPlane,
    address: h.address,
    bootId: h.bootId,
    createdMs: h.nowMs,
    binaries: { kubeadm: h.version, kubelet: h.version, kubectl: h.version },
    runningKubelet: "",
    files: h.bootstrap.files,
    images: [],
    staticPods: {},
    ...(h.bootstrap.clusterConfiguration ? { clusterConfiguration: h.bootstrap.clusterConfiguration } : {}),
  };
}
