// Kinds of the other built-in groups that controllers touch: the fields they read or write, nothing more.
// Not here: the core group (core.ts), their schemas (apiserver). Source: k8s.io/api, k8s.io/apiextensions-apiserver.
import type { Condition, IntOrString, KubeObject, LabelSelector } from "../meta/object.ts";
import { resource } from "../meta/resource.ts";
import type { JsonSchema } from "../meta/schema.ts";
import type { PodTemplate } from "./core.ts";

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
export const leaseResource = resource<Lease>("coordination.k8s.io", "v1", "Lease", "leases");

export interface DaemonSet extends KubeObject {
  readonly spec?: { readonly selector: LabelSelector; readonly template: PodTemplate };
}
export const daemonSetResource = resource<DaemonSet>("apps", "v1", "DaemonSet", "daemonsets");

export interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly selector: LabelSelector; readonly template: PodTemplate };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number; readonly availableReplicas?: number };
}
export const deploymentResource = resource<Deployment>("apps", "v1", "Deployment", "deployments");

export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: { readonly minAvailable?: IntOrString; readonly maxUnavailable?: IntOrString; readonly selector?: LabelSelector };
  readonly status?: {
    readonly disruptionsAllowed: number;
    readonly currentHealthy: number;
    readonly desiredHealthy: number;
    readonly expectedPods: number;
    readonly conditions?: readonly Condition[];
  };
}
export const podDisruptionBudgetResource = resource<PodDisruptionBudget>("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets");

/** Body of `pods/eviction`. */
export interface Eviction extends KubeObject {
  readonly deleteOptions?: { readonly gracePeriodSeconds?: number; readonly preconditions?: { readonly uid?: string } };
}

export interface VolumeAttachment extends KubeObject {
  readonly spec?: {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached: boolean };
}
export const volumeAttachmentResource = resource<VolumeAttachment>("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false);

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}
export interface RbacSubject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}
export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}
export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}
export interface RoleBinding extends KubeObject {
  readonly subjects?: readonly RbacSubject[];
  readonly roleRef: RoleRef;
}
export interface ClusterRole extends Role {
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}
export type ClusterRoleBinding = RoleBinding;
const rbac = "rbac.authorization.k8s.io";
export const roleResource = resource<Role>(rbac, "v1", "Role", "roles");
export const roleBindingResource = resource<RoleBinding>(rbac, "v1", "RoleBinding", "rolebindings");
export const clusterRoleResource = resource<ClusterRole>(rbac, "v1", "ClusterRole", "clusterroles", false);
export const clusterRoleBindingResource = resource<ClusterRoleBinding>(rbac, "v1", "ClusterRoleBinding", "clusterrolebindings", false);

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string };
  };
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly format?: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string;
      readonly listKind?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: { readonly conditions?: readonly Omit<Condition, "observedGeneration">[]; readonly storedVersions?: readonly string[] };
}
export const customResourceDefinitionResource = resource<CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
  false,
);

export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: "Cluster" | "Namespaced" | "*";
}
export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
    readonly caBundle?: string;
  };
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: "Ignore" | "Fail";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly sideEffects: "None" | "NoneOnDryRun";
  readonly admissionReviewVersions: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}
const admission = "admissionregistration.k8s.io";
export const mutatingWebhookConfigurationResource = resource<WebhookConfiguration>(
  admission,
  "v1",
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
  false,
);
export const validatingWebhookConfigurationResource = resource<WebhookConfiguration>(
  admission,
  "v1",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
  false,
);
