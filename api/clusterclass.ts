// ClusterClass: what clusters with a topology are made from. Here: type, schema, columns. Not here: variable schemas
// (variable-schema.ts), patches (clusterclass-patches.ts). Source: spec/api/clusterclass.md.
import { workerDeletion, workerHealthRemediation } from "./cluster-topology.ts";
import { patch } from "./clusterclass-patches.ts";
import { clusterGroup } from "./groups.ts";
import { ageColumn, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import { machineDeploymentStrategy } from "./machinedeployment.ts";
import { healthChecks, healthRemediation } from "./machinehealthcheck.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, int32, list, listMap, must, object, someOf, text, type TypeOf } from "./shape.ts";
import {
  availabilityGates,
  conditions,
  deprecated,
  machineTaints,
  nodeDeletion,
  observedGeneration,
  readinessGates,
  templateMeta,
  templateRef,
} from "./shared.ts";
import { variableSchemaHolder } from "./variable-schema.ts";

const naming = (example: string) =>
  someOf({ template: text(1, 1024, `Go text template of the name; unset: \`${example}\`.`) }, "How objects made from the class are named.");
const holder = (what: string) => object({ templateRef: must(templateRef(`Template of the ${what}.`)) }, `The ${what}.`);
const minReadySeconds = int32("How long a machine must be ready to count as available, in seconds.", { minimum: 0 });
const metadata = templateMeta("Labels and annotations of the objects and their machines.");

const controlPlaneClass = object(
  {
    metadata,
    templateRef: must(templateRef("Template of the control plane.")),
    machineInfrastructure: holder("infrastructure of control plane machines"),
    healthCheck: someOf({ checks: healthChecks, remediation: healthRemediation }, "Health checks of the control plane machines."),
    naming: naming("{{ .cluster.name }}-{{ .random }}"),
    deletion: nodeDeletion(),
    taints: machineTaints(),
    readinessGates: readinessGates(),
  },
  "The control plane.",
);

const machineDeploymentClass = object(
  {
    metadata,
    class: must(text(1, 256, "Name of the class, unique in the list.")),
    bootstrap: must(holder("bootstrap configuration")),
    infrastructure: must(holder("infrastructure of the machines")),
    healthCheck: someOf({ checks: healthChecks, remediation: workerHealthRemediation }, "Health checks of the machines."),
    failureDomain: text(1, 256, "Failure domain of the machines."),
    naming: naming("{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}"),
    deletion: workerDeletion,
    taints: machineTaints(),
    minReadySeconds,
    readinessGates: readinessGates(),
    rollout: someOf({ strategy: machineDeploymentStrategy }, "How machines are rolled out."),
  },
  "A class of MachineDeployments.",
);
export type MachineDeploymentClass = TypeOf<typeof machineDeploymentClass>;

const machinePoolClass = object(
  {
    metadata,
    class: must(text(1, 256, "Name of the class, unique in the list.")),
    bootstrap: must(holder("bootstrap configuration")),
    infrastructure: must(holder("infrastructure of the machines")),
    failureDomains: list(text(1, 256, "Name of a failure domain."), { max: 100 }, "Failure domains of the machines."),
    naming: naming("{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}"),
    deletion: nodeDeletion(),
    taints: machineTaints(),
    minReadySeconds,
  },
  "A class of MachinePools.",
);

const variableFields = {
  required: must(boolean("Whether every Cluster must have a value.")),
  deprecatedV1Beta1Metadata: templateMeta("Labels and annotations of the variable, from the older API version."),
  schema: must(variableSchemaHolder),
} as const;

const classVariable = object({ name: must(text(1, 256, "Name of the variable.")), ...variableFields }, "One variable.");
export type ClusterClassVariable = TypeOf<typeof classVariable>;

const clusterClassSpec = object(
  {
    availabilityGates: availabilityGates("Conditions that count for Available of Clusters; a Cluster's own list replaces them."),
    infrastructure: must(
      object(
        {
          templateRef: must(templateRef("Template of the infrastructure cluster.")),
          naming: naming("{{ .cluster.name }}-{{ .random }}"),
        },
        "The infrastructure of the cluster.",
      ),
    ),
    controlPlane: must(controlPlaneClass),
    workers: someOf(
      {
        machineDeployments: listMap(["class"], machineDeploymentClass, { min: 1, max: 100 }, "Classes of MachineDeployments."),
        machinePools: listMap(["class"], machinePoolClass, { min: 1, max: 100 }, "Classes of MachinePools."),
      },
      "The workers.",
    ),
    variables: list(classVariable, { min: 1, max: 1000 }, "Variables that Clusters set and patches read."),
    patches: list(patch, { min: 1, max: 1000 }, "Changes to the templates, applied in order."),
    upgrade: someOf(
      {
        external: someOf(
          { generateUpgradePlanExtension: text(1, 512, "Handler that plans upgrades.") },
          "Extensions that take part in upgrades.",
        ),
      },
      "How clusters are upgraded.",
    ),
    kubernetesVersions: list(text(1, 256, "Kubernetes version."), { min: 1, max: 100 }, "Versions that clusters may have, oldest first."),
  },
  "What clusters are made from.",
);
export type ClusterClassSpec = TypeOf<typeof clusterClassSpec>;

const statusVariable = object(
  {
    name: must(text(1, 256, "Name of the variable.")),
    definitionsConflict: boolean("Whether the definitions differ; no Cluster passes then."),
    definitions: must(
      list(
        object({ from: must(text(1, 256, "`inline`, or the name of the patch that defines it.")), ...variableFields }, "One definition."),
        { min: 1, max: 100 },
        "Where the variable is defined.",
      ),
    ),
  },
  "One variable with all its definitions.",
);
export type ClusterClassStatusVariable = TypeOf<typeof statusVariable>;

const clusterClassStatus = someOf(
  {
    conditions,
    variables: list(statusVariable, { max: 1000 }, "Variables that Clusters are checked against."),
    observedGeneration,
    deprecated,
  },
  "What is known about the class.",
);
export type ClusterClassStatus = TypeOf<typeof clusterClassStatus>;

export interface ClusterClass extends KubeObject {
  readonly spec: ClusterClassSpec;
  readonly status?: ClusterClassStatus;
}

export const clusterClassKind = defineKind<ClusterClass>(
  clusterGroup,
  {
    kind: "ClusterClass",
    plural: "clusterclasses",
    description: "Templates, variables and patches that clusters with a topology are made from.",
    shortNames: ["cc"],
    columns: [pausedColumn, conditionColumn("Variables Ready", "VariablesReady", "Whether all variables are known."), ageColumn],
  },
  clusterClassSpec,
  clusterClassStatus,
);
export const clusterClassResource = clusterClassKind.resource;
