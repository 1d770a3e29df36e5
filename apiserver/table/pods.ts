// Columns of pods: ready containers, the one word for their state, restarts. Source: answers of a kube-apiserver.
import { parseTimestamp } from "../../runtime/base/clock.ts";
import type { ApiObject } from "../object.ts";
import type { PrinterColumn } from "../registry.ts";
import { humanDuration } from "./age.ts";
import { AGE, at, column, count, fields, items, NAME, NONE, orNone, text, wide } from "./columns.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Sidecars run as long as the pod: they count as its containers. */
const restarts = (spec: Fields): ReadonlySet<string> =>
  new Set(
    items(spec.initContainers)
      .filter((c) => c.restartPolicy === "Always")
      .map((c) => text(c.name)),
  );

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  readonly lastRestartMs: number;
  readonly reason: string;
}

const terminatedReason = (state: Fields): string => {
  const terminated = fields(state.terminated);
  if (text(terminated.reason) !== "") return text(terminated.reason);
  return count(terminated.signal) !== 0 ? `Signal:${count(terminated.signal)}` : `ExitCode:${count(terminated.exitCode)}`;
};

/** Why an init container holds the pod up; undefined when it does not. */
function initReason(status: Fields, spec: Fields, i: number, sidecar: boolean): string | undefined {
  const state = fields(status.state);
  const terminated = fields(state.terminated);
  const waiting = text(fields(state.waiting).reason);
  if (state.terminated !== undefined && count(terminated.exitCode) === 0) return undefined;
  if (sidecar && status.started === true) return undefined;
  if (state.terminated !== undefined) return `Init:${terminatedReason(state)}`;
  if (waiting !== "" && waiting !== "PodInitializing") return `Init:${waiting}`;
  return `Init:${i}/${items(spec.initContainers).length}`;
}

function containerReason(statuses: readonly Fields[], start: string): string {
  let reason = start;
  let running = false;
  for (const status of [...statuses].reverse()) {
    const state = fields(status.state);
    const waiting = text(fields(state.waiting).reason);
    if (waiting !== "") reason = waiting;
    else if (state.terminated !== undefined) reason = terminatedReason(state);
    else if (status.ready === true && state.running !== undefined) running = true;
  }
  return reason === "Completed" && running ? "Running" : reason;
}

const isReady = (pod: ApiObject): boolean => items(at(pod, "status.conditions")).some((c) => c.type === "Ready" && c.status === "True");

function summarize(pod: ApiObject): Summary {
  const [spec, status] = [fields(pod.spec), fields(pod.status)];
  const sidecars = restarts(spec);
  const inits = items(status.initContainerStatuses);
  const mains = items(status.containerStatuses);
  const counted = [...inits.filter((s) => sidecars.has(text(s.name))), ...mains];
  let reason = text(status.reason) || text(status.phase);
  const gated = items(status.conditions).find((c) => c.type === "PodScheduled" && c.reason === "SchedulingGated");
  if (gated) reason = "SchedulingGated";
  const held = inits.map((s, i) => initReason(s, spec, i, sidecars.has(text(s.name)))).find((r) => r !== undefined);
  if (held !== undefined) reason = held;
  else {
    const found = containerReason(mains, reason);
    reason = found === "Running" && reason === "Completed" ? (isReady(pod) ? "Running" : "NotReady") : found;
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (text(status.reason) === "NodeLost") reason = "Unknown";
    else if (text(status.phase) !== "Failed" && text(status.phase) !== "Succeeded") reason = "Terminating";
  }
  const all = held === undefined ? counted : inits;
  const ends = all.map((s) => parseTimestamp(text(at(s, "lastState.terminated.finishedAt")))).filter((ms) => !Number.isNaN(ms));
  return {
    ready: counted.filter((s) => s.ready === true && (fields(s.state).running !== undefined || sidecars.has(text(s.name)))).length,
    total: items(spec.containers).length + sidecars.size,
    restarts: all.reduce((sum, s) => sum + count(s.restartCount), 0),
    lastRestartMs: ends.length === 0 ? Number.NaN : Math.max(...ends),
    reason,
  };
}

function restartsText(pod: ApiObject, nowMs: number): string {
  const { restarts: times, lastRestartMs } = summarize(pod);
  return times === 0 || Number.isNaN(lastRestartMs) ? String(times) : `${times} (${humanDuration((nowMs - lastRestartMs) / 1000)} ago)`;
}

function gates(pod: ApiObject): string {
  const wanted = items(at(pod, "spec.readinessGates"));
  if (wanted.length === 0) return NONE;
  const conditions = items(at(pod, "status.conditions"));
  const met = wanted.filter((g) => conditions.some((c) => c.type === g.conditionType && c.status === "True"));
  return `${met.length}/${wanted.length}`;
}

export const podColumns: readonly PrinterColumn[] = [
  NAME,
  column("Ready", (o) => `${summarize(o).ready}/${summarize(o).total}`),
  column("Status", (o) => summarize(o).reason),
  column("Restarts", restartsText),
  AGE,
  wide("IP", (o) => orNone(at(o, "status.podIP") || items(at(o, "status.podIPs"))[0]?.ip)),
  wide("Node", (o) => orNone(at(o, "spec.nodeName"))),
  wide("Nominated Node", (o) => orNone(at(o, "status.nominatedNodeName"))),
  wide("Readiness Gates", gates),
];
