// Roles and bindings that every cluster has, so that `view`, `edit`, `admin` and `cluster-admin` can be bound at once.
// Here: their tables. Not here: putting them in place (../bootstrap.ts), filling aggregated ones (aggregation.ts).
// Source: Kubernetes, "Default roles and role bindings"; roles of components that do not run here are left out.
import type { ApiObject } from "../object.ts";
import { RBAC_GROUP } from "./rbac.ts";
import type { Rule } from "./rules.ts";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const on = (verbs: readonly string[], group: string, resources: string): Rule => ({
  verbs,
  apiGroups: [group],
  resources: resources.split(" "),
});
const paths = (...urls: readonly string[]): Rule => ({ verbs: ["get"], nonResourceURLs: urls });

const AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-";
const aggregateTo = (role: string): Readonly<Record<string, string>> => ({ [`${AGGREGATE}${role}`]: "true" });

interface DefaultRole {
  readonly name: string;
  readonly rules?: readonly Rule[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Its rules are those of roles with the label `aggregate-to-…` of this name. */
  readonly aggregates?: string;
}

const TO_ADMIN: readonly Rule[] = [
  on(["create"], "authorization.k8s.io", "localsubjectaccessreviews"),
  on(ALL, RBAC_GROUP, "rolebindings roles"),
];

const TO_EDIT: readonly Rule[] = [
  on(READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
  on(["impersonate"], "", "serviceaccounts"),
  on(WRITE, "", "pods pods/attach pods/exec pods/portforward pods/proxy"),
  on(["create"], "", "pods/eviction"),
  on(
    WRITE,
    "",
    "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
  ),
  on(["create"], "", "serviceaccounts/token"),
  on(
    WRITE,
    "apps",
    "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
  ),
  on(WRITE, "autoscaling", "horizontalpodautoscalers"),
  on(WRITE, "batch", "cronjobs jobs"),
  on(WRITE, "policy", "poddisruptionbudgets"),
  on(WRITE, "networking.k8s.io", "ingresses networkpolicies"),
  on(ALL, "coordination.k8s.io", "leases"),
];

const TO_VIEW: readonly Rule[] = [
  on(
    READ,
    "",
    "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
  ),
  on(
    READ,
    "",
    "bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
  ),
  on(READ, "", "namespaces"),
  on(READ, "discovery.k8s.io", "endpointslices"),
  on(
    READ,
    "apps",
    "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
  ),
  on(READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
  on(READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
  on(READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
  on(READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
];

const HEALTH = ["/healthz", "/livez", "/readyz"];
const VERSION = ["/version", "/version/"];

const ROLES: readonly DefaultRole[] = [
  {
    name: "cluster-admin",
    rules: [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ],
  },
  { name: "admin", aggregates: "admin" },
  { name: "edit", aggregates: "edit", labels: aggregateTo("admin") },
  { name: "view", aggregates: "view", labels: aggregateTo("edit") },
  { name: "system:aggregate-to-admin", rules: TO_ADMIN, labels: aggregateTo("admin") },
  { name: "system:aggregate-to-edit", rules: TO_EDIT, labels: aggregateTo("edit") },
  { name: "system:aggregate-to-view", rules: TO_VIEW, labels: aggregateTo("view") },
  {
    name: "system:auth-delegator",
    rules: [on(["create"], "authentication.k8s.io", "tokenreviews"), on(["create"], "authorization.k8s.io", "subjectaccessreviews")],
  },
  {
    name: "system:basic-user",
    rules: [
      on(["create"], "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
      on(["create"], "authentication.k8s.io", "selfsubjectreviews"),
    ],
  },
  {
    name: "system:discovery",
    rules: [paths("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", ...VERSION)],
  },
  {
    name: "system:monitoring",
    rules: [paths(...HEALTH.flatMap((path) => [path, `${path}/*`]), "/metrics", "/metrics/slis")],
  },
  { name: "system:public-info-viewer", rules: [paths(...HEALTH, ...VERSION)] },
  {
    name: "system:service-account-issuer-discovery",
    rules: [paths("/.well-known/openid-configuration", "/.well-known/openid-configuration/", "/openid/v1/jwks", "/openid/v1/jwks/")],
  },
];

const BINDINGS: readonly (readonly [string, readonly string[]])[] = [
  ["cluster-admin", ["system:masters"]],
  ["system:basic-user", ["system:authenticated"]],
  ["system:discovery", ["system:authenticated"]],
  ["system:monitoring", ["system:monitoring"]],
  ["system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]],
  ["system:service-account-issuer-discovery", ["system:serviceaccounts"]],
];

const API_VERSION = `${RBAC_GROUP}/v1`;

const metadataOf = (name: string, labels: Readonly<Record<string, string>> = {}): ApiObject["metadata"] => ({
  name,
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
});

const roleObject = ({ name, rules, labels, aggregates }: DefaultRole): ApiObject => ({
  apiVersion: API_VERSION,
  kind: "ClusterRole",
  metadata: metadataOf(name, labels),
  ...(aggregates === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(aggregates) }] } }),
  rules: rules ?? null,
});

const bindingObject = (role: string, groups: readonly string[]): ApiObject => ({
  apiVersion: API_VERSION,
  kind: "ClusterRoleBinding",
  metadata: metadataOf(role),
  roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
  subjects: groups.map((name) => ({ apiGroup: RBAC_GROUP, kind: "Group", name })),
});

/** The default roles, then their bindings. What an administrator changed should stay: create them only where they are missing. */
export const defaultRbac = (): readonly ApiObject[] => [
  ...ROLES.map(roleObject),
  ...BINDINGS.map(([role, groups]) => bindingObject(role, groups)),
];
