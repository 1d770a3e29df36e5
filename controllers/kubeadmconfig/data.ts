// The data of one machine: from a config and its certificates to the Secret. Here: putting parts together, storing.
// Not here: init and join specifics (init.ts, join.ts), the text (cloud-config.ts). Source: spec/controllers/kubeadmconfig.md section 6.
import { type Secret, secretResource } from "../../api/core/index.ts";
import { type KubeadmConfig, kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import { isFalse, isTrue } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { clusterSecret } from "../certificates/secrets.ts";
import { controllerReferenceTo, withOwner } from "../ownership/owners.ts";
import { type BootstrapParts, cloudConfig, type DataFile } from "./cloud-config.ts";
import { BootstrapInputInvalid } from "./errors.ts";
import { resolveFiles, resolveUsers } from "./files.ts";
import { ignitionConfig } from "./ignition.ts";
import type { ConfigView } from "./view.ts";

/** A finding that says why the data is not there. */
export const notAvailable = (message: string) => isFalse("DataSecretAvailable", "NotAvailable", message);

/** Makes the data and stores it. @param before files that come before those of the spec */
export async function storeData(
  view: ConfigView,
  mode: BootstrapParts["mode"],
  kubeadmDocument: string,
  before: readonly DataFile[],
  context: ReconcileContext,
): Promise<void> {
  const { config, cluster } = view;
  const namespace = config.metadata.namespace ?? "";
  const spec = config.spec ?? {};
  const ignition = spec.format === "ignition";
  try {
    if (ignition && !context.gates.enabled("KubeadmBootstrapFormatIgnition")) {
      throw new BootstrapInputInvalid("The format ignition needs the feature gate KubeadmBootstrapFormatIgnition");
    }
    const files = await resolveFiles(spec.files, namespace, cluster, context);
    const users = await resolveUsers(spec.users, namespace, context);
    const parts: BootstrapParts = { mode, files: [...before, ...files], kubeadmDocument, users, spec };
    await storeSecret(view, ignition ? ignitionConfig(parts) : cloudConfig(parts), ignition ? "ignition" : "cloud-config", context);
  } catch (e) {
    const code = (e as { code?: unknown }).code;
    if (code === "BootstrapInputInvalid" || code === "FileTemplateInvalid") view.findings = [notAvailable((e as Error).message)];
    throw e;
  }
}

async function storeSecret(view: ConfigView, value: string, format: string, { client }: ReconcileContext): Promise<void> {
  const { config, cluster } = view;
  const name = config.metadata.name ?? "";
  const owner = controllerReferenceTo(kubeadmConfigResource, config);
  const secret = clusterSecret(keyOf(cluster), name, { value, format }, owner);
  try {
    await client.create(secretResource, secret);
  } catch (e) {
    if (!isAlreadyExists(e)) throw e;
    await client.update(secretResource, secret);
  }
  markCreated(view, name);
}

/** The data is there, under this name. */
export function markCreated(view: ConfigView, dataSecretName: string): void {
  view.status = { ...view.status, dataSecretName, initialization: { dataSecretCreated: true } };
  view.findings = [isTrue("DataSecretAvailable", "Available"), isTrue("CertificatesAvailable", "Available")];
}

/** Makes the config the controller of its Secret, as after a move between management clusters. @throws when another kind controls it */
export async function adoptSecret(config: KubeadmConfig, { client }: ReconcileContext): Promise<void> {
  const key = keyOf(config);
  let secret: Secret;
  try {
    secret = await client.get(secretResource, key);
  } catch (e) {
    if (isNotFound(e)) return;
    throw e;
  }
  const rival = (secret.metadata.ownerReferences ?? []).find((o) => o.controller && o.kind !== kubeadmConfigResource.kind);
  if (rival) throw new Error(`Secret ${key.name} is controlled by ${rival.kind} ${rival.name}, so that it cannot hold the bootstrap data`);
  const owners = withOwner(secret.metadata.ownerReferences, controllerReferenceTo(kubeadmConfigResource, config));
  if (owners === secret.metadata.ownerReferences) return;
  const body = { metadata: { resourceVersion: secret.metadata.resourceVersion, ownerReferences: owners } };
  await client.patch(secretResource, key, { type: "merge", body });
}
