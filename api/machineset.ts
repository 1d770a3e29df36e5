// MachineSet: a number of equal Machines. Here: type, schema, columns. Source: spec/api/machineset.md.
import { clusterGroup } from "./groups.ts";
import { ageColumn, column, defineKind, pausedColumn } from "./kind.ts";
import { describedMachineSpec } from "./machine.ts";
import type { KubeObject } from "./meta/object.ts";
import { int32, must, object, someOf, text, type TypeOf } from "./shape.ts";
import {
  conditions,
  deletionOrder,
  deprecated,
  labelSelector,
  machineNaming,
  observedGeneration,
  statusVersions,
  templateMeta,
} from "./shared.ts";

export const machineTemplateSpec = object(
  {
    metadata: templateMeta("Labels and annotations of the Machines; changes reach existing ones."),
    spec: must(describedMachineSpec("What each Machine shall be; its references name templates.")),
  },
  "Template of the Machines.",
);
export type MachineTemplateSpec = TypeOf<typeof machineTemplateSpec>;

const machineSetSpec = object(
  {
    clusterName: must(text(1, 63, "Name of the owning Cluster; cannot be changed.")),
    replicas: int32("How many Machines there shall be; filled at admission when unset."),
    machineNaming: machineNaming("How new Machines are named; unset: `{{ .machineSet.name }}-{{ .random }}`."),
    deletion: someOf({ order: deletionOrder }, "How Machines are chosen on scale down."),
    selector: must(labelSelector("Machines of this set; filled at admission when empty.")),
    template: must(machineTemplateSpec),
  },
  "What the MachineSet shall be.",
);
export type MachineSetSpec = TypeOf<typeof machineSetSpec>;

const machineSetStatus = someOf(
  {
    conditions,
    selector: text(1, 4096, "The selector as text, for the scale subresource."),
    replicas: int32("How many Machines there are."),
    readyReplicas: int32("How many of them are Ready."),
    availableReplicas: int32("How many of them are Available."),
    upToDateReplicas: int32("How many of them are UpToDate."),
    versions: statusVersions,
    observedGeneration,
    deprecated,
  },
  "What the MachineSet is.",
);
export type MachineSetStatus = TypeOf<typeof machineSetStatus>;

export interface MachineSet extends KubeObject {
  readonly spec: MachineSetSpec;
  readonly status?: MachineSetStatus;
}

export const machineSetKind = defineKind<MachineSet>(
  clusterGroup,
  {
    kind: "MachineSet",
    plural: "machinesets",
    description: "A number of equal Machines.",
    shortNames: ["ms"],
    scale: true,
    columns: [
      column("Cluster", "string", ".spec.clusterName", "Owning Cluster."),
      column("Desired", "integer", ".spec.replicas", "How many Machines are wanted."),
      column("Current", "integer", ".status.replicas", "How many there are."),
      column("Ready", "integer", ".status.readyReplicas", "How many are ready."),
      column("Available", "integer", ".status.availableReplicas", "How many are available."),
      column("Up-to-date", "integer", ".status.upToDateReplicas", "How many are up to date."),
      pausedColumn,
      ageColumn,
      column("Version", "string", ".spec.template.spec.version", "Kubernetes version wanted."),
    ],
  },
  machineSetSpec,
  machineSetStatus,
);
export const machineSetResource = machineSetKind.resource;
