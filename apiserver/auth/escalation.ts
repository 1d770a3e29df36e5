// Nobody may grant what they do not hold. Here: the check of writes to roles and bindings, as an admission plugin.
// Not here: rules and who has them (rules.ts, rbac.ts).
// Source: Kubernetes, "Privilege escalation prevention and bootstrapping".
import type { AdmissionAttributes, AdmissionPlugin } from "../admission-seam.ts";
import type { Authorizer } from "../auth-seam.ts";
import { forbidden, notFound } from "../errors.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { MASTERS, RBAC_GROUP, type Rbac } from "./rbac.ts";
import { notCovered, type Rule, ruleText } from "./rules.ts";

const ROLES: ReadonlySet<string> = new Set(["roles", "clusterroles"]);
const BINDINGS: ReadonlySet<string> = new Set(["rolebindings", "clusterrolebindings"]);

/**
 * @param authorizer asked for the verbs `escalate` and `bind`; whoever may do all (AlwaysAllow) holds them
 * @param rbac where the rules of users and roles come from
 */
export function escalationCheck(authorizer: Authorizer, rbac: Rbac): AdmissionPlugin {
  return {
    name: "PrivilegeEscalation",
    async validate(attributes) {
      const { type, operation, user, object } = attributes;
      if (type.group !== RBAC_GROUP || object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
      if (user.groups.includes(MASTERS)) return;
      if (ROLES.has(type.plural)) await checkRole(attributes, object, authorizer, rbac);
      else if (BINDINGS.has(type.plural)) await checkBinding(attributes, object, authorizer, rbac);
    },
  };
}

async function checkRole(attributes: AdmissionAttributes, role: ApiObject, authorizer: Authorizer, rbac: Rbac): Promise<void> {
  const { oldObject, type, name } = attributes;
  if (oldObject !== undefined && sameJson(oldObject.rules, role.rules) && sameJson(oldObject.aggregationRule, role.aggregationRule)) return;
  if (await may(authorizer, attributes, "escalate", type.plural, name)) return;
  const rules = (role.rules as readonly Rule[] | null | undefined) ?? [];
  // Nobody knows what an aggregated role will come to hold.
  const aggregates = role.aggregationRule !== undefined && role.aggregationRule !== null;
  const wanted = aggregates ? [...rules, ...WHATEVER] : rules;
  refuseUncovered(attributes, rbac, wanted);
}

const WHATEVER: readonly Rule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

async function checkBinding(attributes: AdmissionAttributes, binding: ApiObject, authorizer: Authorizer, rbac: Rbac): Promise<void> {
  const { oldObject } = attributes;
  if (oldObject !== undefined && sameJson(oldObject.roleRef, binding.roleRef) && sameJson(oldObject.subjects, binding.subjects)) return;
  const ref = binding.roleRef as { readonly kind?: string; readonly name?: string };
  const plural = ref.kind === "Role" ? "roles" : "clusterroles";
  if (await may(authorizer, attributes, "bind", plural, ref.name ?? "")) return;
  const rules = rbac.rulesOf(ref, attributes.namespace);
  if (rules === undefined) throw notFound({ group: RBAC_GROUP, plural, kind: ref.kind ?? "" }, ref.name ?? "");
  refuseUncovered(attributes, rbac, rules);
}

function refuseUncovered({ type, name, namespace, user }: AdmissionAttributes, rbac: Rbac, wanted: readonly Rule[]): void {
  const missing = notCovered(rbac.rulesFor(user, namespace), wanted);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.username)} (groups=${JSON.stringify(user.groups)})`;
  const what = missing.map(ruleText).join("\n");
  throw forbidden(type, name, `${who} is attempting to grant RBAC permissions not currently held:\n${what}`);
}

async function may(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  verb: string,
  resource: string,
  name: string,
): Promise<boolean> {
  const { user, namespace } = attributes;
  const decision = await authorizer.authorize({
    user,
    isResource: true,
    verb,
    path: "",
    group: RBAC_GROUP,
    version: "*",
    resource,
    subresource: "",
    namespace,
    name,
  });
  return decision.allowed;
}
