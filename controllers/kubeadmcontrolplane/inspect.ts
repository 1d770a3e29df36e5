// Looking at the workload cluster, once per run, and what the Machines' conditions say then. Here: reads, and writes of conditions.
// Not here: what conditions say (machine-conditions.ts, pods.ts), whether one looks (facts.ts). Source: kubeadmcontrolplane.md 16.1.
import { configMapResource, type Node } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { remediateMachineAnnotation } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Finding, findCondition, setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { isNotConnected, type WorkloadCluster, type WorkloadClusters } from "../workload/seam.ts";
import { type ClosedGate, type EtcdFacts, gateFor, type WorkloadFacts } from "./facts.ts";
import { closedFindings, inspectedFindings, upToDateFinding } from "./machine-conditions.ts";
import { byName, compareText, hasAnnotation, isDeleting, isTrueOn, messageOf, nodeNameOf } from "./machines.ts";
import { clusterKeyOf, configFor, type ControlPlaneView, replaceMachine, verdictOf } from "./view.ts";

export interface InspectTools {
  readonly workloadClusters: WorkloadClusters;
  readonly graceMs: number;
}

export async function inspect(view: ControlPlaneView, context: ReconcileContext, tools: InspectTools): Promise<StepOutcome> {
  const workload = connection(view, tools.workloadClusters);
  if (!view.initialized && workload) view.initialized = await answersForTheFirstTime(view, workload);
  view.gate = gateFor(view.kcp, view.initialized, tools.workloadClusters.state(clusterKeyOf(view)), view.nowMs, tools.graceMs);
  if (!view.gate && workload) {
    try {
      view.facts = await readFacts(view, workload);
    } catch (e) {
      view.gate = {
        reason: "InspectionFailed",
        message: `Failed to inspect the workload cluster: ${messageOf(e)}`,
        overwrite: true,
        stop: true,
      };
    }
  }
  await writeMachineConditions(view, context);
  if (!view.gate?.stop) return undefined;
  view.failed = true;
  // A connection that comes back runs this key; a failed look has to be repeated.
  if (view.gate.reason === "InspectionFailed") throw new Error(view.gate.message);
  return { stop: true };
}

/** The connection, when there is one; asks for it otherwise. */
function connection(view: ControlPlaneView, clusters: WorkloadClusters): WorkloadCluster | undefined {
  const key = clusterKeyOf(view);
  try {
    return clusters.get(key);
  } catch (e) {
    if (!isNotConnected(e)) throw e;
    if (view.machines.some((m) => m.spec.providerID)) clusters.hint(key);
    return undefined;
  }
}

/** kubeadm uploads its configuration as the last step of init. Any error is "not yet". */
async function answersForTheFirstTime(view: ControlPlaneView, { client }: WorkloadCluster): Promise<boolean> {
  const [only] = view.machines;
  if (view.machines.length === 1 && only && (isDeleting(only) || hasAnnotation(only, remediateMachineAnnotation))) return false;
  try {
    await client.get(configMapResource, { namespace: "kube-system", name: "kubeadm-config" });
    return true;
  } catch {
    return false;
  }
}

async function readFacts(view: ControlPlaneView, workload: WorkloadCluster): Promise<WorkloadFacts> {
  const own = view.machines.flatMap((m) => workload.nodes.byName(nodeNameOf(m) ?? "") ?? []);
  const byProvider = view.machines.flatMap((m) => (m.spec.providerID ? workload.nodes.byProviderId(m.spec.providerID) : []));
  const nodes = new Map<string, Node>([...workload.nodes.controlPlane(), ...own, ...byProvider].map((n) => [n.metadata.name ?? "", n]));
  const etcd = view.managedEtcd ? await readEtcd(view, workload) : undefined;
  return {
    nodes: [...nodes.values()].sort(byName),
    pod: (name) => workload.controlPlanePods.byName(name),
    ...(etcd ? { etcd } : {}),
  };
}

/** Nodes whose members may be asked, those known to be well first. @param without a Machine that is about to lose its member */
export function etcdNodes(view: ControlPlaneView, without?: Machine): readonly string[] {
  return view.machines
    .filter((m) => m !== without && !isDeleting(m) && nodeNameOf(m) !== undefined)
    .sort((a, b) => Number(isTrueOn(b, "EtcdMemberHealthy")) - Number(isTrueOn(a, "EtcdMemberHealthy")) || byName(a, b))
    .map((m) => nodeNameOf(m) ?? "");
}

export const keyAlgorithmOf = (view: ControlPlaneView) => {
  const algorithm = view.kcp.spec.kubeadmConfigSpec?.clusterConfiguration?.encryptionAlgorithm;
  return algorithm ? { algorithm } : {};
};

async function readEtcd(view: ControlPlaneView, workload: WorkloadCluster): Promise<EtcdFacts> {
  const nodeNames = etcdNodes(view);
  if (nodeNames.length === 0) return { state: "notAsked" };
  try {
    const client = await workload.etcd(nodeNames, keyAlgorithmOf(view));
    try {
      const { members } = await client.memberList();
      const alarms = await client.alarms();
      const { leaderId } = client;
      if (!members.some((m) => m.id === leaderId))
        return { state: "failed", because: `Etcd reports a leader ${leaderId} that is no member` };
      return { state: "known", members: [...members].sort((a, b) => compareText(a.name, b.name)), alarms, leaderId };
    } finally {
      client.close();
    }
  } catch (e) {
    return { state: "failed", because: `Failed to inspect etcd: ${messageOf(e)}` };
  }
}

// --- conditions of Machines ----------------------------------------------------------------------------------------------------------

async function writeMachineConditions(view: ControlPlaneView, context: ReconcileContext): Promise<void> {
  const known = hasBothConditions(view);
  for (const machine of view.machines) {
    const findings = [
      ...inspected(view, machine, view.gate, known),
      ...(isDeleting(machine) ? [] : [upToDateFinding(machine, verdictOf(view, machine))]),
    ];
    await writeFindings(view, context, machine, findings);
  }
}

/** Whether anything was ever said about the workload cluster. */
export const hasBothConditions = ({ kcp, managedEtcd }: ControlPlaneView): boolean =>
  ["ControlPlaneComponentsHealthy", ...(managedEtcd ? ["EtcdClusterHealthy"] : [])].every(
    (type) => findCondition(kcp.status?.conditions, type) !== undefined,
  );

function inspected(view: ControlPlaneView, machine: Machine, gate: ClosedGate | undefined, known: boolean): readonly Finding[] {
  if (gate) return closedFindings(gate, view.managedEtcd, known);
  return view.facts ? inspectedFindings({ machine, config: configFor(view, machine) }, view.facts) : [];
}

/** Lays findings over a Machine's conditions; writes only what differs. A Machine that is gone stays as it was. */
export async function writeFindings(
  view: ControlPlaneView,
  { client, clock }: ReconcileContext,
  machine: Machine,
  findings: readonly Finding[],
  without: readonly string[] = [],
): Promise<void> {
  const now = timestamp(clock.nowMs());
  try {
    const stored = await writeStatus(client, machineResource, machine, (newest) => ({
      ...newest.status,
      conditions: setConditions(newest.status?.conditions, findings, now, newest.metadata.generation).filter(
        (c) => !without.includes(c.type),
      ),
    }));
    if (stored !== machine) replaceMachine(view, stored);
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
