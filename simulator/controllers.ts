// The controllers of a world: those of Cluster API and the simulated infrastructure, with the updater behind the hooks.
// Here: the list, the updater's ExtensionConfig. Not here: who runs them (virtual.ts, cmd/).
import { type ExtensionConfig, extensionConfigResource } from "../api/extensionconfig.ts";
import { type ControllersParts, createControllers } from "../controllers/all.ts";
import { type HookTransport, inProcessTransport } from "../hooks/transport.ts";
import type { Client } from "../runtime/client.ts";
import type { AnyController } from "../runtime/controller.ts";
import { defaultVariables } from "../webhooks/cluster-variables.ts";
import { devClusterController } from "./provider/devcluster.ts";
import { devMachineController } from "./provider/devmachine.ts";
import type { SimulatedParts, World } from "./world.ts";

export const UPDATER_CONFIG = "kubeadm-updater";
const IN_PROCESS_HOST = "kubeadm-updater.theseus-system.svc:443";
export const IN_PROCESS_URL = `https://${IN_PROCESS_HOST}`;

export const simulatedInfrastructure = (parts: SimulatedParts): readonly AnyController[] => [
  devClusterController(parts),
  devMachineController(parts),
];

export interface WorldControllersParts extends Omit<ControllersParts, "workloadClusters" | "defaultVariables"> {
  readonly world: World;
}

export const simulatedControllers = (parts: WorldControllersParts): readonly AnyController[] => [
  ...createControllers({ ...parts, workloadClusters: parts.world.workloadClusters, defaultVariables }),
  ...simulatedInfrastructure(parts.world),
];

export const inProcessHooks = (world: World): HookTransport =>
  inProcessTransport((host) => (host === IN_PROCESS_HOST ? world.updater.extension : undefined));

/** Registers the updater. @param caBundle base64 of PEM; absent in process */
export async function startExtension(
  client: Client,
  { url, caBundle }: { readonly url: string; readonly caBundle?: string },
): Promise<void> {
  const config = {
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name: UPDATER_CONFIG },
    spec: { clientConfig: { url, ...(caBundle ? { caBundle } : {}) }, namespaceSelector: {} },
  } as ExtensionConfig;
  await client.apply(extensionConfigResource, config, { force: true });
}
