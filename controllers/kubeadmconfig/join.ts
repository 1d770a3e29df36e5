// Machines that join a cluster, workers and control planes. Here: discovery, the document of `kubeadm join`, tokens that live until the Node is there.
// Source: spec/controllers/kubeadmconfig.md sections 4 and 5.
import { stringify } from "yaml";
import type { Cluster } from "../../api/cluster.ts";
import type { JoinConfiguration } from "../../api/kubeadm-node-configuration.ts";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { nodeUninitializedTaint } from "../../api/names.ts";
import { isTrue, isUnknown } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { publicKeyHashes } from "../certificates/public-key-hash.ts";
import { type Certificate, controlPlaneCertificates, workerCertificates } from "../certificates/purposes.ts";
import { type CertificateSet, lookUpCertificates, requireCertificates } from "../certificates/secrets.ts";
import { joinConfigurationDocument, kubeadmVersionFor } from "../kubeadm/documents.ts";
import { isNotConnected, type WorkloadClusters } from "../workload/seam.ts";
import { toBase64 } from "../workload/secrets.ts";
import { notAvailable, storeData } from "./data.ts";
import { certificateFiles, discoveryKubeconfig } from "./files.ts";
import { releaseInitLock } from "./lock.ts";
import { createToken, renewToken } from "./tokens.ts";
import { type ConfigView, isControlPlane } from "./view.ts";

const ENDPOINT_RETRY_MS = 10_000;
/** Only a safety net: the connection's event comes first. */
const CONNECTION_RETRY_MS = 30_000;

type Discovery = NonNullable<JoinConfiguration["discovery"]>;

export interface JoinTools {
  readonly workloadClusters: WorkloadClusters;
  readonly tokenTtlMs: number;
}

export async function join(view: ConfigView, tools: JoinTools, context: ReconcileContext): Promise<StepOutcome> {
  const { config, machine, cluster } = view;
  await releaseInitLock(cluster, context);
  const controlPlane = isControlPlane(machine);
  if (!controlPlane && config.spec?.joinConfiguration?.controlPlane) {
    view.findings = [notAvailable("joinConfiguration.controlPlane must not be set for a worker")];
    throw new Error("joinConfiguration.controlPlane is set, but the Machine is no control plane: remove the section, or label the Machine");
  }
  // Checked before a token is made: a Machine without a version would make one in each try.
  kubeadmVersionFor(machine.spec.version ?? "");
  const certificates = controlPlane
    ? controlPlaneCertificates(config.spec?.clusterConfiguration)
    : workerCertificates(config.spec?.joinConfiguration?.caCertPath);
  const found = await existingCertificates(view, certificates, context);
  const endpoint = endpointOf(cluster);
  if (endpoint === undefined && needsEndpoint(config.spec?.joinConfiguration?.discovery)) return { requeueAfterMs: ENDPOINT_RETRY_MS };
  try {
    await completeSpec(view, controlPlane, endpoint, found.get("ca")?.certificate ?? "", tools, context);
  } catch (e) {
    if (isNotConnected(e)) return { requeueAfterMs: CONNECTION_RETRY_MS };
    throw e;
  }
  const file = view.config.spec?.joinConfiguration?.discovery?.file;
  const kubeconfig = file && discoveryKubeconfig(file);
  const before = [...(controlPlane ? certificateFiles(certificates, found) : []), ...(kubeconfig ? [kubeconfig] : [])];
  await storeData(view, "join", joinDocument(view), before, context);
  return { requeueAfterMs: tools.tokenTtlMs / 3 };
}

const endpointOf = (cluster: Cluster): string | undefined => {
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  return host && port ? `${host}:${port}` : undefined;
};

const needsEndpoint = (discovery: Discovery | undefined): boolean =>
  discovery?.file
    ? discovery.file.kubeConfig !== undefined && !discovery.file.kubeConfig.cluster?.server
    : !discovery?.bootstrapToken?.apiServerEndpoint;

async function existingCertificates(
  view: ConfigView,
  certificates: readonly Certificate[],
  { client }: ReconcileContext,
): Promise<CertificateSet> {
  const key = keyOf(view.cluster);
  try {
    const found = await lookUpCertificates(client, key, certificates);
    requireCertificates(key.name, certificates, found);
    view.findings = [...view.findings, isTrue("CertificatesAvailable", "Available")];
    return found;
  } catch (e) {
    view.findings = [...view.findings, isUnknown("CertificatesAvailable", "InternalError", e instanceof Error ? e.message : String(e))];
    throw e;
  }
}

/** What the spec lacks for a join, stored before the data is made, so that a retry finds the same token. */
async function completeSpec(
  view: ConfigView,
  controlPlane: boolean,
  endpoint: string | undefined,
  ca: string,
  tools: JoinTools,
  context: ReconcileContext,
): Promise<void> {
  const join = view.config.spec?.joinConfiguration;
  const makeToken = () => createToken(tools.workloadClusters.get(keyOf(view.cluster)).client, context.random, view.nowMs, tools.tokenTtlMs);
  const discovery = await completeDiscovery(join?.discovery, endpoint, ca, makeToken);
  const joinConfiguration = { ...(discovery ? { discovery } : {}), ...(controlPlane && !join?.controlPlane ? { controlPlane: {} } : {}) };
  if (Object.keys(joinConfiguration).length === 0) return;
  const body = { spec: { joinConfiguration } };
  view.config = await context.client.patch(kubeadmConfigResource, keyOf(view.config), { type: "merge", body });
}

/** Merge patch of discovery; values that the user gave are kept. Nothing when it is complete. @param ca PEM of the cluster CA */
export async function completeDiscovery(
  discovery: Discovery | undefined,
  endpoint: string | undefined,
  ca: string,
  makeToken: () => Promise<string>,
): Promise<Discovery | undefined> {
  if (discovery?.file) {
    const cluster = discovery.file.kubeConfig?.cluster;
    if (!discovery.file.kubeConfig) return undefined;
    const missing = {
      ...(cluster?.server ? {} : { server: `https://${endpoint}` }),
      ...(cluster?.certificateAuthorityData || cluster?.insecureSkipTLSVerify ? {} : { certificateAuthorityData: toBase64(ca) }),
    };
    if (Object.keys(missing).length === 0) return undefined;
    return { file: { kubeConfig: { cluster: missing } } } as unknown as Discovery;
  }
  const given = discovery?.bootstrapToken;
  const hashes = given?.caCertHashes?.length ? given.caCertHashes : publicKeyHashes(ca);
  const missing = {
    ...(given?.caCertHashes?.length || hashes.length === 0 ? {} : { caCertHashes: hashes }),
    ...(given?.apiServerEndpoint ? {} : { apiServerEndpoint: endpoint }),
    ...(given?.token ? {} : { token: await makeToken() }),
    ...(hashes.length > 0 || given?.unsafeSkipCAVerification ? {} : { unsafeSkipCAVerification: true }),
  };
  return Object.keys(missing).length === 0 ? undefined : { bootstrapToken: missing };
}

/** YAML for `kubeadm join`; a worker's Node starts with a taint that the Machine controller takes away. That taint is not stored in the config. */
export function joinDocument({ config, machine }: ConfigView): string {
  const join = config.spec?.joinConfiguration ?? {};
  const version = kubeadmVersionFor(machine.spec.version ?? "");
  const document = joinConfigurationDocument(isControlPlane(machine) ? join : withStartTaint(join), version);
  return stringify(document, { lineWidth: 0 });
}

function withStartTaint(join: JoinConfiguration): JoinConfiguration {
  const taints = join.nodeRegistration?.taints ?? [];
  const { key, effect } = nodeUninitializedTaint;
  if (taints.some((t) => t.key === key && t.effect === effect)) return join;
  return { ...join, nodeRegistration: { ...join.nodeRegistration, taints: [...taints, { key, effect }] } };
}

/** After the data has been made: the token lives until the Node is there. */
export async function keepToken(view: ConfigView, { workloadClusters, tokenTtlMs }: JoinTools): Promise<StepOutcome> {
  const token = view.config.spec?.joinConfiguration?.discovery?.bootstrapToken?.token;
  if (!token || view.machine.status?.nodeRef) return undefined;
  try {
    const { client } = workloadClusters.get(keyOf(view.cluster));
    if (!(await renewToken(client, token, view.nowMs, tokenTtlMs))) {
      throw new Error(
        `the bootstrap token ${token.slice(0, token.indexOf("."))} does not exist any more, so that the Machine cannot join: delete the Machine`,
      );
    }
  } catch (e) {
    if (isNotConnected(e)) return { requeueAfterMs: CONNECTION_RETRY_MS };
    throw e;
  }
  return { requeueAfterMs: tokenTtlMs / 3 };
}
