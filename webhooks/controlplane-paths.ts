// Which fields of a KubeadmControlPlane may change. Here: the table and the walk. Source: spec/api/kubeadmcontrolplane.md section 4, U1.
import { sameValue } from "../schema/equal.ts";
import { type Plain, plain } from "./draft.ts";

type Allowance = "alone" | "below" | "both";

const K = "spec.kubeadmConfigSpec";
const group = (prefix: string, names: string, allowance: Allowance): readonly (readonly [string, Allowance])[] =>
  names.split(" ").map((n) => [prefix === "" ? n : `${prefix}.${n}`, allowance] as const);

const ALLOWED: readonly (readonly [path: string, allowance: Allowance])[] = [
  ["metadata", "below"],
  ...group("spec", "replicas version", "alone"),
  ...group("spec", "remediation machineNaming rollout", "both"),
  ...group("spec.machineTemplate", "metadata spec", "both"),
  ...group(K, "bootCommands preKubeadmCommands postKubeadmCommands files users verbosity format mounts", "alone"),
  ...group(K, "ntp ignition diskSetup", "both"),
  ...group(`${K}.clusterConfiguration`, "imageRepository certificateValidityPeriodDays encryptionAlgorithm", "alone"),
  ...group(`${K}.clusterConfiguration`, "etcd dns featureGates apiServer controllerManager scheduler", "both"),
  ...group(`${K}.initConfiguration`, "skipPhases bootstrapTokens patches patches.directory", "alone"),
  ...group(`${K}.initConfiguration`, "nodeRegistration timeouts localAPIEndpoint", "both"),
  ...group(`${K}.joinConfiguration`, "skipPhases caCertPath patches patches.directory", "alone"),
  ...group(`${K}.joinConfiguration`, "nodeRegistration timeouts controlPlane discovery", "both"),
];

const isAllowed = (path: string): boolean =>
  ALLOWED.some(([allowed, how]) => (how !== "below" && path === allowed) || (how !== "alone" && path.startsWith(`${allowed}.`)));

/** Leaves of the merge patch old -> new: values that are no maps, and keys that went away. */
function leaves(before: Plain, after: Plain, prefix: string): readonly string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    const [old, wanted] = [before[key], after[key]];
    if (wanted === undefined || wanted === null) return old === undefined || old === null ? [] : [path];
    const inner = plain(wanted);
    if (inner) return leaves(plain(old) ?? {}, inner, path);
    return sameValue(old, wanted) ? [] : [path];
  });
}

/** Changed paths that may not change. Status is none of the main resource's business. */
export function forbiddenChanges(before: object, after: object): readonly string[] {
  const main = ({ status: _status, ...rest }: Plain): Plain => rest;
  return leaves(main(before as Plain), main(after as Plain), "").filter((path) => !isAllowed(path));
}
