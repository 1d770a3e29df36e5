import { describe, expect, it } from "@jest/globals";
import type { Cluster } from "../../api/cluster.ts";
import type { Machine } from "../../api/machine.ts";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import type { Condition } from "../../api/meta/object.ts";
import type { Referenced } from "../contract/read.ts";
import { controlPlaneCounters, workerCounters } from "./counters.ts";
import { planDeletion } from "./deletion.ts";
import { ownershipPatch, planControlPlane, planInfrastructure } from "./provision.ts";
import { clusterStatus } from "./status.ts";
import type { ClusterView, Descendants } from "./view.ts";

const NOW = "2026-06-01T12:00:00Z";
const nowMs = Date.parse(NOW);
const GRACE_MS = 50_000;
const condition = (type: string, status: Condition["status"], reason: string, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: NOW,
});
const infraRef = { apiGroup: "i.x", kind: "DevCluster", name: "demo" };
const controlPlaneRef = { apiGroup: "c.x", kind: "KubeadmControlPlane", name: "cp" };

function cluster(change: { metadata?: object; spec?: object; status?: object } = {}): Cluster {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "demo", namespace: "ns", uid: "c1", generation: 2, ...change.metadata },
    spec: { infrastructureRef: infraRef, controlPlaneRef, controlPlaneEndpoint: { host: "h", port: 6443 }, ...change.spec },
    status: {
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
      phase: "Provisioned",
      ...change.status,
    } as Cluster["status"],
  };
}
function referenced(ref: typeof infraRef, object: object | undefined): Referenced {
  return {
    ref,
    kind: { resource: { group: ref.apiGroup, version: "v1", kind: ref.kind, plural: "x", namespaced: true }, contract: "v1beta2" },
    missing: object === undefined,
    object:
      object &&
      ({
        apiVersion: "x/v1",
        kind: ref.kind,
        metadata: { name: ref.name, namespace: "ns", resourceVersion: "5" },
        ...object,
      } as Referenced["object"]),
  };
}
const infrastructure = (
  object: object | undefined = { status: { initialization: { provisioned: true }, conditions: [condition("Ready", "True", "Ready")] } },
) => referenced(infraRef, object);
const controlPlane = (
  object: object | undefined = {
    status: { initialization: { controlPlaneInitialized: true }, conditions: [condition("Available", "True", "Available")] },
  },
) => referenced(controlPlaneRef, object);

const owned = { ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "c1" }] };
const machine = (name: string, conditions: Condition[] = [], metadata: object = {}, rest: object = {}): Machine =>
  ({
    apiVersion: "v1",
    kind: "Machine",
    metadata: { name, creationTimestamp: "2026-06-01T10:00:00Z", ...metadata },
    spec: { version: "v1.35.0" },
    status: { conditions },
    ...rest,
  }) as unknown as Machine;
const deployment = (name: string, change: object = {}): MachineDeployment =>
  ({
    apiVersion: "v1",
    kind: "MachineDeployment",
    metadata: { name, ...owned },
    spec: { replicas: 3 },
    ...change,
  }) as unknown as MachineDeployment;
const nobody: Descendants = { deployments: [], sets: [], standAloneSets: [], controlPlaneMachines: [], workerMachines: [] };

const view = (change: Partial<ClusterView> = {}): ClusterView => ({
  cluster: cluster(),
  infrastructure: infrastructure(),
  controlPlane: controlPlane(),
  descendants: nobody,
  connection: { connected: true, lastProbeMs: nowMs, lastProbeSuccessMs: nowMs, consecutiveFailures: 0 },
  nowMs,
  status: {},
  failures: [],
  ...change,
});
const show = (type: string, change: Partial<ClusterView>): string => {
  const v = view(change);
  const c = clusterStatus(v, v.cluster, GRACE_MS).conditions?.find((x) => x.type === type);
  return c ? `${c.status} ${c.reason}${c.message === "" ? "" : ` | ${c.message.replaceAll("\n", " / ")}`}` : "(none)";
};
const deleting = { metadata: { deletionTimestamp: NOW } };

describe("conditions", () => {
  const never = { connected: false, lastProbeMs: 0, lastProbeSuccessMs: 0, consecutiveFailures: 0 };
  const rows: [string, string, Partial<ClusterView>, string][] = [
    ["all well", "Available", {}, "True Available"],
    [
      "first connection under way",
      "RemoteConnectionProbe",
      { connection: never },
      "False ProbeFailed | Remote connection not established yet",
    ],
    [
      "lost for longer than the grace",
      "RemoteConnectionProbe",
      { connection: { ...never, lastProbeSuccessMs: nowMs - 51_000 } },
      "False ProbeFailed | Remote connection probe failed, probe last succeeded at 2026-06-01T11:59:09Z",
    ],
    ["lost for less", "RemoteConnectionProbe", { connection: { ...never, lastProbeSuccessMs: nowMs - 49_000 } }, "True ProbeSucceeded"],
    [
      "mirrored",
      "InfrastructureReady",
      { infrastructure: infrastructure({ status: { conditions: [condition("Ready", "False", "LbDown", "no lb")] } }) },
      "False LbDown | no lb",
    ],
    ["no condition, flag true", "InfrastructureReady", { infrastructure: infrastructure({ status: {} }) }, "True Ready"],
    [
      "no infrastructure at all",
      "InfrastructureReady",
      { infrastructure: undefined, cluster: cluster({ spec: { infrastructureRef: undefined } }) },
      "True Ready",
    ],
    [
      "a topology that has not made it yet",
      "InfrastructureReady",
      { infrastructure: undefined, cluster: cluster({ spec: { infrastructureRef: undefined, topology: {} } }) },
      "False ObjectDoesNotExist | Waiting for cluster topology to be reconciled",
    ],
    [
      "gone under a running cluster",
      "InfrastructureReady",
      { infrastructure: referenced(infraRef, undefined) },
      "False ObjectDeleted | DevCluster has been deleted while the Cluster still exists",
    ],
    [
      "gone while deleting",
      "InfrastructureReady",
      { cluster: cluster(deleting), infrastructure: referenced(infraRef, undefined) },
      "False ObjectDeleted | DevCluster has been deleted",
    ],
    [
      "control plane not there",
      "ControlPlaneAvailable",
      { controlPlane: referenced(controlPlaneRef, undefined), cluster: cluster({ status: { initialization: {} } }) },
      "False ObjectDoesNotExist | KubeadmControlPlane does not exist",
    ],
    [
      "not initialized",
      "ControlPlaneInitialized",
      { cluster: cluster({ status: { initialization: {} } }) },
      "False NotInitialized | Control plane not yet initialized",
    ],
    ["once initialized, always", "ControlPlaneInitialized", { controlPlane: referenced(controlPlaneRef, undefined) }, "True Initialized"],
    [
      "without a control plane object a Node counts",
      "ControlPlaneInitialized",
      {
        controlPlane: undefined,
        cluster: cluster({ spec: { controlPlaneRef: undefined }, status: { initialization: {} } }),
        descendants: { ...nobody, controlPlaneMachines: [machine("m", [], {}, { status: { nodeRef: { name: "n" } } })] },
      },
      "True Initialized",
    ],
    ["no workers", "WorkersAvailable", {}, "True NoWorkers"],
    [
      "workers not available",
      "WorkersAvailable",
      {
        descendants: {
          ...nobody,
          deployments: [deployment("md", { status: { conditions: [condition("Available", "False", "NotAvailable", "1 of 3")] } })],
        },
      },
      "False NotAvailable | * MachineDeployment md: 1 of 3",
    ],
    ["nobody rolls out", "RollingOut", {}, "False NotRollingOut"],
    [
      "the control plane and workers roll out, each named by its kind",
      "RollingOut",
      {
        controlPlane: controlPlane({ status: { conditions: [condition("RollingOut", "True", "RollingOut", "2 left")] } }),
        descendants: {
          ...nobody,
          deployments: [deployment("md", { status: { conditions: [condition("RollingOut", "True", "RollingOut", "1 left")] } })],
        },
      },
      "True RollingOut | * KubeadmControlPlane cp: 2 left / * MachineDeployment md: 1 left",
    ],
    [
      "machines",
      "WorkerMachinesReady",
      { descendants: { ...nobody, workerMachines: [machine("w", [condition("Ready", "False", "NotReady", "* Updating: x")])] } },
      "False NotReady | * Machine w: /   * Updating: x",
    ],
    [
      "a young Machine need not say whether it is up to date",
      "WorkerMachinesUpToDate",
      { descendants: { ...nobody, workerMachines: [machine("w", [], { creationTimestamp: "2026-06-01T11:59:55Z" })] } },
      "True NoReplicas",
    ],
    [
      "an older one must",
      "WorkerMachinesUpToDate",
      { descendants: { ...nobody, workerMachines: [machine("w")] } },
      "Unknown UpToDateUnknown | * Machine w: Condition UpToDate not yet reported",
    ],
    [
      "remediating",
      "Remediating",
      {
        descendants: {
          ...nobody,
          workerMachines: [
            machine("w", [
              condition("HealthCheckSucceeded", "False", "x"),
              condition("OwnerRemediated", "False", "MachineDeleting", "going"),
            ]),
          ],
        },
      },
      "True Remediating | * Machine w: going",
    ],
    [
      "unhealthy, nobody remediates",
      "Remediating",
      { descendants: { ...nobody, workerMachines: [machine("w", [condition("HealthCheckSucceeded", "False", "x")])] } },
      "False NotRemediating | Machine w not healthy (not to be remediated)",
    ],
    [
      "a topology that waits for its turn is no fault",
      "Available",
      {
        cluster: cluster({
          spec: { topology: {} },
          status: { conditions: [condition("TopologyReconciled", "False", "ClusterUpgrading", "waiting")] },
        }),
      },
      "True Available",
    ],
    [
      "a topology that fails is",
      "Available",
      {
        cluster: cluster({
          spec: { topology: {} },
          status: { conditions: [condition("TopologyReconciled", "False", "ReconcileFailed", "refused")] },
        }),
      },
      "False NotAvailable | * TopologyReconciled: refused",
    ],
  ];
  it.each(rows)("%s (%s)", (_what, type, change, expected) => expect(show(type, change)).toBe(expected));
});

describe("what is taken", () => {
  const fresh = cluster({ spec: { controlPlaneEndpoint: undefined }, status: { initialization: undefined } });
  it("endpoint, domains by name, flag and event", () => {
    const object = {
      spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } },
      status: { initialization: { provisioned: true }, failureDomains: [{ name: "b" }, { name: "a", controlPlane: true }] },
    };
    expect(planInfrastructure(view({ cluster: fresh, infrastructure: infrastructure(object) }))).toEqual({
      endpoint: { host: "10.0.0.1", port: 6443 },
      status: { initialization: { infrastructureProvisioned: true }, failureDomains: [{ name: "a", controlPlane: true }, { name: "b" }] },
      event: "InfrastructureReady",
    });
  });
  it("a valid endpoint stays, the flag stays when the provider takes its word back", () => {
    const object = { spec: { controlPlaneEndpoint: { host: "other", port: 1 } }, status: { initialization: { provisioned: false } } };
    const taken = planInfrastructure(view({ infrastructure: infrastructure(object) }));
    expect(taken.endpoint).toBeUndefined();
    expect(taken.status.initialization?.infrastructureProvisioned).toBe(true);
    expect(taken.event).toBeUndefined();
  });
  const gone = referenced(infraRef, undefined);
  const rows: [string, Partial<ClusterView>, object][] = [
    [
      "no reference: provisioned",
      { infrastructure: undefined, cluster: cluster({ spec: { infrastructureRef: undefined }, status: {} }) },
      { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
    ],
    ["not there yet", { cluster: fresh, infrastructure: gone }, { status: {}, requeueAfterMs: 30_000 }],
    ["lost", { infrastructure: gone }, { status: {}, failure: "DevCluster demo has been deleted while the Cluster still exists" }],
    ["lost while deleting", { cluster: cluster(deleting), infrastructure: gone }, { status: {} }],
    ["not provisioned yet", { cluster: fresh, infrastructure: infrastructure({ status: {} }) }, { status: {} }],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(planInfrastructure(view(change))).toMatchObject(expected));
  it("the control plane is initialized for the first time", () => {
    expect(planControlPlane(view({ cluster: cluster({ status: { initialization: { infrastructureProvisioned: true } } }) }))).toMatchObject(
      {
        status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
        event: "ControlPlaneInitialized",
      },
    );
  });
  it("owns the object: as controller only with a topology", () => {
    const object = infrastructure().object;
    if (!object) throw new Error("fixture");
    const owner = (c: Cluster) =>
      (ownershipPatch(c, object) as { metadata: { ownerReferences: { controller?: boolean }[] } }).metadata.ownerReferences[0]?.controller;
    expect([owner(cluster()), owner(cluster({ spec: { topology: {} } }))]).toEqual([undefined, true]);
  });
});

describe("planDeletion", () => {
  const doomed = cluster(deleting);
  const step = (change: Partial<ClusterView>, asksHook = false): string => {
    const next = planDeletion(view({ cluster: doomed, ...change }), asksHook);
    if (next.do === "deleteWorkers")
      return `delete ${next.delete.map((d) => d.object.metadata.name).join(",") || "nothing"}: ${next.message}`;
    return next.do === "deleteReference" || next.do === "wait" ? `${next.do} ${next.reason}` : next.do;
  };
  const workers: Descendants = {
    ...nobody,
    deployments: [deployment("md")],
    workerMachines: [machine("w1")],
    controlPlaneMachines: [machine("cp1", [], owned)],
  };
  const rows: [string, Partial<ClusterView>, boolean, string][] = [
    ["a hook must agree first", { descendants: workers }, true, "wait WaitingForBeforeDeleteHook"],
    [
      "only direct children are deleted, all are waited for",
      { descendants: workers },
      false,
      "delete md: Waiting for MachineDeployment md; Machine w1 to be deleted",
    ],
    [
      "without a control plane object its Machines go too, last",
      { descendants: workers, controlPlane: undefined, cluster: { ...doomed, spec: {} } },
      false,
      "delete md,cp1: Waiting for MachineDeployment md; Machines w1, cp1 to be deleted",
    ],
    [
      "then the control plane",
      { descendants: { ...nobody, controlPlaneMachines: [machine("cp1", [], owned)] } },
      false,
      "deleteReference WaitingForControlPlaneDeletion",
    ],
    [
      "then the infrastructure",
      { controlPlane: referenced(controlPlaneRef, undefined) },
      false,
      "deleteReference WaitingForInfrastructureDeletion",
    ],
    ["a read error stops it", { controlPlane: { ...controlPlane(), object: undefined, error: new Error("denied") } }, false, "fail"],
    [
      "nothing is left",
      { controlPlane: referenced(controlPlaneRef, undefined), infrastructure: referenced(infraRef, undefined) },
      false,
      "finish",
    ],
  ];
  it.each(rows)("%s", (_what, change, hook, expected) => expect(step(change, hook)).toBe(expected));
});

describe("counters", () => {
  it("of the control plane come from its object; what it does not tell stays absent", () => {
    const object = { spec: { replicas: 3 }, status: { replicas: 3, readyReplicas: 2, versions: [{ version: "v1.35.0", replicas: 3 }] } };
    expect(controlPlaneCounters(view({ controlPlane: controlPlane(object) }))).toEqual({
      desiredReplicas: 3,
      replicas: 3,
      readyReplicas: 2,
      versions: [{ version: "v1.35.0", replicas: 3 }],
    });
  });
  it("keep the upgrade plan of the topology", () => {
    const planned = cluster({ status: { controlPlane: { upgradePlan: [{ version: "v1.36.0" }] } } });
    expect(controlPlaneCounters(view({ cluster: planned, controlPlane: controlPlane({ spec: { replicas: 1 } }) }))).toEqual({
      desiredReplicas: 1,
      upgradePlan: [{ version: "v1.36.0" }],
    });
  });
  it("of workers are sums; versions ascend", () => {
    const a = deployment("a", { status: { replicas: 3, versions: [{ version: "v1.10.0", replicas: 3 }] } });
    const b = deployment("b", {
      spec: { replicas: 1 },
      status: { replicas: 1, readyReplicas: 1, versions: [{ version: "v1.9.0", replicas: 1 }] },
    });
    const alone = machine("w", [condition("Ready", "True", "Ready")], {}, { spec: { version: "v1.9.0" } });
    expect(workerCounters(view({ descendants: { ...nobody, deployments: [a, b], workerMachines: [alone] } }))).toEqual({
      desiredReplicas: 5,
      replicas: 5,
      readyReplicas: 2,
      availableReplicas: 0,
      upToDateReplicas: 0,
      versions: [
        { version: "v1.9.0", replicas: 2 },
        { version: "v1.10.0", replicas: 3 },
      ],
    });
    expect(workerCounters(view())).toBeUndefined();
  });
});

it("goes through its phases", () => {
  const phase = (c: Cluster) => clusterStatus(view({ cluster: c }), c, GRACE_MS).phase;
  expect([
    phase(
      cluster({ spec: { infrastructureRef: undefined, controlPlaneRef: undefined }, status: { initialization: {}, phase: undefined } }),
    ),
    phase(cluster({ status: { initialization: {}, phase: "Pending" } })),
    phase(cluster()),
    phase(cluster(deleting)),
  ]).toEqual(["Pending", "Provisioning", "Provisioned", "Deleting"]);
});
