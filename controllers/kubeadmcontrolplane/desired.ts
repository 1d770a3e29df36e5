// What a control plane wants its Machines and their objects to be. Here: pure intents for server-side apply.
// Not here: the spec of KubeadmConfigs (kubeadm-config.ts), writing (create.ts, sync.ts, trigger.ts).
// Source: spec/controllers/kubeadmcontrolplane.md section 8.
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type KubeadmControlPlane, kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, type MachineSpec, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import {
  clusterNameLabel,
  machineControlPlaneLabel,
  machineControlPlaneNameLabel,
  preTerminateHookCleanupAnnotation,
  remediationForAnnotation,
  updateInProgressAnnotation,
} from "../../api/names.ts";
import type { Unstructured } from "../contract/contract.ts";
import { labelValueOf } from "../naming/names.ts";
import { controllerReferenceTo, referenceTo } from "../ownership/owners.ts";
import { type ConfigForm, desiredConfigSpec } from "./kubeadm-config.ts";
import { componentPodConditions, etcdConditions, hasManagedEtcd, nameOf } from "./machines.ts";

type StringMap = Readonly<Record<string, string>>;

/** Labels of Machines and of their infrastructure and bootstrap objects; ours win over the template's. */
export const machineLabels = (kcp: KubeadmControlPlane, cluster: string): StringMap => ({
  ...kcp.spec.machineTemplate.metadata?.labels,
  [clusterNameLabel]: cluster,
  [machineControlPlaneLabel]: "",
  [machineControlPlaneNameLabel]: labelValueOf(nameOf(kcp)),
});

/** Annotations of infrastructure and bootstrap objects. */
export const objectAnnotations = (kcp: KubeadmControlPlane): StringMap => ({ ...kcp.spec.machineTemplate.metadata?.annotations });

/** The gates that make a Machine Ready only when its part of the control plane works, then the user's. */
export function readinessGates(kcp: KubeadmControlPlane): NonNullable<MachineSpec["readinessGates"]> {
  const own = ["NodeKubeadmLabelsAndTaintsSet", ...componentPodConditions, ...(hasManagedEtcd(kcp) ? etcdConditions : [])];
  const users = kcp.spec.machineTemplate.spec.readinessGates ?? [];
  return [...own.map((conditionType) => ({ conditionType })), ...users.filter((g) => !own.includes(g.conditionType))];
}

export interface DesiredMachine {
  readonly name: string;
  /** Of an existing Machine. */
  readonly uid?: string;
  readonly version: string | undefined;
  readonly failureDomain?: string;
  readonly infrastructureRef: MachineSpec["infrastructureRef"];
  readonly bootstrap: MachineSpec["bootstrap"];
  /** Value of the annotation on a replacement. */
  readonly remediationFor?: string;
}

export function desiredMachine(
  kcp: KubeadmControlPlane,
  cluster: string,
  wish: DesiredMachine,
): KubeObject & { readonly spec: MachineSpec } {
  const { deletion, taints } = kcp.spec.machineTemplate.spec;
  const { version, failureDomain, infrastructureRef, bootstrap } = wish;
  return {
    apiVersion: apiVersionOf(machineResource),
    kind: machineResource.kind,
    metadata: {
      name: wish.name,
      namespace: kcp.metadata.namespace,
      ...(wish.uid === undefined ? {} : { uid: wish.uid }),
      labels: machineLabels(kcp, cluster),
      annotations: {
        ...kcp.spec.machineTemplate.metadata?.annotations,
        ...(wish.remediationFor === undefined ? {} : { [remediationForAnnotation]: wish.remediationFor }),
        [preTerminateHookCleanupAnnotation]: "",
      },
      ownerReferences: [controllerReferenceTo(kubeadmControlPlaneResource, kcp)],
    },
    spec: {
      clusterName: cluster,
      ...(version === undefined ? {} : { version }),
      ...(failureDomain === undefined ? {} : { failureDomain }),
      bootstrap,
      infrastructureRef,
      readinessGates: readinessGates(kcp),
      ...(deletion ? { deletion } : {}),
      ...(taints ? { taints } : {}),
    },
  };
}

/** An existing Machine with everything that follows the control plane. @param version its own, or the new one when it is updated in place */
export const syncedMachine = (kcp: KubeadmControlPlane, cluster: string, machine: Machine, version = machine.spec.version) =>
  desiredMachine(kcp, cluster, {
    name: nameOf(machine),
    uid: machine.metadata.uid,
    version,
    failureDomain: machine.spec.failureDomain,
    infrastructureRef: machine.spec.infrastructureRef,
    bootstrap: machine.spec.bootstrap.configRef ? { configRef: machine.spec.bootstrap.configRef } : machine.spec.bootstrap,
    remediationFor: machine.metadata.annotations?.[remediationForAnnotation],
  });

const configHeader = { apiVersion: apiVersionOf(kubeadmConfigResource), kind: kubeadmConfigResource.kind };

/** The KubeadmConfig of a Machine that is about to be made. */
export const newConfig = (
  kcp: KubeadmControlPlane,
  cluster: string,
  name: string,
  form: ConfigForm,
): KubeObject & { readonly spec: object } => ({
  ...configHeader,
  metadata: {
    name,
    namespace: kcp.metadata.namespace,
    labels: machineLabels(kcp, cluster),
    annotations: objectAnnotations(kcp),
    ownerReferences: [referenceTo(kubeadmControlPlaneResource, kcp)],
  },
  spec: desiredConfigSpec(kcp, form),
});

/** What an existing KubeadmConfig becomes by an update in place. Labels belong to the metadata manager and stay out. */
export const configInPlace = (kcp: KubeadmControlPlane, existing: KubeObject): KubeObject & { readonly spec: object } => ({
  ...configHeader,
  metadata: {
    name: existing.metadata.name,
    namespace: existing.metadata.namespace,
    uid: existing.metadata.uid,
    annotations: { [updateInProgressAnnotation]: "" },
  },
  spec: desiredConfigSpec(kcp, "join"),
});

/** Labels and annotations of an existing infrastructure or bootstrap object, for the metadata manager. `uid` keeps it from creating. */
export const syncedMetadata = (kcp: KubeadmControlPlane, cluster: string, object: KubeObject): Unstructured => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: {
    name: object.metadata.name,
    namespace: object.metadata.namespace,
    uid: object.metadata.uid,
    labels: machineLabels(kcp, cluster),
    annotations: objectAnnotations(kcp),
  },
});

const DELETION_TIMEOUT_DEFAULT_SECONDS = 10;

/** The fields that still follow the control plane while a Machine is being deleted; null removes a field. */
export function specWhileDeleting(kcp: KubeadmControlPlane): object {
  const { deletion, taints } = kcp.spec.machineTemplate.spec;
  return {
    taints: taints ?? null,
    deletion: {
      nodeDrainTimeoutSeconds: deletion?.nodeDrainTimeoutSeconds ?? null,
      nodeVolumeDetachTimeoutSeconds: deletion?.nodeVolumeDetachTimeoutSeconds ?? null,
      // Admission fills it in; leaving it out would differ for ever.
      nodeDeletionTimeoutSeconds: deletion?.nodeDeletionTimeoutSeconds ?? DELETION_TIMEOUT_DEFAULT_SECONDS,
    },
  };
}
