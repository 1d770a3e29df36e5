// Cluster: ties infrastructure, control plane and workers together, tells their state, and takes them down in order.
// Here: watches and steps in order. Not here: topology (its own controller). Source: spec/controllers/cluster.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyText, type ObjectKey } from "../../api/meta/resource.ts";
import { clusterFinalizer, clusterNameLabel, fieldManagers, machineControlPlaneLabel } from "../../api/names.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type Source, type Step, type WatchEnvironment } from "../../runtime/controller.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import { independent } from "../lifecycle/independent.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { deleteCluster } from "./deletion.ts";
import { writeClusterStatus } from "./status.ts";
import { connect, ensureKubeconfig, ownControlPlane, ownInfrastructure, takeControlPlane, takeInfrastructure } from "./steps.ts";
import { type ClusterView, loadCluster } from "./view.ts";

export interface ClusterControllerOptions {
  readonly workloadClusters: WorkloadClusters;
  readonly pki: Pki;
  /** How long RemoteConnectionProbe stays True after the last good probe, default 50 s. */
  readonly connectionGraceMs?: number;
}

const CONNECTION_GRACE_MS = 50_000;
/** A running Cluster looks at all its Machines; it need not do so for each of them when many change at once. */
const REST_MS = 1_000;

export function clusterController({
  workloadClusters,
  pki,
  connectionGraceMs = CONNECTION_GRACE_MS,
}: ClusterControllerOptions): Controller<Cluster> {
  workloadClusters.probeGrace(connectionGraceMs);
  const always: readonly Step<ClusterView>[] = [ownInfrastructure, takeInfrastructure, ownControlPlane, takeControlPlane];
  const live: readonly Step<ClusterView>[] = [connect(workloadClusters), ensureKubeconfig(pki, workloadClusters)];
  const { reconcile, ...steps } = controller<Cluster, ClusterView>(clusterResource, {
    fieldManager: fieldManagers.default,
    eventSource: "cluster-controller",
    watches: [mapped(machineDeploymentResource, clusterKeyOf), mapped(machineResource, firstNode)],
    sources: [workloadSource(workloadClusters, connectionGraceMs)],
    reads: [machineSetResource, customResourceDefinitionResource],
    load: async (cluster, context) => {
      if (!(await mayReconcile(clusterResource, cluster, cluster, clusterFinalizer, context))) return undefined;
      return loadCluster(cluster, context, workloadClusters);
    },
    whenLive: [...always, ...live].map(independent),
    whenDeleting: [...always, deleteCluster].map(independent),
    finally: (view, context) => writeClusterStatus(view, context, connectionGraceMs),
  });
  const lastRunMs = new Map<string, number>();
  return {
    ...steps,
    reconcile: async (key, context) => {
      const cluster = context.cache.get(clusterResource, key);
      if (!cluster) {
        workloadClusters.forget(key);
        lastRunMs.delete(keyText(key));
        return {};
      }
      const nowMs = context.clock.nowMs();
      const restMs = (lastRunMs.get(keyText(key)) ?? Number.NEGATIVE_INFINITY) + REST_MS - nowMs;
      if (restMs > 0 && isQuiet(cluster)) return { requeueAfterMs: restMs };
      lastRunMs.set(keyText(key), nowMs);
      return reconcile(key, context);
    },
  };
}

/** Nobody waits for this Cluster's next step: it runs, and its counters can be a second late. */
const isQuiet = ({ metadata, status }: Cluster): boolean =>
  metadata.deletionTimestamp === undefined &&
  hasStatus(status?.conditions, "ControlPlaneInitialized", "True") &&
  status?.observedGeneration === metadata.generation;

const clusterKeyOf = ({ metadata }: KubeObject): readonly ObjectKey[] => {
  const name = metadata.labels?.[clusterNameLabel];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
};

/** A control plane Machine with a Node matters to a Cluster that is not initialized yet. */
const firstNode = (machine: Machine, { cache }: WatchEnvironment): readonly ObjectKey[] => {
  if (machine.metadata.labels?.[machineControlPlaneLabel] === undefined || !machine.status?.nodeRef) return [];
  return clusterKeyOf(machine).filter((key) => {
    const cluster = cache.get(clusterResource, key);
    return cluster !== undefined && !hasStatus(cluster.status?.conditions, "ControlPlaneInitialized", "True");
  });
};

const workloadSource =
  (workloadClusters: WorkloadClusters, graceMs: number): Source =>
  (enqueue) =>
    workloadClusters.onEvent((event) => {
      if (event.type === "connected" || event.type === "disconnected") enqueue(event.cluster);
      if (event.type === "probeFailing" && event.graceMs === graceMs) enqueue(event.cluster);
    });
