// The admin kubeconfig of the cluster: made when the CA is there, renewed half a year before it runs out. Here: the step.
// Not here: its text (../certificates/kubeconfig.ts). Source: spec/controllers/kubeadmcontrolplane.md section 7.
import { type Secret, secretResource } from "../../api/core/index.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { adminKubeconfig, createKubeconfigSecret, needsRenewal, renewKubeconfigSecret } from "../certificates/kubeconfig.ts";
import { controlPlaneCertificates } from "../certificates/purposes.ts";
import { lookUpCertificates } from "../certificates/secrets.ts";
import { controllerReferenceTo, isControlledBy } from "../ownership/owners.ts";
import { kubeconfigSecretName } from "../workload/clusters.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { textOf } from "../workload/secrets.ts";
import { ownSecret, readingSecrets } from "./certificates.ts";
import { clusterKeyOf, type ControlPlaneView } from "./view.ts";

const CA_RETRY_MS = 30_000;
/** Reading a certificate costs; it does not change within an hour. */
const RECHECK_MS = 3_600_000;

export interface KubeconfigTools {
  readonly pki: Pki;
  readonly workloadClusters: WorkloadClusters;
  /** Until when a Secret need not be looked into. */
  readonly checked: WeakMap<Secret, number>;
}

export async function reconcileKubeconfig(
  view: ControlPlaneView,
  context: ReconcileContext,
  { pki, workloadClusters, checked }: KubeconfigTools,
): Promise<StepOutcome> {
  const cluster = clusterKeyOf(view);
  const configuration = view.kcp.spec.kubeadmConfigSpec?.clusterConfiguration;
  const algorithm = configuration?.encryptionAlgorithm;
  const readCa = async () =>
    (await lookUpCertificates(readingSecrets(context), cluster, controlPlaneCertificates(configuration))).get("ca");
  const secret = context.cache.get(secretResource, { namespace: cluster.namespace, name: kubeconfigSecretName(cluster.name) });
  if (!secret) {
    const ca = await readCa();
    if (!ca) return { requeueAfterMs: CA_RETRY_MS, stop: true };
    const { host, port } = view.cluster.spec.controlPlaneEndpoint ?? {};
    const text = adminKubeconfig(cluster.name, `https://${host?.includes(":") ? `[${host}]` : host}:${port}`, ca, pki, algorithm);
    await createKubeconfigSecret(context.client, cluster, text, controllerReferenceTo(kubeadmControlPlaneResource, view.kcp));
    workloadClusters.hint(cluster);
    return undefined;
  }
  const owned = await ownSecret(view, context, secret);
  if (!isControlledBy(owned, view.kcp) || (checked.get(secret) ?? 0) > view.nowMs) return undefined;
  if (!needsRenewal(textOf(owned, "value") ?? "", pki, view.nowMs)) {
    checked.set(secret, view.nowMs + RECHECK_MS);
    return undefined;
  }
  const ca = await readCa();
  if (!ca) return { requeueAfterMs: CA_RETRY_MS };
  await renewKubeconfigSecret(context.client, owned, cluster, ca, pki, algorithm);
  workloadClusters.hint(cluster);
  return undefined;
}
