// Steps of a live Machine that write: ownership, the objects it refers to, its spec, its Node. Each step is independent of the others.
// Not here: decisions (provision.ts, node-metadata.ts), in-place updates (inplace-steps.ts), deletion (deletion-steps.ts).
// Source: spec/controllers/machine.md sections 2 to 5.
import { clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import {
  clusterNameLabel,
  interruptibleLabel,
  machineCertificatesExpiryDateAnnotation,
  machineControlPlaneNameLabel,
  machinePoolNameLabel,
  machineSetNameLabel,
} from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { isTrueAt, type Unstructured } from "../contract/contract.ts";
import { controllerOf, referenceTo, withOwner } from "../ownership/owners.ts";
import { nodeResource } from "../../api/core/index.ts";
import { revisionOf } from "./conditions.ts";
import { nodeMetadataPatch } from "./node-metadata.ts";
import { adoptionPatch, mergeProvisioned, planBootstrap, planInfrastructure } from "./provision.ts";
import type { Referenced } from "../contract/read.ts";
import { isControlPlane, isDeleting, type MachineView } from "./view.ts";

const GROUPED_BY = [machineSetNameLabel, machinePoolNameLabel, machineControlPlaneNameLabel];

/** Nobody made it for a set, a pool or a control plane: it belongs to the Cluster directly. */
const isStandAlone = (machine: Machine): boolean =>
  controllerOf(machine) === undefined && !GROUPED_BY.some((label) => machine.metadata.labels?.[label] !== undefined);

/** The label with the name of the Cluster; the Cluster as owner of a stand-alone Machine. */
export async function ownMachine(view: MachineView, { client }: ReconcileContext): Promise<void> {
  const { machine, cluster } = view;
  const labelled = machine.metadata.labels?.[clusterNameLabel] === machine.spec.clusterName;
  const owners = isStandAlone(machine)
    ? withOwner(machine.metadata.ownerReferences, referenceTo(clusterResource, cluster))
    : machine.metadata.ownerReferences;
  if (labelled && owners === machine.metadata.ownerReferences) return;
  const metadata = {
    resourceVersion: machine.metadata.resourceVersion,
    ...(labelled ? {} : { labels: { [clusterNameLabel]: machine.spec.clusterName } }),
    ...(owners === machine.metadata.ownerReferences ? {} : { ownerReferences: owners }),
  };
  view.machine = await client.patch(machineResource, keyOf(machine), { type: "merge", body: { metadata } });
}

/** Kinds that hold a new object until the Machine exists. */
const formerOwners = (machine: Machine): readonly string[] => {
  const controlPlane = isControlPlane(machine) ? controllerOf(machine)?.kind : undefined;
  return controlPlane ? ["MachineSet", controlPlane] : ["MachineSet"];
};

/** Makes the Machine the controller of its bootstrap object. */
export const adoptBootstrap = (view: MachineView, context: ReconcileContext): Promise<void> =>
  adoptReferenced(view.machine, view.bootstrap, context);

/** Makes the Machine the controller of its infrastructure object. */
export const adoptInfrastructure = (view: MachineView, context: ReconcileContext): Promise<void> =>
  adoptReferenced(view.machine, view.infrastructure, context);

async function adoptReferenced(machine: Machine, referenced: Referenced | undefined, { client }: ReconcileContext): Promise<void> {
  if (!referenced?.object || !referenced.kind) return;
  const body = adoptionPatch(machine, referenced.object, formerOwners(machine));
  if (!body) return;
  referenced.object = await client.patch(referenced.kind.resource, keyOf(referenced.object), { type: "merge", body });
}

/** Copies what both objects offer: names into spec, flags and addresses into status. */
export async function takeFromReferences(view: MachineView, { client }: ReconcileContext): Promise<StepOutcome> {
  const { spec, status, requeueAfterMs, failure } = mergeProvisioned(planBootstrap(view), planInfrastructure(view));
  view.status = { ...view.status, ...status };
  if (spec) view.machine = await client.patch(machineResource, keyOf(view.machine), { type: "merge", body: { spec } });
  if (failure) throw new Error(failure);
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

export interface NodeOptions {
  readonly labelPatterns: readonly RegExp[];
  readonly annotationPatterns: readonly RegExp[];
}

/** Ties the Machine to its Node and writes on the Node what comes from the Machine. */
export async function linkNode(view: MachineView, context: ReconcileContext, options: NodeOptions): Promise<void> {
  const { machine, node, workload } = view;
  const nodeRef = machine.status?.nodeRef;
  if (node.state === "error") {
    context.record(machine, "Warning", "FailedGetNode", node.error.message);
    throw node.error;
  }
  if (node.state === "notFound" && nodeRef && !isDeleting(machine)) {
    throw new Error(`Node ${nodeRef.name} of this Machine is gone: no Node has providerID ${machine.spec.providerID}`);
  }
  if (node.state !== "found" || !workload) return;
  const name = node.node.metadata.name ?? "";
  view.status = { ...view.status, nodeRef: nodeRef ?? { name }, nodeInfo: node.node.status?.nodeInfo };
  if (!nodeRef) context.record(machine, "Normal", "SuccessfulSetNodeRef", name);
  const interruptible = isTrueAt(view.infrastructure?.object, "status.interruptible");
  const body = nodeMetadataPatch({
    machine,
    node: node.node,
    interruptible,
    outdated: isOutdated(view),
    propagateTaints: context.gates.enabled("MachineTaintPropagation"),
    ...options,
  });
  if (!body) return;
  await workload.client.patch(nodeResource, { namespace: "", name }, { type: "merge", body });
  if (interruptible && node.node.metadata.labels?.[interruptibleLabel] === undefined) {
    context.record(machine, "Normal", "SuccessfulSetInterruptibleNodeLabel", name);
  }
}

/** @throws when a revision is no number */
function isOutdated({ set, deployment }: MachineView): boolean {
  const [mine, newest] = [revisionOf(set?.metadata.annotations), revisionOf(deployment?.metadata.annotations)];
  return mine !== undefined && newest !== undefined && mine < newest;
}

/** Expiry of a control plane Machine's certificates, from its own annotation or that of its bootstrap object. */
export function noteCertificatesExpiry(view: MachineView): void {
  const { machine, bootstrap } = view;
  if (!isControlPlane(machine)) return;
  const text = annotationOf(machine) ?? annotationOf(bootstrap?.object);
  if (text !== undefined && Number.isNaN(Date.parse(text))) {
    throw new Error(`annotation ${machineCertificatesExpiryDateAnnotation} is "${text}": it must be a time such as 2027-01-31T10:00:00Z`);
  }
  view.status = { ...view.status, certificatesExpiryDate: text };
}

const annotationOf = (object: Machine | Unstructured | undefined): string | undefined =>
  object?.metadata.annotations?.[machineCertificatesExpiryDateAnnotation];
