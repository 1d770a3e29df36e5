// What one run knows of the workload cluster. Here: types, and whether it may be looked at now. Not here: reading it (inspect.ts).
// Source: spec/controllers/kubeadmcontrolplane.md 16.1, the gate before looking.
import type { Node, Pod } from "../../api/core/index.ts";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { findCondition } from "../../runtime/conditions.ts";
import type { ConnectionState, EtcdAlarm, EtcdMember } from "../workload/seam.ts";

export type EtcdFacts =
  | {
      readonly state: "known";
      readonly members: readonly EtcdMember[];
      readonly alarms: readonly EtcdAlarm[];
      /** "0" = none. */
      readonly leaderId: string;
    }
  /** No member could be reached, or it did not answer. */
  | { readonly state: "failed"; readonly because: string }
  /** No Machine has a Node whose member could be asked. */
  | { readonly state: "notAsked" };

export interface WorkloadFacts {
  /** Nodes with the control plane label, and those of our Machines. */
  readonly nodes: readonly Node[];
  readonly pod: (name: string) => Pod | undefined;
  /** Absent with external etcd. */
  readonly etcd?: EtcdFacts;
}

export const nodeNamed = (facts: WorkloadFacts, name: string): Node | undefined => facts.nodes.find((n) => n.metadata.name === name);

/** Why the workload cluster is not looked at. */
export interface ClosedGate {
  readonly reason: "InspectionFailed" | "ConnectionDown";
  readonly message: string;
  /** Also where a condition says something already. */
  readonly overwrite: boolean;
  /** The run ends here. */
  readonly stop: boolean;
}

/** So many failed attempts before "not yet" becomes "down". */
const FAILURES_MIN = 5;
/** Never trust what a dead connection told for less time than this. */
const GRACE_MIN_MS = 120_000;

/** @returns undefined = look */
export function gateFor(
  kcp: KubeadmControlPlane,
  initialized: boolean,
  connection: ConnectionState,
  nowMs: number,
  graceMs: number,
): ClosedGate | undefined {
  if (!initialized) {
    return {
      reason: "InspectionFailed",
      message: "Waiting for Cluster control plane to be initialized",
      overwrite: true,
      stop: false,
    };
  }
  if (connection.connected) return undefined;
  const { lastProbeSuccessMs, consecutiveFailures } = connection;
  if (lastProbeSuccessMs === 0 && consecutiveFailures < FAILURES_MIN)
    return { reason: "ConnectionDown", message: "Remote connection not established yet", overwrite: false, stop: true };
  const initializedMs = parseTimestamp(findCondition(kcp.status?.conditions, "Initialized")?.lastTransitionTime ?? "") || 0;
  if (nowMs - Math.max(lastProbeSuccessMs, initializedMs) > Math.max(graceMs, GRACE_MIN_MS)) {
    const last = lastProbeSuccessMs === 0 ? "never" : `at ${timestamp(lastProbeSuccessMs)}`;
    return { reason: "ConnectionDown", message: `Remote connection down, last probe succeeded ${last}`, overwrite: true, stop: true };
  }
  return { reason: "ConnectionDown", message: "Remote connection not established", overwrite: false, stop: true };
}
