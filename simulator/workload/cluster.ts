// One simulated workload cluster: its API server, its etcd, its Nodes and Pods.
// Here: what joining, changing and leaving machines do to it; every function may be repeated. Not here: when (../provider), hosts (../host).
// Source: spec/controllers/dev-provider.md, workload-cluster.md.
import type { KubeObject } from "../../api/meta/object.ts";
import { type ObjectKey, type Resource, resource } from "../../api/meta/resource.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import type { ApiResponse, Transport } from "../../api/meta/transport.ts";
import type { EtcdApi } from "../../controllers/workload/seam.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { Random } from "../../runtime/base/random.ts";
import type { Client } from "../../runtime/client.ts";
import { addonPods } from "./addons.ts";
import { addMember, type EtcdState, elect, etcdApi, newEtcd, setRunning, startMember } from "./etcd.ts";
import {
  type Component,
  coreDns,
  imageOf,
  kubeadmConfig,
  kubeadmRbac,
  kubeProxyDaemonSet,
  type NodeFacts,
  nodeObject,
  nodeStatus,
  podStatus,
  staticPod,
} from "./objects.ts";
import type { StateStore } from "./state.ts";

const any = (group: string, version: string, kind: string, plural: string, namespaced = true): Resource =>
  resource(group, version, kind, plural, namespaced);
export const NODES = any("", "v1", "Node", "nodes", false);
export const PODS = any("", "v1", "Pod", "pods");
const RESOURCES: Readonly<Record<string, Resource>> = {
  Node: NODES,
  Pod: PODS,
  ConfigMap: any("", "v1", "ConfigMap", "configmaps"),
  Namespace: any("", "v1", "Namespace", "namespaces", false),
  DaemonSet: any("apps", "v1", "DaemonSet", "daemonsets"),
  Deployment: any("apps", "v1", "Deployment", "deployments"),
  ClusterRole: any("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
  ClusterRoleBinding: any("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false),
};
const KUBE_SYSTEM = "kube-system";
const NOT_READY_TAINT = "node.kubernetes.io/not-ready";
const CERTIFICATE_VALID_MS = 365 * 24 * 3_600_000;

interface ApiInstance {
  readonly node: string;
  readonly certificateNotAfterMs: number;
}

/** What is kept of a cluster besides its objects. */
export interface ClusterState {
  readonly etcd: EtcdState;
  readonly apiServers: readonly ApiInstance[];
  /** Of the endpoint; 0 = none yet. */
  readonly port: number;
}

export interface SimulatedClusterParts {
  readonly key: ObjectKey;
  readonly clock: Clock;
  readonly random: Random;
  readonly state: StateStore;
  /** The workload cluster's API, whether one of its API servers is up or not. */
  readonly api: Transport;
  /** Writes as kubelet and kubeadm do, past the endpoint. */
  readonly client: Client;
}

export type SimulatedCluster = ReturnType<typeof simulatedCluster>;

const KIND = "clusters";

export function simulatedCluster(parts: SimulatedClusterParts) {
  const { key, clock, random, state, client } = parts;
  const read = (): ClusterState => {
    const kept = state.get<ClusterState>(KIND, key);
    if (kept) return kept;
    const fresh: ClusterState = { etcd: newEtcd(newId()), apiServers: [], port: 0 };
    state.put(KIND, key, fresh);
    return fresh;
  };
  const newId = (): string => String(Math.floor(random.next() * 2 ** 53));
  const write = (next: ClusterState): void => state.put(KIND, key, next);
  const change = (part: Partial<ClusterState>): void => write({ ...read(), ...part });

  const create = async (object: KubeObject): Promise<KubeObject> => {
    const r = RESOURCES[object.kind] as Resource;
    const name = { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
    const there = await orAbsent(client.get(r, name));
    if (there) return there;
    const status = (object as { status?: object }).status;
    const made = await client.create(r, object).catch((e: unknown) => (isAlreadyExists(e) ? client.get(r, name) : Promise.reject(e)));
    return status ? client.patch(r, name, { type: "merge", body: { status } }, { subresource: "status" }) : made;
  };
  const remove = (r: Resource, name: string, namespace = ""): Promise<void> =>
    client.delete(r, { namespace, name }, { gracePeriodSeconds: 0 }).catch((e: unknown) => (isNotFound(e) ? undefined : Promise.reject(e)));

  const running = (): boolean => {
    const { apiServers, etcd } = read();
    return apiServers.some((a) => etcd.members.some((m) => m.node === a.node && m.running && m.started));
  };

  /** The API as a client reaches it through the endpoint: refused while no API server with a running etcd member is up. */
  const endpoint: Transport = async (request): Promise<ApiResponse> => {
    if (!running()) throw new Error(`connection refused: no API server of cluster ${key.namespace}/${key.name} is up`);
    return parts.api(request);
  };

  return {
    key,
    endpoint,
    read,
    running,
    setPort: (port: number) => change({ port }),
    forget: () => state.delete(KIND, key),

    async ensureNode(facts: NodeFacts): Promise<void> {
      const node = (await create(nodeObject(facts, clock.nowMs()))) as KubeObject & {
        readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
      };
      // A Node is born with this taint; the node lifecycle controller, which there is none of, takes it off a ready one.
      const taints = node.spec?.taints?.filter((t) => t.key !== NOT_READY_TAINT);
      if (facts.ready && taints?.length !== node.spec?.taints?.length) {
        await client.patch(
          NODES,
          { namespace: "", name: facts.name },
          { type: "merge", body: { spec: { taints: taints?.length ? taints : null } } },
        );
      }
    },

    /** What the kubelet reports: version, readiness, boot id. */
    async reportNode(facts: NodeFacts): Promise<void> {
      const status = nodeStatus(facts, clock.nowMs());
      await orAbsent(
        client.patch(NODES, { namespace: "", name: facts.name }, { type: "merge", body: { status } }, { subresource: "status" }),
      );
    },

    /** The member joins as a learner and is promoted; its Pod runs afterwards. */
    async ensureEtcdMember(node: string, version: string, address: string): Promise<void> {
      let { etcd } = read();
      if (!etcd.members.some((m) => m.node === node)) {
        const id = newId();
        etcd = startMember(addMember(etcd, id, node), id);
        change({ etcd: elect(etcd, clock.nowMs()) });
      }
      await create(staticPod("etcd", node, imageOf("etcd", version), true, clock.nowMs(), address));
    },

    async ensureApiServer(node: string, version: string, address: string): Promise<void> {
      const { apiServers } = read();
      if (!apiServers.some((a) => a.node === node)) {
        change({ apiServers: [...apiServers, { node, certificateNotAfterMs: clock.nowMs() + CERTIFICATE_VALID_MS }] });
      }
      for (const component of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const) {
        await create(staticPod(component, node, imageOf(component, version), true, clock.nowMs(), address));
      }
    },

    /** A static Pod as the kubelet mirrors it, with another image or readiness. */
    async reportStaticPod(component: Component, node: string, image: string, ready: boolean, address: string): Promise<void> {
      const name = { namespace: KUBE_SYSTEM, name: `${component}-${node}` };
      const pod = await orAbsent(
        client.get<KubeObject & { spec: { containers: readonly { name: string; image: string }[] } }>(PODS as never, name),
      );
      if (!pod) return;
      if (pod.spec.containers[0]?.image !== image) {
        // A mirror Pod is made anew when its manifest changes.
        await remove(PODS, name.name, name.namespace);
        await create(staticPod(component, node, image, ready, clock.nowMs(), address));
        return;
      }
      const status = podStatus(component, image, ready, clock.nowMs(), address);
      await client.patch(PODS, name, { type: "merge", body: { status } }, { subresource: "status" });
    },

    renewCertificate(node: string): void {
      const renewed = { node, certificateNotAfterMs: clock.nowMs() + CERTIFICATE_VALID_MS };
      change({ apiServers: read().apiServers.map((a) => (a.node === node ? renewed : a)) });
    },

    /** Namespaces, and with a configuration what `kubeadm init` leaves in the cluster. */
    async ensureKubeadmObjects(clusterConfiguration: string, version: string): Promise<void> {
      for (const name of ["default", "kube-node-lease", "kube-public", KUBE_SYSTEM]) {
        await create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      }
      for (const object of [...kubeadmRbac(), kubeadmConfig(clusterConfiguration), kubeProxyDaemonSet(version), ...coreDns()])
        await create(object);
    },

    /** One kube-proxy Pod per Node, CoreDNS on Nodes that can take it: what a scheduler and a kubelet would do. */
    async ensureAddonPods(): Promise<void> {
      const wanted = await addonPods(client, clock.nowMs());
      for (const { object } of wanted.create) await create(object);
      for (const name of wanted.delete) await remove(PODS, name, KUBE_SYSTEM);
    },

    /** Power off: everything of the machine goes; its etcd member stays in the list, silent, until somebody removes it. */
    async removeMachine(node: string): Promise<void> {
      const s = read();
      const member = s.etcd.members.find((m) => m.node === node && m.running);
      const etcd = member ? elect(setRunning(s.etcd, member.id, false), clock.nowMs()) : s.etcd;
      const apiServers = s.apiServers.filter((a) => a.node !== node);
      if (member || apiServers.length !== s.apiServers.length) write({ ...s, etcd, apiServers });
      const pods = await client.list(PODS, { namespace: KUBE_SYSTEM, fieldSelector: `spec.nodeName=${node}` });
      for (const pod of pods.items) await remove(PODS, pod.metadata.name ?? "", KUBE_SYSTEM);
      await remove(NODES, node);
    },

    etcd(node: string): EtcdApi {
      return etcdApi({ read: () => read().etcd, write: (etcd) => change({ etcd }), nowMs: () => clock.nowMs(), version: "3.6.5" }, node);
    },

    certificateNotAfterMs(node: string): number {
      const instance = read().apiServers.find((a) => a.node === node);
      if (!instance) throw new Error(`connection refused: no API server runs on ${node}`);
      return instance.certificateNotAfterMs;
    },
  };
}

const orAbsent = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((e: unknown) => (isNotFound(e) ? undefined : Promise.reject(e)));
