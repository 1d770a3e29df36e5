// Feature gates, named and set as upstream does. Here: the table and the reading of `--feature-gates`.
// Not here: what a gate switches. Source: spec/api/common.md section 8, design/architecture.md section 3.

export type GateStage = "Alpha" | "Beta" | "GA";

export interface FeatureGateInfo {
  readonly default: boolean;
  readonly stage: GateStage;
  /** Gates that must be on as well. */
  readonly needs?: readonly FeatureGate[];
  readonly what: string;
}

export const featureGateNames = [
  "ClusterTopology",
  "InPlaceUpdates",
  "KubeadmBootstrapFormatIgnition",
  "MachinePool",
  "MachineSetPreflightChecks",
  "MachineTaintPropagation",
  "MachineWaitForVolumeDetachConsiderVolumeAttachments",
  "PriorityQueue",
  "ReconcilerRateLimiting",
  "RuntimeSDK",
] as const;
export type FeatureGate = (typeof featureGateNames)[number];
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;

export const featureGates: Readonly<Record<FeatureGate, FeatureGateInfo>> = {
  ClusterTopology: { default: false, stage: "Alpha", what: "ClusterClass and Cluster.spec.topology" },
  InPlaceUpdates: { default: false, stage: "Alpha", needs: ["RuntimeSDK"], what: "updating machines in place through update extensions" },
  KubeadmBootstrapFormatIgnition: { default: false, stage: "Alpha", what: "bootstrap data in the format ignition" },
  MachinePool: { default: true, stage: "Beta", what: "MachinePools; accepted and without effect here" },
  MachineSetPreflightChecks: { default: true, stage: "Beta", what: "checks before a MachineSet creates a Machine" },
  MachineTaintPropagation: { default: false, stage: "Alpha", what: "spec.taints of Machines on their Nodes" },
  MachineWaitForVolumeDetachConsiderVolumeAttachments: {
    default: true,
    stage: "Beta",
    what: "waiting for VolumeAttachments as well when volumes detach",
  },
  PriorityQueue: { default: true, stage: "GA", what: "ordering of the work queue by priority" },
  ReconcilerRateLimiting: { default: true, stage: "GA", what: "limits for how often one object is reconciled" },
  RuntimeSDK: { default: false, stage: "Alpha", what: "ExtensionConfigs and calls of runtime hooks" },
};

const all = (value: (gate: FeatureGate) => boolean): FeatureGates =>
  Object.fromEntries(featureGateNames.map((gate) => [gate, value(gate)])) as Record<FeatureGate, boolean>;

export const defaultFeatureGates: FeatureGates = all((gate) => featureGates[gate].default);
/** What `theseus dev` and simulations start with. */
export const developmentFeatureGates: FeatureGates = {
  ...defaultFeatureGates,
  ClusterTopology: true,
  RuntimeSDK: true,
  InPlaceUpdates: true,
};

/** A gate setting that cannot be honoured; the message says what to do. */
export class FeatureGateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FeatureGateError";
  }
}

const groups: Readonly<Record<string, GateStage>> = { AllAlpha: "Alpha", AllBeta: "Beta" };

function readSetting(setting: string): readonly [string, boolean] {
  const [name = "", value = "", ...rest] = setting.split("=").map((part) => part.trim());
  if (rest.length > 0 || !/^(true|false)$/i.test(value)) {
    throw new FeatureGateError(`feature gate "${setting}": write it as Name=true or Name=false`);
  }
  return [name, value.toLowerCase() === "true"];
}

function setGate(gates: Record<FeatureGate, boolean>, name: string, value: boolean): void {
  const known = featureGateNames.find((gate) => gate === name);
  if (!known) throw new FeatureGateError(`unknown feature gate "${name}"; known are ${featureGateNames.join(", ")}`);
  if (featureGates[known].stage === "GA" && !value) {
    throw new FeatureGateError(`feature gate ${known} is generally available and cannot be switched off; leave it out`);
  }
  gates[known] = value;
}

/**
 * Reads `A=true,B=false`; also `AllAlpha` and `AllBeta`, over which single gates win.
 * @param base what holds for gates that are not named
 * @throws FeatureGateError for an unknown gate, a bad value, or a gate whose needs are off
 */
export function parseFeatureGates(text: string, base: FeatureGates = defaultFeatureGates): FeatureGates {
  const gates: Record<FeatureGate, boolean> = { ...base };
  const settings = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(readSetting);
  for (const [name, value] of settings) {
    const stage = groups[name];
    if (stage) for (const gate of featureGateNames) if (featureGates[gate].stage === stage) gates[gate] = value;
  }
  for (const [name, value] of settings) if (!(name in groups)) setGate(gates, name, value);
  checkNeeds(gates);
  return gates;
}

/** @throws FeatureGateError when a gate is on without the gates it needs */
export function checkNeeds(gates: FeatureGates): void {
  for (const gate of featureGateNames) {
    if (!gates[gate]) continue;
    const missing = (featureGates[gate].needs ?? []).filter((need) => !gates[need]);
    if (missing.length > 0) {
      throw new FeatureGateError(
        `feature gate ${gate} needs ${missing.join(", ")}: add ${missing.map((need) => `${need}=true`).join(",")}`,
      );
    }
  }
}
