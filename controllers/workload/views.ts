// Cached Nodes and control plane Pods of one workload cluster. Here: which objects are watched, their indexes, the read views.
// Not here: when watching begins and ends (clusters.ts), the store and the watch themselves (runtime).
import { type Node, nodeResource, type Pod, podResource } from "../../api/core/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { nodeRoleControlPlaneLabel } from "../../api/names.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Random } from "../../runtime/base/random.ts";
import { type Change, index } from "../../runtime/cache.ts";
import type { Client } from "../../runtime/client.ts";
import { createReflector } from "../../runtime/reflector.ts";
import { Store } from "../../runtime/store.ts";
import type { ControlPlanePodsView, NodesView } from "./seam.ts";

const CONTROL_PLANE_PODS = "tier=control-plane,component in (kube-apiserver,kube-controller-manager,kube-scheduler,etcd)";
const SYSTEM_NAMESPACE = "kube-system";

const byProviderId = index(nodeResource, "providerID", (node) => (node.spec?.providerID ? [node.spec.providerID] : []));
const byRole = index(nodeResource, "controlPlane", (node) =>
  node.metadata.labels?.[nodeRoleControlPlaneLabel] === undefined ? [] : ["true"],
);

export interface WatchTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** One kind kept in a store until `stop`. */
export interface Watched<K extends KubeObject> {
  readonly store: Store<K>;
  /** Settles once the first list is there. */
  readonly synced: Promise<void>;
  stop(): void;
}

function watchKind<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  tools: WatchTools,
  onChange: (change: Change<K>) => void,
  namespace?: string,
): Watched<K> {
  const store = new Store<K>();
  store.onChange(onChange);
  const synced = new Promise<void>((done) => store.onSeen(() => store.synced() && done()));
  const reflector = createReflector({ ...tools, client, resource, store, namespace });
  reflector.start();
  return { store, synced, stop: () => reflector.stop() };
}

export const watchNodes = (client: Client, tools: WatchTools, onChange: (change: Change<Node>) => void): Watched<Node> =>
  watchKind(client, nodeResource, tools, onChange);

export const watchControlPlanePods = (client: Client, tools: WatchTools, onChange: (change: Change<Pod>) => void): Watched<Pod> =>
  watchKind(selecting(client, CONTROL_PLANE_PODS), podResource, tools, onChange, SYSTEM_NAMESPACE);

/** The same client, whose lists and watches are narrowed by a label selector. */
const selecting = (client: Client, labelSelector: string): Client => ({
  ...client,
  list: (resource, options) => client.list(resource, { ...options, labelSelector }),
  watch: (resource, options, handler) => client.watch(resource, { ...options, labelSelector }, handler),
});

export const nodesView = (store: Store<Node>): NodesView => ({
  byName: (name) => store.get({ namespace: "", name }),
  byProviderId: (id) => store.by(byProviderId, id),
  controlPlane: () => store.by(byRole, "true"),
  all: () => store.list(),
});

export const controlPlanePodsView = (store: Store<Pod>): ControlPlanePodsView => ({
  byName: (name) => store.get({ namespace: SYSTEM_NAMESPACE, name }),
  all: () => store.list(),
});
