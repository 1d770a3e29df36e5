// Webhook configurations for a real cluster: which requests are sent where. Here: objects from the rule sets; pure.
// Not here: serving them (cmd/), writing the manifests (hack/). Source: spec/api/common.md section 2.
import type { KubeObject } from "../api/meta/object.ts";
import { type RuleSet, ruleSets } from "./index.ts";

/** Where the API server reaches the webhooks. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** Base URL without a path. */
  | { readonly url: string };

/** `machine.cluster.x-k8s.io`; a subresource goes in front: `scale.kubeadmcontrolplane...`. */
export const webhookName = ({ kind, subresource }: RuleSet): string =>
  `${subresource ? `${subresource}.` : ""}${kind.singular}.${kind.resource.group}`;

/** `/mutate/<webhook name>`, `/validate/<webhook name>`. */
export const webhookPath = (phase: "mutate" | "validate", rules: RuleSet): string => `/${phase}/${webhookName(rules)}`;

function clientConfig(address: WebhookAddress, path: string, caBundle: string | undefined): object {
  const ca = caBundle === undefined ? {} : { caBundle };
  return "url" in address ? { url: `${address.url}${path}`, ...ca } : { service: { ...address.service, path }, ...ca };
}

function webhook(phase: "mutate" | "validate", rules: RuleSet, address: WebhookAddress, caBundle: string | undefined): object {
  const { resource } = rules.kind;
  return {
    name: `${phase === "mutate" ? "default" : "validation"}.${webhookName(rules)}`,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfig(address, webhookPath(phase, rules), caBundle),
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    sideEffects: "None",
    rules: [
      {
        apiGroups: [resource.group],
        apiVersions: [resource.version],
        operations: rules.operations.map((o) => o.toUpperCase()),
        resources: [rules.subresource ? `${resource.plural}/${rules.subresource}` : resource.plural],
        scope: "*",
      },
    ],
  };
}

/** @param caBundle base64 of PEM; absent when something else fills it in */
export function webhookConfigurations(address: WebhookAddress, caBundle?: string): readonly KubeObject[] {
  const of = (phase: "mutate" | "validate", kind: string, name: string, sets: readonly RuleSet[]): KubeObject =>
    ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name },
      webhooks: sets.map((rules) => webhook(phase, rules, address, caBundle)),
    }) as KubeObject;
  return [
    of(
      "mutate",
      "MutatingWebhookConfiguration",
      "theseus-mutating",
      ruleSets.filter((r) => r.defaults),
    ),
    of(
      "validate",
      "ValidatingWebhookConfiguration",
      "theseus-validating",
      ruleSets.filter((r) => r.validate),
    ),
  ];
}
