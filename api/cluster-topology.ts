// Cluster.spec.topology: a cluster described by a ClusterClass. Not here: the class (clusterclass.ts). Source: spec/api/cluster.md.
import { machineDeploymentRollout } from "./machinedeployment.ts";
import { healthChecks, healthRemediation, healthRemediationFields } from "./machinehealthcheck.ts";
import { labelPattern, subdomainPattern } from "./patterns.ts";
import { boolean, dateTime, int32, list, listMap, must, object, someOf, text, type TypeOf } from "./shape.ts";
import {
  clusterVariables,
  deletionOrder,
  intOrPercent,
  machineTaints,
  nodeDeletion,
  nodeDeletionFields,
  readinessGates,
  templateMeta,
} from "./shared.ts";

const overrides = someOf(
  { overrides: clusterVariables("Values that win over the cluster's own here; the class must define them.") },
  "Variables for this part only.",
);
const enabled = boolean("true: health checks must be defined here or in the class. false: none.");
const minReadySeconds = int32("How long a machine must be ready to count as available, in seconds.", { minimum: 0 });

/** Remediation of a worker pool: one limit more than a MachineHealthCheck has. */
export const workerHealthRemediation = someOf(
  {
    ...healthRemediationFields,
    maxInFlight: intOrPercent("How many unhealthy machines may be remediated at a time."),
  },
  "How unhealthy machines are remediated.",
);
export const workerDeletion = someOf(
  { ...nodeDeletionFields, order: deletionOrder },
  "Limits for the steps of deleting a machine, and which machines go first.",
);

const controlPlaneTopology = someOf(
  {
    metadata: templateMeta("Labels and annotations of the control plane and its machines; win over those of the class."),
    replicas: int32("How many control plane machines there shall be."),
    rollout: someOf(
      { after: dateTime("Machines made before this moment are replaced once it has come.") },
      "When machines are rolled out.",
    ),
    healthCheck: someOf({ enabled, checks: healthChecks, remediation: healthRemediation }, "Health checks of the control plane machines."),
    deletion: nodeDeletion(),
    taints: machineTaints(),
    readinessGates: readinessGates(),
    variables: overrides,
  },
  "The control plane.",
);

const machineDeploymentTopology = object(
  {
    class: must(text(1, 256, "Class of these workers, as the ClusterClass names it.")),
    name: must(text(1, 63, "Name of this entry, unique in the list.", { pattern: subdomainPattern })),
    metadata: templateMeta("Labels and annotations of the MachineDeployment and its machines; win over those of the class."),
    failureDomain: text(1, 256, "Failure domain of the machines."),
    replicas: int32("How many machines there shall be; leave it out to let an autoscaler own it."),
    healthCheck: someOf({ enabled, checks: healthChecks, remediation: workerHealthRemediation }, "Health checks of the machines."),
    deletion: workerDeletion,
    taints: machineTaints(),
    minReadySeconds,
    readinessGates: readinessGates(),
    rollout: machineDeploymentRollout,
    variables: overrides,
  },
  "One MachineDeployment.",
);
export type MachineDeploymentTopology = TypeOf<typeof machineDeploymentTopology>;

const machinePoolTopology = object(
  {
    class: must(text(1, 256, "Class of these workers, as the ClusterClass names it.")),
    name: must(text(1, 63, "Name of this entry, unique in the list.", { pattern: subdomainPattern })),
    metadata: templateMeta("Labels and annotations of the MachinePool and its machines."),
    failureDomains: list(text(1, 256, "Name of a failure domain."), { min: 1, max: 100 }, "Failure domains of the machines."),
    deletion: nodeDeletion(),
    taints: machineTaints(),
    minReadySeconds,
    replicas: int32("How many machines there shall be."),
    variables: overrides,
  },
  "One MachinePool.",
);

export const clusterTopology = object(
  {
    classRef: must(
      object(
        {
          name: must(text(1, 253, "Name of the ClusterClass.", { pattern: subdomainPattern })),
          namespace: text(1, 63, "Namespace of the ClusterClass; unset: that of the Cluster.", { pattern: labelPattern }),
        },
        "The ClusterClass.",
      ),
    ),
    version: must(text(1, 256, "Kubernetes version, with a leading `v`.")),
    controlPlane: controlPlaneTopology,
    workers: someOf(
      {
        machineDeployments: listMap(["name"], machineDeploymentTopology, { min: 1, max: 2000 }, "MachineDeployments."),
        machinePools: listMap(["name"], machinePoolTopology, { min: 1, max: 2000 }, "MachinePools."),
      },
      "The workers.",
    ),
    variables: clusterVariables("Values for the variables of the class; defaults are added at admission."),
  },
  "The cluster as its class shapes it. Needs the gate ClusterTopology.",
);
export type ClusterTopology = TypeOf<typeof clusterTopology>;
