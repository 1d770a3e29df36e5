// RBAC: who may do what, from Roles, ClusterRoles and their bindings. Here: the index over them and the decision.
// Not here: matching of rules (rules.ts), the roles every cluster has (bootstrap-roles.ts), who may grant (escalation.ts).
// Source: Kubernetes' documentation of RBAC authorization.
import type { UserInfo } from "../../api/meta/transport.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../auth-seam.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import { allows, type Rule } from "./rules.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";
export const MASTERS = "system:masters";

export interface Subject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

interface RoleRef {
  readonly kind?: string;
  readonly name?: string;
}

/** One grant to one subject. */
interface Grant {
  readonly bindingKind: string;
  readonly binding: string;
  readonly role: RoleRef;
  readonly subject: Subject;
}

/** Grants by subject. */
type Grants = Map<string, Grant[]>;

interface Index {
  readonly cluster: Grants;
  readonly byNamespace: ReadonlyMap<string, Grants>;
  /** By `namespace/name`; ClusterRoles without namespace. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
}

export interface Rbac extends Authorizer {
  /** All rules that hold for a user in a namespace (empty = cluster-wide only), cluster-wide ones first. */
  rulesFor(user: UserInfo, namespace: string): readonly Rule[];
  /** Rules of the role that a binding in `namespace` refers to; undefined when there is no such role. */
  rulesOf(role: RoleRef, namespace: string): readonly Rule[] | undefined;
}

const EVERYTHING: readonly Rule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** Members of system:masters may do all. The index follows the store and is made anew at the first question after a change. */
export function createRbac(server: ServerContext): Rbac {
  const index = indexOf(server);
  const rulesOf = (role: RoleRef, namespace: string): readonly Rule[] | undefined =>
    index().rules.get(`${role.kind === "Role" ? namespace : ""}/${role.name ?? ""}`);
  return {
    rulesOf,
    rulesFor(user, namespace) {
      if (user.groups.includes(MASTERS)) return EVERYTHING;
      return [...grantsFor(index(), user, namespace)].flatMap((grant) => rulesOf(grant.role, namespace) ?? []);
    },
    authorize(asked) {
      if (asked.user.groups.includes(MASTERS)) return { allowed: true };
      for (const grant of grantsFor(index(), asked.user, asked.namespace)) {
        if (rulesOf(grant.role, asked.namespace)?.some((rule) => allows(rule, asked))) return allowedBy(grant, asked);
      }
      return { allowed: false };
    },
  };
}

const allowedBy = ({ bindingKind, binding, role, subject }: Grant, asked: AuthorizationAttributes): Decision => {
  const where = bindingKind === "RoleBinding" ? `${binding}/${asked.namespace}` : binding;
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace}` : (subject.name ?? "");
  return {
    allowed: true,
    reason: `RBAC: allowed by ${bindingKind} ${JSON.stringify(where)} of ${role.kind} ${JSON.stringify(role.name)} to ${subject.kind} ${JSON.stringify(who)}`,
  };
};

function* grantsFor(index: Index, user: UserInfo, namespace: string): Generator<Grant> {
  const keys = [`User:${user.username}`, ...user.groups.map((group) => `Group:${group}`)];
  for (const key of keys) yield* index.cluster.get(key) ?? [];
  const local = namespace === "" ? undefined : index.byNamespace.get(namespace);
  if (local !== undefined) for (const key of keys) yield* local.get(key) ?? [];
}

/** Service accounts are users with a name of their own form. */
function subjectKey(subject: Subject, namespace: string): string {
  if (subject.kind !== "ServiceAccount") return `${subject.kind}:${subject.name}`;
  return `User:system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`;
}

const KINDS = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"] as const;

/** Watches the four kinds from the first question on. */
function indexOf(server: ServerContext): () => Index {
  let index: Index | undefined;
  let watching = false;
  return () => {
    if (!watching) {
      watching = true;
      for (const kind of KINDS) {
        const type = server.registry.byKind(RBAC_GROUP, "v1", kind);
        if (type !== undefined)
          server.objects.watch(type, () => {
            index = undefined;
          });
      }
    }
    index ??= build(server);
    return index;
  };
}

function build(server: ServerContext): Index {
  const list = (kind: string): readonly ApiObject[] => {
    const type = server.registry.byKind(RBAC_GROUP, "v1", kind);
    return type === undefined ? [] : server.objects.list(type);
  };
  const cluster: Grants = new Map();
  const byNamespace = new Map<string, Grants>();
  for (const binding of list("ClusterRoleBinding")) addGrants(cluster, binding, "ClusterRoleBinding");
  for (const binding of list("RoleBinding")) {
    const namespace = binding.metadata.namespace ?? "";
    const grants = byNamespace.get(namespace) ?? new Map();
    byNamespace.set(namespace, grants);
    addGrants(grants, binding, "RoleBinding");
  }
  const roles = [...list("Role"), ...list("ClusterRole")].map((role): [string, readonly Rule[]] => [
    `${role.metadata.namespace ?? ""}/${role.metadata.name}`,
    (role.rules as readonly Rule[] | null | undefined) ?? [],
  ]);
  return { cluster, byNamespace, rules: new Map(roles) };
}

function addGrants(grants: Grants, binding: ApiObject, bindingKind: string): void {
  for (const subject of (binding.subjects as readonly Subject[] | null | undefined) ?? []) {
    const key = subjectKey(subject, binding.metadata.namespace ?? "");
    const grant = { bindingKind, binding: binding.metadata.name ?? "", role: binding.roleRef as RoleRef, subject };
    const known = grants.get(key);
    if (known === undefined) grants.set(key, [grant]);
    else known.push(grant);
  }
}
