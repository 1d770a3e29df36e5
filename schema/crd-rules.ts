// Rules of a CRD's schema: complete texts, expressions that compile, old values only where there are any.
// Here: what is refused with the CRD. Not here: running rules (rules.ts). Source: apiextensions validation of x-kubernetes-validations.
import type { JsonSchema, ValidationRule } from "../api/meta/schema.ts";
import { occurrencesMax, shapeOf } from "./cel/cost.ts";
import { parseFieldPath, ruleScope } from "./cel/rule.ts";
import { child, type FieldError, forbidden, indexed, invalid, keyed, notSupported, required } from "./field.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"] as const;
const hasLineBreak = (text: string): boolean => /[\r\n]/.test(text);
const rulesField = (path: string, i: number): string => indexed(child(path, "x-kubernetes-validations"), i);

/** Texts of one node's rules, whatever they mean. */
export function ruleTextErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, i) => textErrors(rule, schema, rulesField(path, i)));
}

function textErrors(rule: ValidationRule, schema: JsonSchema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const text = (rule.rule ?? "").trim();
  const message = rule.message?.trim();
  const messageField = child(field, "message");
  if (text === "") errors.push(required(child(field, "rule"), "rule is not specified"));
  else if (rule.message !== undefined && rule.message !== "" && message === "")
    errors.push(invalid(messageField, rule.message, "message must be non-empty if specified"));
  else if (message !== undefined && hasLineBreak(message))
    errors.push(invalid(messageField, rule.message, "message must not contain line breaks"));
  else if (hasLineBreak(text) && !message) errors.push(required(messageField, "message must be specified if rule contains line breaks"));
  if (rule.messageExpression !== undefined && rule.messageExpression !== "" && rule.messageExpression.trim() === "")
    errors.push(required(child(field, "messageExpression"), "messageExpression must be non-empty if specified"));
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) errors.push(notSupported(child(field, "reason"), rule.reason, REASONS));
  if (rule.fieldPath !== undefined && rule.fieldPath !== "")
    errors.push(...fieldPathErrors(rule.fieldPath, schema, child(field, "fieldPath")));
  return errors;
}

function fieldPathErrors(text: string, schema: JsonSchema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text.trim() === "") errors.push(invalid(field, text, "fieldPath must be non-empty if specified"));
  if (hasLineBreak(text)) errors.push(invalid(field, text, "fieldPath must not contain line breaks"));
  try {
    parseFieldPath(text, schema);
  } catch (error) {
    errors.push(invalid(field, text, `fieldPath must be a valid path: ${(error as Error).message}`));
  }
  return errors;
}

/** kube-apiserver's limits, in units of its own estimate. */
const RULE_COST_MAX = 10_000_000;
const SCHEMA_COST_MAX = 100_000_000;
/** How many of the most expensive rules are named when all together are too expensive. */
const NAMED_MAX = 4;
/** ... and from what share of the limit on. */
const NAMED_SHARE = 0.01;

interface Search {
  readonly errors: FieldError[];
  readonly isSound: (path: string) => boolean;
  readonly costs: { readonly field: string; readonly cost: number }[];
}

interface Place {
  readonly isRoot: boolean;
  /** The list whose items cannot be told apart over time, when the node is below one. */
  readonly uncorrelated: string | undefined;
  /** How often the node occurs in one object; undefined when only the size of a request bounds it. */
  readonly occurrences: number | undefined;
}

/** Expressions of all rules of a structural schema. @param isSound whether a node and all below it have no other fault */
export function ruleErrors(schema: JsonSchema, path: string, isSound: (path: string) => boolean): readonly FieldError[] {
  const search: Search = { errors: [], isSound, costs: [] };
  collect(schema, path, { isRoot: true, uncorrelated: undefined, occurrences: 1 }, search);
  return [...search.errors, ...costErrors(search, path)];
}

function costErrors({ costs }: Search, path: string): FieldError[] {
  const tooMuch = (cost: number, max: number): string =>
    `exceeds budget by factor of ${cost > 100 * max ? "more than 100" : (cost / max).toFixed(1)}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
  const errors = costs
    .filter(({ cost }) => cost > RULE_COST_MAX)
    .map(({ field, cost }) => forbidden(field, `estimated rule cost ${tooMuch(cost, RULE_COST_MAX)}`));
  const total = costs.reduce((all, { cost }) => all + cost, 0);
  if (total <= SCHEMA_COST_MAX) return errors;
  const top = costs
    .filter(({ cost }) => cost > SCHEMA_COST_MAX * NAMED_SHARE)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, NAMED_MAX);
  for (const { field } of top)
    errors.push(forbidden(field, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"));
  errors.push(
    forbidden(path, `x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema ${tooMuch(total, SCHEMA_COST_MAX)}`),
  );
  return errors;
}

function collect(schema: JsonSchema, path: string, place: Place, search: Search): void {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length > 0 && search.isSound(path)) {
    const scope = ruleScope(schema, place.isRoot);
    const occurrences = place.occurrences ?? occurrencesMax(shapeOf(schema, place.isRoot));
    for (const [i, rule] of rules.entries()) {
      if ((rule.rule ?? "").trim() === "") continue;
      const field = rulesField(path, i);
      search.errors.push(...programErrors(rule, scope, field, place.uncorrelated));
      search.costs.push({ field: child(field, "rule"), cost: scope.cost(rule.rule) * occurrences });
      if (rule.messageExpression) search.costs.push({ field: child(field, "messageExpression"), cost: scope.cost(rule.messageExpression) });
    }
  }
  const below: Place = { ...place, isRoot: false };
  const mapType: string | undefined = schema["x-kubernetes-map-type"];
  const isOdd = mapType !== undefined && mapType !== "atomic" && mapType !== "granular";
  const field: Place = isOdd ? { ...below, uncorrelated: place.uncorrelated ?? path } : below;
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    collect(property, keyed(child(path, "properties"), name), field, search);
  if (typeof schema.additionalProperties === "object")
    collect(
      schema.additionalProperties,
      child(path, "additionalProperties"),
      { ...below, occurrences: times(place, schema.maxProperties) },
      search,
    );
  if (schema.items) {
    const uncorrelated = schema["x-kubernetes-list-type"] === "map" ? place.uncorrelated : (place.uncorrelated ?? path);
    collect(schema.items, child(path, "items"), { isRoot: false, uncorrelated, occurrences: times(place, schema.maxItems) }, search);
  }
}

const times = (place: Place, max: number | undefined): number | undefined =>
  place.occurrences === undefined || max === undefined ? undefined : place.occurrences * max;

function programErrors(
  rule: ValidationRule,
  scope: ReturnType<typeof ruleScope>,
  field: string,
  uncorrelated: string | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  // One by one, so that each fault is told at its own field.
  const { fault, usesOldSelf } = scope.compile({ ...rule, messageExpression: undefined, fieldPath: undefined });
  if (fault !== undefined) errors.push(invalid(child(field, "rule"), rule.rule, `compilation failed: ${fault}`));
  if (rule.messageExpression) {
    const message = scope.compile({ ...rule, rule: "true", fieldPath: undefined });
    if (message.fault !== undefined)
      errors.push(
        invalid(child(field, "messageExpression"), rule.messageExpression, `messageExpression compilation failed: ${message.fault}`),
      );
  }
  if (usesOldSelf && uncorrelated !== undefined)
    errors.push(
      invalid(child(field, "rule"), rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`),
    );
  if (fault === undefined && !usesOldSelf && rule.optionalOldSelf !== undefined)
    errors.push(invalid(child(field, "optionalOldSelf"), rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"));
  return errors;
}
