// What one reconcile of a MachineDeployment knows: read once, completed by its steps. Here: the type, reading it, the planners' views.
// Not here: decisions (plan.ts and its sisters, conditions.ts). Source: spec/controllers/machinedeployment.md sections 2 and 4.
import type { Cluster } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { desiredReplicasAnnotation, disableMachineCreateAnnotation, maxReplicasAnnotation } from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { acknowledgedMoves, isPendingMove, isUpdatingInPlace, moveTarget, receivesFrom } from "../inplace/marks.ts";
import { controllerOf, isControlledBy } from "../ownership/owners.ts";
import { matches, selectorPairs } from "../ownership/selector.ts";
import type { Labels } from "../../api/meta/selector.ts";
import { type CandidateSet, type Choice, chooseNewSet } from "../rollout/compare.ts";
import { type RolloutLimits, rolloutLimits } from "../rollout/numbers.ts";
import { readTemplate, type TemplateRead } from "../templates/read.ts";
import { newRevision, type Revision } from "./desired.ts";
import type { NewSetView, OldSetView, SetView } from "./plan-view.ts";
import type { PausedSet } from "./plan-paused.ts";
import type { ToldMemory } from "./told.ts";

/** What the plan of this run came to, for conditions. */
export interface Outcome {
  /** Why no plan could be made: something is wrong with the MachineDeployment or its sets. */
  fault?: string;
  /** Why it is not known whether machines can be updated in place. */
  undecided?: string;
  /** Why nothing may be changed. */
  blocked?: readonly string[];
  replaced: readonly { readonly set: string; readonly reasons: readonly string[] }[];
}

export interface DeploymentView {
  /** Newest version known; a write of ours replaces it. */
  deployment: MachineDeployment;
  readonly cluster: Cluster;
  readonly nowMs: number;
  readonly selector: Labels;
  readonly limits: RolloutLimits;
  /** Controlled by this MachineDeployment, by name. Newest versions known. */
  sets: MachineSet[];
  /** Selected and without a controller; they are adopted. */
  readonly orphans: readonly MachineSet[];
  readonly machines: readonly Machine[];
  /** Absent: the kind is no template. */
  readonly infrastructureTemplate?: TemplateRead;
  readonly bootstrapTemplate?: TemplateRead;
  readonly outcome: Outcome;
  failed: boolean;
  /** The last finalizer went: there is nothing to write any more. */
  gone?: boolean;
}

/** @returns nothing while the first list of a template's kind is under way; the key runs again by itself */
export async function loadDeployment(
  deployment: MachineDeployment,
  cluster: Cluster,
  context: ReconcileContext,
): Promise<DeploymentView | undefined> {
  const { cache } = context;
  const namespace = deployment.metadata.namespace ?? "";
  const template = deployment.spec.template.spec;
  const needed = !isDeleting(deployment);
  const infrastructureTemplate = needed ? await readTemplate(context, namespace, template.infrastructureRef) : undefined;
  const bootstrapTemplate = needed ? await readTemplate(context, namespace, template.bootstrap.configRef) : undefined;
  if (infrastructureTemplate === "later" || bootstrapTemplate === "later") return undefined;
  const selector = selectorPairs(deployment.spec.selector);
  const sets = cache.ownedBy(machineSetResource, deployment.metadata.uid ?? "").filter((set) => isControlledBy(set, deployment));
  const clusterKey = { namespace, name: deployment.spec.clusterName };
  return {
    deployment,
    cluster,
    nowMs: context.clock.nowMs(),
    selector,
    limits: rolloutLimits(deployment.spec.replicas ?? 0, deployment.spec.rollout?.strategy?.rollingUpdate),
    sets,
    orphans: cache.ofCluster(machineSetResource, clusterKey).filter((set) => !controllerOf(set) && matches(selector, set.metadata.labels)),
    machines: sets
      .flatMap((set) => cache.ownedBy(machineResource, set.metadata.uid ?? "").filter((m) => isControlledBy(m, set)))
      .filter((m) => matches(selector, m.metadata.labels)),
    infrastructureTemplate,
    bootstrapTemplate,
    outcome: { replaced: [] },
    failed: false,
  };
}

export const isDeleting = (object: MachineDeployment | MachineSet): boolean => object.metadata.deletionTimestamp !== undefined;
export const nameOf = (object: { readonly metadata: { readonly name?: string } }): string => object.metadata.name ?? "";
export const replicasOf = (view: Pick<DeploymentView, "deployment">): number => view.deployment.spec.replicas ?? 0;
export const strategyOf = ({ deployment }: Pick<DeploymentView, "deployment">): "RollingUpdate" | "OnDelete" =>
  deployment.spec.rollout?.strategy?.type ?? "RollingUpdate";

/** spec.rollout.after, milliseconds since the epoch. */
export function rolloutAfterMs({ deployment }: Pick<DeploymentView, "deployment">): number | undefined {
  const after = parseTimestamp(deployment.spec.rollout?.after ?? "");
  return Number.isNaN(after) ? undefined : after;
}

/** A set with what the comparison needs. */
export interface Candidate extends CandidateSet {
  readonly set: MachineSet;
}

export function chooseSets(view: DeploymentView): Choice<Candidate> {
  const candidates = view.sets.map((set) => ({
    name: nameOf(set),
    createdMs: createdMsOf(set),
    replicas: set.spec.replicas ?? 0,
    template: set.spec.template.spec,
    set,
  }));
  return chooseNewSet<Candidate>(candidates, view.deployment.spec.template.spec, rolloutAfterMs(view), view.nowMs);
}

const createdMsOf = (set: MachineSet): number => {
  const created = parseTimestamp(set.metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? 0 : created;
};

export const setView = (set: MachineSet): SetView => ({
  name: nameOf(set),
  createdMs: createdMsOf(set),
  replicas: set.spec.replicas ?? 0,
  current: set.status?.replicas ?? 0,
  available: set.status?.availableReplicas ?? 0,
  upToDate: set.status?.upToDateReplicas ?? 0,
  holding: set.metadata.annotations?.[disableMachineCreateAnnotation] === "true",
  seen: (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0),
});

export const newSetView = (view: DeploymentView, set: MachineSet, told: ToldMemory): NewSetView => ({
  ...setView(set),
  machines: machinesOf(view, set),
  told: told.most(set),
  wasSender: moveTarget(set) !== undefined,
});

/** A set that does not exist yet. @param nowMs when it would be made */
export const absentSetView = (name: string, nowMs: number): SetView => ({
  name,
  createdMs: nowMs,
  replicas: 0,
  current: 0,
  available: 0,
  upToDate: 0,
});

export const oldSetViews = (view: DeploymentView, choice: Choice<Candidate>, told: ToldMemory): readonly OldSetView[] =>
  choice.oldSets.map(({ set, inPlaceEligible }) => ({
    ...setView(set.set),
    inPlaceEligible,
    machines: machinesOf(view, set.set),
    told: told.most(set.set),
  }));

const machinesOf = (view: DeploymentView, set: MachineSet): number => view.machines.filter((m) => isControlledBy(m, set)).length;

const annotationNumber = (set: MachineSet, key: string): number | undefined => {
  const text = set.metadata.annotations?.[key];
  const value = text === undefined || text === "" ? Number.NaN : Number(text);
  return Number.isInteger(value) ? value : undefined;
};

export const pausedSet = (set: MachineSet): PausedSet => ({
  desiredReplicas: annotationNumber(set, desiredReplicasAnnotation),
  maxReplicas: annotationNumber(set, maxReplicasAnnotation),
  moveTo: moveTarget(set),
  receiveFrom: receivesFrom(set),
});

/** Names of machines that came to `set` and are not known to be counted; read from the cache of Machines. */
export const pendingMovesTo = (view: DeploymentView, set: MachineSet): readonly string[] =>
  view.machines.filter((m) => isControlledBy(m, set) && isPendingMove(m)).map(nameOf);

export const acknowledgedBy = (set: MachineSet): readonly string[] => acknowledgedMoves(set);
export const someUpdating = (view: DeploymentView): boolean => view.machines.some(isUpdatingInPlace);

/** The new set's number, now that it is the new one. */
export const revisionOfNew = (choice: Choice<Candidate>): Revision =>
  newRevision(
    choice.newSet?.set,
    choice.oldSets.map((o) => o.set.set),
  );
