// Steps of a Cluster that write: ownership of its two objects, what it takes from them, its kubeconfig.
// Not here: decisions (provision.ts), deletion (deletion.ts). Source: spec/controllers/cluster.md sections 3 to 5 and 8.
import { clusterResource } from "../../api/cluster.ts";
import { secretResource } from "../../api/core/index.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { ReconcileContext, Step, StepOutcome } from "../../runtime/controller.ts";
import { adminKubeconfig, createKubeconfigSecret } from "../certificates/kubeconfig.ts";
import { lookUpCertificates } from "../certificates/secrets.ts";
import { controlPlaneCertificates } from "../certificates/purposes.ts";
import type { Referenced } from "../contract/read.ts";
import { referenceTo } from "../ownership/owners.ts";
import { kubeconfigSecretName } from "../workload/clusters.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { ownershipPatch, planControlPlane, planInfrastructure, type Taken } from "./provision.ts";
import { type ClusterView, hasEndpoint } from "./view.ts";

const CA_RETRY_MS = 30_000;

export const ownInfrastructure: Step<ClusterView> = (view, context) => own(view, view.infrastructure, context);
export const ownControlPlane: Step<ClusterView> = (view, context) => own(view, view.controlPlane, context);

async function own({ cluster }: ClusterView, referenced: Referenced | undefined, { client }: ReconcileContext): Promise<void> {
  if (!referenced?.object || !referenced.kind) return;
  const body = ownershipPatch(cluster, referenced.object);
  if (body) referenced.object = await client.patch(referenced.kind.resource, keyOf(referenced.object), { type: "merge", body });
}

export const takeInfrastructure: Step<ClusterView> = (view, context) => take(view, planInfrastructure(view), context);
export const takeControlPlane: Step<ClusterView> = (view, context) => take(view, planControlPlane(view), context);

async function take(view: ClusterView, taken: Taken, context: ReconcileContext): Promise<StepOutcome> {
  view.status = { ...view.status, ...taken.status };
  if (taken.endpoint && !hasEndpoint(view.cluster)) {
    const body = { spec: { controlPlaneEndpoint: taken.endpoint } };
    view.cluster = await context.client.patch(clusterResource, keyOf(view.cluster), { type: "merge", body });
  }
  if (taken.event) context.record(view.cluster, "Normal", taken.event, `Cluster ${view.cluster.metadata.name} ${taken.event} is now True`);
  if (taken.failure) throw new Error(taken.failure);
  return taken.requeueAfterMs === undefined ? undefined : { requeueAfterMs: taken.requeueAfterMs };
}

/** Connections are wanted from the moment the infrastructure is there. */
export const connect =
  (workloadClusters: WorkloadClusters): Step<ClusterView> =>
  ({ cluster, status }) => {
    const provisioned = cluster.status?.initialization?.infrastructureProvisioned ?? status.initialization?.infrastructureProvisioned;
    if (provisioned) workloadClusters.connect(keyOf(cluster));
  };

/** The kubeconfig of a Cluster without a control plane object; such an object makes its own. */
export const ensureKubeconfig =
  (pki: Pki, workloadClusters: WorkloadClusters): Step<ClusterView> =>
  async ({ cluster }, { client }) => {
    const endpoint = cluster.spec.controlPlaneEndpoint;
    if (cluster.spec.controlPlaneRef || cluster.spec.topology || !hasEndpoint(cluster) || !endpoint) return undefined;
    const key = keyOf(cluster);
    if (await exists(client, key.namespace, kubeconfigSecretName(key.name))) return undefined;
    const ca = (await lookUpCertificates(client, key, controlPlaneCertificates(undefined).slice(0, 1))).get("ca");
    if (!ca) return { requeueAfterMs: CA_RETRY_MS };
    const kubeconfig = adminKubeconfig(key.name, `https://${endpoint.host}:${endpoint.port}`, ca, pki);
    try {
      await createKubeconfigSecret(client, key, kubeconfig, referenceTo(clusterResource, cluster));
    } catch (e) {
      if (!isAlreadyExists(e)) throw e;
    }
    workloadClusters.hint(key);
    return undefined;
  };

async function exists(client: ReconcileContext["client"], namespace: string, name: string): Promise<boolean> {
  try {
    await client.get(secretResource, { namespace, name });
    return true;
  } catch (e) {
    if (isNotFound(e)) return false;
    throw e;
  }
}
