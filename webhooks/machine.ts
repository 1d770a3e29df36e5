// Machine: defaults and validation. Source: spec/api/machine.md section 4.
import { machineKind } from "../api/machine.ts";
import { machineControlPlaneLabel, machinePoolNameLabel } from "../api/names.ts";
import { type FieldError, forbidden, required } from "../schema/field.ts";
import { isDefined, taintErrors } from "./checks.ts";
import { at, textAt, withAt, withVersionPrefix } from "./draft.ts";
import { withClusterLabel } from "./machines.ts";
import type { Draft, RuleSet, WebhookContext } from "./rule-set.ts";
import { versionErrors } from "./versions.ts";

/** Machines only, never in templates, seconds. */
const NODE_DELETION_TIMEOUT_SECONDS = 10;

function defaults(object: Draft): Draft {
  const next = withVersionPrefix(withClusterLabel(object), ["spec", "version"]);
  const timeout = ["spec", "deletion", "nodeDeletionTimeoutSeconds"];
  return at(next, ...timeout) == null ? withAt(next, timeout, NODE_DELETION_TIMEOUT_SECONDS) : next;
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const labels = object.metadata.labels ?? {};
  const bootstrap = at(object, "spec", "bootstrap");
  const fromPool = labels[machinePoolNameLabel] !== undefined;
  const hasBootstrap = isDefined(at(bootstrap, "configRef")) || at(bootstrap, "dataSecretName") !== undefined;
  return [
    ...(hasBootstrap || fromPool ? [] : [required("spec.bootstrap", "give configRef or dataSecretName")]),
    ...(context.old && textAt(context.old, "spec", "clusterName") !== textAt(object, "spec", "clusterName")
      ? [forbidden("spec.clusterName", "cannot be changed")]
      : []),
    ...versionErrors(textAt(object, "spec", "version"), "spec.version"),
    ...taintErrors(at(object, "spec", "taints"), "spec.taints", context, labels[machineControlPlaneLabel] === undefined),
  ];
}

export const machineRules: RuleSet = { kind: machineKind, operations: ["create", "update"], defaults, validate };
