// What a MachineSet of a MachineDeployment shall be. Here: the whole intent, as a pure function. Not here: how many replicas (plan.ts), writing (apply.ts).
// Source: spec/controllers/machinedeployment.md section 5.
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import {
  acknowledgedMoveAnnotation,
  clusterNameLabel,
  conversionDataAnnotation,
  desiredReplicasAnnotation,
  disableMachineCreateAnnotation,
  lastAppliedConfigAnnotation,
  machineDeploymentNameLabel,
  machineDeploymentUniqueLabel,
  machineSetMoveMachinesToMachineSetAnnotation,
  machineSetReceiveMachinesFromMachineSetsAnnotation,
  maxReplicasAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
} from "../../api/names.ts";
import type { Random } from "../../runtime/base/random.ts";
import { formatList, inPlaceAnnotations } from "../inplace/marks.ts";
import { fnv32a, withRandomSuffix } from "../naming/names.ts";
import { controllerReferenceTo } from "../ownership/owners.ts";
import { pushedSpecFields } from "../rollout/compare.ts";
import type { SetPlan } from "./plan-view.ts";

type StringMap = Readonly<Record<string, string>>;

/** Annotations of a MachineDeployment that its sets do not get. */
const NOT_COPIED: readonly string[] = [
  lastAppliedConfigAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  conversionDataAnnotation,
  disableMachineCreateAnnotation,
  ...inPlaceAnnotations,
];

/** Name and machine-template-hash of a set; they never change. */
export interface SetIdentity {
  readonly name: string;
  readonly hash: string;
}

/** A name for a set that is to be made. The hash is for readers; nothing compares it. */
export function newIdentity(deployment: MachineDeployment, random: Random): SetIdentity {
  const name = withRandomSuffix(deployment.metadata.name ?? "", random);
  const { version, failureDomain, bootstrap, infrastructureRef } = deployment.spec.template.spec;
  const hash = fnv32a(JSON.stringify([version, failureDomain, bootstrap, infrastructureRef]));
  return { name, hash: `${hash}-${name.slice(-5)}` };
}

/** @throws Error for a set without its hash label: its machines could not be told from those of other sets */
export function identityOf(set: MachineSet): SetIdentity {
  const hash = set.metadata.labels?.[machineDeploymentUniqueLabel];
  if (!hash) {
    throw new Error(
      `MachineSet ${set.metadata.name} has no label ${machineDeploymentUniqueLabel}: restore it on the set, in its selector and on its machines`,
    );
  }
  return { name: set.metadata.name ?? "", hash };
}

export interface Revision {
  readonly number?: string;
  readonly history?: string;
}

export const storedRevision = (object: MachineSet | MachineDeployment): Revision => ({
  number: object.metadata.annotations?.[revisionAnnotation] || undefined,
  history: object.metadata.annotations?.[revisionHistoryAnnotation] || undefined,
});

/** The new set's revision: one above all old ones, never lower than it was. A number that changes goes into the history.
 *  @throws Error for a revision of the new set that is no number; such ones of old sets are skipped */
export function newRevision(newSet: MachineSet | undefined, oldSets: readonly MachineSet[]): Revision {
  const old = oldSets.map((set) => Number(storedRevision(set).number)).filter((n) => Number.isInteger(n));
  const next = Math.max(0, ...old) + 1;
  const { number, history } = newSet ? storedRevision(newSet) : {};
  if (number === undefined) return { number: `${next}`, history };
  const own = Number(number);
  if (!Number.isInteger(own))
    throw new Error(
      `MachineSet ${newSet?.metadata.name} has the revision "${number}": the annotation ${revisionAnnotation} must be a number`,
    );
  if (own >= next) return { number, history };
  return { number: `${next}`, history: history === undefined ? number : `${history},${number}` };
}

export interface DesiredSetInput {
  readonly deployment: MachineDeployment;
  readonly identity: SetIdentity;
  readonly existing?: MachineSet;
  readonly plan: SetPlan;
  readonly revision: Revision;
  readonly maxSurge: number;
  readonly old: boolean;
}

/** The whole set, as it is applied. What is left out here and was applied before goes away. */
export function desiredSet({ deployment, identity, existing, plan, revision, maxSurge, old }: DesiredSetInput): MachineSet {
  const { spec } = deployment;
  // Admission puts the cluster's label into the MachineDeployment; without admission the MachineSet would add it, and this take it away again.
  const own = { [clusterNameLabel]: spec.clusterName, [machineDeploymentUniqueLabel]: identity.hash };
  const templateLabels = { ...spec.template.metadata?.labels, ...own };
  const annotations = spec.template.metadata?.annotations;
  return {
    apiVersion: apiVersionOf(machineSetResource),
    kind: machineSetResource.kind,
    metadata: {
      name: identity.name,
      namespace: deployment.metadata.namespace,
      ...(existing ? { uid: existing.metadata.uid } : {}),
      ...(existing?.metadata.finalizers ? { finalizers: existing.metadata.finalizers } : {}),
      labels: { ...templateLabels, [machineDeploymentNameLabel]: deployment.metadata.name ?? "" },
      annotations: setAnnotations({ deployment, plan, revision, maxSurge, old }),
      ownerReferences: [controllerReferenceTo(machineDeploymentResource, deployment)],
    },
    spec: {
      clusterName: spec.clusterName,
      replicas: plan.replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, ...own } },
      template: { metadata: { labels: templateLabels, ...(annotations ? { annotations } : {}) }, spec: templateSpec(deployment, existing) },
      ...(spec.deletion?.order ? { deletion: { order: spec.deletion.order } } : {}),
      ...(spec.machineNaming ? { machineNaming: spec.machineNaming } : {}),
    },
  };
}

/** Rollout fields stay as the set has them; the others follow the MachineDeployment. */
function templateSpec(deployment: MachineDeployment, existing: MachineSet | undefined): MachineSet["spec"]["template"]["spec"] {
  const wanted = deployment.spec.template.spec;
  if (!existing) return wanted;
  const pushed = new Set<string>(pushedSpecFields);
  const kept = Object.entries(existing.spec.template.spec).filter(([key]) => !pushed.has(key));
  const follow = Object.entries(wanted).filter(([key]) => pushed.has(key));
  return Object.fromEntries([...kept, ...follow]) as MachineSet["spec"]["template"]["spec"];
}

function setAnnotations({ deployment, plan, revision, maxSurge, old }: Omit<DesiredSetInput, "identity" | "existing">): StringMap {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.includes(key));
  const replicas = deployment.spec.replicas ?? 0;
  const onDelete = deployment.spec.rollout?.strategy?.type === "OnDelete";
  return {
    ...Object.fromEntries(copied),
    [desiredReplicasAnnotation]: `${replicas}`,
    [maxReplicasAnnotation]: `${replicas + maxSurge}`,
    [disableMachineCreateAnnotation]: `${(old && onDelete) || plan.holdCreation === true}`,
    ...(revision.number === undefined ? {} : { [revisionAnnotation]: revision.number }),
    ...(revision.history === undefined ? {} : { [revisionHistoryAnnotation]: revision.history }),
    ...(plan.moveTo === undefined ? {} : { [machineSetMoveMachinesToMachineSetAnnotation]: plan.moveTo }),
    ...(plan.receiveFrom ? { [machineSetReceiveMachinesFromMachineSetsAnnotation]: formatList(plan.receiveFrom) } : {}),
    ...(plan.acknowledged ? { [acknowledgedMoveAnnotation]: formatList(plan.acknowledged) } : {}),
  };
}
