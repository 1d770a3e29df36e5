// Kinds of workload clusters as the controllers read them: Node and Pod reduced to the fields in use, and what drain looks at.
// Here: types and resources. Not here: how they are cached (views.ts). Source: core/v1, policy/v1, apps/v1, storage/v1; spec/controllers/workload-cluster.md.
import type { KubeObject } from "../../api/meta/object.ts";
import { resource } from "../../api/meta/resource.ts";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly timeAdded?: string;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Ten texts that are all required, and swap. */
export interface NodeSystemInfo {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeProxyVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly systemUUID: string;
  readonly swap?: { readonly capacity?: number };
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
    readonly podCIDR?: string;
  };
  readonly status?: {
    readonly conditions?: readonly NodeCondition[];
    readonly nodeInfo?: NodeSystemInfo;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly volumesAttached?: readonly { readonly name: string; readonly devicePath?: string }[];
  };
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly {
      readonly name: string;
      readonly emptyDir?: object;
      readonly persistentVolumeClaim?: { readonly claimName: string };
      readonly ephemeral?: object;
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly NodeCondition[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready?: boolean;
      readonly state?: ContainerState;
      readonly lastState?: ContainerState;
    }[];
  };
}

export interface DaemonSet extends KubeObject {
  readonly spec?: object;
}

export interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName?: string; readonly inlineVolumeSpec?: object };
  };
  readonly status?: { readonly attached?: boolean };
}

export interface PersistentVolume extends KubeObject {
  readonly spec?: {
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
  };
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64 by key. */
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const Nodes = resource<Node>("", "v1", "Node", "nodes", false);
export const Pods = resource<Pod>("", "v1", "Pod", "pods");
export const Namespaces = resource<Namespace>("", "v1", "Namespace", "namespaces", false);
export const Secrets = resource<Secret>("", "v1", "Secret", "secrets");
export const ConfigMaps = resource<ConfigMap>("", "v1", "ConfigMap", "configmaps");
export const DaemonSets = resource<DaemonSet>("apps", "v1", "DaemonSet", "daemonsets");
export const VolumeAttachments = resource<VolumeAttachment>("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false);
export const PersistentVolumes = resource<PersistentVolume>("", "v1", "PersistentVolume", "persistentvolumes", false);
