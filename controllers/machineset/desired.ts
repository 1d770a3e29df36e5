// What a Machine of a set shall be. Here: pure intents for server-side apply, and the labels and annotations its objects share with it.
// Source: spec/controllers/machineset.md sections 4 and 6, inplace-workers.md 5.2.
import { type Machine, type MachineSpec, machineResource } from "../../api/machine.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import { machineDeploymentNameLabel, machineFinalizer, machineSetNameLabel } from "../../api/names.ts";
import { fnv32a, labelValueOf } from "../naming/names.ts";
import { controllerReferenceTo } from "../ownership/owners.ts";

type StringMap = Readonly<Record<string, string>>;

/** Labels of a set's machines and of their infrastructure and bootstrap objects. */
export function machineLabels(set: MachineSet): StringMap {
  const deployment = set.metadata.labels?.[machineDeploymentNameLabel];
  return {
    ...set.spec.template.metadata?.labels,
    [machineSetNameLabel]: labelValueOf(set.metadata.name ?? ""),
    ...(deployment === undefined ? {} : { [machineDeploymentNameLabel]: deployment }),
  };
}
export const machineAnnotations = (set: MachineSet): StringMap => ({ ...set.spec.template.metadata?.annotations });

/** Stands for everything that a set puts on its machines: equal tokens, equal intents for an unchanged machine. */
export function syncToken(set: MachineSet): string {
  const text = JSON.stringify([set.metadata.uid, set.spec.template, set.spec.clusterName, machineLabels(set)]);
  return `${text.length}/${fnv32a(text)}`;
}

const header = { apiVersion: apiVersionOf(machineResource), kind: machineResource.kind };

/** A machine to be made. */
export function newMachine(
  set: MachineSet,
  name: string,
  refs: { readonly infrastructureRef: MachineSpec["infrastructureRef"]; readonly configRef?: MachineSpec["bootstrap"]["configRef"] },
): Machine {
  const { template } = set.spec;
  return {
    ...header,
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: machineLabels(set),
      annotations: machineAnnotations(set),
      finalizers: [machineFinalizer],
      ownerReferences: [controllerReferenceTo(machineSetResource, set)],
    },
    spec: {
      ...template.spec,
      clusterName: set.spec.clusterName,
      infrastructureRef: refs.infrastructureRef,
      bootstrap: { ...template.spec.bootstrap, ...(refs.configRef ? { configRef: refs.configRef } : {}) },
    },
  };
}

/** An existing machine with everything that follows the set without a rollout.
 *  @param inPlace also version and failure domain: the machine is about to be updated to the set's template */
export function syncedMachine(set: MachineSet, machine: Machine, inPlace: boolean): KubeObject & { readonly spec: object } {
  const { template } = set.spec;
  const { version, failureDomain, bootstrap, ...rest } = template.spec;
  const from = inPlace ? { version, failureDomain } : { version: machine.spec.version, failureDomain: machine.spec.failureDomain };
  return {
    ...header,
    metadata: {
      name: machine.metadata.name,
      namespace: machine.metadata.namespace,
      uid: machine.metadata.uid,
      labels: machineLabels(set),
      annotations: machineAnnotations(set),
      finalizers: [...new Set([...(machine.metadata.finalizers ?? []), machineFinalizer])],
      ownerReferences: [controllerReferenceTo(machineSetResource, set)],
    },
    spec: {
      ...rest,
      ...withoutUndefined(from),
      clusterName: set.spec.clusterName,
      infrastructureRef: machine.spec.infrastructureRef,
      bootstrap: withoutUndefined({ dataSecretName: bootstrap.dataSecretName, configRef: machine.spec.bootstrap.configRef }),
    },
  };
}

const withoutUndefined = (object: object): object => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** The spec fields that still follow the set while a machine is being deleted, so that its timeouts can be changed. Null removes a field. */
export function specWhileDeleting(set: MachineSet): object {
  const { readinessGates, deletion, minReadySeconds, taints } = set.spec.template.spec;
  return {
    readinessGates: readinessGates ?? null,
    minReadySeconds: minReadySeconds ?? null,
    taints: taints ?? null,
    // Admission fills in 10 seconds; leaving it out would differ for ever.
    deletion: {
      nodeDrainTimeoutSeconds: deletion?.nodeDrainTimeoutSeconds ?? null,
      nodeVolumeDetachTimeoutSeconds: deletion?.nodeVolumeDetachTimeoutSeconds ?? null,
      nodeDeletionTimeoutSeconds: deletion?.nodeDeletionTimeoutSeconds ?? 10,
    },
  };
}
