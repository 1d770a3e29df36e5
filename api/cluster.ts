// Cluster: a workload cluster. Here: type, schema, columns. Not here: its topology (cluster-topology.ts). Source: spec/api/cluster.md.
import { clusterTopology } from "./cluster-topology.ts";
import { clusterGroup } from "./groups.ts";
import { ageColumn, column, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, int32, list, must, object, oneOf, someOf, text, type TypeOf } from "./shape.ts";
import {
  availabilityGates,
  clusterStatusVersions,
  conditions,
  contractRef,
  controlPlaneEndpoint,
  deprecated,
  failureDomains,
  observedGeneration,
} from "./shared.ts";

const cidrs = (what: string) =>
  object(
    { cidrBlocks: must(list(text(1, 43, "Address range in CIDR form."), { min: 1, max: 100 }, "Address ranges.")) },
    `Addresses of the ${what}.`,
  );

const clusterSpec = someOf(
  {
    paused: boolean("Pauses the controllers of every object of the cluster."),
    clusterNetwork: someOf(
      {
        apiServerPort: int32("Port of the API server.", { minimum: 1, maximum: 65535 }),
        services: cidrs("Services"),
        pods: cidrs("Pods"),
        serviceDomain: text(1, 253, "DNS domain of the Services."),
      },
      "Network of the cluster.",
    ),
    controlPlaneEndpoint,
    controlPlaneRef: contractRef("Control plane object; cannot be removed once set."),
    infrastructureRef: contractRef("Infrastructure cluster; cannot be removed once set."),
    topology: clusterTopology,
    availabilityGates: availabilityGates(
      "Conditions that count for Available besides the usual ones; replaces the list of the ClusterClass.",
    ),
  },
  "What the cluster shall be.",
);
export type ClusterSpec = TypeOf<typeof clusterSpec>;

const upgradePlan = list(
  object({ version: must(text(1, 256, "Kubernetes version.")) }, "One step of the upgrade."),
  { min: 1, max: 32 },
  "Versions still to go, in order.",
);
const counters = (what: string) =>
  object(
    {
      desiredReplicas: int32("How many machines are wanted."),
      replicas: int32("How many there are."),
      upToDateReplicas: int32("How many are up to date."),
      readyReplicas: int32("How many are ready."),
      availableReplicas: int32("How many are available."),
      versions: clusterStatusVersions,
      upgradePlan,
    },
    `Machines of the ${what}.`,
  );

const clusterPhases = ["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"] as const;
export type ClusterPhase = (typeof clusterPhases)[number];

const clusterStatus = someOf(
  {
    conditions,
    initialization: someOf(
      {
        infrastructureProvisioned: boolean("The infrastructure is there; never reset once true."),
        controlPlaneInitialized: boolean("The control plane has answered; never reset once true."),
      },
      "Steps of the first start.",
    ),
    controlPlane: counters("control plane"),
    workers: counters("workers"),
    failureDomains: failureDomains("Failure domains of the infrastructure."),
    phase: oneOf(clusterPhases, "Rough state."),
    observedGeneration,
    deprecated,
  },
  "What the cluster is.",
);
export type ClusterStatus = TypeOf<typeof clusterStatus>;

export interface Cluster extends KubeObject {
  readonly spec: ClusterSpec;
  readonly status?: ClusterStatus;
}

const count = (name: string, path: string, description: string, priority?: number) => column(name, "integer", path, description, priority);

export const clusterKind = defineKind<Cluster>(
  clusterGroup,
  {
    kind: "Cluster",
    plural: "clusters",
    description: "A workload cluster: its control plane, its infrastructure, its network.",
    shortNames: ["cl"],
    columns: [
      column("ClusterClass", "string", ".spec.topology.classRef.name", "Class of the cluster, if it has one."),
      conditionColumn("Available", "Available", "Whether the cluster can be used."),
      count("CP Desired", ".status.controlPlane.desiredReplicas", "Control plane machines wanted."),
      count("CP Current", ".status.controlPlane.replicas", "Control plane machines there are.", 10),
      count("CP Ready", ".status.controlPlane.readyReplicas", "Control plane machines ready.", 10),
      count("CP Available", ".status.controlPlane.availableReplicas", "Control plane machines available."),
      count("CP Up-to-date", ".status.controlPlane.upToDateReplicas", "Control plane machines up to date."),
      count("W Desired", ".status.workers.desiredReplicas", "Worker machines wanted."),
      count("W Current", ".status.workers.replicas", "Worker machines there are.", 10),
      count("W Ready", ".status.workers.readyReplicas", "Worker machines ready.", 10),
      count("W Available", ".status.workers.availableReplicas", "Worker machines available."),
      count("W Up-to-date", ".status.workers.upToDateReplicas", "Worker machines up to date."),
      pausedColumn,
      column("Phase", "string", ".status.phase", "Rough state."),
      ageColumn,
      column("Version", "string", ".spec.topology.version", "Kubernetes version wanted, of a cluster with a class."),
    ],
  },
  clusterSpec,
  clusterStatus,
);
export const clusterResource = clusterKind.resource;
