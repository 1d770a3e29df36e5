// DevCluster controller, in-memory backend: gives a Cluster an endpoint and a simulated workload cluster.
// Here: steps in order. Not here: the workload cluster (../workload), machines (devmachine.ts). Source: spec/controllers/dev-provider.md section 2.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type DevCluster, devClusterResource } from "../../api/devcluster.ts";
import { keyOf, keyText, parseKey } from "../../api/meta/resource.ts";
import { devClusterFinalizer, inMemoryClusterListenerAnnotation, managedByAnnotation } from "../../api/names.ts";
import { mayReconcile } from "../../controllers/lifecycle/begin.ts";
import { type Controller, controller, mapped, type ReconcileContext } from "../../runtime/controller.ts";
import { patchObject, patchStatus, removeFinalizer } from "../../runtime/patch.ts";
import type { SimulatedClusters, WorkloadFront } from "../workload/clusters.ts";
import { ownerCluster } from "./owners.ts";

export interface DevClusterParts {
  readonly clusters: SimulatedClusters;
  readonly front: WorkloadFront;
}

interface View {
  readonly infra: DevCluster;
  /** Absent only when it is gone and the infrastructure goes after it. */
  readonly cluster?: Cluster;
}

async function load(infra: DevCluster, context: ReconcileContext): Promise<View | undefined> {
  if (infra.metadata.annotations?.[managedByAnnotation] !== undefined) return undefined;
  const cluster = ownerCluster(infra, context);
  if (!cluster) return infra.metadata.deletionTimestamp ? { infra } : undefined;
  return (await mayReconcile(devClusterResource, infra, cluster, devClusterFinalizer, context)) ? { infra, cluster } : undefined;
}

export function devClusterController(parts: DevClusterParts): Controller<DevCluster> {
  const endpoint = async ({ infra, cluster }: View, { client }: ReconcileContext) => {
    if (!cluster) return;
    const key = keyOf(cluster);
    const simulated = parts.clusters.open(key);
    const wanted = infra.spec?.controlPlaneEndpoint?.port ?? simulated.read().port;
    const at = await parts.front.reserve(key, wanted);
    if (simulated.read().port !== at.port) simulated.setPort(at.port);
    if (simulated.running()) await parts.front.open(simulated);
    const annotations = { ...infra.metadata.annotations, [inMemoryClusterListenerAnnotation]: keyText(key) };
    const known = infra.spec?.controlPlaneEndpoint?.host ? infra.spec.controlPlaneEndpoint : at;
    const spec = { backend: { inMemory: {} }, ...infra.spec, controlPlaneEndpoint: known };
    await patchObject(client, devClusterResource, infra, { ...infra, metadata: { ...infra.metadata, annotations }, spec } as DevCluster);
    await patchStatus(client, devClusterResource, infra, { ...infra.status, initialization: { provisioned: true } });
  };

  const close = async ({ infra, cluster }: View, { client }: ReconcileContext) => {
    const name = infra.metadata.annotations?.[inMemoryClusterListenerAnnotation];
    const key = cluster ? keyOf(cluster) : name ? parseKey(name) : undefined;
    if (key) {
      await parts.front.close(key);
      parts.clusters.find(key)?.forget();
      parts.clusters.close(key);
    }
    await removeFinalizer(client, devClusterResource, infra, devClusterFinalizer);
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
    whenDeleting: [close],
    whenLive: [endpoint],
  });
}
