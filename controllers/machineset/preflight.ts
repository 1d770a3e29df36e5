// Checks before a set makes a machine. Here: pure. Not here: reading the control plane (steps-scale.ts). Source: spec/controllers/machineset.md section 9.
import type { Cluster } from "../../api/cluster.ts";
import type { MachineSet } from "../../api/machineset.ts";
import { clusterTopologyUpgradeStepAnnotation, machineSetSkipPreflightChecksAnnotation } from "../../api/names.ts";
import { listAt, textAt, type Unstructured } from "../contract/contract.ts";
import { parseList } from "../inplace/marks.ts";
import { compareVersions, parseVersion } from "../rollout/versions.ts";

const CHECKS = ["ControlPlaneIsStable", "KubernetesVersionSkew", "KubeadmVersionSkew", "ControlPlaneVersionSkew"] as const;
type Check = (typeof CHECKS)[number];
/** A kubelet may be this many minor versions older than the control plane. */
const MINORS_BEHIND_MAX = 3;

export interface PreflightInput {
  readonly set: MachineSet;
  readonly cluster: Cluster;
  /** Absent: the Cluster has no control plane object. */
  readonly controlPlane?: Unstructured;
  readonly bootstrapTemplate?: Unstructured;
}

/** One text per failed check; none when a machine may be made. @throws Error for a version that is none */
export function preflightFailures(input: PreflightInput): readonly string[] {
  const { controlPlane } = input;
  const controlPlaneVersion = textAt(controlPlane, "spec.version");
  const skipped = skippedChecks(input);
  if (!controlPlane || controlPlaneVersion === undefined || skipped.includes("All")) return [];
  return CHECKS.filter((check) => !skipped.includes(check)).flatMap((check) => {
    const failure = run(check, input, controlPlane, controlPlaneVersion);
    return failure === undefined ? [] : [`${failure} ("${check}" preflight check failed)`];
  });
}

function skippedChecks({ set, bootstrapTemplate }: PreflightInput): readonly string[] {
  const own = parseList(set.metadata.annotations?.[machineSetSkipPreflightChecksAnnotation]);
  return own.length > 0 ? own : parseList(bootstrapTemplate?.metadata.annotations?.[machineSetSkipPreflightChecksAnnotation]);
}

function run(check: Check, { set, cluster }: PreflightInput, controlPlane: Unstructured, wanted: string): string | undefined {
  if (check === "ControlPlaneIsStable") return unstable(cluster, controlPlane, wanted);
  const { version, bootstrap } = set.spec.template.spec;
  if (version === undefined) return undefined;
  const [mine, theirs] = [parseVersion(version), parseVersion(wanted)];
  switch (check) {
    case "KubernetesVersionSkew":
      if (mine.minor > theirs.minor) return `MachineSet version (${version}) is newer than the control plane version (${wanted})`;
      if (mine.minor < theirs.minor - MINORS_BEHIND_MAX) {
        return `MachineSet version (${version}) is more than ${MINORS_BEHIND_MAX} minor versions older than the control plane version (${wanted})`;
      }
      return undefined;
    case "KubeadmVersionSkew":
      if (bootstrap.configRef?.kind !== "KubeadmConfigTemplate" || mine.minor === theirs.minor) return undefined;
      return `MachineSet version (${version}) and control plane version (${wanted}) have different minor versions, which kubeadm does not join`;
    default:
      if (!cluster.spec.topology || version === wanted) return undefined;
      return `MachineSet version (${version}) is not yet the same as the control plane version (${wanted}), waiting for the MachineSet's upgrade`;
  }
}

function unstable(cluster: Cluster, controlPlane: Unstructured, wanted: string): string | undefined {
  const name = `${controlPlane.kind} ${controlPlane.metadata.name}`;
  const topologyVersion = cluster.spec.topology?.version;
  const step = cluster.metadata.annotations?.[clusterTopologyUpgradeStepAnnotation];
  if (topologyVersion !== undefined && topologyVersion !== wanted && step !== wanted) {
    return `${name} has a pending version upgrade to ${topologyVersion}`;
  }
  const reported = reportedVersions(controlPlane);
  if (reported.length === 0) return `${name} is provisioning`;
  if (reported.some((version) => compareVersions(wanted, version) > 0)) return `${name} is upgrading to ${wanted}`;
  return undefined;
}

function reportedVersions(controlPlane: Unstructured): readonly string[] {
  const listed = listAt(controlPlane, "status.versions").flatMap((v) => (typeof v.version === "string" ? [v.version] : []));
  if (listed.length > 0) return listed;
  const single = textAt(controlPlane, "status.version");
  return single === undefined ? [] : [single];
}
