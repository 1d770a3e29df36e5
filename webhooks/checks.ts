// Checks that several kinds share: metadata of templates, numbers or percents, selectors, taints, naming.
// Here: pure functions from a value and its path to errors. Source: spec/api/common.md sections 4, 6, 7.
import type { LabelSelector } from "../api/meta/object.ts";
import { type Labels, matchesSelector } from "../api/meta/selector.ts";
import { NameTemplateInvalid, renderNameTemplate } from "../api/naming.ts";
import { machineSetPreflightChecks, machineSetSkipPreflightChecksAnnotation } from "../api/names.ts";
import { type FieldError, forbidden, invalid, tooLong } from "../schema/field.ts";
import { dns1123Subdomain, labelValue, qualifiedName } from "../schema/names.ts";
import { at, isZero, listAt, mapAt, textAt } from "./draft.ts";
import type { WebhookContext } from "./rule-set.ts";

const ANNOTATION_BYTES_MAX = 262_144;

export function metadataErrors(metadata: unknown, path: string): readonly FieldError[] {
  const labels = Object.entries(mapAt(metadata, "labels")).flatMap(([key, value]) => [
    ...qualifiedName(key).map((problem) => invalid(`${path}.labels`, key, problem)),
    ...labelValue(value).map((problem) => invalid(`${path}.labels`, value, problem)),
  ]);
  const entries = Object.entries(mapAt(metadata, "annotations"));
  const annotations = entries.flatMap(([key]) =>
    qualifiedName(key.toLowerCase()).map((problem) => invalid(`${path}.annotations`, key, problem)),
  );
  const bytes = entries.reduce((sum, [key, value]) => sum + new TextEncoder().encode(key + value).length, 0);
  return [...labels, ...annotations, ...(bytes > ANNOTATION_BYTES_MAX ? [tooLong(`${path}.annotations`, ANNOTATION_BYTES_MAX)] : [])];
}

/** An integer, or digits with an optional sign and a percent sign. */
export function intOrPercentErrors(value: unknown, path: string): readonly FieldError[] {
  if (value === undefined || value === null || typeof value === "number") return [];
  return typeof value === "string" && /^[+-]?\d+%$/.test(value)
    ? []
    : [invalid(path, value, "must be a whole number or a percentage such as 20%")];
}

export function rollingUpdateErrors(strategy: unknown, path: string): readonly FieldError[] {
  const [unavailable, surge] = [at(strategy, "rollingUpdate", "maxUnavailable"), at(strategy, "rollingUpdate", "maxSurge")];
  const numbers = [
    ...intOrPercentErrors(unavailable, `${path}.rollingUpdate.maxUnavailable`),
    ...intOrPercentErrors(surge, `${path}.rollingUpdate.maxSurge`),
  ];
  // As upstream: only integers are looked at, "0%" passes.
  const stuck =
    unavailable === 0 && surge === 0
      ? [
          invalid(
            `${path}.rollingUpdate`,
            at(strategy, "rollingUpdate"),
            "maxSurge and maxUnavailable cannot both be 0: raise one, or nothing can be replaced",
          ),
        ]
      : [];
  return [...numbers, ...stuck];
}

/** @param healthCheck as in topologies and classes; rules of its numbers */
export function healthCheckErrors(healthCheck: unknown, path: string): readonly FieldError[] {
  return [
    ...startupTimeoutErrors(at(healthCheck, "checks"), `${path}.checks`),
    ...intOrPercentErrors(
      at(healthCheck, "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"),
      `${path}.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
    ),
    ...intOrPercentErrors(at(healthCheck, "remediation", "maxInFlight"), `${path}.remediation.maxInFlight`),
  ];
}

/** `enabled` alone defines nothing. */
export const isHealthCheckDefined = (healthCheck: unknown): boolean =>
  !isZero(at(healthCheck, "checks")) || !isZero(at(healthCheck, "remediation"));

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

function requirementProblem(requirement: unknown): string | undefined {
  const [key, operator, values] = [
    textAt(requirement, "key") ?? "",
    textAt(requirement, "operator") ?? "",
    listAt(requirement, "values") as readonly string[],
  ];
  if (!OPERATORS.includes(operator)) return `operator ${JSON.stringify(operator)} is none of ${OPERATORS.join(", ")}`;
  if (operator.endsWith("In") && values.length === 0) return `operator ${operator} needs values`;
  if (!operator.endsWith("In") && values.length > 0) return `operator ${operator} takes no values`;
  return qualifiedName(key)[0] ?? values.flatMap((v) => labelValue(v))[0];
}

/** Why a label selector cannot be used; undefined when it can. */
export function selectorProblem(selector: unknown): string | undefined {
  const labels = Object.entries(mapAt(selector, "matchLabels")).flatMap(([key, value]) => [...qualifiedName(key), ...labelValue(value)]);
  return (
    labels[0] ??
    listAt(selector, "matchExpressions")
      .map(requirementProblem)
      .find((p) => p !== undefined)
  );
}

export const isEmptySelector = (selector: unknown): boolean =>
  Object.keys(mapAt(selector, "matchLabels")).length === 0 && listAt(selector, "matchExpressions").length === 0;

type Requirements = NonNullable<LabelSelector["matchExpressions"]>;

/** A selector without requirements matches everything. */
export const selectorMatches = (selector: unknown, labels: Labels): boolean =>
  matchesSelector(
    { matchLabels: mapAt(selector, "matchLabels") as Labels, matchExpressions: listAt(selector, "matchExpressions") as Requirements },
    labels,
  );

const RESERVED_TAINTS = ["node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision"];
const CONTROL_PLANE_TAINT = "node-role.kubernetes.io/control-plane";

function reservedTaint(key: string): string | undefined {
  if (RESERVED_TAINTS.includes(key)) return "is set by the controllers themselves";
  if (key.startsWith("node.kubernetes.io/") && key !== "node.kubernetes.io/out-of-service")
    return "is set by Kubernetes: only node.kubernetes.io/out-of-service may be used";
  if (key.startsWith("node.cloudprovider.kubernetes.io/")) return "is set by cloud providers";
  if (key === "node-role.kubernetes.io/master") return "is not in use any more: take node-role.kubernetes.io/control-plane";
  return undefined;
}

/** Rule T, and for workers rule TW. */
export function taintErrors(taints: unknown, path: string, context: WebhookContext, worker = false): readonly FieldError[] {
  const list = Array.isArray(taints) ? taints : [];
  const on = context.gate("MachineTaintPropagation");
  const closed = !on && list.length > 0 ? [forbidden(path, "taints need the feature gate MachineTaintPropagation")] : [];
  const each = list.flatMap((taint: unknown, i) => {
    const key = textAt(taint, "key") ?? "";
    const reserved = reservedTaint(key);
    return [
      ...(reserved ? [invalid(`${path}[${i}].key`, key, reserved)] : []),
      ...(worker && on && key === CONTROL_PLANE_TAINT ? [invalid(`${path}[${i}].key`, key, "is for control plane machines only")] : []),
      ...qualifiedName(key).map((problem) => invalid(`${path}[${i}].key`, key, problem)),
    ];
  });
  return [...closed, ...each];
}

/** Rule N-1. @param data by path, e.g. `machineSet.name`; sample values */
export function namingErrors(
  template: string | undefined,
  path: string,
  data: Readonly<Record<string, string>>,
  needsRandom = true,
): readonly FieldError[] {
  if (template === undefined) return [];
  const errors: FieldError[] = [];
  if (needsRandom && !template.includes("{{ .random }}"))
    errors.push(invalid(path, template, "must contain {{ .random }}, or two objects would get the same name"));
  try {
    const name = renderNameTemplate(template, { ...data, "cluster.name": "cluster", random: "bcdfg" });
    errors.push(...dns1123Subdomain(name).map((problem) => invalid(path, template, `makes the name ${JSON.stringify(name)}: ${problem}`)));
  } catch (e) {
    errors.push(invalid(path, template, e instanceof NameTemplateInvalid ? e.message : String(e)));
  }
  return errors;
}

export function preflightAnnotationErrors(
  annotations: Readonly<Record<string, string>> | undefined,
  context: WebhookContext,
): readonly FieldError[] {
  const value = annotations?.[machineSetSkipPreflightChecksAnnotation];
  if (value === undefined || value === "" || !context.gate("MachineSetPreflightChecks")) return [];
  const unknown = value
    .split(",")
    .map((c) => c.trim())
    .filter((c) => !(machineSetPreflightChecks as readonly string[]).includes(c));
  const path = `metadata.annotations.${machineSetSkipPreflightChecksAnnotation}`;
  return unknown.length === 0
    ? []
    : [invalid(path, value, `unknown checks ${unknown.join(", ")}; known are ${machineSetPreflightChecks.join(", ")}`)];
}

/** True when any of the three parts of a contract reference is filled in. */
export const isDefined = (ref: unknown): boolean => ["apiGroup", "kind", "name"].some((field) => (textAt(ref, field) ?? "") !== "");

export const startupTimeoutErrors = (checks: unknown, path: string): readonly FieldError[] => {
  const seconds = at(checks, "nodeStartupTimeoutSeconds");
  return typeof seconds === "number" && seconds !== 0 && seconds < 30
    ? [invalid(`${path}.nodeStartupTimeoutSeconds`, seconds, "must be 0 (no limit) or at least 30")]
    : [];
};
