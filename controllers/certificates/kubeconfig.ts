// Kubeconfigs of a cluster: the admin's, as a Secret, made and renewed. Shared by the Cluster and control plane controllers.
// Not here: reading one to connect (../workload). Source: spec/controllers/kubeadmcontrolplane.md section 7, cluster.md section 8.
import { parse, stringify } from "yaml";
import { type Secret, secretResource } from "../../api/core/index.ts";
import type { OwnerReference } from "../../api/meta/object.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { KeyAlgorithm, KeyPair, Pki } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";
import { kubeconfigSecretName } from "../workload/clusters.ts";
import { dataOf, fromBase64, textOf, toBase64 } from "../workload/secrets.ts";
import { clusterSecret } from "./secrets.ts";

const CLIENT_CERTIFICATE_LIFE_MS = 365 * 24 * 3_600_000;

interface Named {
  readonly name?: string;
}
interface Kubeconfig {
  readonly clusters?: readonly (Named & { readonly cluster?: { readonly server?: string } })[];
  readonly users?: readonly (Named & { readonly user?: { readonly "client-certificate-data"?: string } })[];
}

/** Text of a kubeconfig with a fresh admin certificate. @param server e.g. `https://10.0.0.1:6443` */
export function adminKubeconfig(cluster: string, server: string, ca: KeyPair, pki: Pki, algorithm: KeyAlgorithm = "RSA-2048"): string {
  const client = pki.issue(ca, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    validForMs: CLIENT_CERTIFICATE_LIFE_MS,
    algorithm,
  });
  const user = `${cluster}-admin`;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server, "certificate-authority-data": toBase64(ca.certificate) } }],
    contexts: [{ name: `${user}@${cluster}`, context: { cluster, user } }],
    "current-context": `${user}@${cluster}`,
    preferences: {},
    users: [{ name: user, user: { "client-certificate-data": toBase64(client.certificate), "client-key-data": toBase64(client.key) } }],
  });
}

export const createKubeconfigSecret = (client: Client, cluster: ObjectKey, kubeconfig: string, owner: OwnerReference): Promise<Secret> =>
  client.create(secretResource, clusterSecret(cluster, kubeconfigSecretName(cluster.name), { value: kubeconfig }, owner));

/** URL of the API server in a kubeconfig. @throws when there is none */
export function serverOf(kubeconfig: string): string {
  const server = (parse(kubeconfig) as Kubeconfig | null)?.clusters?.[0]?.cluster?.server;
  if (!server) throw new Error("the kubeconfig names no server: it must have clusters[0].cluster.server");
  return server;
}

/** True once a client certificate in it has less than half a year left. */
export function needsRenewal(kubeconfig: string, pki: Pki, nowMs: number): boolean {
  const users = (parse(kubeconfig) as Kubeconfig | null)?.users ?? [];
  return users.some(({ user }) => {
    const data = user?.["client-certificate-data"];
    return data !== undefined && pki.read(fromBase64(data)).notAfterMs - nowMs < CLIENT_CERTIFICATE_LIFE_MS / 2;
  });
}

/** Writes a kubeconfig with a fresh certificate and the same server into its Secret. */
export async function renewKubeconfigSecret(
  client: Client,
  secret: Secret,
  cluster: ObjectKey,
  ca: KeyPair,
  pki: Pki,
  algorithm?: KeyAlgorithm,
): Promise<Secret> {
  const value = adminKubeconfig(cluster.name, serverOf(textOf(secret, "value") ?? ""), ca, pki, algorithm);
  return client.update(secretResource, { ...secret, data: { ...secret.data, ...dataOf({ value }) } });
}
