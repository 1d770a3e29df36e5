// kubeadm's own configuration documents, written from our kinds in the version a Kubernetes release reads. Pure.
// Here: ClusterConfiguration, InitConfiguration, JoinConfiguration. Not here: filling them in (../kubeadmconfig), kubeadm-config in a cluster
// (the control plane controller). Source: kubeadm.k8s.io/v1beta3 and v1beta4 as documented for users of kubeadm.
import type { ClusterConfiguration } from "../../api/kubeadm-cluster-configuration.ts";
import type { InitConfiguration, JoinConfiguration, NodeRegistration } from "../../api/kubeadm-node-configuration.ts";

export const kubeadmGroup = "kubeadm.k8s.io";
export type KubeadmVersion = "v1beta3" | "v1beta4";

/** Major, minor, patch of a version such as `v1.35.0-rc.1`; nothing when it is none. */
export function parseVersion(version: string): readonly [number, number, number] | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** From 1.31 on kubeadm reads v1beta4. @throws when the text is no version */
export function kubeadmVersionFor(kubernetesVersion: string): KubeadmVersion {
  const parsed = parseVersion(kubernetesVersion);
  if (!parsed) throw new Error(`"${kubernetesVersion}" is no Kubernetes version: write one such as v1.35.0`);
  const [major, minor] = parsed;
  return major > 1 || minor >= 31 ? "v1beta4" : "v1beta3";
}

type Value = unknown;
type Fields = Readonly<Record<string, Value>>;

const isEmpty = (value: Value): boolean =>
  value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);

/** Without absent fields and without objects that hold nothing; empty lists stay, they mean "none". */
const compact = (fields: Fields): Fields | undefined => {
  const kept = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** `4m0s`, as Go writes durations of whole seconds. */
export function goDuration(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}
const duration = (seconds: number | undefined): string | undefined => (seconds === undefined ? undefined : goDuration(seconds));
const days = (count: number | undefined): string | undefined => (count === undefined ? undefined : `${count * 24}h0m0s`);

interface NameValue {
  readonly name: string;
  readonly value?: string;
}

/** A list in v1beta4, a map before. */
const args = (list: readonly NameValue[] | undefined, version: KubeadmVersion): Value =>
  version === "v1beta4" || list === undefined ? list : Object.fromEntries(list.map(({ name, value }) => [name, value ?? ""]));

const since4 = <T>(value: T, version: KubeadmVersion): T | undefined => (version === "v1beta4" ? value : undefined);

interface Component {
  readonly extraArgs?: readonly NameValue[];
  readonly extraVolumes?: readonly object[];
  readonly extraEnvs?: readonly object[];
}
const component = (c: Component | undefined, version: KubeadmVersion): Fields =>
  c ? { extraArgs: args(c.extraArgs, version), extraVolumes: c.extraVolumes, extraEnvs: since4(c.extraEnvs, version) } : {};

/** What the Cluster and the Machine add to a ClusterConfiguration. */
export interface ClusterFacts {
  readonly clusterName?: string;
  readonly kubernetesVersion?: string;
  readonly controlPlaneEndpoint?: string;
  readonly serviceDomain?: string;
  readonly serviceSubnet?: string;
  readonly podSubnet?: string;
  /** v1beta3 keeps this limit here, v1beta4 in InitConfiguration. */
  readonly controlPlaneComponentHealthCheckSeconds?: number;
}

export function clusterConfigurationDocument(c: ClusterConfiguration | undefined, facts: ClusterFacts, version: KubeadmVersion): Fields {
  const etcd = c?.etcd;
  return {
    apiVersion: `${kubeadmGroup}/${version}`,
    kind: "ClusterConfiguration",
    ...compact({
      apiServer: compact({
        ...component(c?.apiServer, version),
        certSANs: c?.apiServer?.certSANs,
        timeoutForControlPlane: version === "v1beta3" ? duration(facts.controlPlaneComponentHealthCheckSeconds) : undefined,
      }),
      caCertificateValidityPeriod: since4(days(c?.caCertificateValidityPeriodDays), version),
      certificateValidityPeriod: since4(days(c?.certificateValidityPeriodDays), version),
      certificatesDir: c?.certificatesDir,
      clusterName: facts.clusterName,
      controlPlaneEndpoint: c?.controlPlaneEndpoint ?? facts.controlPlaneEndpoint,
      controllerManager: compact(component(c?.controllerManager, version)),
      dns: c?.dns,
      encryptionAlgorithm: since4(c?.encryptionAlgorithm, version),
      etcd: compact({
        local:
          etcd?.local &&
          compact({ ...etcd.local, extraArgs: args(etcd.local.extraArgs, version), extraEnvs: since4(etcd.local.extraEnvs, version) }),
        external: etcd?.external,
      }),
      featureGates: c?.featureGates,
      imageRepository: c?.imageRepository,
      kubernetesVersion: facts.kubernetesVersion,
      networking: compact({ dnsDomain: facts.serviceDomain, podSubnet: facts.podSubnet, serviceSubnet: facts.serviceSubnet }),
      scheduler: compact(component(c?.scheduler, version)),
    }),
  };
}

const nodeRegistration = (n: NodeRegistration | undefined, version: KubeadmVersion): Value =>
  n &&
  compact({
    name: n.name,
    criSocket: n.criSocket,
    taints: n.taints,
    kubeletExtraArgs: args(n.kubeletExtraArgs, version),
    ignorePreflightErrors: n.ignorePreflightErrors,
    imagePullPolicy: n.imagePullPolicy,
    imagePullSerial: since4(n.imagePullSerial, version),
  });

type Timeouts = NonNullable<InitConfiguration["timeouts"]>;
const timeouts = (t: Timeouts | undefined): Value =>
  t &&
  compact({
    controlPlaneComponentHealthCheck: duration(t.controlPlaneComponentHealthCheckSeconds),
    kubeletHealthCheck: duration(t.kubeletHealthCheckSeconds),
    kubernetesAPICall: duration(t.kubernetesAPICallSeconds),
    etcdAPICall: duration(t.etcdAPICallSeconds),
    tlsBootstrap: duration(t.tlsBootstrapSeconds),
    discovery: duration(t.discoverySeconds),
  });

export function initConfigurationDocument(i: InitConfiguration | undefined, version: KubeadmVersion): Fields {
  return {
    apiVersion: `${kubeadmGroup}/${version}`,
    kind: "InitConfiguration",
    ...compact({
      bootstrapTokens: i?.bootstrapTokens?.map(({ ttlSeconds, ...token }) => ({ ...token, ...compact({ ttl: duration(ttlSeconds) }) })),
      localAPIEndpoint: i?.localAPIEndpoint,
      nodeRegistration: nodeRegistration(i?.nodeRegistration, version),
      patches: i?.patches,
      skipPhases: i?.skipPhases,
      timeouts: since4(timeouts(i?.timeouts), version),
    }),
  };
}

export function joinConfigurationDocument(j: JoinConfiguration | undefined, version: KubeadmVersion): Fields {
  const { bootstrapToken, file, tlsBootstrapToken } = j?.discovery ?? {};
  return {
    apiVersion: `${kubeadmGroup}/${version}`,
    kind: "JoinConfiguration",
    ...compact({
      caCertPath: j?.caCertPath,
      // Its presence says how to join, also when it is empty.
      ...(j?.controlPlane ? { controlPlane: { localAPIEndpoint: j.controlPlane.localAPIEndpoint ?? {} } } : {}),
      discovery: compact({
        bootstrapToken,
        file: file && { kubeConfigPath: file.kubeConfigPath },
        tlsBootstrapToken,
        timeout: version === "v1beta3" ? duration(j?.timeouts?.discoverySeconds) : undefined,
      }),
      nodeRegistration: nodeRegistration(j?.nodeRegistration, version),
      patches: j?.patches,
      skipPhases: j?.skipPhases,
      timeouts: since4(timeouts(j?.timeouts), version),
    }),
  };
}
