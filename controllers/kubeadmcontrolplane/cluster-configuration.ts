// kubeadm's ClusterConfiguration as the workload cluster keeps it, and what an upgrade makes of it. Pure text to text.
// Not here: reading and writing the ConfigMap (workload-config.ts). Source: spec/controllers/workload-cluster.md section 6.
import { parse, stringify } from "yaml";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import { sameJson } from "../../runtime/patch.ts";
import { clusterConfigurationDocument, kubeadmGroup, kubeadmVersionFor } from "../kubeadm/documents.ts";
import { featureGatesFor } from "./kubeadm-config.ts";

export class ClusterConfigurationInvalid extends Error {
  readonly code = "ClusterConfigurationInvalid";
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (x: unknown): x is Fields => typeof x === "object" && x !== null && !Array.isArray(x);

export function parseClusterConfiguration(text: string | undefined): Fields {
  if (text === undefined) {
    throw new ClusterConfigurationInvalid("ConfigMap kube-system/kubeadm-config has no key ClusterConfiguration: restore it from a backup");
  }
  const parsed: unknown = parse(text);
  if (!isFields(parsed)) throw new ClusterConfigurationInvalid("ClusterConfiguration in kube-system/kubeadm-config is no YAML map");
  return parsed;
}

/** Keys that follow the control plane, besides the version. */
const FOLLOWS = [
  "apiServer",
  "controllerManager",
  "scheduler",
  "featureGates",
  "certificateValidityPeriod",
  "encryptionAlgorithm",
] as const;
const COMPONENTS = ["apiServer", "controllerManager", "scheduler"] as const;

/** @param text as in the ConfigMap  @returns undefined when nothing differs */
export function upgradedClusterConfiguration(text: string | undefined, kcp: KubeadmControlPlane): string | undefined {
  const current = parseClusterConfiguration(text);
  const version = kubeadmVersionFor(kcp.spec.version);
  const wanted: Record<string, unknown> = { ...inVersion(current, version), kubernetesVersion: kcp.spec.version };
  const own = kcp.spec.kubeadmConfigSpec?.clusterConfiguration;
  if (own) {
    const featureGates = featureGatesFor(kcp.spec.version, own.featureGates);
    const document = clusterConfigurationDocument({ ...own, ...(featureGates ? { featureGates } : {}) }, {}, version);
    for (const key of FOLLOWS) wanted[key] = document[key];
    if (own.imageRepository) wanted.imageRepository = own.imageRepository;
    if (document.etcd !== undefined) wanted.etcd = document.etcd;
  }
  const next = withoutEmpty(wanted);
  return sameJson(withoutEmpty(current), next) ? undefined : stringify(next);
}

/** Everything but `dns`, which only follows once CoreDNS itself is changed. */
export function withDns(text: string | undefined, dns: Fields): string | undefined {
  const current = parseClusterConfiguration(text);
  const next = withoutEmpty({ ...current, dns });
  return sameJson(withoutEmpty(current), next) ? undefined : stringify(next);
}

const withoutEmpty = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && value !== null && !(isFields(value) && Object.keys(value).length === 0),
    ),
  );

/** Arguments became a list in v1beta4; one limit moved to InitConfiguration. */
function inVersion(current: Fields, version: string): Fields {
  const apiVersion = `${kubeadmGroup}/${version}`;
  if (current.apiVersion === apiVersion || version !== "v1beta4") return { ...current, apiVersion };
  const next: Record<string, unknown> = { ...current, apiVersion };
  for (const key of COMPONENTS) next[key] = withArgList(current[key]);
  if (isFields(next.apiServer)) {
    const { timeoutForControlPlane: _moved, ...rest } = next.apiServer;
    next.apiServer = rest;
  }
  if (isFields(current.etcd) && isFields(current.etcd.local)) next.etcd = { ...current.etcd, local: withArgList(current.etcd.local) };
  return next;
}

function withArgList(component: unknown): unknown {
  if (!isFields(component) || !isFields(component.extraArgs)) return component;
  const list = Object.entries(component.extraArgs).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...component, extraArgs: list.map(([name, value]) => ({ name, value: String(value) })) };
}
