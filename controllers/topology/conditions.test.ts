import { expect, it } from "@jest/globals";
import { type Outcome, topologyReconciled } from "./conditions.ts";
import type { PoolDecision, VersionDecision } from "./versions.ts";

const still = { version: "v2", provisioning: false, upgrading: false, starting: false, pending: false, waitingForWorkers: false };
const pool = (change: Partial<PoolDecision> = {}): PoolDecision => ({
  version: "v2",
  upgrading: false,
  pending: false,
  deferred: false,
  pendingCreate: false,
  ...change,
});
const versions = (controlPlane: object = {}, pools: Readonly<Record<string, PoolDecision>> = {}): VersionDecision => ({
  do: "decided",
  controlPlane: { ...still, ...controlPlane },
  pools: new Map(Object.entries(pools)),
  blocking: [],
  mark: [],
  unmark: [],
});
const hook = (name: string, message: string) => ({ hook: name, message, retryAfterSeconds: 5 });
const held = pool({ pending: true, deferred: true });

const rows: readonly (readonly [string, Partial<Outcome>, string])[] = [
  ["all done", { versions: versions() }, "True ReconcileSucceeded"],
  ["provisioning is no upgrade", { versions: versions({ provisioning: true }) }, "True ReconcileSucceeded"],
  ["paused before all else", { paused: "paused by x", error: new Error("e") }, "False Paused | paused by x"],
  ["an error in full", { error: new Error("refused: why"), versions: versions() }, "False ReconcileFailed | refused: why"],
  [
    "deleting, with the hook",
    { deleting: true, blocking: [hook("BeforeClusterDelete", "wait")] },
    "False Deleting | Cluster is deleting. Following hooks are blocking delete: BeforeClusterDelete: wait",
  ],
  ["class", { classNotReconciled: "ClusterClass x" }, "False ClusterClassNotReconciled | ClusterClass x"],
  [
    "creation",
    { creating: true, blocking: [hook("BeforeClusterCreate", "quota")] },
    "False ClusterCreating | Following hooks are blocking Cluster topology creation: BeforeClusterCreate: quota",
  ],
  [
    "control plane upgrading",
    { versions: versions({ upgrading: true }) },
    "False ClusterUpgrading | Cluster is upgrading to v2 / * Control plane is upgrading to v2",
  ],
  [
    "pending with plan",
    { versions: versions({ version: "v1", pending: true }), plan: { controlPlane: ["v2"], workers: [] } },
    "False ClusterUpgrading | Cluster is upgrading to v2 / * Control plane is pending upgrade to v2",
  ],
  [
    "hooks in order of name",
    { versions: versions({ version: "v1", pending: true }), blocking: [hook("B", "2"), hook("A", "1")] },
    "False ClusterUpgrading | Cluster is upgrading to v2 / * Following hooks are blocking upgrade: A: 1; B: 2 / * Control plane is pending upgrade to v2",
  ],
  [
    "only held back",
    { versions: versions({}, { b: held, a: held }), upgradeUnfinished: true },
    "False MachineDeploymentsUpgradeDeferred | Cluster is upgrading to v2 / * MachineDeployments a, b deferring upgrade",
  ],
  [
    "held back while another goes",
    { versions: versions({}, { a: pool({ upgrading: true }), b: held }) },
    "False ClusterUpgrading | Cluster is upgrading to v2 / * MachineDeployment a upgrading / * MachineDeployment b deferring upgrade",
  ],
  [
    "many names",
    { versions: versions({}, Object.fromEntries(["e", "d", "c", "b", "a"].map((n) => [n, pool({ pending: true })]))) },
    "False ClusterUpgrading | Cluster is upgrading to v2 / * MachineDeployments a, b, c, ... (2 more) pending upgrade",
  ],
  ["last hook outstanding", { versions: versions(), upgradeUnfinished: true }, "False ClusterUpgrading | Cluster is upgrading to v2"],
];

it.each(rows)("%s", (_what, change, expected) => {
  const { status, reason, message } = topologyReconciled({ blocking: [], version: "v2", ...change });
  expect(`${status} ${reason}${message === "" ? "" : ` | ${message.replaceAll("\n", " / ")}`}`).toBe(expected);
});
