// Files and users of a config with their contents at hand. Here: values from Secrets, rendered templates, certificate files.
// Not here: their form in the data (cloud-config.ts). Source: spec/controllers/kubeadmconfig.md sections 6 and 7.
import { stringify } from "yaml";
import type { Cluster } from "../../api/cluster.ts";
import { secretResource } from "../../api/core/index.ts";
import type { BootFile, KubeadmConfigSpec } from "../../api/kubeadm-config-spec.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { Client } from "../../runtime/client.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { Certificate } from "../certificates/purposes.ts";
import type { CertificateSet } from "../certificates/secrets.ts";
import { contractKind, textAt } from "../contract/contract.ts";
import { textOf } from "../workload/secrets.ts";
import type { DataFile, DataUser } from "./cloud-config.ts";
import { BootstrapInputInvalid } from "./errors.ts";
import { renderTemplate } from "./template.ts";

interface SecretKey {
  readonly secret: { readonly name: string; readonly key: string };
}

/** @throws BootstrapInputInvalid when the Secret or the key is missing */
async function secretValue(client: Client, namespace: string, { secret: { name, key } }: SecretKey, what: string): Promise<string> {
  try {
    const value = textOf(await client.get(secretResource, { namespace, name }), key);
    if (value === undefined) throw new BootstrapInputInvalid(`${what} comes from Secret ${name}, which has no key ${key}`);
    return value;
  } catch (e) {
    if (isNotFound(e)) throw new BootstrapInputInvalid(`${what} comes from Secret ${name}, which does not exist`);
    throw e;
  }
}

/** Version of the control plane, `v1.35.0`; nothing without a control plane object. Live. @throws when it cannot be read */
async function controlPlaneVersion(cluster: Cluster, { client, cache }: ReconcileContext): Promise<string | undefined> {
  const ref = cluster.spec.controlPlaneRef;
  if (!ref) return undefined;
  const key = { namespace: cluster.metadata.namespace ?? "", name: ref.name };
  return textAt(await client.get(contractKind(cache, ref).resource, key), "spec.version");
}

/** The files of the spec, in order. @throws BootstrapInputInvalid, FileTemplateInvalid */
export async function resolveFiles(
  files: readonly BootFile[] | undefined,
  namespace: string,
  cluster: Cluster,
  context: ReconcileContext,
): Promise<readonly DataFile[]> {
  const hasTemplates = (files ?? []).some((f) => f.contentFormat === "Template");
  const version = hasTemplates ? await controlPlaneVersion(cluster, context) : undefined;
  const data: Readonly<Record<string, string>> = version === undefined ? {} : { "controlPlane.version": version };
  const resolved: DataFile[] = [];
  for (const { contentFrom, contentFormat, content, ...file } of files ?? []) {
    const text = contentFrom
      ? await secretValue(context.client, namespace, contentFrom, `the content of file ${file.path}`)
      : (content ?? "");
    resolved.push({ ...file, content: contentFormat === "Template" ? renderTemplate(text, data) : text });
  }
  return resolved;
}

/** The users of the spec with their password hashes. @throws BootstrapInputInvalid */
export async function resolveUsers(
  users: KubeadmConfigSpec["users"],
  namespace: string,
  { client }: ReconcileContext,
): Promise<readonly DataUser[]> {
  const resolved: DataUser[] = [];
  for (const { passwdFrom, ...user } of users ?? []) {
    resolved.push(
      passwdFrom ? { ...user, passwd: await secretValue(client, namespace, passwdFrom, `the password of user ${user.name}`) } : user,
    );
  }
  return resolved;
}

const OWNER = "root:root";

/** Files of the certificates that a control plane machine gets, in their order. */
export const certificateFiles = (certificates: readonly Certificate[], found: CertificateSet): readonly DataFile[] =>
  certificates.flatMap(({ purpose, certificatePath, keyPath }) => {
    const pair = found.get(purpose);
    if (!pair) return [];
    const certificate: DataFile = { path: certificatePath, owner: OWNER, permissions: "0640", content: pair.certificate };
    return keyPath === undefined ? [certificate] : [certificate, { path: keyPath, owner: OWNER, permissions: "0600", content: pair.key }];
  });

type FileDiscovery = NonNullable<NonNullable<NonNullable<KubeadmConfigSpec["joinConfiguration"]>["discovery"]>["file"]>;

/** The kubeconfig that discovery by file reads on the machine; nothing when the spec gives no content for it. */
export function discoveryKubeconfig({ kubeConfigPath, kubeConfig }: FileDiscovery): DataFile | undefined {
  if (!kubeConfig) return undefined;
  const { cluster = {}, user } = kubeConfig;
  const exec = user.exec && {
    apiVersion: user.exec.apiVersion ?? "client.authentication.k8s.io/v1",
    command: user.exec.command,
    ...(user.exec.args ? { args: user.exec.args } : {}),
    ...(user.exec.env ? { env: user.exec.env } : {}),
    ...(user.exec.provideClusterInfo === undefined ? {} : { provideClusterInfo: user.exec.provideClusterInfo }),
    interactiveMode: "Never",
  };
  const content = stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "default",
        cluster: {
          server: cluster.server,
          ...(cluster.tlsServerName ? { "tls-server-name": cluster.tlsServerName } : {}),
          ...(cluster.insecureSkipTLSVerify ? { "insecure-skip-tls-verify": true } : {}),
          ...(cluster.certificateAuthorityData ? { "certificate-authority-data": cluster.certificateAuthorityData } : {}),
          ...(cluster.proxyURL ? { "proxy-url": cluster.proxyURL } : {}),
        },
      },
    ],
    contexts: [{ name: "default", context: { cluster: "default", user: "default" } }],
    "current-context": "default",
    users: [
      {
        name: "default",
        user: {
          ...(user.authProvider
            ? {
                "auth-provider": {
                  name: user.authProvider.name,
                  ...(user.authProvider.config ? { config: user.authProvider.config } : {}),
                },
              }
            : {}),
          ...(exec ? { exec } : {}),
        },
      },
    ],
  });
  return { path: kubeConfigPath, owner: OWNER, permissions: "0640", content };
}
