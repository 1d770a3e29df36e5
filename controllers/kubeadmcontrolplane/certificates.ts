// Certificates of the cluster: made once, watched ever after. Here: the step. Not here: which there are and how they are made (../certificates).
// Source: spec/controllers/kubeadmcontrolplane.md section 7.
import { type Secret, secretResource } from "../../api/core/index.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import type { ObjectKey, Resource } from "../../api/meta/resource.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { clusterSecretType } from "../../api/names.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { certificateSecretName, controlPlaneCertificates, type Certificate } from "../certificates/purposes.ts";
import { ensureCertificates, lookUpCertificates, requireCertificates, type CertificateSet } from "../certificates/secrets.ts";
import { controllerOf, controllerReferenceTo, isControlledBy } from "../ownership/owners.ts";
import { clusterKeyOf, type ControlPlaneView } from "./view.ts";

/** Secrets come from the cache; live only where it has none. */
export const readingSecrets = ({ client, cache }: Pick<ReconcileContext, "client" | "cache">): Client => ({
  ...client,
  get: async <K extends Secret>(resource: Resource<K>, key: ObjectKey) =>
    (resource.kind === secretResource.kind ? cache.get(resource, key) : undefined) ?? client.get(resource, key),
});

export async function reconcileCertificates(view: ControlPlaneView, context: ReconcileContext, pki: Pki): Promise<void> {
  const { kcp } = view;
  const configuration = kcp.spec.kubeadmConfigSpec?.clusterConfiguration;
  const certificates = controlPlaneCertificates(configuration);
  const cluster = clusterKeyOf(view);
  const client = readingSecrets(context);
  const owner = controllerReferenceTo(kubeadmControlPlaneResource, kcp);
  if (certificates.every((c) => isPresent(view, context, c))) {
    view.certificates = "available";
    return ownSecrets(view, context, certificates);
  }
  let found: CertificateSet;
  try {
    const given = certificates.filter((c) => c.making === "given");
    const old = hasStatus(kcp.status?.conditions, "Initialized", "True");
    found = old
      ? await lookUpCertificates(client, cluster, certificates)
      : await ensureCertificates(client, pki, cluster, certificates, { configuration, owner });
    requireCertificates(cluster.name, given, found);
  } catch (e) {
    view.certificates = "unknown";
    throw e;
  }
  const missing = certificates.filter((c) => !found.has(c.purpose)).map((c) => c.purpose);
  // A CA that machines trust is never made anew: the old one must come back.
  view.certificates = missing.length > 0 ? missing : "available";
  await ownSecrets(view, context, certificates);
}

/** The usual case, told without decoding anything. */
function isPresent(view: ControlPlaneView, { cache }: ReconcileContext, { purpose, keyPath }: Certificate): boolean {
  const { namespace, name } = clusterKeyOf(view);
  const data = cache.get(secretResource, { namespace, name: certificateSecretName(name, purpose) })?.data;
  return Boolean(data?.["tls.crt"]) && (keyPath === undefined || Boolean(data?.["tls.key"]));
}

/** Secrets of our type belong to the control plane; others were given by a user and stay theirs. */
async function ownSecrets(view: ControlPlaneView, context: ReconcileContext, certificates: readonly Certificate[]): Promise<void> {
  const { namespace, name } = clusterKeyOf(view);
  for (const { purpose } of certificates) {
    const secret = context.cache.get(secretResource, { namespace, name: certificateSecretName(name, purpose) });
    if (secret) await ownSecret(view, context, secret);
  }
}

/** Makes the control plane the controller of a Secret of our type; a former controller is dropped. */
export async function ownSecret(view: ControlPlaneView, { client }: ReconcileContext, secret: Secret): Promise<Secret> {
  if (secret.type !== clusterSecretType || isControlledBy(secret, view.kcp)) return secret;
  const former = controllerOf(secret);
  const others = (secret.metadata.ownerReferences ?? []).filter((o) => o !== former && o.uid !== view.kcp.metadata.uid);
  const ownerReferences = [...others, controllerReferenceTo(kubeadmControlPlaneResource, view.kcp)];
  const { resourceVersion } = secret.metadata;
  return client.patch(secretResource, keyOf(secret), { type: "merge", body: { metadata: { resourceVersion, ownerReferences } } });
}
