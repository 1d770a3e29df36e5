// MachineDeployment: defaults and validation. Source: spec/api/machinedeployment.md sections 4, 5.
import { machineDeploymentKind } from "../api/machinedeployment.ts";
import { clusterNameLabel, machineDeploymentNameLabel } from "../api/names.ts";
import { type FieldError, forbidden, invalid } from "../schema/field.ts";
import { labelValue } from "../schema/names.ts";
import { intOrPercentErrors, isEmptySelector, rollingUpdateErrors, selectorMatches } from "./checks.ts";
import { at, mapAt, textAt, withAt, withVersionPrefix } from "./draft.ts";
import { templateErrors, withClusterLabel, withReplicas, withSelectorLabel } from "./machines.ts";
import type { Draft, RuleSet, WebhookContext } from "./rule-set.ts";

const STRATEGY = ["spec", "rollout", "strategy"];

function withStrategy(object: Draft): Draft {
  const typed = textAt(object, ...STRATEGY, "type") ? object : withAt(object, [...STRATEGY, "type"], "RollingUpdate");
  if (textAt(typed, ...STRATEGY, "type") !== "RollingUpdate") return typed;
  const limits: readonly (readonly [string, number])[] = [
    ["maxSurge", 1],
    ["maxUnavailable", 0],
  ];
  return limits.reduce(
    (o, [name, value]) => (at(o, ...STRATEGY, "rollingUpdate", name) == null ? withAt(o, [...STRATEGY, "rollingUpdate", name], value) : o),
    typed,
  );
}

function defaults(object: Draft, context: WebhookContext): Draft {
  let next = withStrategy(withReplicas(withClusterLabel(object), context));
  if (isEmptySelector(at(next, "spec", "selector"))) next = withSelectorLabel(next, machineDeploymentNameLabel, next.metadata.name ?? "");
  next = withSelectorLabel(next, clusterNameLabel, textAt(next, "spec", "clusterName") ?? "");
  return withVersionPrefix(next, ["spec", "template", "spec", "version"]);
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const selector = at(object, "spec", "selector");
  const labels = mapAt(object, "spec", "template", "metadata", "labels");
  const name = object.metadata.name ?? "";
  return [
    ...labelValue(name).map((problem) => invalid("metadata.name", name, `becomes a label value, and ${problem}`)),
    ...templateErrors(object, context, (field) =>
      selectorMatches(selector, labels)
        ? undefined
        : forbidden(field, "must match spec.selector: add the selector's labels to the template"),
    ),
    ...rollingUpdateErrors(at(object, ...STRATEGY), "spec.rollout.strategy"),
    ...intOrPercentErrors(at(object, "spec", "remediation", "maxInFlight"), "spec.remediation.maxInFlight"),
  ];
}

export const machineDeploymentRules: RuleSet = { kind: machineDeploymentKind, operations: ["create", "update"], defaults, validate };
