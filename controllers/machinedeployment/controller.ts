// MachineDeployment controller: rolls changes of a template out through MachineSets. Here: watches, steps in order, status last.
// Not here: plans (plan.ts), the rollout's writes (rollout.ts). Source: spec/controllers/machinedeployment.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel, fieldManagers, machineDeploymentFinalizer, machineDeploymentNameLabel } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { Change } from "../../runtime/cache.ts";
import { setConditions } from "../../runtime/conditions.ts";
import {
  type Controller,
  controller,
  mapped,
  owned,
  type ReconcileContext,
  type Step,
  type StepOutcome,
  type WatchEnvironment,
} from "../../runtime/controller.ts";
import { patchObject, removeFinalizer } from "../../runtime/patch.ts";
import { type AppliedMemory, createAppliedMemory } from "../apply/apply.ts";
import { type CanUpdateMachineSet, createAskMemory } from "../inplace/ask.ts";
import { clusterOf } from "../lifecycle/cluster-of.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { adopt, controllerOf, ensureClusterOwner, referenceTo, withOwner } from "../ownership/owners.ts";
import { selects } from "../ownership/selector.ts";
import { byAge } from "../rollout/compare.ts";
import { countersOf, findingsOf } from "./conditions.ts";
import { rollOut } from "./rollout.ts";
import { chooseSets, type DeploymentView, isDeleting, loadDeployment, nameOf, replicasOf, rolloutAfterMs, setView } from "./view.ts";
import { createToldMemory } from "./told.ts";
import { repairSets } from "./writing.ts";

export interface MachineDeploymentDeps {
  /** Asks the update extension; only called with the gate InPlaceUpdates. */
  readonly canUpdate: CanUpdateMachineSet;
}

export function machineDeploymentController(deps: MachineDeploymentDeps): Controller<MachineDeployment> {
  const rollout = { canUpdate: deps.canUpdate, asked: createAskMemory(), applied: createAppliedMemory(), told: createToldMemory() };
  return controller<MachineDeployment, DeploymentView>(machineDeploymentResource, {
    fieldManager: fieldManagers.default,
    eventSource: "machinedeployment-controller",
    watches: [
      owned(machineSetResource),
      mapped(machineSetResource, deploymentsThatSelect),
      // The plan counts Machines itself; all other news of them come through their sets.
      mapped(machineResource, deploymentOfMachine, (change) => change.type === "deleted" || changedSets(change)),
      mapped(
        clusterResource,
        deploymentsOfCluster,
        (change) => change.type !== "updated" || change.old.spec.paused !== change.object.spec.paused,
      ),
    ],
    reads: [customResourceDefinitionResource],
    load: async (deployment, context) => {
      const cluster = clusterOf(deployment, context);
      if (!(await mayReconcile(machineDeploymentResource, deployment, cluster, machineDeploymentFinalizer, context))) return undefined;
      return loadDeployment(deployment, cluster, context);
    },
    whenDeleting: steps(adoptSets, deleteSets),
    whenLive: steps(
      ownerAndLabels,
      templates,
      adoptSets,
      repair(rollout.applied),
      (view, context) => rollOut(view, context, rollout),
      removeEmptySets,
    ),
    finally: writeDeploymentStatus,
  });
}

/** Steps that note in the view that one of them failed: then the status must not claim to have seen this generation. */
const steps = (...all: readonly Step<DeploymentView>[]): readonly Step<DeploymentView>[] =>
  all.map((step) => async (view, context) => {
    view.failed = true;
    const outcome = await step(view, context);
    view.failed = false;
    return outcome;
  });

/** The cluster's label; the Cluster as an owner, so that everything goes when it goes. */
async function ownerAndLabels(view: DeploymentView, { client }: ReconcileContext): Promise<void> {
  const { deployment, cluster } = view;
  const ownerReferences = withOwner(deployment.metadata.ownerReferences, referenceTo(clusterResource, cluster));
  const labels = { ...deployment.metadata.labels, [clusterNameLabel]: deployment.spec.clusterName };
  const wanted = { ...deployment, metadata: { ...deployment.metadata, labels, ownerReferences } };
  view.deployment = await patchObject(client, machineDeploymentResource, deployment, wanted, {
    onlyIfUnchanged: ownerReferences !== deployment.metadata.ownerReferences,
  });
}

async function templates(view: DeploymentView, { client }: ReconcileContext): Promise<void> {
  for (const read of [view.infrastructureTemplate, view.bootstrapTemplate]) {
    if (read?.state === "failed") throw read.error;
    if (read?.state === "found") await ensureClusterOwner(client, read.kind.resource, read.object, view.cluster);
  }
}

/** Takes sets without a controller. One that cannot be taken is left out. */
async function adoptSets(view: DeploymentView, context: ReconcileContext): Promise<void> {
  for (const set of view.orphans) {
    if (isDeleting(set)) continue;
    try {
      const adopted = await adopt(context.client, machineSetResource, set, machineDeploymentResource, view.deployment);
      view.sets = [...view.sets, adopted].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      context.record(view.deployment, "Normal", "SuccessfulAdopt", `Adopted MachineSet ${nameOf(set)}`);
    } catch (e) {
      context.record(view.deployment, "Warning", "FailedAdopt", `MachineSet ${nameOf(set)}: ${e instanceof Error ? e.message : String(e)}`);
    }
  }
}

const repair =
  (applied: AppliedMemory): Step<DeploymentView> =>
  async (view, context) =>
    (await repairSets(view, context, applied)) ? { stop: true } : undefined;

/** Once everything is done, and status has said so: the sets that are left empty go. */
async function removeEmptySets(view: DeploymentView, context: ReconcileContext): Promise<void> {
  const { deployment } = view;
  if (deployment.spec.paused || !isComplete(view)) return;
  const empty = chooseSets(view)
    .oldSets.map((old) => old.set.set)
    .filter(isEmpty)
    .sort((a, b) => byAge(setView(a), setView(b)));
  for (const set of empty) {
    try {
      await context.client.delete(machineSetResource, keyOf(set), { preconditions: { uid: set.metadata.uid } });
      context.record(deployment, "Normal", "SuccessfulDelete", `Deleted MachineSet "${nameOf(set)}"`);
    } catch (e) {
      if (isNotFound(e)) continue;
      context.record(deployment, "Warning", "FailedDelete", `MachineSet ${nameOf(set)}: ${e instanceof Error ? e.message : String(e)}`);
      throw e;
    }
  }
}

function isComplete(view: DeploymentView): boolean {
  const { replicas = 0, upToDateReplicas = 0, availableReplicas = 0 } = countersOf(view);
  const wanted = replicasOf(view);
  const { generation = 0 } = view.deployment.metadata;
  const seen = (view.deployment.status?.observedGeneration ?? 0) >= generation;
  return seen && replicas === wanted && upToDateReplicas === wanted && availableReplicas === wanted;
}

const isEmpty = (set: MachineSet): boolean =>
  !isDeleting(set) &&
  (set.spec.replicas ?? 0) === 0 &&
  (set.status?.replicas ?? 0) === 0 &&
  (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);

async function deleteSets(view: DeploymentView, context: ReconcileContext): Promise<void> {
  if (view.sets.length === 0) {
    await removeFinalizer(context.client, machineDeploymentResource, view.deployment, machineDeploymentFinalizer);
    view.gone = true;
  }
  for (const set of view.sets.filter((s) => !isDeleting(s))) {
    await context.client.delete(machineSetResource, keyOf(set), { preconditions: { uid: set.metadata.uid } }).catch((e: unknown) => {
      if (!isNotFound(e)) throw e;
    });
  }
}

async function writeDeploymentStatus(view: DeploymentView, { client, clock }: ReconcileContext): Promise<StepOutcome> {
  if (view.gone) return;
  const { deployment } = view;
  const findings = findingsOf(view);
  const counters = countersOf(view);
  const { generation } = deployment.metadata;
  await writeStatus(client, machineDeploymentResource, deployment, (newest) => ({
    ...newest.status,
    ...counters,
    conditions: setConditions(newest.status?.conditions, findings, timestamp(clock.nowMs()), generation),
    ...(view.failed ? {} : { observedGeneration: generation }),
  }));
  return wakeUp(view);
}

/** A date may lie further ahead than timers reach. */
const WAKE_UP_MAX_MS = 24 * 3_600_000;

/** spec.rollout.after starts a rollout without any event. */
function wakeUp(view: DeploymentView): StepOutcome {
  const after = rolloutAfterMs(view);
  if (after === undefined || after < view.nowMs || isDeleting(view.deployment)) return;
  return { requeueAfterMs: Math.min(after - view.nowMs + 1, WAKE_UP_MAX_MS) };
}

// --- which keys a change runs --------------------------------------------------------------------------------------------------------

const changedSets = (change: Change<Machine>): boolean =>
  change.type === "updated" && controllerOf(change.old)?.uid !== controllerOf(change.object)?.uid;

function deploymentOfMachine(machine: Machine): readonly ObjectKey[] {
  const name = machine.metadata.labels?.[machineDeploymentNameLabel];
  return name === undefined ? [] : [{ namespace: machine.metadata.namespace ?? "", name }];
}

function deploymentsThatSelect(set: MachineSet, { cache }: WatchEnvironment): readonly ObjectKey[] {
  if (controllerOf(set)) return [];
  return cache
    .list(machineDeploymentResource, set.metadata.namespace)
    .filter((deployment) => selects(deployment.spec.selector, set.metadata.labels))
    .map(keyOf);
}

const deploymentsOfCluster = (cluster: Cluster, { cache }: WatchEnvironment): readonly ObjectKey[] =>
  cache.ofCluster<KubeObject>(machineDeploymentResource, keyOf(cluster)).map(keyOf);
