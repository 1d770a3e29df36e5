// MachineDeployment: Machines that follow a template through MachineSets. Here: type, schema, columns.
// Source: spec/api/machinedeployment.md.
import { clusterGroup } from "./groups.ts";
import { ageColumn, column, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import { machineTemplateSpec } from "./machineset.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, dateTime, int32, must, object, oneOf, someOf, text, type TypeOf } from "./shape.ts";
import {
  conditions,
  deletionOrder,
  deprecated,
  intOrPercent,
  labelSelector,
  machineNaming,
  observedGeneration,
  statusVersions,
} from "./shared.ts";

export const machineDeploymentStrategy = someOf(
  {
    type: must(
      oneOf(["RollingUpdate", "OnDelete"], "RollingUpdate: replace or update Machines step by step. OnDelete: only deleted ones."),
    ),
    rollingUpdate: someOf(
      {
        maxUnavailable: intOrPercent("How many Machines may be unavailable, a number or percent (rounded down)."),
        maxSurge: intOrPercent("How many Machines there may be above replicas, a number or percent (rounded up)."),
      },
      "Limits of a rolling update.",
    ),
  },
  "How a change reaches the Machines.",
);

export const machineDeploymentRollout = someOf(
  {
    after: dateTime("Machines made before this moment are replaced once it has come."),
    strategy: machineDeploymentStrategy,
  },
  "How and when Machines are rolled out.",
);
export type MachineDeploymentRollout = TypeOf<typeof machineDeploymentRollout>;

const machineDeploymentSpec = object(
  {
    clusterName: must(text(1, 63, "Name of the owning Cluster; cannot be changed.")),
    replicas: int32("How many Machines there shall be; filled at admission when unset."),
    rollout: machineDeploymentRollout,
    selector: must(labelSelector("Machines of this MachineDeployment; filled at admission when empty.")),
    template: must(machineTemplateSpec),
    machineNaming: machineNaming("How new Machines are named; unset: `{{ .machineSet.name }}-{{ .random }}`."),
    remediation: someOf(
      { maxInFlight: intOrPercent("How many unhealthy Machines may be remediated at a time; unset means all.") },
      "Limits of remediation.",
    ),
    deletion: someOf({ order: deletionOrder }, "How Machines are chosen on scale down."),
    paused: boolean("Stops the controller of this MachineDeployment only."),
  },
  "What the MachineDeployment shall be.",
);
export type MachineDeploymentSpec = TypeOf<typeof machineDeploymentSpec>;

const machineDeploymentStatus = someOf(
  {
    conditions,
    selector: text(1, 4096, "The selector as text, for the scale subresource."),
    replicas: int32("How many Machines there are, over all MachineSets."),
    readyReplicas: int32("How many of them are Ready."),
    availableReplicas: int32("How many of them are Available."),
    upToDateReplicas: int32("How many of them are UpToDate."),
    versions: statusVersions,
    phase: oneOf(["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"], "Rough state."),
    observedGeneration,
    deprecated,
  },
  "What the MachineDeployment is.",
);
export type MachineDeploymentStatus = TypeOf<typeof machineDeploymentStatus>;

export interface MachineDeployment extends KubeObject {
  readonly spec: MachineDeploymentSpec;
  readonly status?: MachineDeploymentStatus;
}

export const machineDeploymentKind = defineKind<MachineDeployment>(
  clusterGroup,
  {
    kind: "MachineDeployment",
    plural: "machinedeployments",
    description: "Machines that follow a template, changed step by step through MachineSets.",
    shortNames: ["md"],
    scale: true,
    columns: [
      column("Cluster", "string", ".spec.clusterName", "Owning Cluster."),
      conditionColumn("Available", "Available", "Whether enough Machines are available."),
      column("Desired", "integer", ".spec.replicas", "How many Machines are wanted."),
      column("Current", "integer", ".status.replicas", "How many there are."),
      column("Ready", "integer", ".status.readyReplicas", "How many are ready."),
      column("Available", "integer", ".status.availableReplicas", "How many are available."),
      column("Up-to-date", "integer", ".status.upToDateReplicas", "How many are up to date."),
      pausedColumn,
      column("Phase", "string", ".status.phase", "Rough state."),
      ageColumn,
      column("Version", "string", ".spec.template.spec.version", "Kubernetes version wanted."),
    ],
  },
  machineDeploymentSpec,
  machineDeploymentStatus,
);
export const machineDeploymentResource = machineDeploymentKind.resource;
