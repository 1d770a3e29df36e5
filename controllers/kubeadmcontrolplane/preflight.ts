// May a Machine be made, deleted or updated now? Here: the checks, pure. Not here: what is done then (plan.ts, steps).
// Source: spec/controllers/kubeadmcontrolplane.md 10.5.
import type { Cluster } from "../../api/cluster.ts";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { clusterTopologyUpgradeStepAnnotation, remediationInProgressAnnotation } from "../../api/names.ts";
import { findCondition, hasStatus } from "../../runtime/conditions.ts";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import { hasAnnotation, healthConditions, isDeleting, nameOf, nodeNameOf } from "./machines.ts";
import { componentsStay, etcdStays } from "./targets.ts";

const CHECK_RETRY_MS = 15_000;
const DELETING_RETRY_MS = 30_000;

export type PreflightFlag = "topologyVersion" | "certificates" | "deleting" | "components" | "etcd";

export interface PreflightInput {
  readonly kcp: KubeadmControlPlane;
  readonly cluster: Cluster;
  readonly machines: readonly Machine[];
  readonly managedEtcd: boolean;
  readonly scaleUp: boolean;
  /** The Machine that is to go or to be updated. */
  readonly excluding?: Machine;
  /** Undefined: not known. */
  readonly members?: readonly EtcdMember[];
  readonly alarms?: readonly EtcdAlarm[];
}

export interface Preflight {
  readonly passes: boolean;
  readonly requeueAfterMs?: number;
  readonly flags: readonly PreflightFlag[];
  /** One text per reason. */
  readonly because: readonly string[];
}

const pass: Preflight = { passes: true, flags: [], because: [] };
const fail = (requeueAfterMs: number, flags: readonly PreflightFlag[], because: readonly string[]): Preflight => ({
  passes: false,
  requeueAfterMs,
  flags,
  because,
});

/** The version that the topology wants but has not passed on to this control plane. */
export function pendingTopologyVersion(cluster: Cluster, kcp: KubeadmControlPlane): string | undefined {
  const wanted = cluster.spec.topology?.version;
  const step = cluster.metadata.annotations?.[clusterTopologyUpgradeStepAnnotation];
  return wanted !== undefined && wanted !== kcp.spec.version && step !== kcp.spec.version ? wanted : undefined;
}

export function preflight(input: PreflightInput): Preflight {
  const { kcp, cluster, machines, scaleUp } = input;
  if (machines.length === 0) return pass;
  const pending = pendingTopologyVersion(cluster, kcp);
  if (pending !== undefined) {
    return fail(CHECK_RETRY_MS, ["topologyVersion"], [`KubeadmControlPlane has a pending version upgrade to ${pending}`]);
  }
  if (scaleUp && !hasStatus(kcp.status?.conditions, "CertificatesAvailable", "True")) {
    return fail(CHECK_RETRY_MS, ["certificates"], ["Certificates of the cluster are not available"]);
  }
  const deleting = machines.filter(isDeleting);
  if (deleting.length > 0)
    return fail(
      DELETING_RETRY_MS,
      ["deleting"],
      deleting.map((m) => `Machine ${nameOf(m)} is deleting`),
    );
  const health = healthFailures(input);
  if (health.because.length === 0 || mayScaleUpSick(input)) return pass;
  return fail(CHECK_RETRY_MS, health.flags, health.because);
}

function healthFailures({ machines, managedEtcd, excluding }: PreflightInput): Pick<Preflight, "flags" | "because"> {
  const flags = new Set<PreflightFlag>();
  const because: string[] = [];
  for (const machine of machines) {
    if (machine === excluding) continue;
    if (nodeNameOf(machine) === undefined) {
      flags.add("components");
      if (managedEtcd) flags.add("etcd");
      because.push(`Machine ${nameOf(machine)} does not have a corresponding Node yet (Machine.status.nodeRef not set)`);
      continue;
    }
    for (const type of healthConditions(managedEtcd)) {
      const text = failureOf(machine, type);
      if (text === undefined) continue;
      flags.add(type === "EtcdMemberHealthy" ? "etcd" : "components");
      because.push(text);
    }
  }
  return { flags: [...flags], because };
}

function failureOf(machine: Machine, type: string): string | undefined {
  const condition = findCondition(machine.status?.conditions, type);
  if (!condition) return `Machine ${nameOf(machine)} does not have ${type} condition`;
  if (condition.status === "True") return undefined;
  const state = condition.status === "False" ? "is False" : "is Unknown";
  return `Machine ${nameOf(machine)} reports ${type} condition ${state}${condition.message === "" ? "" : ` (${condition.message})`}`;
}

/** In the middle of a remediation the replacement may be made although others are sick, as long as nothing is lost by it. */
function mayScaleUpSick({ kcp, scaleUp, machines, managedEtcd, members, alarms }: PreflightInput): boolean {
  if (!scaleUp || !hasAnnotation(kcp, remediationInProgressAnnotation)) return false;
  if (!componentsStay({ machines, managedEtcd }).safe) return false;
  if (!managedEtcd) return true;
  return (members?.length ?? 0) > 0 && etcdStays({ members: members ?? [], alarms: alarms ?? [], machines, added: 1 }).safe;
}
