// All kinds of this API in one list. Types and resources are imported from the file of the kind; built-in kinds are in core/,
// hooks in hooks/, names in names.ts.
import { clusterKind } from "./cluster.ts";
import { clusterClassKind } from "./clusterclass.ts";
import { devClusterKind, devClusterTemplateKind } from "./devcluster.ts";
import { devMachineKind, devMachineTemplateKind } from "./devmachine.ts";
import { extensionConfigKind } from "./extensionconfig.ts";
import type { KindDefinition } from "./kind.ts";
import { kubeadmConfigKind, kubeadmConfigTemplateKind } from "./kubeadmconfig.ts";
import { kubeadmControlPlaneKind } from "./kubeadmcontrolplane.ts";
import { kubeadmControlPlaneTemplateKind } from "./kubeadmcontrolplanetemplate.ts";
import { machineKind } from "./machine.ts";
import { machineDeploymentKind } from "./machinedeployment.ts";
import { machineHealthCheckKind } from "./machinehealthcheck.ts";
import { machineSetKind } from "./machineset.ts";

export const allKinds: readonly KindDefinition[] = [
  clusterKind,
  clusterClassKind,
  machineDeploymentKind,
  machineSetKind,
  machineKind,
  machineHealthCheckKind,
  kubeadmConfigKind,
  kubeadmConfigTemplateKind,
  kubeadmControlPlaneKind,
  kubeadmControlPlaneTemplateKind,
  extensionConfigKind,
  devClusterKind,
  devClusterTemplateKind,
  devMachineKind,
  devMachineTemplateKind,
];

export const kindOf = (kind: string): KindDefinition | undefined => allKinds.find((k) => k.resource.kind === kind);
