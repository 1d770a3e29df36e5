// TopologyReconciled: whether a Cluster is what its topology says. Here: checks in order of priority, and their words. Pure.
// Source: spec/controllers/topology.md section 11.
import { because, type Check, type Finding, firstHit, isTrue } from "../../runtime/conditions.ts";
import type { UpgradePlan } from "./upgrade-plan.ts";
import type { Blocking, VersionDecision } from "./versions.ts";

/** What came of one reconcile. */
export interface Outcome {
  /** Why nothing is done, of a paused Cluster. */
  paused?: string;
  deleting?: boolean;
  /** The class is there, but was not looked at yet. */
  classNotReconciled?: string;
  error?: unknown;
  /** No object was made yet. */
  creating?: boolean;
  blocking: readonly Blocking[];
  version: string;
  versions?: VersionDecision;
  plan?: UpgradePlan;
  /** AfterClusterUpgrade is still to be called. */
  upgradeUnfinished?: boolean;
}

const NAMES_MAX = 3;

const textOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

const hooksText = ({ blocking }: Outcome, action: string): string => {
  const texts = blocking.map((b) => `${b.hook}: ${b.message}`).sort();
  return texts.length === 0 ? "" : `Following hooks are blocking ${action}: ${texts.join("; ")}`;
};

const checks: readonly Check<Outcome>[] = [
  (o) => o.paused !== undefined && because("Paused", o.paused),
  (o) => o.error !== undefined && because("ReconcileFailed", textOf(o.error)),
  (o) => o.deleting && because("Deleting", ["Cluster is deleting", hooksText(o, "delete")].filter((t) => t !== "").join(". ")),
  (o) => o.classNotReconciled !== undefined && because("ClusterClassNotReconciled", o.classNotReconciled),
  (o) => o.creating && o.blocking.length > 0 && because("ClusterCreating", hooksText(o, "Cluster topology creation")),
  (o) => isUpgrading(o) && because(upgradeReason(o), upgradeText(o)),
];

export const topologyReconciled = (outcome: Outcome): Finding =>
  firstHit("TopologyReconciled", checks, outcome) ?? isTrue("TopologyReconciled", "ReconcileSucceeded");

interface Pools {
  readonly upgrading: readonly string[];
  readonly pending: readonly string[];
  readonly deferred: readonly string[];
  readonly creating: readonly string[];
}

/** A name shows once: upgrading before deferred before pending. */
function poolsOf({ versions }: Outcome): Pools {
  const pools = [...(versions?.pools ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  const names = (holds: (d: (typeof pools)[number][1]) => boolean) => pools.filter(([, d]) => holds(d)).map(([name]) => name);
  return {
    upgrading: names((d) => d.upgrading),
    deferred: names((d) => !d.upgrading && d.deferred),
    pending: names((d) => !d.upgrading && !d.deferred && d.pending),
    creating: names((d) => d.pendingCreate),
  };
}

function isUpgrading(outcome: Outcome): boolean {
  const { versions, upgradeUnfinished } = outcome;
  if (!versions) return false;
  const { pending, starting, upgrading } = versions.controlPlane;
  return (
    pending || starting || upgrading || upgradeUnfinished === true || Object.values(poolsOf(outcome)).some((names) => names.length > 0)
  );
}

function upgradeReason(outcome: Outcome): string {
  const { versions, blocking } = outcome;
  const pools = poolsOf(outcome);
  const c = versions?.controlPlane;
  const onlyDeferred =
    blocking.length === 0 &&
    !c?.pending &&
    !c?.starting &&
    !c?.upgrading &&
    pools.deferred.length > 0 &&
    pools.upgrading.length + pools.pending.length + pools.creating.length === 0;
  return onlyDeferred ? "MachineDeploymentsUpgradeDeferred" : "ClusterUpgrading";
}

function upgradeText(outcome: Outcome): string {
  const { versions, plan, version } = outcome;
  const c = versions?.controlPlane;
  const pools = poolsOf(outcome);
  const steps = (plan?.controlPlane ?? []).join(" -> ");
  const lines = [
    hooksText(outcome, "upgrade"),
    c?.upgrading || c?.starting ? `Control plane is upgrading to ${c.version}${pendingSteps(outcome)}` : "",
    c?.pending && !c.upgrading ? `Control plane is pending upgrade to ${steps === "" ? version : steps}` : "",
    poolText(pools.upgrading, "upgrading"),
    poolText(pools.pending, "pending upgrade"),
    poolText(pools.deferred, "deferring upgrade"),
    poolText(pools.creating, "pending creation"),
  ];
  return [`Cluster is upgrading to ${version}`, ...lines.filter((l) => l !== "").map((l) => `* ${l}`)].join("\n");
}

function pendingSteps({ versions, version }: Outcome): string {
  const now = versions?.controlPlane.version;
  return now === undefined || now === version ? "" : `, then to ${version}`;
}

function poolText(names: readonly string[], what: string): string {
  if (names.length === 0) return "";
  const more = names.length - NAMES_MAX;
  const list = more > 0 ? `${names.slice(0, NAMES_MAX).join(", ")}, ... (${more} more)` : names.join(", ");
  return `MachineDeployment${names.length > 1 ? "s" : ""} ${list} ${what}`;
}
