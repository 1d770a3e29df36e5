// Our webhooks as functions of the embedded API server: the same verdicts as over HTTPS, without sockets.
// Here: rule sets to AdmissionFunctions. Not here: rules (webhooks/), how the server asks them (apiserver/admission).
import type { FeatureGate } from "../api/feature-gates.ts";
import type { KubeObject } from "../api/meta/object.ts";
import type { AdmissionFunction } from "../apiserver/admission/index.ts";
import type { ServerContext } from "../apiserver/context.ts";
import { type ListRead, type ObjectRead, type Read, type RuleSet, ruleSets } from "../webhooks/index.ts";
import { type AdmissionRequest, mutate, validate } from "../webhooks/review.ts";
import { webhookName } from "../webhooks/configuration.ts";

/** @param server asked for objects that a rule reads */
export function webhookFunctions(gate: (name: FeatureGate) => boolean, server: () => ServerContext): readonly AdmissionFunction[] {
  const typeOf = ({ resource }: Read) => server().registry.byKind(resource.group, resource.version, resource.kind);
  const found = (read: ObjectRead): KubeObject | undefined => {
    const type = typeOf(read);
    return type && server().objects.get(type, read.key.namespace, read.key.name);
  };
  const listed = (read: ListRead): readonly KubeObject[] => {
    const type = typeOf(read);
    const wanted = Object.entries(read.labels ?? {});
    const has = ({ metadata }: KubeObject): boolean => wanted.every(([key, value]) => metadata.labels?.[key] === value);
    return type ? server().objects.list(type, read.namespace).filter(has) : [];
  };
  const environment = { gate, found, listed };
  return ruleSets.map((rules) => ({
    name: webhookName(rules),
    rules: [ruleOf(rules)],
    ...(rules.defaults ? { mutate: (request: AdmissionRequest) => mutate(rules, request, environment) } : {}),
    ...(rules.validate ? { validate: (request: AdmissionRequest) => validate(rules, request, environment) } : {}),
  }));
}

const ruleOf = ({ kind: { resource }, operations, subresource }: RuleSet) => ({
  apiGroups: [resource.group],
  apiVersions: [resource.version],
  resources: [subresource ? `${resource.plural}/${subresource}` : resource.plural],
  operations: operations.map((o) => o.toUpperCase()),
});
