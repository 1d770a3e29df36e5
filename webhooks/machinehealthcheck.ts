// MachineHealthCheck: defaults and validation. Source: spec/api/machinehealthcheck.md sections 4, 5.
import { machineHealthCheckKind } from "../api/machinehealthcheck.ts";
import { clusterNameLabel } from "../api/names.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { intOrPercentErrors, isEmptySelector, selectorProblem, startupTimeoutErrors } from "./checks.ts";
import { at, mapAt, textAt, withAt } from "./draft.ts";
import { withClusterLabel } from "./machines.ts";
import type { Draft, RuleSet, WebhookContext } from "./rule-set.ts";

const NODE_STARTUP_TIMEOUT_SECONDS = 600;

function defaults(object: Draft): Draft {
  const path = ["spec", "checks", "nodeStartupTimeoutSeconds"];
  const next = withClusterLabel(object);
  return at(next, ...path) == null ? withAt(next, path, NODE_STARTUP_TIMEOUT_SECONDS) : next;
}

function validate(object: Draft, { old }: WebhookContext): readonly FieldError[] {
  const selector = at(object, "spec", "selector");
  const clusterName = textAt(object, "spec", "clusterName");
  const problem = selectorProblem(selector);
  const named = mapAt(selector, "matchLabels")[clusterNameLabel];
  return [
    ...(problem ? [invalid("spec.selector", selector, problem)] : []),
    ...(isEmptySelector(selector) ? [required("spec.selector", "an empty selector would watch every Machine")] : []),
    ...(named !== undefined && named !== clusterName
      ? [invalid("spec.selector", selector, `label ${clusterNameLabel} must be spec.clusterName`)]
      : []),
    ...(old && textAt(old, "spec", "clusterName") !== clusterName ? [forbidden("spec.clusterName", "cannot be changed")] : []),
    ...startupTimeoutErrors(at(object, "spec", "checks"), "spec.checks"),
    ...intOrPercentErrors(
      at(object, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"),
      "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo",
    ),
  ];
}

export const machineHealthCheckRules: RuleSet = { kind: machineHealthCheckKind, operations: ["create", "update"], defaults, validate };
