// KubeadmControlPlaneTemplate: what a ClusterClass makes control planes from. Source: spec/api/kubeadmcontrolplane.md section 7.
import { controlPlaneGroup } from "./groups.ts";
import { ageColumn, column, defineKind } from "./kind.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import { controlPlaneNaming, controlPlaneRemediation, controlPlaneRollout } from "./kubeadmcontrolplane.ts";
import type { KubeObject } from "./meta/object.ts";
import { must, object, someOf, type TypeOf } from "./shape.ts";
import { machineTaints, nodeDeletion, templateMeta } from "./shared.ts";

const kubeadmControlPlaneTemplateSpec = object(
  {
    template: must(
      someOf(
        {
          metadata: templateMeta(),
          spec: someOf(
            {
              machineTemplate: someOf(
                {
                  metadata: templateMeta("Labels and annotations of the machines."),
                  spec: someOf({ deletion: nodeDeletion(), taints: machineTaints() }, "What each machine shall be."),
                },
                "Template of the machines.",
              ),
              kubeadmConfigSpec,
              rollout: controlPlaneRollout,
              remediation: controlPlaneRemediation,
              machineNaming: controlPlaneNaming,
            },
            "What the control plane shall be; cannot be changed.",
          ),
        },
        "The template.",
      ),
    ),
  },
  "What is made from this template.",
);
export type KubeadmControlPlaneTemplateSpec = TypeOf<typeof kubeadmControlPlaneTemplateSpec>;

export interface KubeadmControlPlaneTemplate extends KubeObject {
  readonly spec?: KubeadmControlPlaneTemplateSpec;
}

export const kubeadmControlPlaneTemplateKind = defineKind<KubeadmControlPlaneTemplate>(
  controlPlaneGroup,
  {
    kind: "KubeadmControlPlaneTemplate",
    plural: "kubeadmcontrolplanetemplates",
    description: "Template of KubeadmControlPlanes.",
    specRequired: false,
    columns: [
      column(
        "ClusterClass",
        "string",
        '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name',
        "ClusterClass that owns this template.",
      ),
      ageColumn,
    ],
  },
  kubeadmControlPlaneTemplateSpec,
);
export const kubeadmControlPlaneTemplateResource = kubeadmControlPlaneTemplateKind.resource;
