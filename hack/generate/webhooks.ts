// manifests/webhooks: which requests the API server sends to the manager, through its Service.
import { stringify } from "yaml";
import type { KubeObject } from "../../api/meta/object.ts";
import { webhookConfigurations } from "../../webhooks/configuration.ts";
import type { GeneratedFile } from "./files.ts";
import { HEADER, kustomization } from "./kustomization.ts";

const SERVICE = { namespace: "theseus-system", name: "theseus-webhook", port: 443 };

const fileName = (configuration: KubeObject): string =>
  `${configuration.kind === "MutatingWebhookConfiguration" ? "mutating" : "validating"}.yaml`;

/** Without the CA: `theseus install --webhook-ca-file` fills it in, or whatever issues the certificates. */
export function webhookFiles(): readonly GeneratedFile[] {
  const configurations = webhookConfigurations({ service: SERVICE });
  return [
    ...configurations.map((configuration) => ({
      path: `manifests/webhooks/${fileName(configuration)}`,
      text: `${HEADER}---\n${stringify(configuration, { aliasDuplicateObjects: false, lineWidth: 0 })}`,
    })),
    kustomization("manifests/webhooks", configurations.map(fileName)),
  ];
}
