// MachineHealthCheck controller: marks unhealthy Machines, so that their owner or somebody outside remediates them. It deletes none.
// Here: watches, steps in order. Source: spec/controllers/machinehealthcheck.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource, type Node } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineHealthCheck, machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { clusterNameLabel, fieldManagers } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Cache, type Change, index } from "../../runtime/cache.ts";
import { setConditions } from "../../runtime/conditions.ts";
import {
  type Controller,
  controller,
  mapped,
  type ReconcileContext,
  type Source,
  type WatchEnvironment,
} from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { isPaused, pausedFinding } from "../lifecycle/paused.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { selects } from "../ownership/selector.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { markMachines, ownerAndLabels, writeCheckStatus } from "./steps.ts";
import { clusterOf, type HealthCheckView, loadCheck } from "./view.ts";

export interface MachineHealthCheckControllerOptions {
  readonly workloadClusters: WorkloadClusters;
}

const checksOf = index(machineHealthCheckResource, "clusterName", (check) => [`${check.metadata.namespace}/${check.spec.clusterName}`]);
const byNode = index(machineResource, "nodeOfCluster", (m) =>
  m.status?.nodeRef ? [`${m.metadata.namespace}/${m.spec.clusterName}/${m.status.nodeRef.name}`] : [],
);

export function machineHealthCheckController({ workloadClusters }: MachineHealthCheckControllerOptions): Controller<MachineHealthCheck> {
  return controller<MachineHealthCheck, HealthCheckView>(machineHealthCheckResource, {
    fieldManager: fieldManagers.default,
    eventSource: "machinehealthcheck-controller",
    watches: [
      mapped(machineResource, checksThatSelect, machineMatters),
      mapped(
        clusterResource,
        (cluster, { cache }) => checksOfCluster(cache, keyOf(cluster)),
        (change) => change.type === "updated" && change.old.spec.paused !== change.object.spec.paused,
      ),
    ],
    sources: [workloadSource(workloadClusters)],
    reads: [customResourceDefinitionResource],
    load: async (check, context) => {
      const cluster = clusterOf(check, context);
      if (!(await goesOn(check, cluster, context))) return undefined;
      return loadCheck(check, cluster, context, workloadClusters);
    },
    whenLive: [ownerAndLabels, writeCheckStatus, markMachines],
  });
}

/** Tells whether the check is paused. @returns false when it is, or is being deleted */
async function goesOn(check: MachineHealthCheck, cluster: Cluster, { client, clock }: ReconcileContext): Promise<boolean> {
  if (check.metadata.deletionTimestamp) return false;
  const finding = pausedFinding(cluster, check);
  const old = check.status?.conditions?.find((c) => c.type === "Paused");
  if (old?.status !== finding.status || old.message !== finding.message) {
    await writeStatus(client, machineHealthCheckResource, check, (newest) => ({
      ...newest.status,
      conditions: setConditions(newest.status?.conditions, [finding], timestamp(clock.nowMs()), newest.metadata.generation),
    }));
    return false;
  }
  return !isPaused(cluster, check);
}

// --- which keys a change runs --------------------------------------------------------------------------------------------------------

const checksOfCluster = (cache: Cache, { namespace, name }: ObjectKey): readonly ObjectKey[] =>
  cache.by(checksOf, `${namespace}/${name}`).map(keyOf);

function checksThatSelect(machine: Machine, { cache }: WatchEnvironment): readonly ObjectKey[] {
  const { namespace, labels } = machine.metadata;
  return cache
    .by(checksOf, `${namespace}/${labels?.[clusterNameLabel] ?? machine.spec.clusterName}`)
    .filter((check) => selects(check.spec.selector, labels))
    .map(keyOf);
}

const machineMatters = (change: Change<Machine>): boolean => {
  if (change.type !== "updated") return true;
  const part = ({ metadata, status }: Machine): readonly unknown[] => [
    status?.nodeRef?.name,
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    status?.conditions,
  ];
  return !sameJson(part(change.object), part(change.old));
};

/** Connections run all checks of their cluster; a Node runs those of its Machine. */
const workloadSource =
  (workloadClusters: WorkloadClusters): Source =>
  (enqueue, environment) => {
    const { cache } = environment;
    const conditionsOf = new Map<string, unknown>();
    const changed = (cluster: ObjectKey, node: Node, gone: boolean): boolean => {
      const id = `${cluster.namespace}/${cluster.name}/${node.metadata.name}`;
      const conditions = (node.status?.conditions ?? []).map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime]);
      const same = !gone && sameJson(conditionsOf.get(id), conditions);
      if (gone) conditionsOf.delete(id);
      else conditionsOf.set(id, conditions);
      return !same;
    };
    return workloadClusters.onEvent((event) => {
      if (event.type === "connected" || event.type === "disconnected") return checksOfCluster(cache, event.cluster).forEach(enqueue);
      if (event.type !== "node" || !changed(event.cluster, event.node, event.gone)) return;
      const { namespace, name } = event.cluster;
      for (const machine of cache.by(byNode, `${namespace}/${name}/${event.node.metadata.name}`))
        checksThatSelect(machine, environment).forEach(enqueue);
    });
  };
