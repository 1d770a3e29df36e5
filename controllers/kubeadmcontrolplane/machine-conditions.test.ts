import { describe, expect, it } from "@jest/globals";
import type { Node, Pod } from "../../api/core/index.ts";
import type { KubeadmConfigSpec } from "../../api/kubeadmconfig.ts";
import type { Finding } from "../../runtime/conditions.ts";
import { componentsHealthy, etcdHealthy } from "./aggregates.ts";
import { type EtcdFacts, gateFor, type WorkloadFacts } from "./facts.ts";
import { closedFindings, inspectedFindings, upToDateFinding } from "./machine-conditions.ts";
import { podFinding } from "./pods.ts";
import { controlPlane, kubeadmConfig, machine, member, nowMs } from "./testing.ts";
import type { UpToDate } from "./up-to-date.ts";

const ROLE = "node-role.kubernetes.io/control-plane";

function node(name: string, change: { readonly labels?: object; readonly taints?: object[]; readonly ready?: string } = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: change.labels ?? { [ROLE]: "" } },
    spec: { taints: change.taints ?? [{ key: ROLE, effect: "NoSchedule" }] },
    status: { conditions: [{ type: "Ready", status: change.ready ?? "True" }] },
  } as unknown as Node;
}

const pod = (status: object): Pod => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status }) as unknown as Pod;
const ready = pod({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
const known = (members: readonly string[], more: Partial<Extract<EtcdFacts, { state: "known" }>> = {}): EtcdFacts => ({
  state: "known",
  members: members.map((n) => member(n)),
  alarms: [],
  leaderId: "m1-id",
  ...more,
});
const facts = (
  nodes: readonly Node[],
  etcd: EtcdFacts | undefined = known(["m1"]),
  pods: (name: string) => Pod | undefined = () => ready,
): WorkloadFacts => ({
  nodes,
  pod: pods,
  ...(etcd ? { etcd } : {}),
});
const shown = (findings: readonly Finding[]): Readonly<Record<string, string>> =>
  Object.fromEntries(findings.map((f) => [f.type, `${f.status}/${f.reason}`]));

describe("a static Pod", () => {
  const container = (state: object, lastState?: object) => ({
    containerStatuses: [{ name: "c", state, ...(lastState ? { lastState } : {}) }],
  });
  const rows: [string, Pod | undefined, string | undefined][] = [
    ["is missing", undefined, "False/DoesNotExist"],
    ["is not placed", pod({ phase: "Pending" }), "False/Provisioning"],
    ["is ready", ready, "True/Running"],
    ["waits for probes", pod({ phase: "Running", conditions: [], ...container({ running: {} }) }), "False/Provisioning"],
    ["pulls its image", pod({ phase: "Running", ...container({ waiting: { reason: "ImagePullBackOff" } }) }), "False/Provisioning"],
    [
      "crashes again and again",
      pod({ phase: "Running", ...container({ waiting: { reason: "CrashLoopBackOff" } }, { terminated: { exitCode: 1 } }) }),
      "False/Failed",
    ],
    ["has ended", pod({ phase: "Running", ...container({ terminated: { reason: "Error", exitCode: 1 } }) }), "False/Failed"],
    ["has failed", pod({ phase: "Failed" }), "False/Failed"],
    ["cannot be reached", pod({ phase: "Unknown" }), "Unknown/InspectionFailed"],
    ["says something new", pod({ phase: "Dreaming" }), undefined],
  ];
  it.each(rows)("%s", (_what, given, expected) => {
    const found = podFinding(given, "p");
    expect(found && `${found.status}/${found.reason}`).toBe(expected);
  });
});

describe("conditions of a Machine", () => {
  it("all is well", () => {
    expect(shown(inspectedFindings({ machine: machine("m1") }, facts([node("m1")])))).toEqual({
      NodeKubeadmLabelsAndTaintsSet: "True/Set",
      APIServerPodHealthy: "True/Running",
      ControllerManagerPodHealthy: "True/Running",
      SchedulerPodHealthy: "True/Running",
      EtcdPodHealthy: "True/Running",
      EtcdMemberHealthy: "True/Healthy",
    });
  });
  it("external etcd has no conditions of etcd", () => {
    const types = Object.keys(shown(inspectedFindings({ machine: machine("m1") }, { nodes: [node("m1")], pod: () => ready })));
    expect(types.filter((t) => t.startsWith("Etcd"))).toEqual([]);
  });
  it.each([
    ["no Node yet", machine("m1", { node: false }), facts([]), "Unknown/InspectionFailed", "Unknown/InspectionFailed"],
    ["the Node is gone", machine("m1"), facts([]), "Unknown/InspectionFailed", "Unknown/InspectionFailed"],
    [
      "the Node is unreachable",
      machine("m1"),
      facts([node("m1", { taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }] })]),
      "False/NotSet",
      "Unknown/InspectionFailed",
    ],
    ["the Node does not report", machine("m1"), facts([node("m1", { ready: "Unknown" })]), "True/Set", "Unknown/InspectionFailed"],
    ["deleting", machine("m1", { deleting: true }), facts([node("m1")]), "True/Set", "False/Deleting"],
    ["deleting, the Node is gone", machine("m1", { deleting: true }), facts([]), "False/Deleting", "False/Deleting"],
    ["the label is missing", machine("m1"), facts([node("m1", { labels: {} })]), "False/NotSet", "True/Running"],
    ["the taint is missing", machine("m1"), facts([node("m1", { taints: [] })]), "False/NotSet", "True/Running"],
  ])("%s", (_what, given, seen, nodeCondition, podCondition) => {
    const found = shown(inspectedFindings({ machine: given }, seen));
    expect([found.NodeKubeadmLabelsAndTaintsSet, found.APIServerPodHealthy]).toEqual([nodeCondition, podCondition]);
  });
  it.each([
    ["no taints are wanted", { joinConfiguration: { controlPlane: {}, nodeRegistration: { taints: [] } } }, "True/Set"],
    [
      "the taint is wanted",
      { joinConfiguration: { controlPlane: {}, nodeRegistration: { taints: [{ key: ROLE, effect: "NoSchedule" }] } } },
      "False/NotSet",
    ],
    ["nothing is said about taints", {}, "False/NotSet"],
  ] as [string, KubeadmConfigSpec, string][])("without the taint on the Node, %s", (_what, spec, expected) => {
    const found = inspectedFindings({ machine: machine("m1"), config: kubeadmConfig(spec) }, facts([node("m1", { taints: [] })]));
    expect(shown(found).NodeKubeadmLabelsAndTaintsSet).toBe(expected);
  });
  it.each([
    ["no member could be asked", { state: "notAsked" }, "Unknown/InspectionFailed"],
    ["etcd does not answer", { state: "failed", because: "timeout" }, "Unknown/InspectionFailed"],
    ["its member is missing", known(["m2"]), "False/NotHealthy"],
    ["its member learns", known([], { members: [member("m1", { isLearner: true })] }), "False/NotHealthy"],
    ["its member has an alarm", known(["m1"], { alarms: [{ memberId: "m1-id", type: "NOSPACE" }] }), "False/NotHealthy"],
    ["another one has an alarm", known(["m1"], { alarms: [{ memberId: "x", type: "NOSPACE" }] }), "True/Healthy"],
  ] as [string, EtcdFacts, string][])("etcd: %s", (_what, etcd, expected) => {
    expect(shown(inspectedFindings({ machine: machine("m1") }, facts([node("m1")], etcd))).EtcdMemberHealthy).toBe(expected);
  });
});

describe("UpToDate", () => {
  const verdict = (upToDate: boolean): UpToDate => ({
    upToDate,
    messages: upToDate ? [] : ["Version v1, v2 required"],
    inPlaceEligible: true,
  });
  const updating = { annotations: { "in-place-updates.internal.cluster.x-k8s.io/update-in-progress": "" } };
  const withKubelet = (version: string) => {
    const m = machine("m1");
    return { ...m, status: { ...m.status, nodeInfo: { kubeletVersion: version } } } as typeof m;
  };
  it.each([
    ["outdated", machine("m1"), verdict(false), "False/NotUpToDate: * Version v1, v2 required"],
    ["up to date", machine("m1"), verdict(true), "True/UpToDate: "],
    ["its update runs", machine("m1", updating), verdict(true), "False/Updating: * In-place update in progress"],
    ["its kubelet is old", withKubelet("v1.34.0"), verdict(true), "False/Updating: * Node reports kubelet v1.34.0, waiting for v1.35.0"],
    ["its kubelet is new", withKubelet("v1.35.0"), verdict(true), "True/UpToDate: "],
  ])("%s", (_what, given, v, expected) => {
    const { status, reason, message } = upToDateFinding(given, v);
    expect(`${status}/${reason}: ${message}`).toBe(expected);
  });
});

describe("the gate before looking", () => {
  const minute = 60_000;
  const connection = (connected: boolean, goodAgoMs: number, failures: number) => ({
    connected,
    lastProbeMs: nowMs,
    lastProbeSuccessMs: goodAgoMs < 0 ? 0 : nowMs - goodAgoMs,
    consecutiveFailures: failures,
  });
  it.each([
    ["not initialized", false, connection(true, 0, 0), "InspectionFailed overwrites, goes on"],
    ["connected", true, connection(true, 0, 0), "open"],
    ["never connected yet", true, connection(false, -1, 2), "ConnectionDown keeps, stops"],
    ["lost a minute ago", true, connection(false, minute, 6), "ConnectionDown keeps, stops"],
    ["lost six minutes ago", true, connection(false, 6 * minute, 30), "ConnectionDown overwrites, stops"],
  ])("%s", (_what, initialized, state, expected) => {
    const gate = gateFor(controlPlane(), initialized, state, nowMs, 5 * minute);
    const text = gate ? `${gate.reason} ${gate.overwrite ? "overwrites" : "keeps"}, ${gate.stop ? "stops" : "goes on"}` : "open";
    expect(text).toBe(expected);
  });
  it("what is known stays within the grace", () => {
    const gate = { reason: "ConnectionDown", message: "down", overwrite: false, stop: true } as const;
    expect(closedFindings(gate, true, true)).toEqual([]);
    expect(closedFindings(gate, false, false)).toHaveLength(4);
  });
});

describe("aggregates of the control plane", () => {
  const all = ["m1", "m2"].map((n) => node(n));
  it("says once what all components of a Machine say", () => {
    const stale = { APIServerPodHealthy: "Unknown", ControllerManagerPodHealthy: "Unknown", SchedulerPodHealthy: "Unknown" } as const;
    const found = componentsHealthy([machine("m1"), machine("m2", { conditions: stale })], facts(all));
    expect([found.status, found.reason, found.message]).toEqual([
      "Unknown",
      "HealthUnknown",
      "* Machine m2:\n  * Control plane components: Unknown",
    ]);
  });
  it("a Node without a Machine is a problem, unless some Machine is still joining", () => {
    const stranger = [...all, node("m9")];
    expect(componentsHealthy([machine("m1"), machine("m2")], facts(stranger)).message).toBe(
      "* Control plane Node m9 does not have a corresponding Machine",
    );
    const joining = machine("m3", {
      node: false,
      conditions: { APIServerPodHealthy: undefined, ControllerManagerPodHealthy: undefined, SchedulerPodHealthy: undefined },
    });
    expect(componentsHealthy([machine("m1"), joining], facts(stranger)).status).toBe("True");
  });
  it("a member without a Machine is a problem", () => {
    const found = etcdHealthy([machine("m1"), machine("m2")], facts(all, known(["m1", "m2", "x"])));
    expect([found.status, found.message]).toEqual(["False", "* Etcd member x does not have a corresponding Machine"]);
  });
  it("nothing is known without Machines", () => {
    expect(componentsHealthy([], facts([])).reason).toBe("HealthUnknown");
  });
});
