// The first control plane machine. Here: the lock around it, certificates, the two documents of `kubeadm init`.
// Source: spec/controllers/kubeadmconfig.md section 3.
import { stringify } from "yaml";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { keyOf } from "../../api/meta/resource.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import { findCondition, isTrue, isUnknown } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { type Certificate, controlPlaneCertificates } from "../certificates/purposes.ts";
import { type CertificateSet, ensureCertificates, lookUpCertificates, requireCertificates } from "../certificates/secrets.ts";
import { clusterConfigurationDocument, initConfigurationDocument, kubeadmVersionFor } from "../kubeadm/documents.ts";
import { referenceTo } from "../ownership/owners.ts";
import { notAvailable, storeData } from "./data.ts";
import { certificateFiles } from "./files.ts";
import { releaseInitLock, takeInitLock } from "./lock.ts";
import { type ConfigView, isControlPlane } from "./view.ts";

const LOCK_RETRY_MS = 30_000;

/** Before the control plane answers: one control plane machine is made, all others wait. */
export async function beforeControlPlane(view: ConfigView, pki: Pki, context: ReconcileContext): Promise<StepOutcome> {
  const { config, machine, cluster } = view;
  if (!findCondition(config.status?.conditions, "DataSecretAvailable")) {
    view.findings = [notAvailable("Waiting for Cluster control plane to be initialized")];
  }
  if (!isControlPlane(machine)) return { requeueAfterMs: LOCK_RETRY_MS };
  if (!(await takeInitLock(cluster, machine, context))) return { requeueAfterMs: LOCK_RETRY_MS };
  try {
    await makeInitData(view, pki, context);
  } catch (e) {
    await releaseInitLock(cluster, context);
    throw e;
  }
  return undefined;
}

async function makeInitData(view: ConfigView, pki: Pki, context: ReconcileContext): Promise<void> {
  await completeEndpoint(view, context);
  const configuration = view.config.spec?.clusterConfiguration;
  const document = initDocument(view);
  const certificates = controlPlaneCertificates(configuration);
  const found = await certificatesFor(view, certificates, pki, context);
  await storeData(view, "init", document, certificateFiles(certificates, found), context);
}

const endpointOf = ({ cluster }: ConfigView): string | undefined => {
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  return host && port ? `${host}:${port}` : undefined;
};

/** Writes the Cluster's endpoint into a config that has none; it stays there. */
async function completeEndpoint(view: ConfigView, { client }: ReconcileContext): Promise<void> {
  const controlPlaneEndpoint = endpointOf(view);
  if (view.config.spec?.clusterConfiguration?.controlPlaneEndpoint || !controlPlaneEndpoint) return;
  const body = { spec: { clusterConfiguration: { controlPlaneEndpoint } } };
  view.config = await client.patch(kubeadmConfigResource, keyOf(view.config), { type: "merge", body });
}

/** Without a control plane object nobody else makes them. */
async function certificatesFor(
  view: ConfigView,
  certificates: readonly Certificate[],
  pki: Pki,
  { client }: ReconcileContext,
): Promise<CertificateSet> {
  const key = keyOf(view.cluster);
  try {
    if (view.cluster.spec.controlPlaneRef) {
      const found = await lookUpCertificates(client, key, certificates);
      requireCertificates(key.name, certificates, found);
      return found;
    }
    const options = { configuration: view.config.spec?.clusterConfiguration, owner: referenceTo(kubeadmConfigResource, view.config) };
    return await ensureCertificates(client, pki, key, certificates, options);
  } catch (e) {
    view.findings = [...view.findings, isUnknown("CertificatesAvailable", "InternalError", e instanceof Error ? e.message : String(e))];
    throw e;
  } finally {
    if (!view.findings.some((f) => f.type === "CertificatesAvailable")) {
      view.findings = [...view.findings, isTrue("CertificatesAvailable", "Available")];
    }
  }
}

/** Two YAML documents. @throws when the Machine's version is none */
export function initDocument(view: ConfigView): string {
  const { config, machine, cluster } = view;
  const kubernetesVersion = machine.spec.version ?? "";
  const version = kubeadmVersionFor(kubernetesVersion);
  const network = cluster.spec.clusterNetwork;
  const init = config.spec?.initConfiguration;
  const facts = {
    clusterName: cluster.metadata.name,
    kubernetesVersion,
    controlPlaneEndpoint: endpointOf(view),
    serviceDomain: network?.serviceDomain,
    serviceSubnet: network?.services?.cidrBlocks.join(","),
    podSubnet: network?.pods?.cidrBlocks.join(","),
    controlPlaneComponentHealthCheckSeconds: init?.timeouts?.controlPlaneComponentHealthCheckSeconds,
  };
  const documents = [
    clusterConfigurationDocument(config.spec?.clusterConfiguration, facts, version),
    initConfigurationDocument(init, version),
  ];
  return documents.map((document) => `---\n${stringify(document, { lineWidth: 0 })}`).join("");
}
