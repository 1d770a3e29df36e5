// Webhook configurations as they are stored. Here: their shape and the list of hooks, kept until a configuration changes.
// Not here: whether a hook is called (match.ts), validation and defaults of configurations (builtin/).
// Source: admissionregistration.k8s.io/v1.
import type { LabelSelector } from "../../api/meta/object.ts";
import type { ServerContext } from "../context.ts";

export const REGISTRATION_GROUP = "admissionregistration.k8s.io";

export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly matchConditions?: readonly MatchCondition[];
  /** Mutating hooks only. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

export interface Hook {
  readonly configuration: string;
  readonly webhook: Webhook;
}

export type ConfigurationKind = "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";

/** The hooks of one kind of configuration, by the configuration's name and then as listed there. */
export function hooksOf(server: ServerContext, kind: ConfigurationKind): () => readonly Hook[] {
  let hooks: readonly Hook[] | undefined;
  let watching = false;
  return () => {
    const type = server.registry.byKind(REGISTRATION_GROUP, "v1", kind);
    if (type === undefined) return [];
    if (!watching) {
      watching = true;
      server.objects.watch(type, () => {
        hooks = undefined;
      });
    }
    hooks ??= server.objects
      .list(type)
      .flatMap(({ metadata, webhooks }) =>
        ((webhooks as readonly Webhook[] | null | undefined) ?? []).map((webhook) => ({ configuration: metadata.name ?? "", webhook })),
      );
    return hooks;
  };
}
