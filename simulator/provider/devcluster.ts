// DevCluster controller, in-memory backend: gives a Cluster an endpoint and a simulated workload cluster.
// Here: steps in order. Not here: the workload cluster (../workload), machines (devmachine.ts). Source: spec/controllers/dev-provider.md section 2.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type DevCluster, devClusterResource } from "../../api/devcluster.ts";
import { keyOf, keyText } from "../../api/meta/resource.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { setConditions } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type ReconcileContext } from "../../runtime/controller.ts";
import { ensureFinalizer, patchObject, patchStatus, removeFinalizer } from "../../runtime/patch.ts";
import type { SimulatedClusters, WorkloadFront } from "../workload/clusters.ts";
import { isPaused, ownerCluster, pausedFinding } from "./owners.ts";

const FINALIZER = "dockercluster.infrastructure.cluster.x-k8s.io";
const MANAGED_BY = "cluster.x-k8s.io/managed-by";
/** Where upstream keeps the name of the cluster's listener. */
const LISTENER = "inmemorycluster.infrastructure.cluster.x-k8s.io/listener";

export interface DevClusterParts {
  readonly clusters: SimulatedClusters;
  readonly front: WorkloadFront;
}

interface View {
  readonly infra: DevCluster;
  readonly cluster?: Cluster;
  readonly paused: boolean;
}

const load = (infra: DevCluster, context: ReconcileContext): View | undefined => {
  if (infra.metadata.annotations?.[MANAGED_BY] !== undefined) return undefined;
  const cluster = ownerCluster(infra, context);
  return { infra, cluster, paused: isPaused(infra, cluster) };
};

export function devClusterController(parts: DevClusterParts): Controller<DevCluster> {
  const paused = async ({ infra, cluster, paused }: View, { client, clock }: ReconcileContext) => {
    if (!cluster) return infra.metadata.deletionTimestamp ? undefined : { stop: true as const };
    const conditions = setConditions(
      infra.status?.conditions,
      [pausedFinding(paused)],
      timestamp(clock.nowMs()),
      infra.metadata.generation,
    );
    await patchStatus(client, devClusterResource, infra, { ...infra.status, conditions });
    return paused ? { stop: true as const } : undefined;
  };

  const finalizer = async ({ infra }: View, { client }: ReconcileContext) => {
    await ensureFinalizer(client, devClusterResource, infra, FINALIZER);
  };

  const endpoint = async ({ infra, cluster }: View, { client }: ReconcileContext) => {
    if (!cluster) return;
    const key = keyOf(cluster);
    const simulated = parts.clusters.open(key);
    const wanted = infra.spec?.controlPlaneEndpoint?.port ?? simulated.read().port;
    const at = await parts.front.reserve(key, wanted);
    if (simulated.read().port !== at.port) simulated.setPort(at.port);
    if (simulated.running()) await parts.front.open(simulated);
    const annotations = { ...infra.metadata.annotations, [LISTENER]: keyText(key) };
    const known = infra.spec?.controlPlaneEndpoint?.host ? infra.spec.controlPlaneEndpoint : at;
    const spec = { backend: { inMemory: {} }, ...infra.spec, controlPlaneEndpoint: known };
    // The finalizer may have been added in this run: only what this step owns is compared.
    await patchObject(client, devClusterResource, infra, { ...infra, metadata: { ...infra.metadata, annotations }, spec } as DevCluster);
    await patchStatus(client, devClusterResource, infra, { ...infra.status, initialization: { provisioned: true } });
  };

  const close = async ({ infra, cluster }: View, { client }: ReconcileContext) => {
    const name = infra.metadata.annotations?.[LISTENER];
    const key = cluster ? keyOf(cluster) : name ? { namespace: name.split("/")[0] ?? "", name: name.split("/")[1] ?? "" } : undefined;
    if (key) {
      await parts.front.close(key);
      parts.clusters.find(key)?.forget();
      parts.clusters.close(key);
    }
    await removeFinalizer(client, devClusterResource, infra, FINALIZER);
  };

  return controller<DevCluster, View>(devClusterResource, {
    watches: [
      mapped(clusterResource, (cluster) => {
        const ref = cluster.spec?.infrastructureRef;
        return ref?.kind === "DevCluster" ? [{ namespace: keyOf(cluster).namespace, name: ref.name ?? "" }] : [];
      }),
    ],
    fieldManager: "manager",
    load,
    whenDeleting: [paused, close],
    whenLive: [paused, finalizer, endpoint],
  });
}
