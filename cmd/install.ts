// `theseus install`: what must be in a cluster before `theseus manager` runs there. Here: printing or applying it.
// Not here: the objects (api/, webhooks/configuration.ts, manifests/manager). Source: design/architecture.md section 3.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments, stringify } from "yaml";
import { customResourceDefinition } from "../api/crd.ts";
import { allKinds } from "../api/index.ts";
import type { KubeObject } from "../api/meta/object.ts";
import { type Resource, resource } from "../api/meta/resource.ts";
import { connectKubeConfig } from "../runtime/real/kube-config.ts";
import { transportClient } from "../runtime/transport-client.ts";
import { type WebhookAddress, webhookConfigurations } from "../webhooks/configuration.ts";
import type { Io } from "./io.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";

const FLAGS: FlagTable = {
  apply: { type: "boolean", help: "apply to the cluster of the kubeconfig instead of printing" },
  kubeconfig: { type: "string", value: "FILE", help: "of the cluster to apply to" },
  "webhook-url": {
    type: "string",
    value: "URL",
    help: "base URL of webhooks outside the cluster; unset: the Service theseus-system/theseus-webhook",
  },
  "webhook-ca-file": { type: "string", value: "FILE", help: "PEM of the CA of the webhooks; unset: no webhook configurations" },
};

export const help = `usage: theseus install FLAGS

Prints the CustomResourceDefinitions, RBAC and webhook configurations of theseus as YAML, or applies them.

${flagHelp(FLAGS)}`;

const RESOURCES: Readonly<Record<string, Resource>> = {
  Namespace: resource("", "v1", "Namespace", "namespaces", false),
  ServiceAccount: resource("", "v1", "ServiceAccount", "serviceaccounts"),
  CustomResourceDefinition: resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false),
  ClusterRole: resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
  ClusterRoleBinding: resource("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false),
  Role: resource("rbac.authorization.k8s.io", "v1", "Role", "roles"),
  RoleBinding: resource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
  MutatingWebhookConfiguration: resource(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    false,
  ),
  ValidatingWebhookConfiguration: resource(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    false,
  ),
};

/** Upwards from this file: the sources lie one folder below the manifests, the built files two. */
function manifest(name: string): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, "manifests", name)) && path.dirname(folder) !== folder) folder = path.dirname(folder);
  return readFileSync(path.join(folder, "manifests", name), "utf8");
}

const documents = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).flatMap((d) => ("toJS" in d && d.toJS() ? [d.toJS() as KubeObject] : []));

function webhooks(flags: Flags): readonly KubeObject[] {
  const file = flags.text("webhook-ca-file");
  const url = flags.text("webhook-url");
  if (!file) {
    if (url) throw new FlagError("--webhook-url is given without --webhook-ca-file", "the API server must know the CA of the webhooks");
    return [];
  }
  const address: WebhookAddress = url
    ? { url: url.replace(/\/$/, "") }
    : { service: { namespace: "theseus-system", name: "theseus-webhook", port: 443 } };
  return webhookConfigurations(address, readFileSync(file).toString("base64"));
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("install", FLAGS, args);
  const objects = [
    ...documents(manifest("manager/namespace.yaml")),
    ...allKinds.map(customResourceDefinition),
    ...documents(manifest("manager/rbac.yaml")),
    ...webhooks(flags),
  ] as readonly KubeObject[];
  if (!flags.is("apply")) {
    io.out(
      objects
        .map((o) => stringify(o, { lineWidth: 0, aliasDuplicateObjects: false }))
        .join("---\n")
        .trimEnd(),
    );
    return 0;
  }
  const connection = await connectKubeConfig({ file: flags.text("kubeconfig") });
  try {
    const client = transportClient({ transport: connection.transport, fieldManager: "theseus-install" });
    for (const object of objects) {
      await client.apply(RESOURCES[object.kind] as Resource, object, { force: true });
      io.out(`${object.kind}/${object.metadata.name} applied`);
    }
  } finally {
    await connection.close();
  }
  return 0;
}
