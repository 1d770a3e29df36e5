// Objects and a wired client for the tests of this folder. Here: fixtures only.
import type { ExtensionConfig } from "../../api/extensionconfig.ts";
import type { CanUpdateMachineRequest, MachineObjects, MachineSetObjects } from "../../api/hooks/index.ts";
import { hooksApiVersion } from "../../api/hooks/index.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { createHookClient } from "../client.ts";
import { discover } from "../discovery.ts";
import type { Extension } from "../extension.ts";
import { createInPlaceHooks } from "../inplace.ts";
import { createRegistry } from "../registry.ts";
import { type HookCall, type HookTransport, inProcessTransport, splitUrl } from "../transport.ts";

type Fields = Readonly<Record<string, unknown>>;

export const machineObjects = (machine: Fields = {}, infra: Fields = {}, bootstrap?: Fields): MachineObjects =>
  ({
    machine: {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { name: "m-1", namespace: "blue", uid: "u-1", resourceVersion: "7", labels: { a: "b" }, managedFields: [] },
      spec: { clusterName: "blue", version: "v1.34.2", bootstrap: {}, infrastructureRef: { kind: "DevMachine" }, ...machine },
      status: { phase: "Running" },
    },
    infrastructureMachine: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "DevMachine",
      metadata: { name: "m-1", namespace: "blue", uid: "u-2" },
      spec: infra,
    },
    ...(bootstrap
      ? {
          bootstrapConfig: {
            apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
            kind: "KubeadmConfig",
            metadata: { name: "m-1", namespace: "blue" },
            spec: bootstrap,
          },
        }
      : {}),
  }) as unknown as MachineObjects;

export const setObjects = (name: string, machine: Fields = {}, infra: Fields = {}, bootstrap?: Fields): MachineSetObjects =>
  ({
    machineSet: {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: { name, namespace: "blue" },
      spec: { clusterName: "blue", replicas: 3, template: { spec: { clusterName: "blue", version: "v1.34.2", ...machine } } },
    },
    infrastructureMachineTemplate: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "DevMachineTemplate",
      metadata: { name: `${name}-infra`, namespace: "blue" },
      spec: { template: { spec: infra } },
    },
    ...(bootstrap
      ? {
          bootstrapConfigTemplate: {
            apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
            kind: "KubeadmConfigTemplate",
            metadata: { name: `${name}-boot`, namespace: "blue" },
            spec: { template: { spec: bootstrap } },
          },
        }
      : {}),
  }) as unknown as MachineSetObjects;

export const canUpdateRequest = (current: MachineObjects, desired: MachineObjects): CanUpdateMachineRequest => ({
  apiVersion: hooksApiVersion,
  kind: "CanUpdateMachineRequest",
  current,
  desired,
});

export const extensionConfig = (name: string, more: Partial<ExtensionConfig["spec"]> = {}): ExtensionConfig =>
  ({
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name, resourceVersion: "1", generation: 1 },
    spec: { clientConfig: { url: `https://${name}.test` }, namespaceSelector: {}, ...more },
  }) as ExtensionConfig;

/** A client whose extensions are called in process; each call is noted, and may be answered by `fault` instead. */
export function wired(namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = { blue: {} }) {
  const clock = new VirtualClock(1_000_000);
  const registry = createRegistry();
  const extensions = new Map<string, Extension>();
  const calls: HookCall[] = [];
  const direct = inProcessTransport((host) => extensions.get(host));
  const seam: { fault?: HookTransport } = {};
  const transport: HookTransport = async (call) => {
    calls.push(call);
    return (seam.fault ?? direct)(call);
  };
  const tools = { transport, clock, log: silentLogger };
  const client = createHookClient({ ...tools, registry, namespaceLabels: async (namespace) => namespaces[namespace] });
  /** Discovers and registers, as the ExtensionConfig controller does. */
  const register = async (e: Extension, more: Partial<ExtensionConfig["spec"]> = {}, resourceVersion = "1"): Promise<void> => {
    const config = extensionConfig(e.name, more);
    extensions.set(`${e.name}.test:443`, e);
    const handlers = await discover(tools, config, { allowIgnore: true });
    registry.register({ ...config, metadata: { ...config.metadata, resourceVersion }, status: { handlers } });
    registry.endWarmUp();
    calls.length = 0;
  };
  return {
    clock,
    registry,
    client,
    calls,
    seam,
    tools,
    register,
    inPlace: createInPlaceHooks(client, clock),
    paths: () => calls.map((c) => splitUrl(c.url).path),
  };
}
