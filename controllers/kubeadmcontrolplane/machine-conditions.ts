// Conditions that the control plane puts on its Machines: Pods, etcd member, Node labels and taints, UpToDate. Pure.
// Not here: reading the workload cluster (inspect.ts), writing (machine-status.ts). Source: spec/controllers/kubeadmcontrolplane.md 16.1.
import type { Node } from "../../api/core/index.ts";
import type { KubeadmConfig } from "../../api/kubeadmconfig.ts";
import type { Machine } from "../../api/machine.ts";
import { controlPlaneTaint, nodeRoleControlPlaneLabel, unreachableTaintKey } from "../../api/names.ts";
import { type Finding, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";
import { isUpdatingInPlace } from "../inplace/marks.ts";
import { type ClosedGate, type WorkloadFacts, nodeNamed } from "./facts.ts";
import { formOf } from "./kubeadm-config.ts";
import { isDeleting, nodeNameOf } from "./machines.ts";
import { podFinding } from "./pods.ts";
import type { UpToDate } from "./up-to-date.ts";

const NODE_CONDITION = "NodeKubeadmLabelsAndTaintsSet";
const COMPONENTS: readonly (readonly [type: string, component: string])[] = [
  ["APIServerPodHealthy", "kube-apiserver"],
  ["ControllerManagerPodHealthy", "kube-controller-manager"],
  ["SchedulerPodHealthy", "kube-scheduler"],
];
const ETCD_POD = ["EtcdPodHealthy", "etcd"] as const;
const MEMBER = "EtcdMemberHealthy";

const podsOf = (managedEtcd: boolean): readonly (readonly [string, string])[] => (managedEtcd ? [...COMPONENTS, ETCD_POD] : COMPONENTS);

/** Every condition that is about the workload cluster. */
export const inspectedConditions = (managedEtcd: boolean): readonly string[] => [
  NODE_CONDITION,
  ...podsOf(managedEtcd).map(([type]) => type),
  ...(managedEtcd ? [MEMBER] : []),
];

/** What is said while the workload cluster cannot be looked at. @param known the control plane has its two conditions already */
export const closedFindings = (gate: ClosedGate, managedEtcd: boolean, known: boolean): readonly Finding[] =>
  gate.overwrite || !known ? inspectedConditions(managedEtcd).map((type) => isUnknown(type, gate.reason, gate.message)) : [];

export interface InspectedMachine {
  readonly machine: Machine;
  readonly config?: KubeadmConfig;
}

export function inspectedFindings({ machine, config }: InspectedMachine, facts: WorkloadFacts): readonly Finding[] {
  return [...nodeAndPodFindings(machine, config, facts), ...memberFindings(machine, facts)];
}

function nodeAndPodFindings(machine: Machine, config: KubeadmConfig | undefined, facts: WorkloadFacts): readonly Finding[] {
  const pods = podsOf(facts.etcd !== undefined);
  const all = (finding: (type: string) => Finding): readonly Finding[] => [NODE_CONDITION, ...pods.map(([type]) => type)].map(finding);
  const nodeName = nodeNameOf(machine);
  const node = nodeName === undefined ? undefined : nodeNamed(facts, nodeName);
  if (isDeleting(machine)) {
    const deleting = all((type) => isFalse(type, "Deleting", "Machine is deleting"));
    return node ? [nodeFinding(node, machine, config), ...deleting.slice(1)] : deleting;
  }
  if (nodeName === undefined) return all((type) => isUnknown(type, "InspectionFailed", waitingForNode(machine)));
  if (!node) return all((type) => isUnknown(type, "InspectionFailed", `Node ${nodeName} does not exist`));
  const labels = nodeFinding(node, machine, config);
  const stale = staleness(node);
  if (stale !== undefined) return [labels, ...pods.map(([type]) => isUnknown(type, "InspectionFailed", stale))];
  return [
    labels,
    ...pods.flatMap(([type, component]) => {
      const name = `${component}-${nodeName}`;
      const finding = podFinding(facts.pod(name), name);
      return finding ? [{ type, ...finding }] : [];
    }),
  ];
}

const waitingForNode = (machine: Machine): string =>
  machine.spec.providerID
    ? `Waiting for a Node with spec.providerID ${machine.spec.providerID} to exist`
    : `Waiting for ${machine.spec.infrastructureRef.kind} to report spec.providerID`;

/** Why the Pods of a Node cannot be trusted. */
function staleness(node: Node): string | undefined {
  const name = node.metadata.name;
  if (node.spec?.taints?.some((t) => t.key === unreachableTaintKey && t.effect === "NoExecute")) return `Node ${name} is unreachable`;
  const ready = node.status?.conditions?.find((c) => c.type === "Ready");
  return ready?.status === "Unknown" ? `Node ${name} reports Ready Unknown, Pod data might be stale` : undefined;
}

function nodeFinding(node: Node, machine: Machine, config: KubeadmConfig | undefined): Finding {
  const missing: string[] = [];
  if (node.metadata.labels?.[nodeRoleControlPlaneLabel] === undefined) missing.push(`label ${nodeRoleControlPlaneLabel}`);
  const isTaint = (t: { readonly key?: string; readonly effect?: string }): boolean =>
    t.key === controlPlaneTaint.key && t.effect === controlPlaneTaint.effect;
  if (wantsTaint(machine, config, isTaint) && !node.spec?.taints?.some(isTaint)) missing.push(`taint ${controlPlaneTaint.key}`);
  if (missing.length === 0) return isTrue(NODE_CONDITION, "Set");
  return isFalse(NODE_CONDITION, "NotSet", `Following label and taints are not set on Node ${node.metadata.name}: ${missing.join(", ")}`);
}

type IsTaint = (taint: { readonly key?: string; readonly effect?: string }) => boolean;

/** kubeadm sets the taint unless taints are listed, and it is not among them. */
function wantsTaint(machine: Machine, config: KubeadmConfig | undefined, isTaint: IsTaint): boolean {
  if (machine.spec.taints?.some(isTaint)) return true;
  const spec = config?.spec ?? {};
  const section = formOf(spec) === "join" ? spec.joinConfiguration : spec.initConfiguration;
  const taints = section?.nodeRegistration?.taints;
  return taints === undefined || taints.some(isTaint);
}

function memberFindings(machine: Machine, { etcd }: WorkloadFacts): readonly Finding[] {
  if (!etcd) return [];
  if (isDeleting(machine)) return [isFalse(MEMBER, "Deleting", "Machine is deleting")];
  const nodeName = nodeNameOf(machine);
  if (nodeName === undefined) return [isUnknown(MEMBER, "InspectionFailed", waitingForNode(machine))];
  if (etcd.state === "notAsked") return [isUnknown(MEMBER, "InspectionFailed", "No etcd member could be asked")];
  if (etcd.state === "failed") return [isUnknown(MEMBER, "InspectionFailed", etcd.because)];
  const member = etcd.members.find((m) => m.name === nodeName);
  if (!member) return [isFalse(MEMBER, "NotHealthy", `Etcd doesn't have an etcd member for Node ${nodeName}`)];
  if (member.isLearner) return [isFalse(MEMBER, "NotHealthy", "Waiting for etcd member to be promoted from learner")];
  const alarms = etcd.alarms.filter((a) => a.memberId === member.id).map((a) => a.type);
  if (alarms.length > 0) return [isFalse(MEMBER, "NotHealthy", `Etcd reports alarms: ${alarms.join(", ")}`)];
  return [isTrue(MEMBER, "Healthy")];
}

/** UpToDate also waits for an update that runs, and for the kubelet. */
export function upToDateFinding(machine: Machine, verdict: UpToDate): Finding {
  if (!verdict.upToDate) return isFalse("UpToDate", "NotUpToDate", verdict.messages.map((text) => `* ${text}`).join("\n"));
  if (isUpdatingInPlace(machine)) return isFalse("UpToDate", "Updating", "* In-place update in progress");
  const kubelet = machine.status?.nodeInfo?.kubeletVersion;
  const wanted = machine.spec.version;
  if (kubelet && wanted && kubelet !== wanted)
    return isFalse("UpToDate", "Updating", `* Node reports kubelet ${kubelet}, waiting for ${wanted}`);
  return isTrue("UpToDate", "UpToDate");
}
