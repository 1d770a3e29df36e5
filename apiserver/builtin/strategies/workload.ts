// Deployments, DaemonSets, ReplicaSets, StatefulSets: selectors and templates. Not here: the controllers behind them (there are none).
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported } from "../../errors.ts";
import { type ApiObject, sameJson } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { asFields, asText, at, type Fields, selects, specOf, unchanged } from "./fields.ts";

type Labels = Readonly<Record<string, string>>;

function validateTemplate(object: ApiObject): readonly StatusCause[] {
  const spec = specOf(object);
  const causes: StatusCause[] = [];
  const selector = asFields(spec.selector);
  const unset = spec.selector === null || spec.selector === undefined;
  const empty = !unset && Object.keys(asFields(selector.matchLabels)).length === 0 && !Array.isArray(selector.matchExpressions);
  if (empty) {
    causes.push(fieldInvalid("spec.selector", selector, "empty selector is invalid for this kind"));
  }
  const labels = at(spec, "template.metadata.labels") as Labels | undefined;
  if (!empty && !selects(spec.selector, labels)) {
    causes.push(fieldInvalid("spec.template.metadata.labels", labels ?? {}, "`selector` does not match template `labels`"));
  }
  const restart = asText(at(spec, "template.spec.restartPolicy"));
  if (restart !== "Always") causes.push(fieldNotSupported("spec.template.spec.restartPolicy", restart, ["Always"]));
  return causes;
}

const isNothing = (value: unknown): boolean => value === 0 || value === "0%" || value === "0" || value === undefined;

function validateRolling(object: ApiObject, path: "strategy" | "updateStrategy"): readonly StatusCause[] {
  const strategy = asFields(specOf(object)[path]);
  const rolling = asFields(strategy.rollingUpdate);
  if (strategy.type !== "RollingUpdate") {
    return strategy.rollingUpdate === undefined
      ? []
      : [fieldForbidden(`spec.${path}.rollingUpdate`, `may not be specified when strategy \`type\` is '${String(strategy.type)}'`)];
  }
  if (!isNothing(rolling.maxUnavailable) || !isNothing(rolling.maxSurge)) return [];
  return [fieldInvalid(`spec.${path}.rollingUpdate.maxUnavailable`, rolling.maxUnavailable ?? 0, "may not be 0 when `maxSurge` is 0")];
}

const workload = (validate: (object: ApiObject) => readonly StatusCause[], frozen: readonly string[] = ["spec.selector"]): Strategy => ({
  generation: "spec",
  validate,
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? [...unchanged(object, old, frozen), ...validate(object)] : []),
});

export const deploymentStrategy = workload((o) => [...validateTemplate(o), ...validateRolling(o, "strategy")]);
export const daemonSetStrategy = workload((o) => [...validateTemplate(o), ...validateRolling(o, "updateStrategy")]);
export const replicaSetStrategy = workload(validateTemplate);

const STATEFUL_MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

function statefulKept(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const next: Record<string, unknown> = { ...specOf(object) };
  const before: Fields = specOf(old);
  for (const field of STATEFUL_MUTABLE) next[field] = before[field];
  if (sameJson(next, before)) return [];
  const names = STATEFUL_MUTABLE.map((field) => `'${field}'`).join(", ");
  return [fieldForbidden("spec", `updates to statefulset spec for fields other than ${names} are forbidden`)];
}

export const statefulSetStrategy: Strategy = {
  generation: "spec",
  validate: validateTemplate,
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? [...statefulKept(object, old), ...validateTemplate(object)] : []),
};
