// MachineSet: defaults and validation. Source: spec/api/machineset.md sections 4, 5.
import { machineSetKind } from "../api/machineset.ts";
import { machineSetNameLabel } from "../api/names.ts";
import { labelValueOf } from "../api/naming.ts";
import { invalid } from "../schema/field.ts";
import { isEmptySelector, selectorMatches } from "./checks.ts";
import { at, mapAt, withAt, withVersionPrefix } from "./draft.ts";
import { templateErrors, withClusterLabel, withReplicas, withSelectorLabel } from "./machines.ts";
import type { Draft, RuleSet, WebhookContext } from "./rule-set.ts";

function defaults(object: Draft, context: WebhookContext): Draft {
  let next = withReplicas(withClusterLabel(object), context);
  if (isEmptySelector(at(next, "spec", "selector")))
    next = withSelectorLabel(next, machineSetNameLabel, labelValueOf(next.metadata.name ?? ""));
  // As upstream: the labels' map is made also when nothing goes into it, and an empty metadata is refused by the schema.
  if (at(next, "spec", "template", "metadata") === undefined) next = withAt(next, ["spec", "template", "metadata"], {});
  return withVersionPrefix(next, ["spec", "template", "spec", "version"]);
}

export const machineSetRules: RuleSet = {
  kind: machineSetKind,
  operations: ["create", "update"],
  defaults,
  validate: (object, context) =>
    templateErrors(object, context, (field) => {
      const labels = mapAt(object, "spec", "template", "metadata", "labels");
      return selectorMatches(at(object, "spec", "selector"), labels)
        ? undefined
        : invalid(field, labels, "must match spec.selector: add the selector's labels to the template");
    }),
};
