// Whether one Machine is healthy. Here: the pure verdict over a snapshot. Not here: how many may be remediated (limits.ts), marks (steps.ts).
// Source: spec/controllers/machinehealthcheck.md section 3. Ours besides: the grace for updates in place.
import type { Cluster } from "../../api/cluster.ts";
import type { Node } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import type { HealthChecks } from "../../api/machinehealthcheck.ts";
import type { Condition } from "../../api/meta/object.ts";
import { machineControlPlaneLabel, remediateMachineAnnotation } from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { findCondition, hasStatus } from "../../runtime/conditions.ts";
import { isUpdatingInPlace } from "../inplace/marks.ts";

/** `lost`: the Machine had a Node, and the workload cluster knows it no more. */
export type NodeState = { readonly state: "none" } | { readonly state: "lost" } | { readonly state: "found"; readonly node: Node };

export interface HealthView {
  readonly nowMs: number;
  readonly machine: Machine;
  readonly cluster: Cluster;
  readonly node: NodeState;
  readonly checks: HealthChecks;
  /** How long checks of conditions spare a Machine that is being updated in place, milliseconds; 0 = not at all. */
  readonly inPlaceGraceMs: number;
}

export type Health =
  | { readonly verdict: "healthy" }
  | { readonly verdict: "unhealthy"; readonly reason: string; readonly message: string }
  /** On a countdown, being deleted, or without a Node. */
  | { readonly verdict: "neither"; readonly checkAgainMs?: number };

const STARTUP_TIMEOUT_SECONDS = 600;

/** What a check says: a finding, or how long until there may be one, or nothing. */
interface Findings {
  readonly machine: readonly string[];
  readonly node: readonly { readonly reason: string; readonly text: string }[];
  readonly countdownsMs: readonly number[];
}

export function judge(view: HealthView): Health {
  const { machine, cluster, node } = view;
  if (machine.metadata.annotations?.[remediateMachineAnnotation] !== undefined) {
    return unhealthy("HasRemediateAnnotation", [`Marked for remediation via ${remediateMachineAnnotation} annotation`]);
  }
  const controlPlane = machine.metadata.labels?.[machineControlPlaneLabel] !== undefined;
  if (!controlPlane && !hasStatus(cluster.status?.conditions, "ControlPlaneInitialized", "True")) return { verdict: "neither" };
  if (!hasStatus(cluster.status?.conditions, "InfrastructureReady", "True")) return { verdict: "neither" };
  const found = findings(view);
  const texts = [...found.machine, ...found.node.map((f) => f.text)];
  if (texts.length > 0) return unhealthy(found.machine.length > 0 ? "UnhealthyMachine" : (found.node[0]?.reason ?? "UnhealthyNode"), texts);
  if (found.countdownsMs.length > 0) return { verdict: "neither", checkAgainMs: Math.min(...found.countdownsMs) };
  return machine.metadata.deletionTimestamp === undefined && node.state === "found" ? { verdict: "healthy" } : { verdict: "neither" };
}

const unhealthy = (reason: string, texts: readonly string[]): Health => ({
  verdict: "unhealthy",
  reason,
  message: ["Health check failed:", ...texts.map((text) => `  * ${text}`)].join("\n"),
});

function findings(view: HealthView): Findings {
  const { machine, node, checks, nowMs } = view;
  const graceMs = graceLeftMs(view);
  const machineChecks = checked("Machine", machine.status?.conditions, checks.unhealthyMachineConditions, nowMs, graceMs);
  if (node.state === "lost") {
    const text = `Node ${machine.status?.nodeRef?.name ?? ""} has been deleted`;
    return { machine: machineChecks.texts, node: [{ reason: "NodeDeleted", text }], countdownsMs: machineChecks.countdownsMs };
  }
  if (node.state === "none") return startup(view, machineChecks);
  const nodeChecks = checked(
    "Node",
    node.node.status?.conditions as readonly Condition[] | undefined,
    checks.unhealthyNodeConditions,
    nowMs,
    graceMs,
  );
  return {
    machine: machineChecks.texts,
    node: nodeChecks.texts.map((text) => ({ reason: "UnhealthyNode", text })),
    countdownsMs: [...machineChecks.countdownsMs, ...nodeChecks.countdownsMs],
  };
}

interface Checked {
  readonly texts: readonly string[];
  readonly countdownsMs: readonly number[];
}
type UnhealthyCondition = NonNullable<HealthChecks["unhealthyNodeConditions"]>[number];

function checked(
  what: string,
  conditions: readonly Condition[] | undefined,
  checks: readonly UnhealthyCondition[] | undefined,
  nowMs: number,
  graceMs: number,
): Checked {
  const texts: string[] = [];
  const countdownsMs: number[] = [];
  for (const { type, status, timeoutSeconds } of checks ?? []) {
    const condition = findCondition(conditions, type);
    if (condition?.status !== status) continue;
    const elapsedMs = nowMs - parseTimestamp(condition.lastTransitionTime ?? "");
    const leftMs = Math.max(timeoutSeconds * 1_000 - elapsedMs, graceMs);
    if (leftMs < 0) texts.push(`Condition ${type} on ${what} is reporting status ${status} for more than ${duration(timeoutSeconds)}`);
    else countdownsMs.push(leftMs + 1_000);
  }
  return { texts, countdownsMs };
}

/** Until when checks of conditions spare the Machine, milliseconds from now; negative = not spared. */
function graceLeftMs({ machine, inPlaceGraceMs, nowMs }: HealthView): number {
  if (inPlaceGraceMs <= 0) return Number.NEGATIVE_INFINITY;
  const updating = findCondition(machine.status?.conditions, "Updating");
  if (updating?.status !== "True") return isUpdatingInPlace(machine) ? inPlaceGraceMs : Number.NEGATIVE_INFINITY;
  return parseTimestamp(updating.lastTransitionTime ?? "") + inPlaceGraceMs - nowMs;
}

function startup(view: HealthView, machineChecks: Checked): Findings {
  const seconds = view.checks.nodeStartupTimeoutSeconds ?? STARTUP_TIMEOUT_SECONDS;
  if (seconds === 0) return { machine: machineChecks.texts, node: [], countdownsMs: machineChecks.countdownsMs };
  const leftMs = startOf(view) + seconds * 1_000 - view.nowMs;
  if (leftMs >= 0) return { machine: machineChecks.texts, node: [], countdownsMs: [...machineChecks.countdownsMs, leftMs + 1_000] };
  const text = `Node failed to report startup in ${duration(seconds)}`;
  return { machine: machineChecks.texts, node: [{ reason: "NodeStartupTimeout", text }], countdownsMs: machineChecks.countdownsMs };
}

/** From when on a Node can be expected, milliseconds since the epoch. */
function startOf({ machine, cluster }: HealthView): number {
  const turned = (conditions: readonly Condition[] | undefined, type: string): readonly number[] => {
    const condition = findCondition(conditions, type);
    return condition?.status === "True" ? [parseTimestamp(condition.lastTransitionTime ?? "")] : [];
  };
  return Math.max(
    parseTimestamp(machine.metadata.creationTimestamp ?? ""),
    ...turned(cluster.status?.conditions, "ControlPlaneInitialized"),
    ...turned(cluster.status?.conditions, "InfrastructureReady"),
    ...turned(machine.status?.conditions, "InfrastructureReady"),
  );
}

/** As Go writes durations: `10m0s`, `45s`, `1h0m0s`. */
function duration(seconds: number): string {
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${h > 0 ? `${h}h` : ""}${seconds >= 60 ? `${m}m` : ""}${s}s`;
}
