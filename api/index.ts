// All kinds of this API, in one list and by name. Not here: built-in kinds (core/), hooks (hooks/), names (names.ts).
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

export type { Cluster, ClusterSpec, ClusterStatus } from "./cluster.ts";
export { clusterKind, clusterResource } from "./cluster.ts";
export type { ClusterTopology, MachineDeploymentTopology } from "./cluster-topology.ts";
export type { ClusterClass, ClusterClassSpec, ClusterClassStatus, ClusterClassVariable, MachineDeploymentClass } from "./clusterclass.ts";
export { clusterClassKind, clusterClassResource } from "./clusterclass.ts";
export type { ClassJsonPatch, ClusterClassPatch, PatchDefinition } from "./clusterclass-patches.ts";
export type { DevCluster, DevClusterSpec, DevClusterStatus, DevClusterTemplate } from "./devcluster.ts";
export { devClusterKind, devClusterResource, devClusterTemplateKind, devClusterTemplateResource } from "./devcluster.ts";
export type { DevMachine, DevMachineSpec, DevMachineStatus, DevMachineTemplate } from "./devmachine.ts";
export { devMachineKind, devMachineResource, devMachineTemplateKind, devMachineTemplateResource } from "./devmachine.ts";
export type { ExtensionConfig, ExtensionConfigSpec, ExtensionConfigStatus, ExtensionHandler } from "./extensionconfig.ts";
export { extensionConfigKind, extensionConfigResource } from "./extensionconfig.ts";
export type { KindDefinition, PrinterColumn } from "./kind.ts";
export type { BootFile } from "./kubeadm-config-spec.ts";
export type { KubeadmConfig, KubeadmConfigSpec, KubeadmConfigStatus, KubeadmConfigTemplate } from "./kubeadmconfig.ts";
export { kubeadmConfigKind, kubeadmConfigResource, kubeadmConfigTemplateKind, kubeadmConfigTemplateResource } from "./kubeadmconfig.ts";
export type { KubeadmControlPlane, KubeadmControlPlaneSpec, KubeadmControlPlaneStatus } from "./kubeadmcontrolplane.ts";
export { kubeadmControlPlaneKind, kubeadmControlPlaneResource } from "./kubeadmcontrolplane.ts";
export type { KubeadmControlPlaneTemplate, KubeadmControlPlaneTemplateSpec } from "./kubeadmcontrolplanetemplate.ts";
export { kubeadmControlPlaneTemplateKind, kubeadmControlPlaneTemplateResource } from "./kubeadmcontrolplanetemplate.ts";
export type { Machine, MachinePhase, MachineSpec, MachineStatus } from "./machine.ts";
export { machineKind, machineResource } from "./machine.ts";
export type { MachineDeployment, MachineDeploymentSpec, MachineDeploymentStatus } from "./machinedeployment.ts";
export { machineDeploymentKind, machineDeploymentResource } from "./machinedeployment.ts";
export type { HealthChecks, HealthRemediation, MachineHealthCheck, MachineHealthCheckSpec } from "./machinehealthcheck.ts";
export { machineHealthCheckKind, machineHealthCheckResource } from "./machinehealthcheck.ts";
export type { MachineSet, MachineSetSpec, MachineSetStatus, MachineTemplateSpec } from "./machineset.ts";
export { machineSetKind, machineSetResource } from "./machineset.ts";
export type { ContractRef, Gate, MachineAddress, MachineTaint, TemplateMeta, TemplateRef } from "./shared.ts";
export type { VariableSchemaProps } from "./variable-schema.ts";
