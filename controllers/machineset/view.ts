// What one reconcile of a MachineSet knows: read once, completed by its steps. Here: the type, reading it, machines as planners see them.
// Not here: decisions (plan.ts, remediation.ts, preflight.ts, conditions.ts). Source: spec/controllers/machineset.md section 2.
import type { Cluster } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { keyOf, keyText } from "../../api/meta/resource.ts";
import {
  deleteMachineAnnotation,
  desiredReplicasAnnotation,
  disableMachineCreateAnnotation,
  machineDeploymentNameLabel,
  machineDeploymentUniqueLabel,
  revisionAnnotation,
} from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { index } from "../../runtime/cache.ts";
import { findCondition, hasStatus } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import {
  acknowledgedMoves,
  isPendingMove,
  isUpdatingInPlace,
  moveTarget,
  pendingHooks,
  receivesFrom,
  UPDATE_MACHINE_HOOK,
} from "../inplace/marks.ts";
import { controllerOf, isControlledBy } from "../ownership/owners.ts";
import { matches, selectorPairs } from "../ownership/selector.ts";
import type { Labels } from "../../api/meta/selector.ts";
import { readTemplate, type TemplateRead } from "../templates/read.ts";
import type { MachineView, MoveTarget, SetView } from "./plan.ts";

export interface MachineSetView {
  /** Newest version known; a write of ours replaces it. */
  set: MachineSet;
  readonly cluster: Cluster;
  readonly deployment?: MachineDeployment;
  readonly nowMs: number;
  /** Absent: the kind is no template. */
  readonly infrastructureTemplate?: TemplateRead;
  readonly bootstrapTemplate?: TemplateRead;
  readonly selector: Labels;
  /** Controlled and selected, deleting ones included, by name. Newest versions known. */
  machines: Machine[];
  /** Without a controller and selected; they are adopted. */
  readonly orphans: readonly Machine[];
  /** Controlled, but their labels no longer match. */
  readonly strays: readonly Machine[];
  /** The last finalizer went: there is nothing to write any more. */
  gone?: boolean;
  /** Machines this run has sent a delete for. */
  readonly deletedNow: Set<string>;
  /** Why no machine may be made now. */
  readonly preflightFailures: string[];
  /** Why the steps of this run failed; later steps ran nevertheless. */
  readonly failures: unknown[];
}

const withoutController = index(machineResource, "withoutController", (m) => (controllerOf(m) ? [] : [m.metadata.namespace ?? ""]));

/** @returns nothing while the first list of a template's kind is under way; the key runs again by itself */
export async function loadMachineSet(set: MachineSet, cluster: Cluster, context: ReconcileContext): Promise<MachineSetView | undefined> {
  const namespace = set.metadata.namespace ?? "";
  const template = set.spec.template.spec;
  // A set that goes needs no templates, and must not wait for them.
  const needed = !isDeleting(set);
  const infrastructureTemplate = needed ? await readTemplate(context, namespace, template.infrastructureRef) : undefined;
  const bootstrapTemplate = needed ? await readTemplate(context, namespace, template.bootstrap.configRef) : undefined;
  if (infrastructureTemplate === "later" || bootstrapTemplate === "later") return undefined;
  const selector = selectorPairs(set.spec.selector);
  const owned = context.cache.ownedBy(machineResource, set.metadata.uid ?? "").filter((m) => isControlledBy(m, set));
  return {
    set,
    cluster,
    deployment: deploymentOf(set, context),
    nowMs: context.clock.nowMs(),
    infrastructureTemplate,
    bootstrapTemplate,
    selector,
    machines: owned.filter((m) => matches(selector, m.metadata.labels)),
    orphans: context.cache.by(withoutController, namespace).filter((m) => matches(selector, m.metadata.labels)),
    strays: owned.filter((m) => !matches(selector, m.metadata.labels) && !isDeleting(m)),
    deletedNow: new Set(),
    preflightFailures: [],
    failures: [],
  };
}

function deploymentOf(set: MachineSet, { cache }: ReconcileContext): MachineDeployment | undefined {
  const name = set.metadata.labels?.[machineDeploymentNameLabel];
  if (!name) return undefined;
  const key = { namespace: set.metadata.namespace ?? "", name };
  const deployment = cache.get(machineDeploymentResource, key);
  // A set that goes needs nobody's plan.
  if (!deployment && !isDeleting(set))
    throw new Error(`MachineDeployment ${keyText(key)}, which this MachineSet belongs to, does not exist`);
  return deployment;
}

export const isDeleting = (object: Machine | MachineSet): boolean => object.metadata.deletionTimestamp !== undefined;
export const nameOf = (object: { readonly metadata: { readonly name?: string } }): string => object.metadata.name ?? "";

/** The set that its MachineDeployment makes machines with; a stand-alone set is always current. */
export const isCurrent = ({ set, deployment }: Pick<MachineSetView, "set" | "deployment">): boolean =>
  !deployment || set.metadata.annotations?.[revisionAnnotation] === deployment.metadata.annotations?.[revisionAnnotation];

/** The machine of that name in the view. */
export const machineNamed = (view: MachineSetView, name: string): Machine | undefined => view.machines.find((m) => nameOf(m) === name);

/** A write of ours: the view goes on with what the server stored. */
export function replaceMachine(view: MachineSetView, stored: Machine): void {
  view.machines = view.machines.map((m) => (nameOf(m) === nameOf(stored) ? stored : m));
}

export function machineViewOf(machine: Machine, deletedNow: ReadonlySet<string> = new Set()): MachineView {
  const { metadata, status } = machine;
  const { conditions } = status ?? {};
  const unhealthy = hasStatus(conditions, "HealthCheckSucceeded", "False");
  const created = parseTimestamp(metadata.creationTimestamp ?? "");
  const updating = findCondition(conditions, "Updating");
  return {
    name: nameOf(machine),
    createdMs: Number.isNaN(created) ? undefined : created,
    deleting: isDeleting(machine) || deletedNow.has(nameOf(machine)),
    deleteFirst: metadata.annotations?.[deleteMachineAnnotation] !== undefined,
    updating: isUpdatingInPlace(machine),
    updateFailing: updating?.status === "True" && updating.reason === "InPlaceUpdateFailed",
    finishing: !isUpdatingInPlace(machine) && updating?.status === "True",
    pendingMove: isPendingMove(machine),
    hookPending: pendingHooks(machine).includes(UPDATE_MACHINE_HOOK),
    hasNode: status?.nodeRef !== undefined,
    unhealthy: unhealthy || hasStatus(conditions, "NodeHealthy", "False"),
    toRemediate: unhealthy && hasStatus(conditions, "OwnerRemediated", "False"),
  };
}

export const machineViews = (view: MachineSetView): readonly MachineView[] => view.machines.map((m) => machineViewOf(m, view.deletedNow));

export function setViewOf(view: MachineSetView, moveTo: MoveTarget | undefined): SetView {
  const { set } = view;
  return {
    name: nameOf(set),
    replicas: set.spec.replicas ?? 0,
    order: set.spec.deletion?.order ?? "Random",
    createDisabled: set.metadata.annotations?.[disableMachineCreateAnnotation] === "true",
    receiving: receivesFrom(set).length > 0,
    strays: view.strays.length,
    ...(moveTo ? { moveTo } : {}),
  };
}

/** Who takes our surplus machines, if the MachineDeployment said so. */
export interface Target extends MoveTarget {
  readonly set?: MachineSet;
  /** Its machine-template-hash. */
  readonly hash?: string;
}

export function readMoveTarget(view: MachineSetView, { cache }: Pick<ReconcileContext, "cache">): Target | undefined {
  const name = moveTarget(view.set);
  if (name === undefined) return undefined;
  const target = cache.get(machineSetResource, { namespace: keyOf(view.set).namespace, name });
  const hash = target?.metadata.labels?.[machineDeploymentUniqueLabel];
  if (!target || !hash || isDeleting(target)) return { name, accepts: false };
  const wanted = Number(target.metadata.annotations?.[desiredReplicasAnnotation] ?? Number.NaN);
  const counted = acknowledgedMoves(target);
  const there = cache.ownedBy(machineResource, target.metadata.uid ?? "").filter((m) => isControlledBy(m, target));
  const onTheWay = there.filter((m) => isPendingMove(m) && !counted.includes(nameOf(m)));
  // While it makes no machines its replicas may be more than it has: they stand for machines that it might have had to take back.
  const holds = target.metadata.annotations?.[disableMachineCreateAnnotation] === "true";
  const taken = holds ? there.length : (target.spec.replicas ?? 0) + onTheWay.length;
  const room = Number.isInteger(wanted) ? { room: wanted - taken } : {};
  return { name, accepts: receivesFrom(target).includes(nameOf(view.set)), ...room, set: target, hash };
}
