// Pods of kube-proxy and CoreDNS: there is no scheduler and no kubelet, so somebody must place them.
// Here: which Pods should be and which should go. Not here: writing them (cluster.ts).
import type { KubeObject } from "../../api/meta/object.ts";
import { resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { nameSuffix, seededRandom } from "../../runtime/base/random.ts";
import type { Client } from "../../runtime/client.ts";
import { addonPod, CONTROL_PLANE_LABEL } from "./objects.ts";

interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}
interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
}
interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
}

const NODES = resource<Node>("", "v1", "Node", "nodes", false);
const PODS = resource<Pod>("", "v1", "Pod", "pods");
const DAEMON_SETS = resource<Workload>("apps", "v1", "DaemonSet", "daemonsets");
const DEPLOYMENTS = resource<Workload>("apps", "v1", "Deployment", "deployments");
const KUBE_SYSTEM = "kube-system";

export interface AddonChange {
  readonly create: readonly { readonly object: KubeObject }[];
  readonly delete: readonly string[];
}

const addressOf = (node: Node): string => node.status?.addresses?.find((a) => a.type === "InternalIP")?.address ?? "";
const ownerOf = (w: Workload) => ({ apiVersion: "apps/v1", kind: w.kind, name: w.metadata.name ?? "", uid: w.metadata.uid ?? "" });
const imageOf = (w: Workload): string => w.spec.template.spec.containers[0]?.image ?? "";
const ofWorkload = (pods: readonly Pod[], w: Workload): readonly Pod[] =>
  pods.filter((p) => p.metadata.ownerReferences?.some((o) => o.uid === w.metadata.uid));

async function orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (e) {
    if (isNotFound(e)) return undefined;
    throw e;
  }
}

/** @param nowMs when the new Pods start, milliseconds since the epoch */
export async function addonPods(client: Client, nowMs: number): Promise<AddonChange> {
  const [nodes, pods] = [await client.list(NODES), await client.list(PODS, { namespace: KUBE_SYSTEM })];
  const proxy = await orAbsent(client.get(DAEMON_SETS, { namespace: KUBE_SYSTEM, name: "kube-proxy" }));
  const dns = await orAbsent(client.get(DEPLOYMENTS, { namespace: KUBE_SYSTEM, name: "coredns" }));
  const live = nodes.items.filter((n) => n.metadata.deletionTimestamp === undefined);
  const pod = (w: Workload, node: Node, name: string, label: string, hostNetwork: boolean) => ({
    object: addonPod(
      { node: node.metadata.name ?? "", owner: ownerOf(w), image: imageOf(w), labels: { "k8s-app": label }, name, hostNetwork },
      nowMs,
      addressOf(node),
    ),
  });

  const create: { object: KubeObject }[] = [];
  if (proxy) {
    const placed = new Set(ofWorkload(pods.items, proxy).map((p) => p.spec.nodeName));
    for (const node of live) {
      if (!placed.has(node.metadata.name))
        create.push(pod(proxy, node, `kube-proxy-${suffixOf(node.metadata.name ?? "")}`, "kube-proxy", true));
    }
  }
  if (dns) {
    // Workers first, as CoreDNS tolerates control planes but a scheduler spreads it.
    const takers = live.filter((n) => !n.spec?.unschedulable).sort((a, b) => Number(isControlPlane(a)) - Number(isControlPlane(b)));
    const placed = new Set(ofWorkload(pods.items, dns).map((p) => p.metadata.name));
    const wanted = Array.from({ length: takers.length > 0 ? (dns.spec.replicas ?? 1) : 0 }, (_, i) => `coredns-${suffixOf(String(i))}`);
    for (const [i, name] of wanted.entries()) {
      if (!placed.has(name)) create.push(pod(dns, takers[i % takers.length] as Node, name, "kube-dns", false));
    }
  }
  const names = new Set(nodes.items.map((n) => n.metadata.name));
  const orphans = pods.items.filter((p) => p.spec.nodeName !== undefined && !names.has(p.spec.nodeName));
  return { create, delete: orphans.map((p) => p.metadata.name ?? "") };
}

// The same place gets the same name: whoever looks at the same time makes the same Pod, not a second one.
const suffixOf = (place: string): string =>
  nameSuffix(seededRandom([...place].reduce((h, c) => (Math.imul(h, 31) + (c.codePointAt(0) ?? 0)) >>> 0, 7)));

const isControlPlane = (node: Node): boolean => node.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
