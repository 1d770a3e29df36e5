// MachineHealthChecks of a topology: from the Cluster if it defines one, else from the class. Pure.
// Source: spec/controllers/topology.md section 7.1.
import { clusterResource } from "../../api/cluster.ts";
import type { MachineDeploymentTopology } from "../../api/cluster-topology.ts";
import type { MachineDeploymentClass } from "../../api/clusterclass.ts";
import {
  type HealthChecks,
  type HealthRemediation,
  type MachineHealthCheck,
  machineHealthCheckResource,
} from "../../api/machinehealthcheck.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import { clusterNameLabel, clusterTopologyOwnedLabel, machineControlPlaneLabel } from "../../api/names.ts";
import { referenceTo } from "../ownership/owners.ts";
import { someOf, type StringMap } from "./fields.ts";
import type { TopologyView } from "./view.ts";

interface Definition {
  readonly enabled?: boolean;
  readonly checks?: HealthChecks;
  readonly remediation?: HealthRemediation & { readonly maxInFlight?: unknown };
}

/** A definition has checks or remediation; `enabled` alone is none. */
const isDefined = (d: Definition | undefined): boolean => d?.checks !== undefined || d?.remediation !== undefined;

export function controlPlaneHealthCheck(view: TopologyView, name: string): MachineHealthCheck | undefined {
  if (!view.blueprint.controlPlaneMachines) return undefined;
  const selector = { [clusterTopologyOwnedLabel]: "", [machineControlPlaneLabel]: "" };
  const { controlPlane } = view.blueprint.clusterClass.spec;
  return healthCheckOf(view, name, view.topology.controlPlane?.healthCheck, controlPlane.healthCheck, selector);
}

export function workersHealthCheck(
  view: TopologyView,
  topology: MachineDeploymentTopology,
  definition: MachineDeploymentClass,
  name: string,
  labels: StringMap,
): MachineHealthCheck | undefined {
  const { [clusterNameLabel]: _cluster, ...selector } = labels;
  return healthCheckOf(view, name, topology.healthCheck, definition.healthCheck, selector);
}

function healthCheckOf(
  { cluster }: TopologyView,
  name: string,
  own: Definition | undefined,
  ofClass: Definition | undefined,
  matchLabels: StringMap,
): MachineHealthCheck | undefined {
  const definition = isDefined(own) ? own : ofClass;
  if (own?.enabled === false || !definition || !isDefined(definition)) return undefined;
  const { maxInFlight: _ofWorkers, ...remediation } = definition.remediation ?? {};
  const clusterName = cluster.metadata.name ?? "";
  return {
    apiVersion: apiVersionOf(machineHealthCheckResource),
    kind: machineHealthCheckResource.kind,
    metadata: {
      name,
      namespace: cluster.metadata.namespace,
      labels: { [clusterNameLabel]: clusterName, [clusterTopologyOwnedLabel]: "" },
      ownerReferences: [referenceTo(clusterResource, cluster)],
    },
    spec: {
      clusterName,
      selector: { matchLabels },
      ...someOf({
        checks: definition.checks,
        remediation: Object.keys(remediation).length > 0 ? (remediation as HealthRemediation) : undefined,
      }),
    },
  };
}
