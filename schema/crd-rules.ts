// Rules of a CRD's schema: complete texts, expressions that compile, old values only where there are any.
// Here: what is refused with the CRD. Not here: running rules (rules.ts). Source: apiextensions validation of x-kubernetes-validations.
import type { JsonSchema, ValidationRule } from "../api/meta/schema.ts";
import { parseFieldPath, ruleScope } from "./cel/rule.ts";
import { child, type FieldError, indexed, invalid, keyed, notSupported, required } from "./field.ts";

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
  if (text.trim() === "") return [invalid(field, text, "fieldPath must be non-empty if specified")];
  if (hasLineBreak(text)) return [invalid(field, text, "fieldPath must not contain line breaks")];
  try {
    parseFieldPath(text, schema);
    return [];
  } catch (error) {
    return [invalid(field, text, `fieldPath must be a valid path: ${(error as Error).message}`)];
  }
}

interface Search {
  readonly errors: FieldError[];
  readonly isSound: (path: string) => boolean;
}

/** Expressions of all rules of a structural schema. @param isSound whether a node and all below it have no other fault */
export function ruleErrors(schema: JsonSchema, path: string, isSound: (path: string) => boolean): readonly FieldError[] {
  const search: Search = { errors: [], isSound };
  collect(schema, path, true, undefined, search);
  return search.errors;
}

/** @param uncorrelated the list whose items cannot be told apart over time, when the node is below one */
function collect(schema: JsonSchema, path: string, isRoot: boolean, uncorrelated: string | undefined, search: Search): void {
  const { errors } = search;
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length > 0 && search.isSound(path)) {
    const scope = ruleScope(schema, isRoot);
    for (const [i, rule] of rules.entries()) {
      if ((rule.rule ?? "").trim() === "") continue;
      errors.push(...programErrors(rule, scope, rulesField(path, i), uncorrelated));
    }
  }
  const field = child(path, "properties");
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    collect(property, keyed(field, name), false, uncorrelated, search);
  if (typeof schema.additionalProperties === "object")
    collect(schema.additionalProperties, child(path, "additionalProperties"), false, uncorrelated, search);
  if (schema.items) {
    const itemsPath = child(path, "items");
    const lost = schema["x-kubernetes-list-type"] === "map" ? uncorrelated : (uncorrelated ?? path);
    collect(schema.items, itemsPath, false, lost, search);
  }
}

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
