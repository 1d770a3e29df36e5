// The objects of a simulated rollout: a Cluster with simulated infrastructure, its control plane, its workers, and the changes to them.
// Here: how they look. Not here: what happens to them (run.ts).
import type { KubeObject } from "../../api/meta/object.ts";
import type { RolloutSettings } from "./settings.ts";

export const NAMESPACE = "default";
export const CLUSTER = "demo";
export const WORKERS = "workers";
export const CONTROL_PLANE = "control-plane";

type Spec = Readonly<Record<string, unknown>>;

const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const BOOTSTRAP = "bootstrap.cluster.x-k8s.io";
const CONTROL_PLANE_GROUP = "controlplane.cluster.x-k8s.io";

const made = (group: string, kind: string, name: string, spec: Spec): KubeObject =>
  ({ apiVersion: `${group}/v1beta2`, kind, metadata: { name, namespace: NAMESPACE }, spec }) as KubeObject;

const ref = (apiGroup: string, kind: string, name: string): Spec => ({ apiGroup, kind, name });

/** @param variant another number is another machine, which no updater makes of this one */
function machineTemplate(name: string, variant: number): KubeObject {
  const start = (seconds: number): Spec => ({ provisioning: { startupDuration: `${seconds}s` } });
  const inMemory = { vm: start(30 + variant), node: start(15), apiServer: start(10), etcd: start(10) };
  return made(INFRASTRUCTURE, "DevMachineTemplate", name, { template: { spec: { backend: { inMemory } } } });
}

/** @param content another one is a change that the updater can make */
const files = (content: number): readonly Spec[] => [
  { path: "/etc/motd", owner: "root:root", permissions: "0644", content: `number ${content}` },
];

const configTemplate = (name: string, content: number): KubeObject =>
  made(BOOTSTRAP, "KubeadmConfigTemplate", name, { template: { spec: { files: files(content) } } });

function cluster(): readonly KubeObject[] {
  return [
    made("cluster.x-k8s.io", "Cluster", CLUSTER, {
      clusterNetwork: {
        pods: { cidrBlocks: ["10.200.0.0/16"] },
        services: { cidrBlocks: ["10.201.0.0/16"] },
        serviceDomain: "cluster.local",
      },
      infrastructureRef: ref(INFRASTRUCTURE, "DevCluster", CLUSTER),
      controlPlaneRef: ref(CONTROL_PLANE_GROUP, "KubeadmControlPlane", CONTROL_PLANE),
    }),
    made(INFRASTRUCTURE, "DevCluster", CLUSTER, { backend: { inMemory: {} } }),
  ];
}

/** How often the template was changed, and in what: the state of the simulated user's files. */
export interface Wanted {
  readonly replicas: number;
  readonly content: number;
  readonly variant: number;
}

const rollingUpdate = ({ maxSurge, maxUnavailable }: RolloutSettings): Spec => ({
  ...(maxSurge === undefined ? {} : { maxSurge }),
  ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
});

function controlPlane(replicas: number, rollout: Spec | undefined, { content, variant }: Wanted): readonly KubeObject[] {
  const name = `${CONTROL_PLANE}-${variant}`;
  return [
    machineTemplate(name, variant),
    made(CONTROL_PLANE_GROUP, "KubeadmControlPlane", CONTROL_PLANE, {
      replicas,
      version: "v1.35.0",
      ...(rollout ? { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: rollout } } } : {}),
      machineTemplate: { spec: { infrastructureRef: ref(INFRASTRUCTURE, "DevMachineTemplate", name) } },
      kubeadmConfigSpec: { files: files(content) },
    }),
  ];
}

function workers(settings: RolloutSettings, { replicas, content, variant }: Wanted): readonly KubeObject[] {
  const labels = { "cluster.x-k8s.io/cluster-name": CLUSTER, "cluster.x-k8s.io/deployment-name": WORKERS };
  const onDelete = settings.mode === "on-delete";
  const infrastructure = `${WORKERS}-${variant}`;
  const bootstrap = `${WORKERS}-${content}`;
  return [
    machineTemplate(infrastructure, variant),
    configTemplate(bootstrap, content),
    made("cluster.x-k8s.io", "MachineDeployment", WORKERS, {
      clusterName: CLUSTER,
      replicas,
      rollout: { strategy: onDelete ? { type: "OnDelete" } : { type: "RollingUpdate", rollingUpdate: rollingUpdate(settings) } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          clusterName: CLUSTER,
          version: "v1.35.0",
          bootstrap: { configRef: ref(BOOTSTRAP, "KubeadmConfigTemplate", bootstrap) },
          infrastructureRef: ref(INFRASTRUCTURE, "DevMachineTemplate", infrastructure),
        },
      },
    }),
  ];
}

/** What the user applies to have it so. */
export function manifests(settings: RolloutSettings, wanted: Wanted): readonly KubeObject[] {
  if (settings.kind === "kubeadmcontrolplane") return [...cluster(), ...controlPlane(wanted.replicas, rollingUpdate(settings), wanted)];
  const first = { replicas: 1, content: 1, variant: 1 };
  return [...cluster(), ...controlPlane(1, undefined, first), ...workers(settings, wanted)];
}
