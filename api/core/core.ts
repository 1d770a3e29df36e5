// Kinds of the core group (v1) that controllers touch: the fields they read or write, nothing more.
// Not here: their schemas (apiserver). Source: k8s.io/api core/v1.
import type { IntOrString, KubeObject } from "../meta/object.ts";
import { type Resource, resource } from "../meta/resource.ts";

const core = <K extends KubeObject>(kind: string, plural: string, namespaced = true): Resource<K> =>
  resource<K>("", "v1", kind, plural, namespaced);

export interface CoreTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

/** Conditions of core kinds: older than metav1.Condition, reason and message are optional. */
export interface CoreCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastProbeTime?: string;
}

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
    readonly taints?: readonly CoreTaint[];
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly CoreCondition[];
    readonly nodeInfo?: NodeSystemInfo;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly capacity?: Readonly<Record<string, IntOrString>>;
    readonly allocatable?: Readonly<Record<string, IntOrString>>;
    readonly volumesAttached?: readonly { readonly name: string; readonly devicePath: string }[];
  };
}
export const nodeResource = core<Node>("Node", "nodes", false);

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
}
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}
export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly emptyDir?: object;
  readonly configMap?: {
    readonly name?: string;
    readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
  };
  readonly secret?: { readonly secretName?: string };
}
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly volumes?: readonly Volume[];
  readonly tolerations?: readonly Toleration[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly serviceAccountName?: string;
  readonly hostNetwork?: boolean;
  readonly dnsPolicy?: string;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
}
export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image?: string;
  readonly imageID?: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: { readonly reason?: string; readonly message?: string; readonly exitCode: number };
  };
  /** How the container ended last. */
  readonly lastState?: { readonly terminated?: { readonly reason?: string; readonly message?: string; readonly exitCode: number } };
}
export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    readonly conditions?: readonly CoreCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly podIP?: string;
    readonly hostIP?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly startTime?: string;
  };
}
export const podResource = core<Pod>("Pod", "pods");
export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: PodSpec;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const secretResource = core<Secret>("Secret", "secrets");

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const configMapResource = core<ConfigMap>("ConfigMap", "configmaps");

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: "Active" | "Terminating"; readonly conditions?: readonly CoreCondition[] };
}
export const namespaceResource = core<Namespace>("Namespace", "namespaces", false);

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}
export interface KubeEvent extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly reason?: string;
  readonly message?: string;
  readonly type?: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly count?: number;
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}
export const eventResource = core<KubeEvent>("Event", "events");

export interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly ObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}
export const serviceAccountResource = core<ServiceAccount>("ServiceAccount", "serviceaccounts");

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: IntOrString;
      readonly protocol?: string;
    }[];
  };
}
export const serviceResource = core<Service>("Service", "services");

export interface PersistentVolume extends KubeObject {
  readonly spec?: {
    readonly claimRef?: ObjectReference;
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
    readonly capacity?: Readonly<Record<string, IntOrString>>;
  };
}
export const persistentVolumeResource = core<PersistentVolume>("PersistentVolume", "persistentvolumes", false);

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: { readonly volumeName?: string; readonly storageClassName?: string };
}
export const persistentVolumeClaimResource = core<PersistentVolumeClaim>("PersistentVolumeClaim", "persistentvolumeclaims");
