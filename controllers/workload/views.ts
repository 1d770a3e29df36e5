// Cached Nodes and control plane Pods of one workload cluster. Here: stores with their indexes, written by watch events, read-only outside.
// Not here: the watches that feed them (clusters.ts).
import type { Node, Pod } from "./kinds.ts";
import type { ControlPlanePodsView, NodesView } from "./seam.ts";

export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";
export const CONTROL_PLANE_PODS_SELECTOR = "tier=control-plane,component in (kube-apiserver,kube-controller-manager,kube-scheduler,etcd)";

const byName = (a: { metadata: { name?: string } }, b: { metadata: { name?: string } }): number =>
  (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;

export interface NodeStore extends NodesView {
  /** @returns the Node that was there before */
  put(node: Node): Node | undefined;
  drop(name: string): void;
}

export function nodeStore(): NodeStore {
  const nodes = new Map<string, Node>();
  const byId = new Map<string, Set<string>>();
  let sorted: readonly Node[] | undefined;
  const unindex = (node: Node): void => {
    const id = node.spec?.providerID ?? "";
    const names = byId.get(id);
    names?.delete(node.metadata.name ?? "");
    if (names?.size === 0) byId.delete(id);
  };
  const index = (node: Node): void => {
    const id = node.spec?.providerID ?? "";
    if (id === "") return;
    const names = byId.get(id) ?? new Set<string>();
    names.add(node.metadata.name ?? "");
    byId.set(id, names);
  };
  const all = (): readonly Node[] => {
    sorted ??= [...nodes.values()].sort(byName);
    return sorted;
  };
  return {
    byName: (name) => nodes.get(name),
    byProviderId: (id) =>
      [...(byId.get(id) ?? [])].sort().flatMap((name) => {
        const node = nodes.get(name);
        return node ? [node] : [];
      }),
    controlPlane: () => all().filter((node) => node.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined),
    all,
    put(node) {
      const name = node.metadata.name ?? "";
      const before = nodes.get(name);
      if (before) unindex(before);
      nodes.set(name, node);
      index(node);
      sorted = undefined;
      return before;
    },
    drop(name) {
      const before = nodes.get(name);
      if (before) unindex(before);
      nodes.delete(name);
      sorted = undefined;
    },
  };
}

export interface PodStore extends ControlPlanePodsView {
  put(pod: Pod): Pod | undefined;
  drop(name: string): void;
}

export function podStore(): PodStore {
  const pods = new Map<string, Pod>();
  return {
    byName: (name) => pods.get(name),
    all: () => [...pods.values()].sort(byName),
    put(pod) {
      const before = pods.get(pod.metadata.name ?? "");
      pods.set(pod.metadata.name ?? "", pod);
      return before;
    },
    drop: (name) => {
      pods.delete(name);
    },
  };
}
