// Certificate Secrets of a cluster: looked up, checked, and made where they are missing. Shared by KubeadmConfig and control plane controllers.
// Not here: which certificates a machine needs (purposes.ts), making keys (runtime/base/pki.ts). Source: spec/controllers/kubeadmconfig.md section 6.
import type { ClusterConfiguration } from "../../api/kubeadm-cluster-configuration.ts";
import { type Secret, secretResource } from "../../api/core/index.ts";
import type { OwnerReference } from "../../api/meta/object.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel, clusterSecretType } from "../../api/names.ts";
import type { KeyAlgorithm, KeyPair, Pki } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";
import { dataOf, textOf } from "../workload/secrets.ts";
import { type Certificate, certificateSecretName, type Purpose } from "./purposes.ts";

const DAY_MS = 24 * 3_600_000;
const CA_DAYS_DEFAULT = 3_650;
const CA_COMMON_NAME = "kubernetes";

class CertificateInvalid extends Error {
  readonly code = "CertificateInvalid";
}

export type CertificateSet = ReadonlyMap<Purpose, KeyPair>;

/** Reads the Secrets; those that are missing are left out. @throws CertificateInvalid for a Secret without a certificate */
export async function lookUpCertificates(
  client: Client,
  cluster: ObjectKey,
  certificates: readonly Certificate[],
): Promise<CertificateSet> {
  const found = new Map<Purpose, KeyPair>();
  for (const certificate of certificates) {
    const name = certificateSecretName(cluster.name, certificate.purpose);
    try {
      found.set(certificate.purpose, pairOf(await client.get(secretResource, { namespace: cluster.namespace, name }), certificate));
    } catch (e) {
      if (!isNotFound(e)) throw e;
    }
  }
  return found;
}

function pairOf(secret: Secret, { keyPath }: Certificate): KeyPair {
  const certificate = textOf(secret, "tls.crt") ?? "";
  const key = textOf(secret, "tls.key") ?? "";
  if (certificate === "") throw new CertificateInvalid(`Secret ${secret.metadata.name} has no certificate: put it under the key tls.crt`);
  if (key === "" && keyPath !== undefined)
    throw new CertificateInvalid(`Secret ${secret.metadata.name} has no key: put it under the key tls.key`);
  return { certificate, key };
}

/** @throws CertificateInvalid that names all that are missing */
export function requireCertificates(cluster: string, certificates: readonly Certificate[], found: CertificateSet): void {
  const missing = certificates.filter((c) => !found.has(c.purpose)).map((c) => certificateSecretName(cluster, c.purpose));
  if (missing.length > 0) throw new CertificateInvalid(`certificates are missing: no Secret ${missing.join(", ")}`);
}

export interface MakingOptions {
  readonly configuration: ClusterConfiguration | undefined;
  /** Owner of the new Secrets. */
  readonly owner: OwnerReference;
}

/** Looks up, makes and stores what is missing. @throws CertificateInvalid for one that must be given and is not there */
export async function ensureCertificates(
  client: Client,
  pki: Pki,
  cluster: ObjectKey,
  certificates: readonly Certificate[],
  options: MakingOptions,
): Promise<CertificateSet> {
  const found = new Map(await lookUpCertificates(client, cluster, certificates));
  const given = certificates.filter((c) => c.making === "given");
  requireCertificates(cluster.name, given, found);
  for (const certificate of certificates) {
    if (found.has(certificate.purpose)) continue;
    const pair = make(pki, certificate, options.configuration);
    found.set(certificate.purpose, await store(client, cluster, certificate, pair, options.owner));
  }
  return found;
}

function make(pki: Pki, { making }: Certificate, configuration: ClusterConfiguration | undefined): KeyPair {
  const algorithm: KeyAlgorithm = configuration?.encryptionAlgorithm ?? "RSA-2048";
  if (making === "keys") {
    const { publicKey, privateKey } = pki.createSigningKey(algorithm);
    return { certificate: publicKey, key: privateKey };
  }
  return pki.createCa(CA_COMMON_NAME, (configuration?.caCertificateValidityPeriodDays ?? CA_DAYS_DEFAULT) * DAY_MS, algorithm);
}

/** Somebody else may have been faster: then theirs counts. */
async function store(client: Client, cluster: ObjectKey, certificate: Certificate, pair: KeyPair, owner: OwnerReference): Promise<KeyPair> {
  const name = certificateSecretName(cluster.name, certificate.purpose);
  const secret = clusterSecret(cluster, name, { "tls.crt": pair.certificate, "tls.key": pair.key }, owner);
  try {
    await client.create(secretResource, secret);
    return pair;
  } catch (e) {
    if (!isAlreadyExists(e)) throw e;
    return pairOf(await client.get(secretResource, { namespace: cluster.namespace, name }), certificate);
  }
}

/** A Secret of a cluster with its type, its label and its owner. */
export const clusterSecret = (
  cluster: ObjectKey,
  name: string,
  values: Readonly<Record<string, string>>,
  owner: OwnerReference,
): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: cluster.namespace, labels: { [clusterNameLabel]: cluster.name }, ownerReferences: [owner] },
  type: clusterSecretType,
  data: dataOf(values),
});
