import { describe, expect, it } from "@jest/globals";
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { UPDATE_IN_PROGRESS } from "../inplace/marks.ts";
import { available, availableInMs, ready, rolloutDueInMs, upToDate, updating } from "./conditions.ts";
import { nodeFindings } from "./node-conditions.ts";
import { phaseOf } from "./phase.ts";
import { machineStatus } from "./status.ts";
import { cluster, machine, NOW, node, nowMs, referenced, view } from "./testing.ts";
import type { MachineView } from "./view.ts";

const GRACE_MS = 300_000;
const deletingNow = { metadata: { deletionTimestamp: NOW } };
const show = (c: { status: string; reason: string; message: string } | undefined): string =>
  c ? `${c.status} ${c.reason}${c.message === "" ? "" : ` | ${c.message.replaceAll("\n", " / ")}`}` : "(none)";
const statusOf = (v: MachineView, newest: Machine = v.machine) => machineStatus(v, newest, nowMs, GRACE_MS);
const conditionOf = (type: string, v: MachineView): string => show(statusOf(v).conditions?.find((c) => c.type === type));

describe("BootstrapConfigReady and InfrastructureReady", () => {
  const gone = (kind: string) => ({ ...referenced(kind), object: undefined, missing: true });
  const withReady = (kind: string, condition: object | undefined, flags: object = {}) =>
    referenced(kind, { status: { conditions: condition ? [{ type: "Ready", ...condition }] : [], ...flags } });
  const never = machine({ status: { initialization: {} } });
  const rows: [string, string, Partial<MachineView>, string][] = [
    ["no configRef", "BootstrapConfigReady", { bootstrap: undefined }, "True DataSecretProvided"],
    [
      "mirrored",
      "BootstrapConfigReady",
      { bootstrap: withReady("KubeadmConfig", { status: "False", reason: "NotReady", message: "lock" }) },
      "False NotReady | lock",
    ],
    ["True without a reason", "BootstrapConfigReady", { bootstrap: withReady("KubeadmConfig", { status: "True" }) }, "True Ready"],
    ["no condition, flag true", "BootstrapConfigReady", { bootstrap: withReady("KubeadmConfig", undefined) }, "True Ready"],
    [
      "nonsense",
      "InfrastructureReady",
      { infrastructure: withReady("DevMachine", { status: "yes" }) },
      "Unknown InvalidConditionReported | Condition Ready of DevMachine has no valid status",
    ],
    [
      "read error",
      "InfrastructureReady",
      { infrastructure: { ...gone("DevMachine"), missing: false, error: new Error("denied") } },
      "Unknown InternalError | denied",
    ],
    [
      "never there",
      "InfrastructureReady",
      { infrastructure: gone("DevMachine"), machine: never },
      "False ObjectDoesNotExist | DevMachine does not exist",
    ],
    [
      "gone under a running machine",
      "InfrastructureReady",
      { infrastructure: gone("DevMachine") },
      "False ObjectDeleted | DevMachine has been deleted while the Machine still exists",
    ],
    [
      "gone while deleting",
      "InfrastructureReady",
      { infrastructure: gone("DevMachine"), machine: machine(deletingNow) },
      "False ObjectDeleted | DevMachine has been deleted",
    ],
    [
      "bootstrap gone while living",
      "BootstrapConfigReady",
      { bootstrap: gone("KubeadmConfig") },
      "False ObjectDoesNotExist | KubeadmConfig does not exist",
    ],
    [
      "bootstrap gone while deleting",
      "BootstrapConfigReady",
      { bootstrap: gone("KubeadmConfig"), machine: machine(deletingNow) },
      "False ObjectDeleted | KubeadmConfig has been deleted",
    ],
  ];
  it.each(rows)("%s (%s)", (_what, type, change, expected) => expect(conditionOf(type, view(change))).toBe(expected));
});

describe("NodeHealthy", () => {
  const connection = { connected: true, lastProbeMs: nowMs, lastProbeSuccessMs: nowMs, consecutiveFailures: 0 };
  const waiting = { node: { state: "notFound" } as const };
  const sick = (change: Record<string, string>) =>
    node({
      status: {
        conditions: ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
          type,
          status: change[type] ?? (type === "Ready" ? "True" : "False"),
          message: `${type} text`,
        })),
      },
    });
  const rows: [string, Partial<MachineView>, string][] = [
    ["all good", {}, "True NodeHealthy"],
    [
      "cluster not provisioned",
      { cluster: { ...cluster, status: {} } },
      "Unknown InspectionFailed | Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
    ],
    [
      "control plane not initialized",
      { cluster: { ...cluster, status: { initialization: { infrastructureProvisioned: true } } } },
      "Unknown InspectionFailed | Waiting for Cluster control plane to be initialized",
    ],
    [
      "first connection under way",
      { connection: { ...connection, connected: false, lastProbeSuccessMs: 0 } },
      "Unknown ConnectionDown | Remote connection not established yet",
    ],
    [
      "down for longer than the grace",
      { connection: { ...connection, lastProbeSuccessMs: nowMs - GRACE_MS - 1_000 } },
      "Unknown ConnectionDown | Remote connection probe failed, probe last succeeded at 2026-06-01T11:54:59Z",
    ],
    [
      "not connected",
      { connection: { ...connection, connected: false }, node: { state: "notConnected", error: new Error("x") } },
      "Unknown ConnectionDown | Cannot establish connection to remote cluster",
    ],
    ["two Nodes", { node: { state: "error", error: new Error("two Nodes") } }, "Unknown InternalError | two Nodes"],
    ["Node lost", waiting, "False NodeDeleted | Node m1 has been deleted while the Machine still exists"],
    ["Node deleted with the machine", { ...waiting, machine: machine(deletingNow) }, "False NodeDeleted | Node m1 has been deleted"],
    [
      "never a Node, deleting",
      { ...waiting, machine: machine({ ...deletingNow, status: { nodeRef: undefined } }) },
      "Unknown NodeDoesNotExist | Node does not exist",
    ],
    [
      "waiting for the Node",
      { ...waiting, machine: machine({ status: { nodeRef: undefined } }) },
      "Unknown InspectionFailed | Waiting for a Node with spec.providerID p://m1 to exist",
    ],
    [
      "waiting for the providerID",
      { node: { state: "noProviderID" }, machine: machine({ spec: { providerID: undefined }, status: { nodeRef: undefined } }) },
      "Unknown InspectionFailed | Waiting for DevMachine to report spec.providerID",
    ],
    ["not ready", { node: { state: "found", node: sick({ Ready: "False" }) } }, "False NodeNotHealthy | * Node.Ready: Ready text"],
    [
      "pressure counts, unknown is told too",
      { node: { state: "found", node: sick({ DiskPressure: "True", PIDPressure: "Unknown" }) } },
      "False NodeNotHealthy | * Node.DiskPressure: DiskPressure text / * Node.PIDPressure: PIDPressure text",
    ],
    [
      "nothing reported yet",
      { node: { state: "found", node: node({ status: { conditions: [] } }) } },
      "Unknown NodeHealthyUnknown | * Node.Ready, Node.MemoryPressure, Node.DiskPressure, Node.PIDPressure: Condition not yet reported",
    ],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(conditionOf("NodeHealthy", view(change))).toBe(expected));

  it("NodeReady changes when the Node did", () => {
    const found = statusOf(view()).conditions?.find((c) => c.type === "NodeReady");
    expect(found).toMatchObject({ status: "True", lastTransitionTime: "2026-06-01T11:30:00Z" });
  });

  it("keeps what it said while a connection is lost for less than the grace", () => {
    const said: Condition[] = ["NodeReady", "NodeHealthy"].map((type) => ({
      type,
      status: "True",
      reason: "Was",
      message: "",
      lastTransitionTime: NOW,
    }));
    const lost = view({ connection: { ...connection, connected: false }, node: { state: "notConnected", error: new Error("x") } });
    expect(nodeFindings(lost, said, GRACE_MS).findings).toEqual([]);
  });
});

describe("Updating", () => {
  const marked = machine({ metadata: { annotations: { [UPDATE_IN_PROGRESS]: "" } } });
  const rows: [string, MachineView, string][] = [
    ["no mark", view(), "False NotUpdating"],
    ["marked, no call yet", view({ machine: marked }), "True InPlaceUpdating | In-place update in progress"],
    [
      "the extension's words",
      view({ machine: marked, update: { state: "running", message: "step 4 of 9" } }),
      "True InPlaceUpdating | In-place update in progress: step 4 of 9",
    ],
    [
      "a failure is told",
      view({ machine: marked, update: { state: "failed", message: "cannot update: disk full" } }),
      "True InPlaceUpdateFailed | In-place update failed: cannot update: disk full",
    ],
  ];
  it.each(rows)("%s", (_what, v, expected) => expect(show(updating(v, v.machine))).toBe(expected));

  it("a mark that was set while this run went on counts", () => {
    expect(statusOf(view(), marked)).toMatchObject({ phase: "Updating" });
  });
});

describe("UpToDate", () => {
  const spec = (version: string) => ({ spec: { template: { spec: { ...machine().spec, version } } } });
  const set = (version: string) => ({ ...spec(version), metadata: { creationTimestamp: "2026-06-01T10:00:00Z" } }) as MachineView["set"];
  const deployment = (version: string, after?: string) =>
    ({ spec: { ...spec(version).spec, rollout: { after } } }) as MachineView["deployment"];
  const going = { type: "Updating", status: "True", reason: "InPlaceUpdating", message: "In-place update in progress" } as const;
  const idle = { ...going, status: "False", message: "" } as const;
  const kubelet = (version: string) => ({ state: "found", node: node({ status: { nodeInfo: { kubeletVersion: version } } }) }) as const;
  const same = { set: set("v1.35.0"), deployment: deployment("v1.35.0") };
  const rows: [string, MachineView, typeof going | typeof idle, string][] = [
    ["stand-alone", view(), idle, "(none)"],
    ["as wanted", view(same), idle, "True UpToDate"],
    [
      "the set is old",
      view({ ...same, deployment: deployment("v1.36.0") }),
      idle,
      "False NotUpToDate | * Version v1.35.0, v1.36.0 required",
    ],
    [
      "a template that came meanwhile goes before Updating",
      view({ ...same, deployment: deployment("v1.36.0") }),
      going,
      "False NotUpToDate | * Version v1.35.0, v1.36.0 required",
    ],
    ["updating", view(same), going, "False Updating | * In-place update in progress"],
    [
      "a Node that does not follow is named",
      view({ ...same, node: kubelet("v1.34.0") }),
      idle,
      "False Updating | * Node m1 runs kubelet v1.34.0, v1.35.0 required",
    ],
    [
      "rollout.after has passed",
      view({ ...same, deployment: deployment("v1.35.0", "2026-06-01T11:00:00Z") }),
      idle,
      "False NotUpToDate | * MachineDeployment spec.rollout.after expired",
    ],
  ];
  it.each(rows)("%s", (_what, v, now, expected) => expect(show(upToDate(v, v.machine, now))).toBe(expected));

  it("wakes up when rollout.after comes", () => {
    const soon = view({ ...same, deployment: deployment("v1.35.0", "2026-06-01T12:10:00Z") });
    const wait = rolloutDueInMs(soon) ?? 0;
    expect(wait).toBe(601_000);
    expect(show(upToDate({ ...soon, nowMs: nowMs + wait }, machine(), idle))).toContain("expired");
    expect(rolloutDueInMs(view(same))).toBeUndefined();
  });
});

describe("Ready and Available", () => {
  it("a healthy Machine is both", () => {
    const v = view();
    expect([conditionOf("Ready", v), conditionOf("Available", v)]).toEqual(["True Ready", "True Available"]);
    expect(statusOf(v).conditions?.map((c) => c.type)).toEqual([
      "Available",
      "Ready",
      "BootstrapConfigReady",
      "InfrastructureReady",
      "NodeHealthy",
      "NodeReady",
      "Updating",
      "Deleting",
    ]);
    expect(statusOf(v).observedGeneration).toBe(3);
  });

  it("an update in place takes both away, in the recorded words", () => {
    const v = view({ machine: machine({ metadata: { annotations: { [UPDATE_IN_PROGRESS]: "" } } }) });
    expect([conditionOf("Ready", v), conditionOf("Available", v)]).toEqual([
      "False NotReady | * Updating: In-place update in progress",
      "False NotReady",
    ]);
  });

  it("objects that are gone are no fault of a Machine that is being deleted", () => {
    const v = view({
      machine: machine(deletingNow),
      infrastructure: { ...referenced("DevMachine"), object: undefined, missing: true },
      node: { state: "notFound" },
      deletion: { reason: "WaitingForBootstrapDeletion", message: "long text" },
    });
    expect(conditionOf("Ready", v)).toBe("False NotReady | * Deleting: Machine deletion in progress, stage: WaitingForBootstrapDeletion");
  });

  it("waits minReadySeconds from the moment of Ready", () => {
    const waiting = machine({ spec: { minReadySeconds: 30 } });
    const since = (lastTransitionTime: string): Condition[] => [
      { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime },
    ];
    expect(show(available(waiting, since("2026-06-01T11:59:50Z"), nowMs))).toBe("False WaitingForMinReadySeconds");
    expect(availableInMs(waiting, since("2026-06-01T11:59:50Z"), nowMs)).toBe(20_000);
    expect(show(available(waiting, since("2026-06-01T11:59:30Z"), nowMs))).toBe("True Available");
    expect(show(available(waiting, [], nowMs))).toContain("Unknown InternalError");
  });

  it("control plane gates that say the same are one line", () => {
    const gates = ["APIServerPodHealthy", "SchedulerPodHealthy"].map((conditionType) => ({ conditionType }));
    const text = ready(machine({ spec: { readinessGates: gates } }), statusOf(view()).conditions ?? [], nowMs).message;
    expect(text).toBe("* Control plane components: Condition not yet reported");
  });
});

describe("phase", () => {
  const rows: [string, Machine, string][] = [
    ["new", machine({ spec: { bootstrap: {}, providerID: undefined }, status: { initialization: {}, nodeRef: undefined } }), "Pending"],
    [
      "bootstrap data is there",
      machine({ spec: { providerID: undefined }, status: { initialization: {}, nodeRef: undefined, phase: "Pending" } }),
      "Provisioning",
    ],
    ["provider id", machine({ status: { nodeRef: undefined, phase: "Provisioning" } }), "Provisioned"],
    ["Node", machine(), "Running"],
    ["updating", machine({ status: { conditions: [{ type: "Updating", status: "True" }] } }), "Updating"],
    ["deleting goes last", machine({ ...deletingNow, status: { conditions: [{ type: "Updating", status: "True" }] } }), "Deleting"],
  ];
  it.each(rows)("%s", (_what, m, expected) => expect(phaseOf(m)).toBe(expected));
});

it("says nothing about a generation whose run failed", () => {
  const failed = view({ failures: [new Error("x")], machine: machine({ status: { observedGeneration: 2 } }) });
  expect(statusOf(failed).observedGeneration).toBe(2);
});
