// ControlPlaneComponentsHealthy and EtcdClusterHealthy: what the Machines' conditions and the workload cluster say together. Pure.
// Source: spec/controllers/kubeadmcontrolplane.md 16.2.
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { nodeRoleControlPlaneLabel } from "../../api/names.ts";
import { type Finding, findCondition, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { type AggregateSource, aggregate, bullet } from "../summary/summary.ts";
import type { WorkloadFacts } from "./facts.ts";
import { byName, componentPodConditions, nameOf, nodeNameOf } from "./machines.ts";

const REASONS = { good: "Healthy", bad: "NotHealthy", unknown: "HealthUnknown" };

/** A Machine that has no provider id yet is being made: what is missing on it is no news. */
const isProvisioning = (m: Machine): boolean => !m.spec.providerID;
/** It may own any Node or member that belongs to nobody yet. */
const mayOwnStrangers = (m: Machine): boolean => nodeNameOf(m) === undefined;

export function componentsHealthy(machines: readonly Machine[], facts: WorkloadFacts): Finding {
  return combined(
    "ControlPlaneComponentsHealthy",
    "Control plane components",
    componentPodConditions,
    machines,
    strangeNodes(machines, facts),
  );
}

export function etcdHealthy(machines: readonly Machine[], facts: WorkloadFacts): Finding {
  return combined("EtcdClusterHealthy", "Etcd member", ["EtcdMemberHealthy"], machines, strangeMembers(machines, facts));
}

function strangeNodes(machines: readonly Machine[], { nodes }: WorkloadFacts): readonly string[] {
  if (machines.some(mayOwnStrangers)) return [];
  const known = new Set(machines.map(nodeNameOf));
  return nodes
    .filter((n) => n.metadata.labels?.[nodeRoleControlPlaneLabel] !== undefined && !known.has(n.metadata.name))
    .sort(byName)
    .map((n) => `Control plane Node ${nameOf(n)} does not have a corresponding Machine`);
}

/** Members that belong to none of the Machines. */
export function strangeMembers(machines: readonly Machine[], { etcd }: WorkloadFacts): readonly string[] {
  if (etcd?.state !== "known" || machines.some(mayOwnStrangers)) return [];
  const known = new Set(machines.map(nodeNameOf));
  return etcd.members
    .filter((m) => !known.has(m.name))
    .map((m) => `Etcd member ${m.name === "" ? `${m.id} (name not set yet)` : m.name} does not have a corresponding Machine`)
    .sort();
}

function combined(
  type: string,
  what: string,
  types: readonly string[],
  machines: readonly Machine[],
  problems: readonly string[],
): Finding {
  const sources = machines.flatMap((m) => sourceOf(m, what, types) ?? []);
  const found =
    sources.length === 0
      ? isUnknown(type, "HealthUnknown", "No Machines reporting status")
      : aggregate(sources, { type, kind: "Machine", reasons: REASONS });
  if (problems.length === 0) return found.status === "True" ? isTrue(type, "Healthy") : found;
  const lines = [...problems.map((text) => `* ${text}`), ...(sources.length > 0 && found.message !== "" ? [found.message] : [])];
  return { type, status: "False", reason: "NotHealthy", message: lines.join("\n") };
}

/** One condition for all of one Machine's; undefined when it has none, or is so new that nothing can be known. */
function sourceOf(machine: Machine, what: string, types: readonly string[]): AggregateSource | undefined {
  const conditions = types.flatMap((type) => findCondition(machine.status?.conditions, type) ?? []);
  const [first] = conditions;
  if (!first) return undefined;
  const status = worst(conditions);
  if (status === "Unknown" && isProvisioning(machine)) return undefined;
  const bad = conditions.filter((c) => c.status !== "True");
  const text = (c: Condition): string => c.message || c.reason;
  const same = bad.length === types.length && bad.every((c) => text(c) === text(bad[0] ?? c));
  const message =
    bad.length === 0
      ? ""
      : same || types.length === 1
        ? bullet(what, text(bad[0] ?? first))
        : bad.map((c) => bullet(c.type, text(c))).join("\n");
  return { name: nameOf(machine), isControlPlane: true, condition: { ...first, status, message } };
}

const worst = (conditions: readonly Condition[]): Condition["status"] =>
  conditions.some((c) => c.status === "False") ? "False" : conditions.some((c) => c.status === "Unknown") ? "Unknown" : "True";
