// NodeReady and NodeHealthy of a Machine: what its Node says, or why that is not known. Pure.
// Source: spec/controllers/machine.md section 7.3.
import type { CoreCondition, Node } from "../../api/core/index.ts";
import type { Condition } from "../../api/meta/object.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { type Finding, findCondition, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { isDeleting, type MachineView } from "./view.ts";

/** While the connection is younger than this many failures, conditions keep what they said. */
const EARLY_FAILURES_MAX = 5;
const HEALTH_TYPES = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** Reason and message of both, unless a Node was found. `keep`: leave what is there. */
interface NoNode {
  readonly keep?: boolean;
  readonly status: "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

const unknown = (reason: string, message: string): NoNode => ({ status: "Unknown", reason, message });
const keep = (message: string): NoNode => ({ ...unknown("ConnectionDown", message), keep: true });

/** First hit; nothing when the Node is there to be looked at. */
function whyNoNode(view: MachineView, graceMs: number): NoNode | undefined {
  const { cluster, machine, connection, node, nowMs } = view;
  if (cluster.status?.initialization?.infrastructureProvisioned !== true) {
    return unknown("InspectionFailed", "Waiting for Cluster status.initialization.infrastructureProvisioned to be true");
  }
  const initialized = findCondition(cluster.status?.conditions, "ControlPlaneInitialized");
  if (initialized?.status !== "True") return unknown("InspectionFailed", "Waiting for Cluster control plane to be initialized");
  const { lastProbeSuccessMs, consecutiveFailures } = connection;
  if (lastProbeSuccessMs === 0 && consecutiveFailures < EARLY_FAILURES_MAX) return keep("Remote connection not established yet");
  const lastGoodMs = Math.max(lastProbeSuccessMs, parseTimestamp(initialized.lastTransitionTime));
  if (nowMs - lastGoodMs > graceMs) return unknown("ConnectionDown", connectionDownText(lastProbeSuccessMs));
  if (node.state === "notConnected" || (node.state !== "noProviderID" && !connection.connected))
    return keep("Cannot establish connection to remote cluster");
  if (node.state === "error") return unknown("InternalError", node.error.message);
  if (node.state === "found") return undefined;
  return withoutNode(view, machine.status?.nodeRef?.name ?? view.status.nodeRef?.name);
}

const connectionDownText = (lastProbeSuccessMs: number): string =>
  lastProbeSuccessMs === 0
    ? "Remote connection probe failed, probe never succeeded"
    : `Remote connection probe failed, probe last succeeded at ${timestamp(lastProbeSuccessMs)}`;

function withoutNode({ machine, infrastructure }: MachineView, nodeName: string | undefined): NoNode {
  if (nodeName) {
    const message = isDeleting(machine)
      ? `Node ${nodeName} has been deleted`
      : `Node ${nodeName} has been deleted while the Machine still exists`;
    return { status: "False", reason: "NodeDeleted", message };
  }
  if (isDeleting(machine)) return unknown("NodeDoesNotExist", "Node does not exist");
  const providerId = machine.spec.providerID;
  if (providerId) return unknown("InspectionFailed", `Waiting for a Node with spec.providerID ${providerId} to exist`);
  return unknown("InspectionFailed", `Waiting for ${infrastructure?.ref.kind ?? "the infrastructure object"} to report spec.providerID`);
}

/** Both findings, and when NodeReady changed at its source. */
export interface NodeFindings {
  readonly findings: readonly Finding[];
  /** Transition time of the Node's own Ready condition, RFC 3339. */
  readonly nodeReadySince?: string;
}

/** @param existing conditions of the Machine as stored, for what must be kept */
export function nodeFindings(view: MachineView, existing: readonly Condition[] | undefined, graceMs: number): NodeFindings {
  const reason = whyNoNode(view, graceMs);
  if (reason) {
    const findings = ["NodeReady", "NodeHealthy"].flatMap((type) =>
      reason.keep && findCondition(existing, type) ? [] : [{ type, status: reason.status, reason: reason.reason, message: reason.message }],
    );
    return { findings };
  }
  if (view.node.state !== "found") return { findings: [] };
  const ready = nodeCondition(view.node.node, "Ready");
  return { findings: [nodeReady(ready), nodeHealthy(view.node.node)], nodeReadySince: ready?.lastTransitionTime };
}

const nodeCondition = (node: Node, type: string): CoreCondition | undefined => node.status?.conditions?.find((c) => c.type === type);

function nodeReady(ready: CoreCondition | undefined): Finding {
  if (!ready) return isUnknown("NodeReady", "NodeReadyUnknown", "* Node.Ready: Condition not yet reported");
  if (ready.status === "True") return isTrue("NodeReady");
  const message = `* Node.Ready: ${ready.message || ready.reason || "no reason given"}`;
  return { type: "NodeReady", status: ready.status, reason: ready.status === "False" ? "NodeNotReady" : "NodeReadyUnknown", message };
}

function nodeHealthy(node: Node): Finding {
  const judged = HEALTH_TYPES.map((type) => judge(type, nodeCondition(node, type)));
  const bad = judged.filter((j) => j.state === "bad");
  const open = judged.filter((j) => j.state === "unknown");
  const message = mergedLines([...bad, ...open]);
  if (bad.length > 0) return { type: "NodeHealthy", status: "False", reason: "NodeNotHealthy", message };
  if (open.length > 0) return { type: "NodeHealthy", status: "Unknown", reason: "NodeHealthyUnknown", message };
  return isTrue("NodeHealthy");
}

interface Judged {
  readonly type: string;
  readonly state: "good" | "bad" | "unknown";
  readonly text: string;
}

function judge(type: (typeof HEALTH_TYPES)[number], condition: CoreCondition | undefined): Judged {
  if (!condition) return { type, state: "unknown", text: "Condition not yet reported" };
  const text = condition.message || condition.reason || "no reason given";
  if (condition.status === "Unknown") return { type, state: "unknown", text };
  const good = condition.status === (type === "Ready" ? "True" : "False");
  return { type, state: good ? "good" : "bad", text };
}

/** One bullet per text; conditions that say the same share it. */
function mergedLines(judged: readonly Judged[]): string {
  const texts = [...new Set(judged.map((j) => j.text))];
  return texts
    .map((text) => {
      const types = judged.filter((j) => j.text === text).map((j) => `Node.${j.type}`);
      return `* ${types.join(", ")}: ${text}`;
    })
    .join("\n");
}
