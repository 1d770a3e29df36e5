// Which built-in kinds are served and how they are named. Here: one row a kind. Not here: their types (facts.ts, fields.data.ts),
// behaviour (strategies/), columns (../table/builtin.ts).

export interface KindRow {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Name in the tables of types, e.g. `apps.Deployment`. */
  readonly typeKey: string;
  readonly status: boolean;
  readonly scale: boolean;
  /** Only created, never stored. */
  readonly virtual: boolean;
}

/**
 * apiVersion, kind, plural, scope (N namespaced, C cluster), then: `type=` where the group's short name is not the type's prefix,
 * short names after `~`, categories after `+`, `status`, `scale`, `virtual`.
 */
const KINDS = `
v1 Binding bindings N virtual
v1 ConfigMap configmaps N ~cm
v1 Endpoints endpoints N ~ep
v1 Event events N ~ev
v1 LimitRange limitranges N ~limits
v1 Namespace namespaces C ~ns status
v1 Node nodes C ~no status
v1 PersistentVolume persistentvolumes C ~pv status
v1 PersistentVolumeClaim persistentvolumeclaims N ~pvc status
v1 Pod pods N ~po +all status
v1 PodTemplate podtemplates N
v1 ResourceQuota resourcequotas N ~quota status
v1 Secret secrets N
v1 Service services N ~svc +all status
v1 ServiceAccount serviceaccounts N ~sa
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations C +api-extensions
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations C +api-extensions
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions C ~crd ~crds +api-extensions status
apiregistration.k8s.io/v1 APIService apiservices C +api-extensions status
apps/v1 ControllerRevision controllerrevisions N
apps/v1 DaemonSet daemonsets N ~ds +all status
apps/v1 Deployment deployments N ~deploy +all status scale
apps/v1 ReplicaSet replicasets N ~rs +all status scale
apps/v1 StatefulSet statefulsets N ~sts +all status scale
authentication.k8s.io/v1 SelfSubjectReview selfsubjectreviews C virtual
authentication.k8s.io/v1 TokenReview tokenreviews C virtual
authorization.k8s.io/v1 LocalSubjectAccessReview localsubjectaccessreviews N virtual
authorization.k8s.io/v1 SelfSubjectAccessReview selfsubjectaccessreviews C virtual
authorization.k8s.io/v1 SelfSubjectRulesReview selfsubjectrulesreviews C virtual
authorization.k8s.io/v1 SubjectAccessReview subjectaccessreviews C virtual
coordination.k8s.io/v1 Lease leases N
discovery.k8s.io/v1 EndpointSlice endpointslices N
events.k8s.io/v1 Event events N ~ev
policy/v1 PodDisruptionBudget poddisruptionbudgets N ~pdb status
rbac.authorization.k8s.io/v1 ClusterRole clusterroles C
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings C
rbac.authorization.k8s.io/v1 Role roles N
rbac.authorization.k8s.io/v1 RoleBinding rolebindings N
scheduling.k8s.io/v1 PriorityClass priorityclasses C ~pc
storage.k8s.io/v1 CSIDriver csidrivers C
storage.k8s.io/v1 CSINode csinodes C
storage.k8s.io/v1 StorageClass storageclasses C ~sc
storage.k8s.io/v1 VolumeAttachment volumeattachments C status
`;

function parseRow(line: string): KindRow {
  const [apiVersion = "", kind = "", plural = "", scope = "", ...words] = line.split(" ");
  const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
  const prefix = group === "" ? "core" : (group.split(".")[0] ?? "");
  return {
    group,
    version,
    kind,
    plural,
    namespaced: scope === "N",
    shortNames: words.filter((w) => w.startsWith("~")).map((w) => w.slice(1)),
    categories: words.filter((w) => w.startsWith("+")).map((w) => w.slice(1)),
    typeKey: `${prefix}.${kind}`,
    status: words.includes("status"),
    scale: words.includes("scale"),
    virtual: words.includes("virtual"),
  };
}

export const kindRows = (): readonly KindRow[] => KINDS.trim().split("\n").map(parseRow);

/** Paths of field selectors beyond metadata, by group and kind. */
export const SELECTABLE: Readonly<Record<string, readonly string[]>> = {
  "/Event": [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  "events.k8s.io/Event": [
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
  ],
  "/Namespace": ["status.phase"],
  "/Node": ["spec.unschedulable"],
  "/Pod": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  "/Secret": ["type"],
  "/Service": ["spec.clusterIP", "spec.type"],
  "apps/ReplicaSet": ["status.replicas"],
};
