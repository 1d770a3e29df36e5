// Which fields this updater makes true on a running node. A closed list: a field that is not here is not covered, so that a provider's
// new field is never claimed by accident. Here: the list and its conditions. Not here: how a cover is computed (coverage.ts).
// Source: spec/runtime/kubeadm-updater.md section 3.
import { compareVersions, type Version } from "./version.ts";

/** Texts from ExtensionConfig.spec.settings. */
export type Settings = Readonly<Record<string, string>>;

export interface RuleContext {
  readonly controlPlane: boolean;
  readonly settings: Settings;
  readonly currentVersion?: Version;
  readonly desiredVersion?: Version;
}

export interface FieldRule {
  /** Below the object's spec (or template spec). */
  readonly path: readonly string[];
  /** Absent = always. Both values are plain JSON; undefined = absent. */
  readonly allows?: (current: unknown, desired: unknown, context: RuleContext) => boolean;
}

const on = (settings: Settings, name: string): boolean => settings[name] === "true";
const controlPlaneOnly: FieldRule["allows"] = (_c, _d, { controlPlane }) => controlPlane;

/** kubeadm moves a control plane one minor at a time, and nothing moves down. */
export const versionIsReachable = (current: Version | undefined, desired: Version | undefined): boolean =>
  current !== undefined &&
  desired !== undefined &&
  current.major === desired.major &&
  desired.minor - current.minor <= 1 &&
  compareVersions(current, desired) <= 0;

export interface FileEntry {
  readonly path: string;
  readonly content?: string;
  readonly contentFrom?: object;
  readonly encoding?: string;
  readonly owner?: string;
  readonly permissions?: string;
  readonly append?: boolean;
}

// kubeadm writes these itself; a second writer would fight it.
const KUBEADM_FOLDERS = ["/etc/kubernetes/manifests/", "/etc/kubernetes/pki/", "/var/lib/etcd/"];

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Every file of before is still there, and each new or changed one can be written as text. */
function filesCanBeWritten(current: unknown, desired: unknown): boolean {
  const [before, after] = [(current ?? []) as readonly FileEntry[], (desired ?? []) as readonly FileEntry[]];
  const kept = new Set(after.map((f) => f.path));
  if (before.some((f) => !kept.has(f.path))) return false;
  const changed = after.filter((f) => !before.some((b) => same(b, f)));
  return changed.every((f) => f.contentFrom === undefined && !KUBEADM_FOLDERS.some((folder) => f.path.startsWith(folder)));
}

interface Arg {
  readonly name: string;
  readonly value?: string;
}

// Labels are set when the Node registers; the kubelet refuses some prefixes later.
const withoutNodeLabels = (current: unknown, desired: unknown): boolean => {
  const labels = (args: unknown): readonly Arg[] => ((args ?? []) as readonly Arg[]).filter((a) => a.name === "node-labels");
  return same(labels(current), labels(desired));
};

const rerun: FieldRule["allows"] = (_c, _d, { settings }) => on(settings, "rerunCommands");
const component = (name: string): readonly FieldRule[] =>
  ["extraArgs", "extraEnvs", "extraVolumes"].map((field) => ({ path: ["clusterConfiguration", name, field], allows: controlPlaneOnly }));

export const machineRules: readonly FieldRule[] = [
  { path: ["version"], allows: (_c, _d, { currentVersion, desiredVersion }) => versionIsReachable(currentVersion, desiredVersion) },
];

export const bootstrapRules: readonly FieldRule[] = [
  { path: ["files"], allows: filesCanBeWritten },
  { path: ["preKubeadmCommands"], allows: rerun },
  { path: ["postKubeadmCommands"], allows: rerun },
  ...component("apiServer"),
  ...component("controllerManager"),
  ...component("scheduler"),
  { path: ["clusterConfiguration", "apiServer", "certSANs"], allows: controlPlaneOnly },
  { path: ["clusterConfiguration", "etcd", "local", "imageTag"], allows: controlPlaneOnly },
  { path: ["clusterConfiguration", "etcd", "local", "imageRepository"], allows: controlPlaneOnly },
  { path: ["clusterConfiguration", "imageRepository"], allows: controlPlaneOnly },
  { path: ["clusterConfiguration", "featureGates"], allows: controlPlaneOnly },
  { path: ["joinConfiguration", "nodeRegistration", "kubeletExtraArgs"], allows: withoutNodeLabels },
  { path: ["joinConfiguration", "patches"] },
  { path: ["joinConfiguration", "skipPhases"] },
  { path: ["verbosity"] },
];

export const infrastructureRules: readonly FieldRule[] = [
  {
    path: ["backend", "docker", "customImage"],
    // The image is not swapped: only when the operator accepts that, and only as a consequence of the new version.
    allows: (_c, _d, { settings, currentVersion, desiredVersion }) =>
      on(settings, "allowImageDrift") &&
      currentVersion !== undefined &&
      desiredVersion !== undefined &&
      compareVersions(currentVersion, desiredVersion) !== 0,
  },
  { path: ["backend", "docker", "preLoadImages"] },
  { path: ["backend", "docker", "bootstrapTimeout"] },
];
