// What an upgrade writes into the workload cluster: kubeadm-config and RBAC before Machines change, kube-proxy afterwards. Here: effects.
// Not here: the texts (cluster-configuration.ts, images.ts), CoreDNS (coredns.ts). Source: spec/controllers/workload-cluster.md section 6.
import { type ConfigMap, configMapResource, daemonSetResource, clusterRoleBindingResource } from "../../api/core/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { apiVersionOf, type ObjectKey, type Resource } from "../../api/meta/resource.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/meta/status.ts";
import { skipKubeProxyAnnotation } from "../../api/names.ts";
import type { Client } from "../../runtime/client.ts";
import { parseVersion } from "../rollout/versions.ts";
import type { WorkloadCluster } from "../workload/seam.ts";
import { upgradedClusterConfiguration } from "./cluster-configuration.ts";
import { proxyImage } from "./images.ts";
import { hasAnnotation } from "./machines.ts";
import type { ControlPlaneView } from "./view.ts";

const KUBE_SYSTEM = "kube-system";
export const kubeadmConfigKey: ObjectKey = { namespace: KUBE_SYSTEM, name: "kubeadm-config" };
/** Two writers meet rarely here. */
const CONFLICTS_MAX = 5;

/** Before each step of a rollout: joining machines read these. */
export async function prepareUpgrade(view: ControlPlaneView, { client }: WorkloadCluster): Promise<void> {
  await ensureKubeletClientRbac(view, client);
  await changeClusterConfiguration(client, (text) => upgradedClusterConfiguration(text, view.kcp));
}

/** kubeadm before 1.38 expects the API server's access to kubelets by user; older clusters have it by group only. */
async function ensureKubeletClientRbac({ kcp }: ControlPlaneView, client: Client): Promise<void> {
  const { major, minor } = parseVersion(kcp.spec.version);
  if (major > 1 || minor >= 38) return;
  const name = "kubeadm:apiserver-kubelet-client";
  if (await orAbsent(client, clusterRoleBindingResource, { namespace: "", name })) return;
  const group = clusterRoleBindingResource.group;
  const binding = {
    apiVersion: apiVersionOf(clusterRoleBindingResource),
    kind: clusterRoleBindingResource.kind,
    metadata: { name },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "system:kubelet-api-admin" },
    subjects: [{ apiGroup: group, kind: "User", name: "kube-apiserver-kubelet-client" }],
  };
  await client.create(clusterRoleBindingResource, binding).catch((e: unknown) => {
    if (!isAlreadyExists(e)) throw e;
  });
}

/** Reads, changes and writes kubeadm-config; asked again with the newest text when somebody else was faster. */
export async function changeClusterConfiguration(client: Client, change: (text: string | undefined) => string | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const map: ConfigMap = await client.get(configMapResource, kubeadmConfigKey);
    const text = change(map.data?.ClusterConfiguration);
    if (text === undefined) return;
    try {
      await client.update(configMapResource, { ...map, data: { ...map.data, ClusterConfiguration: text } });
      return;
    } catch (e) {
      if (!isConflict(e) || attempt === CONFLICTS_MAX) throw e;
    }
  }
}

export async function orAbsent<K extends KubeObject>(client: Client, resource: Resource<K>, key: ObjectKey): Promise<K | undefined> {
  try {
    return await client.get(resource, key);
  } catch (e) {
    if (isNotFound(e)) return undefined;
    throw e;
  }
}

/** Once all Machines are at the version. */
export async function updateKubeProxy({ kcp }: ControlPlaneView, { client }: WorkloadCluster): Promise<void> {
  if (hasAnnotation(kcp, skipKubeProxyAnnotation)) return;
  const key = { namespace: KUBE_SYSTEM, name: "kube-proxy" };
  const set = await orAbsent(client, daemonSetResource, key);
  const containers = set?.spec?.template.spec?.containers ?? [];
  const container = containers.find((c) => c.name === "kube-proxy");
  if (!container?.image) return;
  const image = proxyImage(container.image, kcp.spec.version, kcp.spec.kubeadmConfigSpec?.clusterConfiguration?.imageRepository);
  if (image === container.image) return;
  const changed = containers.map((c) => (c === container ? { ...c, image } : c));
  await client.patch(daemonSetResource, key, { type: "merge", body: { spec: { template: { spec: { containers: changed } } } } });
}
