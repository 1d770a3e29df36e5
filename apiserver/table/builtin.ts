// Which columns a built-in kind has. Here: the table. Not here: pods (pods.ts), building blocks (columns.ts).
// Source: answers of a kube-apiserver 1.36 and kubectl's documentation.
import type { ApiObject } from "../object.ts";
import type { PrinterColumn } from "../registry.ts";
import { age } from "./age.ts";
import {
  AGE,
  accessText,
  at,
  CREATED,
  column,
  containerColumns,
  count,
  field,
  fields,
  items,
  joined,
  labelsText,
  NAME,
  NONE,
  number,
  orNone,
  selectorText,
  sizeOf,
  text,
  texts,
  UNKNOWN,
  UNSET,
  wide,
} from "./columns.ts";
import { podColumns } from "./pods.ts";

type Fields = Readonly<Record<string, unknown>>;

const conditionStatus = (object: ApiObject, type: string): Fields | undefined =>
  items(at(object, "status.conditions")).find((c) => c.type === type);

function nodeStatus(node: ApiObject): string {
  const ready = conditionStatus(node, "Ready");
  const words = [ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady"];
  if (at(node, "spec.unschedulable") === true) words.push("SchedulingDisabled");
  return words.join(",");
}

const ROLE = "node-role.kubernetes.io/";
function nodeRoles(node: ApiObject): string {
  const labels = node.metadata.labels ?? {};
  const roles = Object.keys(labels)
    .filter((key) => key.startsWith(ROLE) && key.length > ROLE.length)
    .map((key) => key.slice(ROLE.length));
  const old = labels["kubernetes.io/role"];
  if (old !== undefined && old !== "") roles.push(old);
  return joined([...new Set(roles)].sort());
}

const nodeAddress = (type: string) => (node: ApiObject) =>
  orNone(items(at(node, "status.addresses")).find((a) => a.type === type)?.address);

function externalAddress(service: ApiObject): string {
  const spec = fields(service.spec);
  const extra = texts(spec.externalIPs);
  if (spec.type === "ExternalName") return orNone(spec.externalName);
  if (spec.type !== "LoadBalancer") return joined(extra);
  const ingress = items(at(service, "status.loadBalancer.ingress")).map((i) => text(i.ip) || text(i.hostname));
  const all = [...ingress, ...extra].filter((address) => address !== "");
  return joined(all, "<pending>");
}

const servicePorts = (service: ApiObject): string =>
  joined(
    items(at(service, "spec.ports")).map(
      (p) => `${text(p.port)}${count(p.nodePort) > 0 ? `:${text(p.nodePort)}` : ""}/${text(p.protocol)}`,
    ),
  );

const SHOWN = 3;
const shortened = (list: readonly string[]): string =>
  list.length > SHOWN ? `${list.slice(0, SHOWN).join(",")} + ${list.length - SHOWN} more...` : joined(list);

function endpointsText(object: ApiObject): string {
  const all = items(object.subsets).flatMap((subset) => {
    const ports = items(subset.ports);
    return items(subset.addresses).flatMap((a) => (ports.length === 0 ? [text(a.ip)] : ports.map((p) => `${text(a.ip)}:${text(p.port)}`)));
  });
  return shortened(all);
}

const eventTime = (event: ApiObject, first: boolean): string => {
  const names = first
    ? ["firstTimestamp", "deprecatedFirstTimestamp", "eventTime"]
    : ["series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp", "firstTimestamp", "deprecatedFirstTimestamp", "eventTime"];
  return names.map((name) => text(at(event, name))).find((value) => value !== "") ?? "";
};
const eventObject = (event: ApiObject): Fields => fields(event.involvedObject ?? event.regarding);
const eventSource = (event: ApiObject): string => {
  const { component, host } = fields(event.source ?? event.deprecatedSource);
  return [text(component) || text(event.reportingComponent ?? event.reportingController), text(host)].filter((t) => t !== "").join(", ");
};

const eventColumns: readonly PrinterColumn[] = [
  column("Last Seen", (o, nowMs) => age(eventTime(o, false), nowMs)),
  field("Type", "type"),
  field("Reason", "reason"),
  column("Object", (o) => {
    const { kind, name } = eventObject(o);
    return text(name) === "" ? text(kind).toLowerCase() : `${text(kind).toLowerCase()}/${text(name)}`;
  }),
  wide("Subobject", (o) => text(eventObject(o).fieldPath)),
  wide("Source", eventSource),
  column("Message", (o) => text(o.message ?? o.note).trim()),
  wide("First Seen", (o, nowMs) => age(eventTime(o, true), nowMs)),
  wide("Count", (o) => String(count(at(o, "series.count")) || count(o.count ?? o.deprecatedCount) || 1)),
  { name: "Name", type: "string", format: "name", priority: 1, cell: (o) => o.metadata.name ?? "" },
];

const volumeStatus = (object: ApiObject): string =>
  object.metadata.deletionTimestamp === undefined ? text(at(object, "status.phase")) : "Terminating";
const claimText = (object: ApiObject): string => {
  const { namespace, name } = fields(at(object, "spec.claimRef"));
  return name === undefined ? "" : `${text(namespace)}/${text(name)}`;
};

const bindingColumns: readonly PrinterColumn[] = [
  NAME,
  column("Role", (o) => `${text(at(o, "roleRef.kind"))}/${text(at(o, "roleRef.name"))}`),
  AGE,
  ...(["User", "Group", "ServiceAccount"] as const).map((kind) =>
    wide(`${kind === "ServiceAccount" ? "ServiceAccounts" : `${kind}s`}`, (o) =>
      items(o.subjects)
        .filter((s) => s.kind === kind)
        .map((s) => (kind === "ServiceAccount" ? `${text(s.namespace)}/${text(s.name)}` : text(s.name)))
        .join(", "),
    ),
  ),
];

const readyOf = (object: ApiObject): string => `${count(at(object, "status.readyReplicas"))}/${count(at(object, "spec.replicas"))}`;
const TEMPLATE = "spec.template.spec.containers";
const selector = wide("Selector", (o) => selectorText(at(o, "spec.selector")));
const webhookColumns: readonly PrinterColumn[] = [NAME, column("Webhooks", (o) => items(o.webhooks).length, "integer"), AGE];

const quotaText = (object: ApiObject, limits: boolean): string =>
  Object.entries(fields(at(object, "status.hard")))
    .filter(([name]) => name.startsWith("limits.") === limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${orNone(fields(at(object, "status.used"))[name], "0")}/${text(hard)}`)
    .join(", ");

const COLUMNS: Readonly<Record<string, readonly PrinterColumn[]>> = {
  "/ConfigMap": [NAME, column("Data", (o) => sizeOf(o.data) + sizeOf(o.binaryData)), AGE],
  "/Endpoints": [NAME, column("Endpoints", endpointsText), AGE],
  "/Event": eventColumns,
  "events.k8s.io/Event": eventColumns,
  "/LimitRange": [NAME, CREATED],
  "/Namespace": [NAME, field("Status", "status.phase"), AGE],
  "/Node": [
    NAME,
    column("Status", nodeStatus),
    column("Roles", nodeRoles),
    AGE,
    field("Version", "status.nodeInfo.kubeletVersion"),
    wide("Internal-IP", nodeAddress("InternalIP")),
    wide("External-IP", nodeAddress("ExternalIP")),
    wide("OS-Image", (o) => orNone(at(o, "status.nodeInfo.osImage"), UNKNOWN)),
    wide("Kernel-Version", (o) => orNone(at(o, "status.nodeInfo.kernelVersion"), UNKNOWN)),
    wide("Container-Runtime", (o) => orNone(at(o, "status.nodeInfo.containerRuntimeVersion"), UNKNOWN)),
  ],
  "/PersistentVolume": [
    NAME,
    field("Capacity", "spec.capacity.storage"),
    column("Access Modes", (o) => accessText(at(o, "spec.accessModes"))),
    field("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    column("Status", volumeStatus),
    column("Claim", claimText),
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
    field("Reason", "status.reason"),
    AGE,
    wide("VolumeMode", (o) => orNone(at(o, "spec.volumeMode"), UNSET)),
  ],
  "/PersistentVolumeClaim": [
    NAME,
    column("Status", volumeStatus),
    field("Volume", "spec.volumeName"),
    column("Capacity", (o) => (at(o, "spec.volumeName") === undefined ? "" : text(at(o, "status.capacity.storage")))),
    column("Access Modes", (o) => (at(o, "spec.volumeName") === undefined ? "" : accessText(at(o, "status.accessModes")))),
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
    AGE,
    wide("VolumeMode", (o) => orNone(at(o, "spec.volumeMode"), UNSET)),
  ],
  "/Pod": podColumns,
  "/PodTemplate": [
    NAME,
    column("Containers", (o) =>
      joined(
        items(at(o, "template.spec.containers")).map((c) => text(c.name)),
        "",
      ),
    ),
    column("Images", (o) =>
      joined(
        items(at(o, "template.spec.containers")).map((c) => text(c.image)),
        "",
      ),
    ),
    column("Pod Labels", (o) => labelsText(at(o, "template.metadata.labels"))),
  ],
  "/ResourceQuota": [NAME, column("Request", (o) => quotaText(o, false)), column("Limit", (o) => quotaText(o, true)), AGE],
  "/Secret": [NAME, field("Type", "type"), column("Data", (o) => sizeOf(o.data)), AGE],
  "/Service": [
    NAME,
    field("Type", "spec.type"),
    column("Cluster-IP", (o) => orNone(at(o, "spec.clusterIP"))),
    column("External-IP", externalAddress),
    column("Port(s)", servicePorts),
    AGE,
    wide("Selector", (o) => labelsText(at(o, "spec.selector"))),
  ],
  "/ServiceAccount": [NAME, column("Secrets", (o) => items(o.secrets).length), AGE],
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookColumns,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookColumns,
  "apiextensions.k8s.io/CustomResourceDefinition": [NAME, CREATED],
  "apiregistration.k8s.io/APIService": [
    NAME,
    column("Service", (o) => {
      const { namespace, name } = fields(at(o, "spec.service"));
      return name === undefined ? "Local" : `${text(namespace)}/${text(name)}`;
    }),
    column("Available", (o) => {
      const available = conditionStatus(o, "Available");
      const reason = text(available?.reason);
      return available === undefined
        ? "Unknown"
        : available.status === "True"
          ? "True"
          : `${text(available.status)}${reason === "" ? "" : ` (${reason})`}`;
    }),
    AGE,
  ],
  "apps/ControllerRevision": [
    NAME,
    column("Controller", (o) => {
      const owner = o.metadata.ownerReferences?.find((r) => r.controller === true);
      const group = owner?.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
      return owner === undefined ? NONE : `${owner.kind.toLowerCase()}${group}/${owner.name}`;
    }),
    number("Revision", "revision"),
    AGE,
  ],
  "apps/DaemonSet": [
    NAME,
    number("Desired", "status.desiredNumberScheduled"),
    number("Current", "status.currentNumberScheduled"),
    number("Ready", "status.numberReady"),
    number("Up-to-date", "status.updatedNumberScheduled"),
    number("Available", "status.numberAvailable"),
    column("Node Selector", (o) => labelsText(at(o, "spec.template.spec.nodeSelector"))),
    AGE,
    ...containerColumns(TEMPLATE),
    selector,
  ],
  "apps/Deployment": [
    NAME,
    column("Ready", readyOf),
    column("Up-to-date", (o) => count(at(o, "status.updatedReplicas"))),
    column("Available", (o) => count(at(o, "status.availableReplicas"))),
    AGE,
    ...containerColumns(TEMPLATE),
    selector,
  ],
  "apps/ReplicaSet": [
    NAME,
    number("Desired", "spec.replicas"),
    number("Current", "status.replicas"),
    number("Ready", "status.readyReplicas"),
    AGE,
    ...containerColumns(TEMPLATE),
    selector,
  ],
  "apps/StatefulSet": [NAME, column("Ready", readyOf), AGE, ...containerColumns(TEMPLATE)],
  "coordination.k8s.io/Lease": [NAME, field("Holder", "spec.holderIdentity"), AGE],
  "discovery.k8s.io/EndpointSlice": [
    NAME,
    field("AddressType", "addressType"),
    column("Ports", (o) =>
      joined(
        items(o.ports).map((p) => orNone(p.port, "*")),
        UNSET,
      ),
    ),
    column("Endpoints", (o) => {
      const all = items(o.endpoints).flatMap((e) => texts(e.addresses));
      return all.length === 0 ? UNSET : shortened(all);
    }),
    AGE,
  ],
  "policy/PodDisruptionBudget": [
    NAME,
    column("Min Available", (o) => orNone(at(o, "spec.minAvailable"), "N/A")),
    column("Max Unavailable", (o) => orNone(at(o, "spec.maxUnavailable"), "N/A")),
    number("Allowed Disruptions", "status.disruptionsAllowed"),
    AGE,
  ],
  "rbac.authorization.k8s.io/ClusterRole": [NAME, CREATED],
  "rbac.authorization.k8s.io/Role": [NAME, CREATED],
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/RoleBinding": bindingColumns,
  "scheduling.k8s.io/PriorityClass": [
    NAME,
    number("Value", "value"),
    column("Global-Default", (o) => o.globalDefault === true, "boolean"),
    AGE,
    field("PreemptionPolicy", "preemptionPolicy"),
  ],
  "storage.k8s.io/CSIDriver": [
    NAME,
    column("AttachRequired", (o) => at(o, "spec.attachRequired") !== false, "boolean"),
    column("PodInfoOnMount", (o) => at(o, "spec.podInfoOnMount") === true, "boolean"),
    column("StorageCapacity", (o) => at(o, "spec.storageCapacity") === true, "boolean"),
    column("TokenRequests", (o) =>
      joined(
        items(at(o, "spec.tokenRequests")).map((t) => text(t.audience)),
        UNSET,
      ),
    ),
    column("RequiresRepublish", (o) => at(o, "spec.requiresRepublish") === true, "boolean"),
    column("Modes", (o) => joined(texts(at(o, "spec.volumeLifecycleModes")))),
    AGE,
  ],
  "storage.k8s.io/CSINode": [NAME, column("Drivers", (o) => items(at(o, "spec.drivers")).length, "integer"), AGE],
  "storage.k8s.io/StorageClass": [
    column(
      "Name",
      (o) =>
        `${o.metadata.name ?? ""}${o.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true" ? " (default)" : ""}`,
    ),
    field("Provisioner", "provisioner"),
    field("ReclaimPolicy", "reclaimPolicy", "Delete"),
    field("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    column("AllowVolumeExpansion", (o) => o.allowVolumeExpansion === true),
    AGE,
  ],
  "storage.k8s.io/VolumeAttachment": [
    NAME,
    { ...field("Attacher", "spec.attacher"), format: "name" },
    column("PV", (o) => text(at(o, "spec.source.persistentVolumeName"))),
    field("Node", "spec.nodeName"),
    column("Attached", (o) => at(o, "status.attached") === true, "boolean"),
    AGE,
  ],
};

/** Columns of a built-in kind; undefined for a kind that shows name and creation time. */
export const builtinColumns = (group: string, kind: string): readonly PrinterColumn[] | undefined => COLUMNS[`${group}/${kind}`];
