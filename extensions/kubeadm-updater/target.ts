// What a machine shall become, from an UpdateMachine request. Here: pure reading of the desired objects.
// Not here: how to get there (steps.ts). Source: spec/runtime/kubeadm-updater.md sections 5-7.
import type { FileEntry, Settings } from "./rules.ts";

export interface MachineObject {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly clusterName?: string; readonly version?: string; readonly providerID?: string };
}

interface Args {
  readonly extraArgs?: readonly { readonly name: string; readonly value?: string }[];
}

export interface BootstrapObject {
  readonly spec?: {
    readonly files?: readonly FileEntry[];
    readonly preKubeadmCommands?: readonly string[];
    readonly postKubeadmCommands?: readonly string[];
    readonly clusterConfiguration?: {
      readonly apiServer?: Args;
      readonly controllerManager?: Args;
      readonly scheduler?: Args;
      readonly etcd?: object;
      readonly imageRepository?: string;
    };
    readonly joinConfiguration?: {
      readonly nodeRegistration?: { readonly kubeletExtraArgs?: Args["extraArgs"] };
      readonly patches?: { readonly directory?: string };
    };
  };
}

export interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly clusterName: string;
  readonly providerId: string;
  readonly controlPlane: boolean;
  /** With the leading v. */
  readonly version: string;
  readonly files: readonly FileEntry[];
  readonly commands: readonly string[];
  /** Line of `kubeadm-flags.env` that holds the wanted arguments. */
  readonly kubeletFlags: string;
  /** Changes whenever something that static Pods are made of changes. */
  readonly staticPodInputs: string;
  readonly patchesDirectory?: string;
  readonly settings: Settings;
  /** Over the covered fields only: annotations do not count. */
  readonly hash: string;
}

const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";

/** JSON with sorted keys and without empty values, so that equal wishes have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) => {
    if (typeof v !== "object" || v === null || Array.isArray(v)) return v;
    return Object.fromEntries(
      Object.entries(v)
        .filter(([, x]) => x !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });
}

/** FNV-1a over 64 bits as hex: told apart, not secret. */
export function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const c of text) hash = BigInt.asUintN(64, (hash ^ BigInt(c.codePointAt(0) ?? 0)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}

/** @throws Error naming the field when the request lacks what every machine in an update has */
export function targetOf(machine: MachineObject, bootstrap: BootstrapObject | undefined, settings: Settings): Target {
  const { name = "", namespace = "" } = machine.metadata;
  const { clusterName = "", version = "", providerID = "" } = machine.spec ?? {};
  for (const [field, value] of Object.entries({
    "spec.clusterName": clusterName,
    "spec.version": version,
    "spec.providerID": providerID,
  })) {
    if (value === "") throw new Error(`machine ${namespace}/${name} has no ${field}: only a machine that has joined can be updated`);
  }
  const spec = bootstrap?.spec ?? {};
  const controlPlane = machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
  const kubeletArgs = spec.joinConfiguration?.nodeRegistration?.kubeletExtraArgs ?? [];
  const kubeletFlags = `KUBELET_KUBEADM_ARGS="${kubeletArgs.map((a) => `--${a.name}=${a.value ?? ""}`).join(" ")}"\n`;
  const { apiServer, controllerManager, scheduler, etcd, imageRepository } = spec.clusterConfiguration ?? {};
  const staticPodInputs = controlPlane ? canonical({ apiServer, controllerManager, scheduler, etcd, imageRepository }) : "{}";
  const commands = settings.rerunCommands === "true" ? [...(spec.preKubeadmCommands ?? []), ...(spec.postKubeadmCommands ?? [])] : [];
  const wish = { version, files: spec.files ?? [], kubeletFlags, staticPodInputs, commands, providerID };
  return {
    namespace,
    name,
    clusterName,
    providerId: providerID,
    controlPlane,
    version,
    files: spec.files ?? [],
    commands,
    kubeletFlags,
    staticPodInputs,
    ...(spec.joinConfiguration?.patches?.directory ? { patchesDirectory: spec.joinConfiguration.patches.directory } : {}),
    settings,
    hash: hashOf(canonical(wish)),
  };
}
