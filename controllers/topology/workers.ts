// Spec of a MachineDeployment of a topology: what the Cluster says, else the class, field by field. Pure.
// Source: spec/controllers/topology.md section 7.1.
import type { Cluster } from "../../api/cluster.ts";
import type { MachineDeploymentTopology } from "../../api/cluster-topology.ts";
import type { MachineDeploymentClass } from "../../api/clusterclass.ts";
import type { MachineDeploymentSpec } from "../../api/machinedeployment.ts";
import type { ContractRef } from "../contract/contract.ts";
import { someOf, type StringMap } from "./fields.ts";

export interface WorkersParts {
  readonly cluster: Cluster;
  readonly topology: MachineDeploymentTopology;
  readonly definition: MachineDeploymentClass;
  readonly version: string;
  readonly metadata: { readonly labels: StringMap; readonly annotations?: StringMap };
  readonly selector: StringMap;
  readonly refs: { readonly bootstrap: ContractRef; readonly infrastructure: ContractRef };
}

export function workersSpec({ cluster, topology, definition, version, metadata, selector, refs }: WorkersParts): MachineDeploymentSpec {
  const clusterName = cluster.metadata.name ?? "";
  const first = <K extends "minReadySeconds" | "failureDomain" | "readinessGates" | "taints">(field: K) =>
    topology[field] ?? definition[field];
  const deletion = (field: "nodeDrainTimeoutSeconds" | "nodeVolumeDetachTimeoutSeconds" | "nodeDeletionTimeoutSeconds") =>
    topology.deletion?.[field] ?? definition.deletion?.[field];
  return {
    clusterName,
    selector: { matchLabels: selector },
    template: {
      metadata,
      spec: {
        clusterName,
        version,
        bootstrap: { configRef: refs.bootstrap },
        infrastructureRef: refs.infrastructure,
        ...someOf({
          failureDomain: first("failureDomain"),
          minReadySeconds: first("minReadySeconds"),
          readinessGates: first("readinessGates"),
          taints: first("taints"),
          deletion: someOf({
            nodeDrainTimeoutSeconds: deletion("nodeDrainTimeoutSeconds"),
            nodeVolumeDetachTimeoutSeconds: deletion("nodeVolumeDetachTimeoutSeconds"),
            nodeDeletionTimeoutSeconds: deletion("nodeDeletionTimeoutSeconds"),
          }),
        }),
      },
    },
    ...someOf({
      replicas: topology.replicas,
      rollout: rolloutOf(topology, definition),
      remediation: someOf({
        maxInFlight: topology.healthCheck?.remediation?.maxInFlight ?? definition.healthCheck?.remediation?.maxInFlight,
      }),
      deletion: someOf({ order: topology.deletion?.order ?? definition.deletion?.order }),
    }),
  } as MachineDeploymentSpec;
}

/** The strategy is taken whole from the Cluster if it is set there; `after` is the Cluster's alone. */
function rolloutOf(topology: MachineDeploymentTopology, definition: MachineDeploymentClass): object | undefined {
  if (topology.rollout) return topology.rollout;
  return definition.rollout;
}
