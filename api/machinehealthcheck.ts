// MachineHealthCheck: which Machines count as unhealthy and what is done then. Here: type, schema, columns, and the two
// shapes that Cluster and ClusterClass share. Source: spec/api/machinehealthcheck.md.
import { clusterGroup } from "./groups.ts";
import { ageColumn, column, defineKind, pausedColumn } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { conditionTypePattern, rangePattern } from "./patterns.ts";
import { int32, list, must, object, oneOf, rules, someOf, string, text, type TypeOf } from "./shape.ts";
import { conditions, deprecated, intOrPercent, labelSelector, observedGeneration, templateRef } from "./shared.ts";

const timeoutSeconds = int32("For how long, in seconds.", { minimum: 0 });

export const healthChecks = someOf(
  {
    nodeStartupTimeoutSeconds: int32("How long a Node may take to appear, in seconds; 0: not checked, else at least 30.", { minimum: 0 }),
    unhealthyNodeConditions: list(
      object(
        {
          type: must(string("Condition type of the Node.", { minLength: 1 })),
          status: must(string("Status that is unhealthy.", { minLength: 1 })),
          timeoutSeconds: must(timeoutSeconds),
        },
        "A Node condition that makes the Machine unhealthy.",
      ),
      { min: 1, max: 100 },
      "Node conditions; any of them is enough.",
    ),
    unhealthyMachineConditions: list(
      object(
        {
          type: must(
            text(1, 316, "Condition type of the Machine.", {
              pattern: conditionTypePattern,
              ...rules({
                rule: "!(self in ['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'])",
                message:
                  "must not be one of Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated: these follow from health checks",
              }),
            }),
          ),
          status: must(oneOf(["True", "False", "Unknown"], "Status that is unhealthy.")),
          timeoutSeconds: must(timeoutSeconds),
        },
        "A Machine condition that makes the Machine unhealthy.",
      ),
      { min: 1, max: 100 },
      "Machine conditions; any of them is enough.",
    ),
  },
  "What makes a Machine unhealthy.",
);
export type HealthChecks = TypeOf<typeof healthChecks>;

export const healthRemediationFields = {
  triggerIf: someOf(
    {
      unhealthyLessThanOrEqualTo: intOrPercent(
        "Remediate only while at most so many selected Machines are unhealthy, a number or percent.",
      ),
      unhealthyInRange: text(
        1,
        32,
        "Remediate only while the number of unhealthy Machines is in this range, such as `[1-3]`; wins over the other field.",
        {
          pattern: rangePattern,
        },
      ),
    },
    "When remediation is allowed.",
  ),
  templateRef: templateRef("Template of an object that is created to have the Machine remediated from outside."),
} as const;
export const healthRemediation = someOf(healthRemediationFields, "How unhealthy Machines are remediated; unset: always, by their owner.");
export type HealthRemediation = TypeOf<typeof healthRemediation>;

const machineHealthCheckSpec = object(
  {
    clusterName: must(text(1, 63, "Name of the owning Cluster; cannot be changed.")),
    selector: must(labelSelector("Machines to check; must not be empty.")),
    checks: healthChecks,
    remediation: healthRemediation,
  },
  "Which Machines are checked, how, and what follows.",
);
export type MachineHealthCheckSpec = TypeOf<typeof machineHealthCheckSpec>;

const machineHealthCheckStatus = someOf(
  {
    conditions,
    expectedMachines: int32("How many Machines are selected.", { minimum: 0 }),
    currentHealthy: int32("How many of them are healthy.", { minimum: 0 }),
    remediationsAllowed: int32("How many more remediations may start now.", { minimum: 0 }),
    observedGeneration,
    targets: list(text(1, 253, "Name of a Machine."), { max: 10000 }, "Names of the selected Machines."),
    deprecated,
  },
  "Result of the last check.",
);
export type MachineHealthCheckStatus = TypeOf<typeof machineHealthCheckStatus>;

export interface MachineHealthCheck extends KubeObject {
  readonly spec: MachineHealthCheckSpec;
  readonly status?: MachineHealthCheckStatus;
}

export const machineHealthCheckKind = defineKind<MachineHealthCheck>(
  clusterGroup,
  {
    kind: "MachineHealthCheck",
    plural: "machinehealthchecks",
    description: "Marks unhealthy Machines, so that their owner remediates them.",
    shortNames: ["mhc", "mhcs"],
    columns: [
      column("Cluster", "string", ".spec.clusterName", "Owning Cluster."),
      column("Replicas", "integer", ".status.expectedMachines", "How many Machines are checked."),
      column("Healthy", "integer", ".status.currentHealthy", "How many are healthy."),
      pausedColumn,
      ageColumn,
    ],
  },
  machineHealthCheckSpec,
  machineHealthCheckStatus,
);
export const machineHealthCheckResource = machineHealthCheckKind.resource;
