// A kubeconfig for one server and one user. Here: the text.
import type { KeyPair } from "../../runtime/base/pki.ts";

export interface KubeconfigInput {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token?: string;
  readonly client?: KeyPair;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** YAML with cluster, user and context named `theseus`. */
export function kubeconfigText({ url, ca, token, client }: KubeconfigInput): string {
  const user = [
    ...(token === undefined ? [] : [`    token: ${JSON.stringify(token)}`]),
    ...(client === undefined
      ? []
      : [`    client-certificate-data: ${base64(client.certificate)}`, `    client-key-data: ${base64(client.key)}`]),
  ];
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: theseus",
    "  cluster:",
    `    server: ${url}`,
    `    certificate-authority-data: ${base64(ca)}`,
    "users:",
    "- name: theseus",
    "  user:",
    ...user,
    "contexts:",
    "- name: theseus",
    "  context:",
    "    cluster: theseus",
    "    user: theseus",
    "current-context: theseus",
    "",
  ].join("\n");
}
