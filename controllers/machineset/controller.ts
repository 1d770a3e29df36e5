// MachineSet controller: keeps a number of equal Machines. Here: watches, steps in order, status last. Source: spec/controllers/machineset.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { fieldManagers, machineDeploymentNameLabel, machineSetFinalizer } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { index } from "../../runtime/cache.ts";
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
import { type AppliedMemory, createAppliedMemory } from "../apply/apply.ts";
import { clusterOf } from "../lifecycle/cluster-of.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { controllerOf } from "../ownership/owners.ts";
import { selects } from "../ownership/selector.ts";
import { upToDateGraceLeftMs } from "../rollout/conditions.ts";
import { countersOf, findingsOf } from "./conditions.ts";
import { adoptMachines, joined, ownerAndLabels, remediate, syncMachines, templates, triggerInPlace } from "./steps-machines.ts";
import { deleteMachines, scale } from "./steps-scale.ts";
import type { SurplusMemory } from "./surplus.ts";
import { isDeleting, loadMachineSet, type MachineSetView } from "./view.ts";

const setsOfDeployment = index(machineSetResource, "deploymentName", (set) => {
  const name = set.metadata.labels?.[machineDeploymentNameLabel];
  return name === undefined ? [] : [`${set.metadata.namespace}/${name}`];
});

/** Needs nothing from outside: everything comes through the reconcile context. */
export function machineSetController(): Controller<MachineSet> {
  const memory = createAppliedMemory();
  const surplus: SurplusMemory = new Map();
  return controller<MachineSet, MachineSetView>(machineSetResource, {
    fieldManager: fieldManagers.default,
    eventSource: "machineset-controller",
    watches: [
      owned(machineResource),
      mapped(machineResource, setsThatSelect),
      mapped(machineDeploymentResource, (deployment, { cache }) =>
        cache.by(setsOfDeployment, `${deployment.metadata.namespace}/${deployment.metadata.name}`).map(keyOf),
      ),
      mapped(clusterResource, setsOfCluster, (change) => change.type !== "updated" || change.old.spec.paused !== change.object.spec.paused),
    ],
    reads: [customResourceDefinitionResource],
    load: async (set, context) => {
      const cluster = clusterOf(set, context);
      if (!(await mayReconcile(machineSetResource, set, cluster, machineSetFinalizer, context))) return undefined;
      return loadMachineSet(set, cluster, context);
    },
    whenDeleting: [each(deleteMachines)],
    whenLive: [
      each(
        ownerAndLabels,
        templates,
        adoptMachines,
        remediate,
        (view, context) => syncMachines(view, context, memory),
        inPlaceWhenEnabled(memory, surplus),
        (view, context) => scale(view, context, surplus),
      ),
    ],
    finally: writeSetStatus,
  });
}

const inPlaceWhenEnabled =
  (memory: AppliedMemory, surplus: SurplusMemory): Step<MachineSetView> =>
  (view, context) =>
    context.gates.enabled("InPlaceUpdates") ? triggerInPlace(view, context, memory, surplus) : undefined;

/** Runs every step, also after one has failed; the failures come out together at the end. A step may stop those after it. */
function each(...steps: readonly Step<MachineSetView>[]): Step<MachineSetView> {
  return async (view, context) => {
    let requeueAfterMs: number | undefined;
    for (const step of steps) {
      let outcome: StepOutcome;
      try {
        outcome = await step(view, context);
      } catch (e) {
        view.failures.push(e);
        continue;
      }
      if (outcome?.requeueAfterMs !== undefined)
        requeueAfterMs = Math.min(requeueAfterMs ?? Number.POSITIVE_INFINITY, outcome.requeueAfterMs);
      if (outcome?.stop) break;
    }
    if (view.failures.length > 0) throw joined(view.failures);
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  };
}

async function writeSetStatus(view: MachineSetView, { client, clock }: ReconcileContext): Promise<StepOutcome> {
  const { set } = view;
  if (view.gone) return;
  const findings = findingsOf(view);
  const counters = countersOf(view);
  await writeStatus(client, machineSetResource, set, (newest) => ({
    ...newest.status,
    ...counters,
    conditions: setConditions(newest.status?.conditions, findings, timestamp(clock.nowMs()), set.metadata.generation),
    ...(view.failures.length === 0 ? { observedGeneration: set.metadata.generation } : {}),
  }));
  const requeueAfterMs = isDeleting(set) ? undefined : upToDateGraceLeftMs(view.machines, view.nowMs);
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

// --- which keys a change runs --------------------------------------------------------------------------------------------------------

function setsThatSelect(machine: Machine, { cache }: WatchEnvironment): readonly ObjectKey[] {
  if (controllerOf(machine)) return [];
  return cache
    .list(machineSetResource, machine.metadata.namespace)
    .filter((set) => selects(set.spec.selector, machine.metadata.labels))
    .map(keyOf);
}

const setsOfCluster = (cluster: Cluster, { cache }: WatchEnvironment): readonly ObjectKey[] =>
  cache.ofCluster<KubeObject>(machineSetResource, keyOf(cluster)).map(keyOf);
