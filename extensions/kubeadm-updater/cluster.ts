// ClusterAccess: what the updater reads and writes in the workload cluster. Here: the seam and its form over a Client.
// Source: spec/runtime/kubeadm-updater.md sections 2, 4, 10.
import { type ConfigMap, type Node, nodeResource, type Pod, podResource, configMapResource } from "../../api/core/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { type Resource, resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { Client } from "../../runtime/client.ts";

export interface NodeFacts {
  readonly name: string;
  readonly ready: boolean;
  readonly kubeletVersion: string;
  readonly unschedulable: boolean;
}

export interface ClusterAccess {
  nodeByProviderId(providerId: string): Promise<NodeFacts | undefined>;
  /** `kubernetesVersion` of kubeadm-config's ClusterConfiguration. */
  kubeadmConfigVersion(): Promise<string | undefined>;
  /** Image tags of the kube-apiserver Pods, sorted. */
  apiServerVersions(): Promise<readonly string[]>;
  /** True when the static Pods of the Node run and are ready. */
  controlPlaneReady(node: string): Promise<boolean>;
  cordon(node: string, unschedulable: boolean): Promise<void>;
  /** Asks for eviction of every Pod a drain would move. @returns how many are left */
  evict(node: string): Promise<number>;
}

/** Resolves to the cluster a Machine belongs to; rejects when it cannot be reached. */
export type OpenCluster = (cluster: { readonly namespace: string; readonly name: string }) => Promise<ClusterAccess>;

const KUBE_SYSTEM = "kube-system";
const CONTROL_PLANE_COMPONENTS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const evictionResource = (name: string): Resource => resource("", "v1", "Eviction", `pods/${name}/eviction`);

const factsOf = (node: Node): NodeFacts => ({
  name: node.metadata.name ?? "",
  ready: node.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false,
  kubeletVersion: node.status?.nodeInfo?.kubeletVersion ?? "",
  unschedulable: node.spec?.unschedulable ?? false,
});

const isReady = (pod: Pod): boolean => pod.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;

// Mirror Pods cannot be moved, DaemonSets put theirs back at once.
const canBeMoved = (pod: Pod): boolean =>
  pod.metadata.annotations?.["kubernetes.io/config.mirror"] === undefined &&
  !pod.metadata.ownerReferences?.some((o) => o.kind === "DaemonSet" && o.controller === true) &&
  pod.metadata.deletionTimestamp === undefined;

export function clusterAccess(client: Client): ClusterAccess {
  return {
    async nodeByProviderId(providerId) {
      const { items } = await client.list<Node>(nodeResource);
      const found = items.find((n) => n.spec?.providerID === providerId);
      return found && factsOf(found);
    },
    async kubeadmConfigVersion() {
      try {
        const map = await client.get<ConfigMap>(configMapResource, { namespace: KUBE_SYSTEM, name: "kubeadm-config" });
        return /^kubernetesVersion:\s*"?([^"\s]+)/m.exec(map.data?.ClusterConfiguration ?? "")?.[1];
      } catch (e) {
        if (isNotFound(e)) return undefined;
        throw e;
      }
    },
    async apiServerVersions() {
      const { items } = await client.list<Pod>(podResource, {
        namespace: KUBE_SYSTEM,
        labelSelector: "component=kube-apiserver,tier=control-plane",
      });
      const tags = items.flatMap((p) => p.spec?.containers?.map((c) => c.image?.split(":").at(-1) ?? "") ?? []);
      return tags.sort();
    },
    async controlPlaneReady(node) {
      const { items } = await client.list<Pod>(podResource, {
        namespace: KUBE_SYSTEM,
        fieldSelector: `spec.nodeName=${node}`,
        labelSelector: "tier=control-plane",
      });
      return CONTROL_PLANE_COMPONENTS.every((c) => items.some((p) => p.metadata.labels?.component === c && isReady(p)));
    },
    async cordon(node, unschedulable) {
      await client.patch(
        nodeResource,
        { namespace: "", name: node },
        { type: "merge", body: { spec: { unschedulable: unschedulable || null } } },
      );
    },
    async evict(node) {
      const { items } = await client.list<Pod>(podResource, { fieldSelector: `spec.nodeName=${node}` });
      const movable = items.filter(canBeMoved);
      for (const pod of movable) await evictOne(client, pod);
      return movable.length;
    },
  };
}

async function evictOne(client: Client, pod: KubeObject): Promise<void> {
  const { namespace = "", name = "" } = pod.metadata;
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  // 429: a disruption budget says not now; the next look tries again.
  await client.create(evictionResource(name), eviction).catch((e: unknown) => {
    if (!isNotFound(e) && (e as { code?: number }).code !== 429) throw e;
  });
}
