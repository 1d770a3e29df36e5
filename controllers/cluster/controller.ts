// Cluster: ties infrastructure, control plane and workers together, tells their state, and takes them down in order.
// Here: watches and steps in order. Not here: topology (its own controller). Source: spec/controllers/cluster.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import { clusterFinalizer, clusterNameLabel, fieldManagers, machineControlPlaneLabel } from "../../api/names.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type Source, type Step, type WatchEnvironment } from "../../runtime/controller.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { deleteCluster } from "./deletion.ts";
import { writeClusterStatus } from "./status.ts";
import {
  connect,
  ensureKubeconfig,
  independent,
  ownControlPlane,
  ownInfrastructure,
  takeControlPlane,
  takeInfrastructure,
} from "./steps.ts";
import { type ClusterView, loadCluster } from "./view.ts";

export interface ClusterControllerOptions {
  readonly workloadClusters: WorkloadClusters;
  readonly pki: Pki;
  /** How long RemoteConnectionProbe stays True after the last good probe, default 50 s. */
  readonly connectionGraceMs?: number;
}

const CONNECTION_GRACE_MS = 50_000;

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
  return {
    ...steps,
    reconcile: async (key, context) => {
      if (!context.cache.get(clusterResource, key)) workloadClusters.forget(key);
      return reconcile(key, context);
    },
  };
}

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
