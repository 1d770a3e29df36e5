// Rules that MachineDeployment and MachineSet share. Here: replicas, selector, template. Source: spec/api/machinedeployment.md sections 4, 5.
import { autoscalerMaxSizeAnnotation, autoscalerMinSizeAnnotation, clusterNameLabel } from "../api/names.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { isDefined, metadataErrors, namingErrors, preflightAnnotationErrors, selectorProblem, taintErrors } from "./checks.ts";
import { annotation, at, isZero, textAt, withAt, withLabel } from "./draft.ts";
import { type Draft, Refusal, type WebhookContext } from "./rule-set.ts";
import { versionErrors } from "./versions.ts";

const INT32 = /^[+-]?\d{1,10}$/;
const TEMPLATE = ["spec", "template"] as const;

export const withClusterLabel = (object: Draft): Draft => withLabel(object, clusterNameLabel, textAt(object, "spec", "clusterName") ?? "");

function autoscalerLimit(object: Draft, key: string): number {
  const text = annotation(object, key) ?? "";
  const value = Number(text);
  if (!INT32.test(text) || Math.abs(value) > 2 ** 31 - 1)
    throw new Refusal(403, `annotation ${key} is ${JSON.stringify(text)}: give a whole number`);
  return value;
}

/** Unset replicas: from the autoscaler's limits when both are annotated, else 1. */
export function withReplicas(object: Draft, { verb, old }: WebhookContext): Draft {
  if (!isZero(at(object, "spec", "replicas"))) return object;
  const path = ["spec", "replicas"];
  if (annotation(object, autoscalerMinSizeAnnotation) === undefined || annotation(object, autoscalerMaxSizeAnnotation) === undefined)
    return withAt(object, path, 1);
  const [min, max] = [autoscalerLimit(object, autoscalerMinSizeAnnotation), autoscalerLimit(object, autoscalerMaxSizeAnnotation)];
  const before = at(old, "spec", "replicas");
  if (verb === "create" || typeof before !== "number" || before < min) return withAt(object, path, min);
  return withAt(object, path, Math.min(before, max));
}

/** Adds one label to the selector and to the template. */
export const withSelectorLabel = (object: Draft, key: string, value: string): Draft =>
  withAt(withAt(object, ["spec", "selector", "matchLabels", key], value), [...TEMPLATE, "metadata", "labels", key], value);

/** `selectorMismatch` differs: a MachineDeployment forbids, a MachineSet calls the labels invalid. */
export function templateErrors(
  object: Draft,
  context: WebhookContext,
  selectorMismatch: (field: string) => FieldError | undefined,
): readonly FieldError[] {
  const spec = at(object, "spec");
  const template = at(object, ...TEMPLATE);
  const machine = at(template, "spec");
  const clusterName = textAt(spec, "clusterName");
  const problem = selectorProblem(at(spec, "selector"));
  const mismatch = problem ? undefined : selectorMismatch("spec.template.metadata.labels");
  const bootstrap = isDefined(at(machine, "bootstrap", "configRef")) || at(machine, "bootstrap", "dataSecretName") !== undefined;
  return [
    ...(bootstrap ? [] : [required("spec.template.spec.bootstrap", "give configRef or dataSecretName")]),
    ...(problem ? [invalid("spec.selector", at(spec, "selector"), problem)] : []),
    ...(mismatch ? [mismatch] : []),
    ...preflightAnnotationErrors(object.metadata.annotations, context),
    ...(context.old && textAt(context.old, "spec", "clusterName") !== clusterName
      ? [forbidden("spec.clusterName", "cannot be changed: create it anew for another Cluster")]
      : []),
    ...(clusterName === textAt(machine, "clusterName")
      ? []
      : [invalid("spec.clusterName", clusterName, "must be the same as spec.template.spec.clusterName")]),
    ...versionErrors(textAt(machine, "version"), "spec.template.spec.version"),
    ...namingErrors(textAt(spec, "machineNaming", "template"), "spec.machineNaming.template", { "machineSet.name": "set" }),
    ...taintErrors(at(machine, "taints"), "spec.template.spec.taints", context, true),
    ...metadataErrors(at(template, "metadata"), "spec.template.metadata"),
  ];
}
