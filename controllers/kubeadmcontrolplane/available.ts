// Available: can the control plane be used. Here: pure. Source: spec/controllers/kubeadmcontrolplane.md 16.3.
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { type Finding, findCondition, hasStatus, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { strangeMembers } from "./aggregates.ts";
import { type WorkloadFacts, nodeNamed } from "./facts.ts";
import { createdMs, healthConditions, isDeleting, isTrueOn, nameOf, nodeNameOf } from "./machines.ts";

/** Etcd gets this long to answer after initialization, and a Node to have its member. */
const SETTLE_MS = 120_000;
/** Problems that pass this quickly are not worth a message. */
const QUIET_MS = 10_000;

export interface AvailableInput {
  readonly kcp: KubeadmControlPlane;
  readonly machines: readonly Machine[];
  readonly managedEtcd: boolean;
  readonly initialized: boolean;
  /** Absent: the workload cluster was not looked at. */
  readonly facts?: WorkloadFacts;
  /** Why the workload cluster was not looked at. */
  readonly unseenBecause?: string;
  readonly certificatesAvailable: boolean;
  readonly nowMs: number;
}

export interface Available {
  readonly finding: Finding;
  /** When time alone may change it. */
  readonly requeueAfterMs?: number;
}

export function available(input: AvailableInput): Available {
  const { kcp, machines, managedEtcd, initialized, facts, nowMs } = input;
  if (!initialized) return { finding: isFalse("Available", "NotAvailable", "Control plane not yet initialized") };
  if (managedEtcd && facts?.etcd?.state !== "known") return etcdUnknown(input);
  const members = facts?.etcd?.state === "known" ? facts.etcd.members : [];
  const mismatch = facts ? mismatches(machines, facts, nowMs) : [];
  if (managedEtcd && mismatch.length > 0) {
    const text = ["The list of etcd members does not match the list of Machines and Nodes", ...mismatch].map((m) => `* ${m}`).join("\n");
    return { finding: isFalse("Available", "NotAvailable", text), requeueAfterMs: SETTLE_MS };
  }

  const counted = machines.filter((m) => m.spec.providerID);
  const problems: string[] = [];
  if (isDeleting(kcp)) problems.push("Control plane metadata.deletionTimestamp is set");
  if (!input.certificatesAvailable) problems.push("Control plane certificates are not available");
  const sick = counted.filter((m) => !healthConditions(managedEtcd).every((type) => isTrueOn(m, type)));
  if (sick.length === counted.length) problems.push("There are no Machines with healthy control plane components, at least 1 required");
  if (managedEtcd) {
    const voting = members.filter((m) => m.name !== "" && !m.isLearner);
    const quorum = Math.floor(voting.length / 2) + 1;
    const healthy = voting.filter((m) => memberIsHealthy(m.name, counted)).length;
    if (healthy < quorum) problems.push(`There are ${healthy} healthy etcd members, at least ${quorum} required for etcd quorum`);
  }
  if (problems.length > 0) return { finding: isFalse("Available", "NotAvailable", problems.map((text) => `* ${text}`).join("\n")) };
  return whileTrue(sick, managedEtcd, nowMs);
}

/** A member without a Machine of ours is nobody's to judge. */
const memberIsHealthy = (name: string, machines: readonly Machine[]): boolean => {
  const owner = machines.find((m) => nodeNameOf(m) === name);
  return !owner || isTrueOn(owner, "EtcdMemberHealthy");
};

function etcdUnknown({ kcp, nowMs, facts, unseenBecause = "Etcd members are not known" }: AvailableInput): Available {
  const since = parseTimestamp(findCondition(kcp.status?.conditions, "Initialized")?.lastTransitionTime ?? "") || nowMs;
  const text = facts?.etcd?.state === "failed" ? facts.etcd.because : unseenBecause;
  const left = since + SETTLE_MS - nowMs;
  if (left > 0)
    return { finding: isFalse("Available", "NotAvailable", "Waiting for etcd to report the list of members"), requeueAfterMs: left };
  return { finding: isUnknown("Available", "InspectionFailed", `Failed to get etcd members: ${text}`) };
}

function mismatches(machines: readonly Machine[], facts: WorkloadFacts, nowMs: number): readonly string[] {
  if (facts.etcd?.state !== "known") return [];
  const names = new Set(facts.etcd.members.map((m) => m.name));
  const missing = machines.filter((m) => {
    const nodeName = nodeNameOf(m);
    if (nodeName === undefined || names.has(nodeName) || isDeleting(m)) return false;
    const node = nodeNamed(facts, nodeName);
    return node !== undefined && nowMs - createdMs(node) > SETTLE_MS;
  });
  return [...missing.map((m) => `Machine ${nameOf(m)} has no etcd member`), ...strangeMembers(machines, facts)];
}

/** Available, but some Machine is not well: said only when it lasts. */
function whileTrue(sick: readonly Machine[], managedEtcd: boolean, nowMs: number): Available {
  const texts: string[] = [];
  const left: number[] = [];
  for (const machine of sick.filter((m) => !isDeleting(m))) {
    const bad = healthConditions(managedEtcd).filter((type) => hasStatus(machine.status?.conditions, type, "False"));
    for (const type of bad) {
      const condition = findCondition(machine.status?.conditions, type);
      const ageMs = nowMs - (parseTimestamp(condition?.lastTransitionTime ?? "") || 0);
      if (ageMs > QUIET_MS) texts.push(`* Machine ${nameOf(machine)}: ${type} is False`);
      else left.push(QUIET_MS - ageMs + 1);
    }
  }
  const finding = isTrue("Available", "Available", texts.join("\n"));
  return left.length === 0 ? { finding } : { finding, requeueAfterMs: Math.min(...left) };
}
