// KubeadmConfig and KubeadmConfigTemplate: bootstrap configuration of one machine. Here: types, schemas, columns.
// Not here: the spec they share with control planes (kubeadm-config-spec.ts). Source: spec/api/kubeadmconfig.md.
import { bootstrapGroup } from "./groups.ts";
import { ageColumn, clusterLabelColumn, column, defineKind, pausedColumn } from "./kind.ts";
import { type KubeadmConfigSpec, kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, must, object, someOf, text, type TypeOf } from "./shape.ts";
import { conditions, deprecated, observedGeneration, templateMeta } from "./shared.ts";

export type { KubeadmConfigSpec } from "./kubeadm-config-spec.ts";

const kubeadmConfigStatus = someOf(
  {
    conditions,
    initialization: someOf({ dataSecretCreated: boolean("The bootstrap data has been written.") }, "Steps of the first start."),
    dataSecretName: text(1, 253, "Secret with the bootstrap data."),
    observedGeneration,
    deprecated,
  },
  "State of the bootstrap data.",
);
export type KubeadmConfigStatus = TypeOf<typeof kubeadmConfigStatus>;

export interface KubeadmConfig extends KubeObject {
  readonly spec?: KubeadmConfigSpec;
  readonly status?: KubeadmConfigStatus;
}

export const kubeadmConfigKind = defineKind<KubeadmConfig>(
  bootstrapGroup,
  {
    kind: "KubeadmConfig",
    plural: "kubeadmconfigs",
    description: "How one machine becomes a Node with kubeadm.",
    specRequired: false,
    columns: [
      clusterLabelColumn,
      pausedColumn,
      column("Data secret created", "string", ".status.initialization.dataSecretCreated", "Whether the bootstrap data is there."),
      ageColumn,
    ],
  },
  kubeadmConfigSpec,
  kubeadmConfigStatus,
);
export const kubeadmConfigResource = kubeadmConfigKind.resource;

const kubeadmConfigTemplateSpec = object(
  { template: must(someOf({ metadata: templateMeta(), spec: kubeadmConfigSpec }, "The template.")) },
  "What is made from this template.",
);
export type KubeadmConfigTemplateSpec = TypeOf<typeof kubeadmConfigTemplateSpec>;

export interface KubeadmConfigTemplate extends KubeObject {
  readonly spec?: KubeadmConfigTemplateSpec;
}

const ownerColumn = (kind: string) =>
  column(kind, "string", `.metadata.ownerReferences[?(@.kind=="${kind}")].name`, `${kind} that owns this template.`);

export const kubeadmConfigTemplateKind = defineKind<KubeadmConfigTemplate>(
  bootstrapGroup,
  {
    kind: "KubeadmConfigTemplate",
    plural: "kubeadmconfigtemplates",
    description: "Template of KubeadmConfigs.",
    specRequired: false,
    columns: [ownerColumn("ClusterClass"), ownerColumn("Cluster"), ageColumn],
  },
  kubeadmConfigTemplateSpec,
);
export const kubeadmConfigTemplateResource = kubeadmConfigTemplateKind.resource;
