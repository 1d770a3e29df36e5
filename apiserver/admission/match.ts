// Whether a hook is to be asked about a write. Here: rules, match policy, selectors. Not here: match conditions (conditions.ts).
import type { LabelSelector, ObjectMeta } from "../../api/meta/object.ts";
import type { AdmissionAttributes } from "../admission-seam.ts";
import { selects } from "../builtin/strategies/fields.ts";
import type { ServerContext } from "../context.ts";
import { notFound } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import { REGISTRATION_GROUP, type Webhook, type WebhookRule } from "./configuration.ts";

/** The write as the hook asked for it: in the version that its rule names. */
export interface Matched {
  readonly type: ResourceType;
  /** Converted to that version. */
  readonly convert: (object: ApiObject) => ApiObject;
}

const EXEMPT: ReadonlySet<string> = new Set([
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "mutatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
]);

/** Configurations are exempt from all hooks: one that refuses everything could never be removed. */
export const isExempt = ({ type }: AdmissionAttributes): boolean => type.group === REGISTRATION_GROUP && EXEMPT.has(type.plural);

/** @returns undefined when the hook is not concerned. Throws ApiError NotFound when the namespace, whose labels count, does not exist */
export function matchHook(server: ServerContext, webhook: Webhook, attributes: AdmissionAttributes): Matched | undefined {
  const matched = matchRules(server, webhook, attributes);
  if (matched === undefined) return undefined;
  if (!selectsObject(webhook.objectSelector, attributes)) return undefined;
  return selectsNamespace(server, webhook.namespaceSelector, attributes) ? matched : undefined;
}

const asIs = (object: ApiObject): ApiObject => object;

function matchRules(server: ServerContext, { rules = [], matchPolicy }: Webhook, attributes: AdmissionAttributes): Matched | undefined {
  const { type } = attributes;
  if (rules.some((rule) => matchesRule(rule, type, attributes))) return { type, convert: asIs };
  if (matchPolicy === "Exact") return undefined;
  for (const other of server.registry.versions(type.group, type.plural)) {
    if (other === type || !rules.some((rule) => matchesRule(rule, other, attributes))) continue;
    return { type: other, convert: (object) => inVersion(type, other, object) };
  }
  return undefined;
}

function inVersion(from: ResourceType, to: ResourceType, object: ApiObject): ApiObject {
  const stored = from.toStorage?.(object) ?? object;
  return { ...(to.fromStorage?.(stored) ?? stored), apiVersion: apiVersionOfType(to), kind: to.kind };
}

const holds = (texts: readonly string[] | undefined, wanted: string): boolean =>
  texts?.some((text) => text === "*" || text === wanted) ?? false;

function matchesRule(rule: WebhookRule, type: ResourceType, { operation, subresource }: AdmissionAttributes): boolean {
  return (
    holds(rule.operations, operation) &&
    holds(rule.apiGroups, type.group) &&
    holds(rule.apiVersions, type.version) &&
    matchesScope(rule.scope, type) &&
    (rule.resources?.some((resource) => matchesResource(resource, type.plural, subresource)) ?? false)
  );
}

const matchesScope = (scope: WebhookRule["scope"], type: ResourceType): boolean =>
  scope === undefined || scope === "*" || (scope === "Namespaced") === type.namespaced;

/** `pods`, `pods/status`, `pods/*`, `*` (no subresources), `*` + `/scale`, `*` + `/*`. */
function matchesResource(text: string, plural: string, subresource: string): boolean {
  const [resource, below = ""] = text.split("/");
  return (resource === "*" || resource === plural) && (below === "*" || below === subresource);
}

const isEverything = (selector: LabelSelector | undefined): boolean =>
  selector === undefined || (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions?.length ?? 0) === 0);

/** The new or the old object: so that nobody evades a hook by taking the label off. */
function selectsObject(selector: LabelSelector | undefined, { object, oldObject }: AdmissionAttributes): boolean {
  if (isEverything(selector)) return true;
  return [object, oldObject].some((one) => one !== undefined && selects(selector, labelsOf(one)));
}

const labelsOf = (object: { readonly metadata?: ObjectMeta }): ObjectMeta["labels"] => object.metadata?.labels;

function selectsNamespace(server: ServerContext, selector: LabelSelector | undefined, attributes: AdmissionAttributes): boolean {
  if (isEverything(selector)) return true;
  const { type, namespace, operation, subresource, object } = attributes;
  const isNamespace = type.group === "" && type.plural === "namespaces";
  // What is in no namespace cannot be set free by a selector.
  if (namespace === "" && !isNamespace) return true;
  if (isNamespace && subresource === "" && operation !== "DELETE" && object !== undefined) return selects(selector, labelsOf(object));
  const namespaces = server.registry.byKind("", "v1", "Namespace");
  const found = namespaces && server.objects.get(namespaces, "", namespace);
  if (found === undefined) throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace);
  return selects(selector, labelsOf(found));
}
