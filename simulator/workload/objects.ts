// Objects of a simulated workload cluster as kubeadm and a kubelet would make them.
// Here: pure builders. Not here: when they are written (cluster.ts). Source: spec/controllers/workload-cluster.md sections 3, 4, 6.
import type { KubeObject } from "../../api/meta/object.ts";
import { timestamp } from "../../runtime/base/clock.ts";

export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

export const COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
export type Component = (typeof COMPONENTS)[number];

const REPOSITORY = "registry.k8s.io";
// What kubeadm 1.35 pairs with its control planes; only shown, and read back when an upgrade changes it.
const ETCD_TAG = "3.6.5-0";
const COREDNS_TAG = "v1.12.1";

export interface NodeFacts {
  readonly name: string;
  readonly providerId: string;
  /** With the leading v. */
  readonly version: string;
  readonly controlPlane: boolean;
  readonly address: string;
  readonly bootId: string;
  readonly ready: boolean;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export function nodeStatus(facts: NodeFacts, nowMs: number): object {
  const time = timestamp(nowMs);
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  return {
    addresses: [
      { type: "InternalIP", address: facts.address },
      { type: "Hostname", address: facts.name },
    ],
    capacity: { cpu: "4", memory: "8Gi", pods: "110" },
    allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
    conditions: [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      facts.ready
        ? condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
        : condition("Ready", "False", "KubeletNotReady", "kubelet is starting"),
    ],
    nodeInfo: {
      architecture: "amd64",
      bootID: facts.bootId,
      containerRuntimeVersion: "containerd://2.1.4",
      kernelVersion: "6.12.0",
      kubeProxyVersion: "",
      kubeletVersion: facts.version,
      machineID: facts.name,
      operatingSystem: "linux",
      osImage: "Simulated Linux",
      systemUUID: facts.name,
    },
  };
}

export function nodeObject(facts: NodeFacts, nowMs: number): KubeObject {
  const role = facts.controlPlane ? { [CONTROL_PLANE_LABEL]: "" } : {};
  const taints = facts.taints ?? (facts.controlPlane ? [{ key: CONTROL_PLANE_LABEL, effect: "NoSchedule" }] : []);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: facts.name,
      labels: { "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": facts.name, "kubernetes.io/os": "linux", ...role },
    },
    spec: { providerID: facts.providerId, ...(taints.length > 0 ? { taints } : {}) },
    status: nodeStatus(facts, nowMs),
  } as KubeObject;
}

const IMAGE_PULL_TAG = (version: string): string => version.replace("+", "_");

export function imageOf(component: Component, version: string, repository = REPOSITORY): string {
  return component === "etcd" ? `${repository}/etcd:${ETCD_TAG}` : `${repository}/${component}:${IMAGE_PULL_TAG(version)}`;
}

export function podStatus(name: string, image: string, ready: boolean, nowMs: number, address: string): object {
  const time = timestamp(nowMs);
  const status = ready ? "True" : "False";
  const condition = (type: string, value: string): object => ({ type, status: value, lastTransitionTime: time, lastProbeTime: null });
  return {
    phase: "Running",
    hostIP: address,
    podIP: address,
    startTime: time,
    conditions: [
      condition("PodReadyToStartContainers", "True"),
      condition("Initialized", "True"),
      condition("Ready", status),
      condition("ContainersReady", status),
      condition("PodScheduled", "True"),
    ],
    containerStatuses: [
      {
        name,
        image,
        imageID: image,
        ready,
        started: ready,
        restartCount: 0,
        state: ready ? { running: { startedAt: time } } : { waiting: { reason: "ContainerCreating" } },
        lastState: {},
      },
    ],
  };
}

export function staticPod(component: Component, node: string, image: string, ready: boolean, nowMs: number, address: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${component}-${node}`,
      namespace: "kube-system",
      labels: { component, tier: "control-plane" },
      annotations: { "kubernetes.io/config.source": "file", "kubernetes.io/config.mirror": component },
    },
    spec: {
      nodeName: node,
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      containers: [{ name: component, image, command: [component] }],
      tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    },
    status: podStatus(component, image, ready, nowMs, address),
  } as KubeObject;
}

const KUBE_SYSTEM = "kube-system";

export function kubeProxyDaemonSet(version: string): KubeObject {
  const labels = { "k8s-app": "kube-proxy" };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "kube-proxy", namespace: KUBE_SYSTEM, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { hostNetwork: true, containers: [{ name: "kube-proxy", image: `${REPOSITORY}/kube-proxy:${IMAGE_PULL_TAG(version)}` }] },
      },
    },
  } as KubeObject;
}

const COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;

export function coreDns(): readonly KubeObject[] {
  const labels = { "k8s-app": "kube-dns" };
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "coredns", namespace: KUBE_SYSTEM }, data: { Corefile: COREFILE } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "coredns", namespace: KUBE_SYSTEM, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: "coredns",
                image: `${REPOSITORY}/coredns/coredns:${COREDNS_TAG}`,
                volumeMounts: [{ name: "config-volume", mountPath: "/etc/coredns", readOnly: true }],
              },
            ],
            volumes: [{ name: "config-volume", configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] } }],
          },
        },
      },
    },
  ] as readonly object[] as readonly KubeObject[];
}

/** @param clusterConfiguration YAML, as kubeadm uploads it */
export function kubeadmConfig(clusterConfiguration: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kubeadm-config", namespace: KUBE_SYSTEM },
    data: { ClusterConfiguration: clusterConfiguration },
  } as KubeObject;
}

export function kubeadmRbac(): readonly KubeObject[] {
  const rbac = "rbac.authorization.k8s.io";
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: "kubeadm:get-nodes" },
      rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "kubeadm:get-nodes" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "kubeadm:get-nodes" },
      subjects: [{ apiGroup: rbac, kind: "Group", name: "system:bootstrappers:kubeadm:default-node-token" }],
    },
  ] as readonly object[] as readonly KubeObject[];
}

export interface AddonPod {
  readonly node: string;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly name: string;
  readonly hostNetwork: boolean;
}

/** A Pod that a DaemonSet or Deployment of kube-system would have, born running: there is no scheduler and no kubelet. */
export function addonPod(pod: AddonPod, nowMs: number, address: string): KubeObject {
  const container = pod.labels["k8s-app"] ?? pod.name;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: pod.name,
      namespace: KUBE_SYSTEM,
      labels: pod.labels,
      ownerReferences: [{ ...pod.owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: { nodeName: pod.node, hostNetwork: pod.hostNetwork, containers: [{ name: container, image: pod.image }] },
    status: podStatus(container, pod.image, true, nowMs, address),
  } as KubeObject;
}
