// What a control plane says about itself. Here: its conditions as pure functions of the view. Not here: Available (available.ts), the two
// about the workload cluster (aggregates.ts), writing (status.ts). Source: spec/controllers/kubeadmcontrolplane.md section 16.
// Ours besides: RollingOut tells why Machines are replaced, or why nothing moves.
import type { Machine } from "../../api/machine.ts";
import { type Finding, findCondition, hasStatus, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { machinesReady, machinesUpToDate, type ReplicaFacts, remediating, scalingDown, scalingUp } from "../rollout/conditions.ts";
import { componentsHealthy, etcdHealthy } from "./aggregates.ts";
import { type Available, available } from "./available.ts";
import { hasBothConditions } from "./inspect.ts";
import { isDeleting, isFalseOn, replicasOf } from "./machines.ts";
import { type PreflightFlag, pendingTopologyVersion } from "./preflight.ts";
import type { ControlPlaneView, Notes } from "./view.ts";

export interface Findings {
  readonly findings: readonly Finding[];
  /** When time alone may change them. */
  readonly requeueAfterMs?: number;
}

export function findingsOf(view: ControlPlaneView): Findings {
  const { machines, nowMs } = view;
  const judged = availability(view);
  const findings = [
    judged.finding,
    ...certificatesAvailable(view),
    view.initialized || hasStatus(view.kcp.status?.conditions, "Initialized", "True")
      ? isTrue("Initialized")
      : isFalse("Initialized", "NotInitialized"),
    ...health(view),
    rollingOut(machines, view.notes),
    remediating("KubeadmControlPlane", machines),
    scaling(view, scalingDown),
    scaling(view, scalingUp),
    machinesReady(machines),
    machinesUpToDate(machines, nowMs),
    deleting(view),
  ];
  return { findings, ...(judged.requeueAfterMs === undefined ? {} : { requeueAfterMs: judged.requeueAfterMs }) };
}

function availability(view: ControlPlaneView): Available {
  const { kcp, machines, managedEtcd, initialized, facts, nowMs } = view;
  const stored = findCondition(kcp.status?.conditions, "Available");
  // A look that failed for a moment says nothing new.
  if (view.gate && !view.gate.overwrite && stored) return { finding: stored };
  const certificates = certificatesAvailable(view)[0] ?? findCondition(kcp.status?.conditions, "CertificatesAvailable");
  const unseenBecause = view.gate?.message;
  return available({
    kcp,
    machines,
    managedEtcd,
    initialized,
    facts,
    nowMs,
    unseenBecause,
    certificatesAvailable: certificates?.status === "True",
  });
}

/** Nothing while this run did not come so far. */
function certificatesAvailable({ certificates }: ControlPlaneView): readonly Finding[] {
  const type = "CertificatesAvailable";
  if (certificates === undefined) return [];
  if (certificates === "available") return [isTrue(type)].map((f) => ({ ...f, reason: "Available" }));
  if (certificates === "unknown") return [isUnknown(type, "InternalError", "Please check controller logs for errors")];
  return [
    isFalse(
      type,
      "NotAvailable",
      `Missing certificates: ${certificates.join(", ")}. They are never made again: restore their Secrets from a backup`,
    ),
  ];
}

function health(view: ControlPlaneView): readonly Finding[] {
  const { gate, facts, machines, managedEtcd } = view;
  const types = ["ControlPlaneComponentsHealthy", ...(managedEtcd ? ["EtcdClusterHealthy"] : [])];
  if (gate) return gate.overwrite || !hasBothConditions(view) ? types.map((type) => isUnknown(type, gate.reason, gate.message)) : [];
  if (!facts) return [];
  return [componentsHealthy(machines, facts), ...(managedEtcd ? [etcdHealthy(machines, facts)] : [])];
}

const isVersionLine = (line: string): boolean => line.startsWith("* Version");

export function rollingOut(machines: readonly Machine[], notes: Notes): Finding {
  const outdated = machines.filter((m) => isFalseOn(m, "UpToDate"));
  const texts = [
    ...(notes.undecided === undefined ? [] : [`Waiting: cannot decide whether machines can be updated in place: ${notes.undecided}`]),
    ...(notes.blocked ?? []).map((text) => `Blocked, nothing is replaced: ${text}`),
    ...(outdated.length > 0 ? [...notes.replaced, ...notes.waiting] : []),
  ];
  if (outdated.length === 0 && texts.length === 0) return isFalse("RollingOut", "NotRollingOut");
  const lines = new Set(
    outdated.flatMap((m) => (findCondition(m.status?.conditions, "UpToDate")?.message ?? "").split("\n")).filter((line) => line !== ""),
  );
  const sorted = [...lines].sort((a, b) => Number(isVersionLine(b)) - Number(isVersionLine(a)) || (a < b ? -1 : 1));
  const all = [`Rolling out ${outdated.length} not up-to-date replicas`, ...sorted, ...texts.map((text) => `* ${text}`)];
  return isTrue("RollingOut", "RollingOut", all.join("\n"));
}

const FLAG_TEXTS: Readonly<Record<Exclude<PreflightFlag, "topologyVersion">, string>> = {
  certificates: "waiting for the certificates of the cluster to be available",
  deleting: "waiting for a control plane Machine to complete deletion",
  components: "waiting for control plane components to become healthy",
  etcd: "waiting for etcd cluster to become healthy",
};

function blockers({ preflightFlags, cluster, kcp, notes }: ControlPlaneView): readonly string[] {
  const flags = preflightFlags.map((flag) =>
    flag === "topologyVersion"
      ? `waiting for a version upgrade to ${pendingTopologyVersion(cluster, kcp)} to be propagated`
      : FLAG_TEXTS[flag],
  );
  return [...flags, ...notes.waiting];
}

function scaling(view: ControlPlaneView, judge: (facts: ReplicaFacts) => Finding): Finding {
  const { kcp, machines, template, nowMs } = view;
  const blockedBy = blockers(view);
  const facts: ReplicaFacts = {
    machines,
    desired: replicasOf(kcp),
    current: machines.length,
    deleting: isDeleting(kcp),
    nowMs,
    blockedBy,
    missingTemplates: template.missing ? [template.ref.kind] : [],
  };
  const finding = judge(facts);
  if (judge !== scalingDown || finding.status !== "True" || blockedBy.length === 0) return finding;
  const [first = "", ...rest] = finding.message.split("\n");
  const lines = [`${first.replace(/:$/, "")} is blocked because:`, ...blockedBy.map((text) => `* ${text}`), ...rest];
  return { ...finding, message: lines.join("\n") };
}

function deleting({ kcp, deletion }: ControlPlaneView): Finding {
  if (!isDeleting(kcp)) return isFalse("Deleting", "NotDeleting");
  return isTrue("Deleting", deletion?.reason ?? "InternalError", deletion?.message ?? "Please check controller logs for errors");
}
