// The KubeadmConfig of a control plane Machine: what it should be, and whether what it is differs. Here: pure, spec only.
// Not here: metadata (desired.ts), other reasons to roll out (up-to-date.ts). Source: spec/controllers/kubeadmcontrolplane.md section 9.
import type { KubeadmConfigSpec } from "../../api/kubeadmconfig.ts";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import { sameJson } from "../../runtime/patch.ts";
import { parseVersion } from "../rollout/versions.ts";

export type ConfigForm = "init" | "join";

const LOCAL_MODE = "ControlPlaneKubeletLocalMode";

/** Feature gates of kubeadm with the default for versions that know the gate and do not set it themselves. */
export function featureGatesFor(
  version: string,
  gates: Readonly<Record<string, boolean>> | undefined,
): Readonly<Record<string, boolean>> | undefined {
  const { major, minor } = parseVersion(version);
  if (major !== 1 || minor < 31 || minor >= 36 || gates?.[LOCAL_MODE] !== undefined) return gates;
  return { ...gates, [LOCAL_MODE]: true };
}

/** @param form init for the first Machine of a control plane, join for every other, and for every Machine updated in place */
export function desiredConfigSpec(kcp: KubeadmControlPlane, form: ConfigForm): KubeadmConfigSpec {
  const { initConfiguration, joinConfiguration, clusterConfiguration, ...rest } = kcp.spec.kubeadmConfigSpec ?? {};
  const featureGates = featureGatesFor(kcp.spec.version, clusterConfiguration?.featureGates);
  const cluster = featureGates ? { ...clusterConfiguration, featureGates } : clusterConfiguration;
  const common = { ...rest, ...(cluster ? { clusterConfiguration: cluster } : {}) };
  if (form === "init") return { ...common, ...(initConfiguration ? { initConfiguration } : {}) };
  return { ...common, joinConfiguration: { ...joinConfiguration, controlPlane: joinConfiguration?.controlPlane ?? {} } };
}

const isEmpty = (value: object | undefined): boolean => value === undefined || Object.keys(value).length === 0;

/** A config without the control plane section was made for init, unless it shows otherwise: older releases left the section out of joins. */
export function formOf(spec: KubeadmConfigSpec): ConfigForm {
  if (spec.joinConfiguration?.controlPlane) return "join";
  return isEmpty(spec.initConfiguration) && !isEmpty(spec.joinConfiguration) ? "join" : "init";
}

/** The join config that makes the same machine as an init config. */
function asJoin(current: KubeadmConfigSpec, desired: KubeadmConfigSpec): KubeadmConfigSpec {
  const { initConfiguration, joinConfiguration, ...rest } = current;
  if (formOf(current) === "join")
    return { ...current, joinConfiguration: { ...joinConfiguration, controlPlane: joinConfiguration?.controlPlane ?? {} } };
  const { timeouts, patches, skipPhases, nodeRegistration, localAPIEndpoint } = initConfiguration ?? {};
  const caCertPath = desired.joinConfiguration?.caCertPath;
  return {
    ...rest,
    joinConfiguration: {
      timeouts,
      patches,
      skipPhases,
      nodeRegistration,
      caCertPath,
      controlPlane: localAPIEndpoint ? { localAPIEndpoint } : {},
    },
  };
}

export interface ConfigComparison {
  readonly upToDate: boolean;
  /** Both normalized: what an extension is shown. */
  readonly current: KubeadmConfigSpec;
  readonly desired: KubeadmConfigSpec;
}

/** Compares as join config, and a config made for init as init config too. */
export function compareConfig(current: KubeadmConfigSpec, kcp: KubeadmControlPlane): ConfigComparison {
  const join = desiredConfigSpec(kcp, "join");
  const pair = normalized(asJoin(current, join), join);
  if (sameJson(pair.current, pair.desired)) return { upToDate: true, ...pair };
  if (formOf(current) === "join") return { upToDate: false, ...pair };
  const { joinConfiguration: _empty, ...asInit } = current;
  const init = normalized(asInit, desiredConfigSpec(kcp, "init"));
  return { upToDate: sameJson(init.current, init.desired), ...pair };
}

// --- normalization -------------------------------------------------------------------------------------------------------------------

type Tree = { readonly [key: string]: unknown };
const isTree = (x: unknown): x is Tree => typeof x === "object" && x !== null && !Array.isArray(x);

/** Where an empty value means something else than none: no taints, and a machine that joins as a control plane. */
const MEANT_EMPTY = new Set([
  "initConfiguration.nodeRegistration.taints",
  "joinConfiguration.nodeRegistration.taints",
  "joinConfiguration.controlPlane",
]);

/** Without absent and empty values. */
function compact(value: unknown, path = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => compact(item, `${path}[]`) ?? {});
  if (!isTree(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    const next = compact(inner, at);
    const empty = next === undefined || (typeof next === "object" && next !== null && Object.keys(next).length === 0);
    if (!empty) kept[key] = next;
    else if (next !== undefined && MEANT_EMPTY.has(at)) kept[key] = next;
  }
  return kept;
}

/** Both sides with everything taken out that must not start a rollout. */
export function normalized(
  current: KubeadmConfigSpec,
  desired: KubeadmConfigSpec,
): { readonly current: KubeadmConfigSpec; readonly desired: KubeadmConfigSpec } {
  const { controlPlaneEndpoint, dns } = desired.clusterConfiguration ?? {};
  const taken = { ...current, clusterConfiguration: { ...current.clusterConfiguration, controlPlaneEndpoint, dns } };
  return { current: canonical(taken), desired: canonical(desired) };
}

function canonical(spec: KubeadmConfigSpec): KubeadmConfigSpec {
  const { initConfiguration: init, joinConfiguration: join } = spec;
  return compact({
    ...spec,
    format: spec.format ?? "cloud-config",
    initConfiguration: { ...init, nodeRegistration: registration(init?.nodeRegistration), timeouts: timeouts(init?.timeouts) },
    joinConfiguration: {
      ...join,
      // Holds tokens, and is filled in by the bootstrap controller.
      discovery: undefined,
      nodeRegistration: registration(join?.nodeRegistration),
      timeouts: timeouts(join?.timeouts),
    },
  }) as KubeadmConfigSpec;
}

type Registration = NonNullable<NonNullable<KubeadmConfigSpec["joinConfiguration"]>["nodeRegistration"]>;
type Timeouts = NonNullable<NonNullable<KubeadmConfigSpec["joinConfiguration"]>["timeouts"]>;

const registration = (given: Registration | undefined): Registration => ({
  ...given,
  imagePullPolicy: given?.imagePullPolicy ?? "IfNotPresent",
});

function timeouts(given: Timeouts | undefined): Timeouts | undefined {
  const { controlPlaneComponentHealthCheckSeconds: _ignored, ...rest } = given ?? {};
  return rest;
}
