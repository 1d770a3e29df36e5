// Defaults of built-in kinds, by served type; they run from the inside out when an object is decoded.
// Here: constant defaults as a table, the others as small functions. Not here: what only a create sets (kinds/), admission defaults.
// Source: the API reference of Kubernetes 1.36 and answers of a kube-apiserver.
import type { ApiObject } from "../object.ts";
import type { StructDefaults } from "./decode.ts";
import { withNameLabel } from "./strategies/namespace.ts";

type Struct = Record<string, unknown>;

/** field=JSON for fields that are absent (or zero and always written). */
const CONSTANTS = `
core.PodSpec restartPolicy="Always" dnsPolicy="ClusterFirst" schedulerName="default-scheduler" terminationGracePeriodSeconds=30 securityContext={}
core.Container terminationMessagePath="/dev/termination-log" terminationMessagePolicy="File"
core.EphemeralContainer terminationMessagePath="/dev/termination-log" terminationMessagePolicy="File"
core.ContainerPort protocol="TCP"
core.Probe timeoutSeconds=1 periodSeconds=10 successThreshold=1 failureThreshold=3
core.HTTPGetAction path="/" scheme="HTTP"
core.GRPCAction service=""
core.SecretVolumeSource defaultMode=420
core.ConfigMapVolumeSource defaultMode=420
core.DownwardAPIVolumeSource defaultMode=420
core.ProjectedVolumeSource defaultMode=420
core.ServiceAccountTokenProjection expirationSeconds=3600
core.ObjectFieldSelector apiVersion="v1"
core.HostPathVolumeSource type=""
core.ISCSIVolumeSource iscsiInterface="default"
core.ISCSIPersistentVolumeSource iscsiInterface="default"
core.RBDVolumeSource keyring="/etc/ceph/keyring" pool="rbd" user="admin"
core.RBDPersistentVolumeSource keyring="/etc/ceph/keyring" pool="rbd" user="admin"
core.AzureDiskVolumeSource cachingMode="ReadWrite" fsType="ext4" kind="Shared" readOnly=false
core.ScaleIOVolumeSource fsType="xfs" storageMode="ThinProvisioned"
core.ScaleIOPersistentVolumeSource fsType="xfs" storageMode="ThinProvisioned"
core.ServiceSpec sessionAffinity="None" type="ClusterIP" internalTrafficPolicy="Cluster"
core.ServicePort protocol="TCP"
core.EndpointPort protocol="TCP"
core.PersistentVolumeSpec persistentVolumeReclaimPolicy="Retain" volumeMode="Filesystem"
core.PersistentVolumeStatus phase="Pending"
core.PersistentVolumeClaimSpec volumeMode="Filesystem"
core.PersistentVolumeClaimStatus phase="Pending"
core.NamespaceStatus phase="Active"
core.Secret type="Opaque"
apps.DeploymentSpec replicas=1 revisionHistoryLimit=10 progressDeadlineSeconds=600
apps.DeploymentStrategy type="RollingUpdate"
apps.RollingUpdateDeployment maxUnavailable="25%" maxSurge="25%"
apps.DaemonSetSpec revisionHistoryLimit=10
apps.DaemonSetUpdateStrategy type="RollingUpdate"
apps.RollingUpdateDaemonSet maxUnavailable=1 maxSurge=0
apps.ReplicaSetSpec replicas=1
apps.StatefulSetSpec replicas=1 revisionHistoryLimit=10 podManagementPolicy="OrderedReady" persistentVolumeClaimRetentionPolicy={"whenDeleted":"Retain","whenScaled":"Retain"}
apps.StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted="Retain" whenScaled="Retain"
apps.StatefulSetUpdateStrategy type="RollingUpdate"
apps.RollingUpdateStatefulSetStrategy partition=0
discovery.EndpointPort name="" protocol="TCP"
storage.StorageClass reclaimPolicy="Delete" volumeBindingMode="Immediate"
storage.CSIDriverSpec attachRequired=true podInfoOnMount=false storageCapacity=false fsGroupPolicy="ReadWriteOnceWithFSType" volumeLifecycleModes=["Persistent"] requiresRepublish=false seLinuxMount=false
rbac.RoleRef apiGroup="rbac.authorization.k8s.io"
admissionregistration.ValidatingWebhook failurePolicy="Fail" matchPolicy="Equivalent" timeoutSeconds=10 namespaceSelector={} objectSelector={}
admissionregistration.MutatingWebhook failurePolicy="Fail" matchPolicy="Equivalent" timeoutSeconds=10 reinvocationPolicy="Never" namespaceSelector={} objectSelector={}
admissionregistration.RuleWithOperations scope="*"
admissionregistration.ServiceReference port=443
apiextensions.ServiceReference port=443
apiextensions.CustomResourceDefinitionSpec conversion={"strategy":"None"}
apiregistration.ServiceReference port=443
authentication.TokenRequestSpec expirationSeconds=3600
scheduling.PriorityClass preemptionPolicy="PreemptLowerPriority"
`;

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";

/** The struct with these fields where it lacks them; the same struct when it lacks none. */
function fill(struct: Struct, fields: Struct): Struct {
  let filled: Struct | undefined;
  for (const name in fields) {
    if (!isUnset(struct[name])) continue;
    filled ??= { ...struct };
    filled[name] = fields[name];
  }
  return filled ?? struct;
}

/** A tag of `latest`, or none, means the image may change under its name. */
export function pullPolicyOf(image: unknown): "Always" | "IfNotPresent" {
  if (typeof image !== "string" || image.includes("@")) return "IfNotPresent";
  const last = image.slice(image.lastIndexOf("/") + 1);
  const tag = last.includes(":") ? last.slice(last.indexOf(":") + 1) : "latest";
  return tag === "latest" || tag === "" ? "Always" : "IfNotPresent";
}

const container = (c: Struct): Struct => fill(c, { imagePullPolicy: pullPolicyOf(c.image) });

function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** stringData is write-only: it goes into data, base64. */
function secret(s: Struct): Struct {
  const { stringData, ...rest } = s;
  if (stringData === undefined) return s;
  const data = { ...(s.data as Struct | undefined) };
  for (const [key, text] of Object.entries(stringData as Record<string, string>)) data[key] = base64(text);
  return { ...rest, data };
}

/** On the host's network a container's port is the host's. */
function hostPorts(spec: Struct): Struct {
  if (spec.hostNetwork !== true) return spec;
  const withPort = (p: Struct): Struct => (p.hostPort ? p : { ...p, hostPort: p.containerPort });
  return ["containers", "initContainers"].reduce((s, list) => eachItem(s, list, (c) => eachItem(c, "ports", withPort)), spec);
}

/** Limits without requests are the requests too (pods only, not templates). */
function requestsFromLimits(c: Struct): Struct {
  const resources = c.resources as Struct | undefined;
  const limits = resources?.limits as Struct | undefined;
  if (!resources || !limits) return c;
  const requests = (resources.requests ?? {}) as Struct;
  if (Object.keys(limits).every((name) => name in requests)) return c;
  return { ...c, resources: { ...resources, requests: { ...limits, ...requests } } };
}

function pod(p: Struct): Struct {
  const spec = p.spec as Struct | undefined;
  if (!spec) return p;
  const linked = fill(spec, { enableServiceLinks: true });
  const next = ["containers", "initContainers"].reduce((s, list) => eachItem(s, list, requestsFromLimits), linked);
  return next === spec ? p : { ...p, spec: next };
}

/** The struct with each item of a list changed; the same struct when no item changed. */
function eachItem(struct: Struct, list: string, change: (item: Struct) => Struct): Struct {
  const before = struct[list];
  if (!Array.isArray(before)) return struct;
  const after = before.map(change);
  return after.some((item, i) => item !== before[i]) ? { ...struct, [list]: after } : struct;
}

/** A container's default limit is its maximum, and its default request the limit, or else its minimum. */
function limitRangeItem(item: Struct): Struct {
  if (item.type !== "Container") return item;
  const merge = (into: Struct, name: string, others: readonly unknown[]): Struct => {
    const merged = Object.assign({}, ...others.map((other) => other ?? {})) as Struct;
    const before = (into[name] ?? {}) as Struct;
    return Object.keys(merged).every((key) => key in before) ? into : { ...into, [name]: merged };
  };
  const limited = merge(item, "default", [item.max, item.default]);
  return merge(limited, "defaultRequest", [item.min, limited.default, item.defaultRequest]);
}

/** The first of a list is the single value, and a single value is the whole list. */
const mirrored =
  (single: string, list: string, wrap: (value: unknown) => unknown, unwrap: (item: unknown) => unknown) =>
  (struct: Struct): Struct => {
    const [first] = Array.isArray(struct[list]) ? (struct[list] as readonly unknown[]) : [];
    if (first === undefined) return isUnset(struct[single]) ? struct : { ...struct, [list]: [wrap(struct[single])] };
    return isUnset(struct[single]) ? { ...struct, [single]: unwrap(first) } : struct;
  };

const VOLUME_META: ReadonlySet<string> = new Set(["name"]);

const FUNCTIONS: Readonly<Record<string, (struct: Struct) => Struct>> = {
  "core.Container": container,
  "core.EphemeralContainer": container,
  "core.ImageVolumeSource": (v) => fill(v, { pullPolicy: pullPolicyOf(v.reference) }),
  "core.Volume": (v) => (Object.keys(v).every((key) => VOLUME_META.has(key)) ? { ...v, emptyDir: {} } : v),
  "core.PodSpec": (spec) => {
    const named = isUnset(spec.serviceAccountName) ? spec.serviceAccount : spec.serviceAccountName;
    const alias = isUnset(named)
      ? spec
      : spec.serviceAccount === named && spec.serviceAccountName === named
        ? spec
        : { ...spec, serviceAccountName: named, serviceAccount: named };
    return hostPorts(alias);
  },
  "core.Pod": pod,
  "core.PodStatus": mirrored(
    "podIP",
    "podIPs",
    (ip) => ({ ip }),
    (item) => (item as Struct).ip,
  ),
  "core.NodeSpec": mirrored(
    "podCIDR",
    "podCIDRs",
    (cidr) => cidr,
    (item) => item,
  ),
  "core.Secret": secret,
  "core.Namespace": (n) => withNameLabel(n as unknown as ApiObject) as unknown as Struct,
  "core.ServicePort": (p) => (p.targetPort === 0 || isUnset(p.targetPort) ? { ...p, targetPort: p.port } : p),
  "core.ServiceSpec": (spec) => {
    const external = spec.type === "NodePort" || spec.type === "LoadBalancer";
    const affinity = spec.sessionAffinity === "ClientIP" ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } } : {};
    const byName = spec.type === "ExternalName";
    const next = fill(spec, {
      ...affinity,
      ...(external ? { externalTrafficPolicy: "Cluster" } : {}),
      ...(spec.type === "LoadBalancer" ? { allocateLoadBalancerNodePorts: true } : {}),
    });
    if (!byName || next.internalTrafficPolicy === undefined) return next;
    const { internalTrafficPolicy: _, ...rest } = next;
    return rest;
  },
  "core.NodeStatus": (s) => (s.capacity !== undefined && s.allocatable === undefined ? { ...s, allocatable: s.capacity } : s),
  "core.LimitRangeItem": limitRangeItem,
  "apps.DeploymentStrategy": (s) =>
    s.type === "RollingUpdate" ? fill(s, { rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } }) : s,
  "apps.DaemonSetUpdateStrategy": (s) => (s.type === "RollingUpdate" ? fill(s, { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }) : s),
  "apps.StatefulSetUpdateStrategy": (s) => (s.type === "RollingUpdate" ? fill(s, { rollingUpdate: { partition: 0 } }) : s),
  "apps.StatefulSetSpec": (s) => eachItem(s, "volumeClaimTemplates", (c) => fill(c, { apiVersion: "v1", kind: "PersistentVolumeClaim" })),
  "rbac.Subject": (s) => (s.kind === "User" || s.kind === "Group" ? fill(s, { apiGroup: "rbac.authorization.k8s.io" }) : s),
  "apiextensions.CustomResourceDefinitionSpec": (spec) => {
    const names = spec.names as Struct | undefined;
    const kind = typeof names?.kind === "string" ? names.kind : "";
    if (!names || kind === "") return spec;
    const filled = fill(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
    return filled === names ? spec : { ...spec, names: filled };
  },
};

function readConstants(): ReadonlyMap<string, Struct> {
  const table = new Map<string, Struct>();
  for (const line of CONSTANTS.trim().split("\n")) {
    const [key = "", ...pairs] = line.split(" ");
    const fields: Struct = {};
    for (const pair of pairs) {
      const equals = pair.indexOf("=");
      fields[pair.slice(0, equals)] = JSON.parse(pair.slice(equals + 1));
    }
    table.set(key, fields);
  }
  return table;
}

/** One set of defaults, for one decoder. */
export function createDefaults(): StructDefaults {
  const constants = readConstants();
  return (typeKey) => {
    const fields = constants.get(typeKey);
    const more = FUNCTIONS[typeKey];
    if (!fields) return more;
    if (!more) return (struct) => fill(struct, fields);
    return (struct) => more(fill(struct, fields));
  };
}
