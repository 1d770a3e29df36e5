// Rules of a schema (x-kubernetes-validations): which run on an object, and the errors of those that fail.
// Here: finding rules, old values, messages. Not here: expressions (cel/), the checks of a new CRD's rules (crd-rules.ts).
// Source: Kubernetes documentation of validation rules; kube-apiserver for which errors are ratcheted.
import { Optional } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "../api/meta/schema.ts";
import { type RuleProgram, ruleScope } from "./cel/rule.ts";
import type { StepBudget } from "./cel/program.ts";
import { isRecord, sameValue } from "./equal.ts";
import { duplicate, type FieldError, forbidden, invalid, type PathSegment, pathText, required, shown } from "./field.ts";
import { type Correlate, correlation } from "./list-type.ts";

/** Steps of comprehensions over all rules of one object: a rule over 500 by 500 items fits, a mistake ends in a fraction of a second. */
const OBJECT_STEPS_MAX = 300_000;

export interface CompiledRules {
  /** True when some rule compares with the stored object. */
  readonly usesOldSelf: boolean;
  validate(object: unknown, old: unknown): readonly FieldError[];
}

interface Found {
  readonly error: FieldError;
  /** False for rules that look at the old value: nothing excuses them. */
  readonly isExcusable: boolean;
}

interface RuleWalk {
  found: Found[];
  readonly path: PathSegment[];
  readonly budget: StepBudget;
}

interface RuleNode {
  readonly usesOldSelf: boolean;
  readonly run: (value: unknown, old: unknown, walk: RuleWalk) => void;
}

/** @returns undefined when there are no rules */
export function compileRules(schema: JsonSchema, isResource: boolean): CompiledRules | undefined {
  const root = compileRuleNode(schema, isResource);
  if (!root) return undefined;
  return {
    usesOldSelf: root.usesOldSelf,
    validate(object, old) {
      const walk: RuleWalk = { found: [], path: [], budget: { left: OBJECT_STEPS_MAX } };
      root.run(object, old, walk);
      return walk.found.map(({ error }) => error);
    },
  };
}

function compileRuleNode(schema: JsonSchema, isResource: boolean): RuleNode | undefined {
  const own = compileOwnRules(schema, isResource);
  const below = [compileFields(schema), compileItems(schema)].filter((node) => node !== undefined);
  const nodes = own ? [own, ...below] : below;
  if (nodes.length === 0) return undefined;
  const usesOldSelf = nodes.some((node) => node.usesOldSelf);
  return {
    usesOldSelf,
    run(value, old, walk) {
      // Rules see no null; and what did not change can break no rule but one that looks at the old value.
      if (value === null || value === undefined || (value === old && !usesOldSelf)) return;
      const mark = walk.found.length;
      for (const node of nodes) node.run(value, old, walk);
      // What is as it was may break newer rules, also below lists whose items have no old value of their own.
      if (walk.found.length > mark && old !== undefined && sameValue(value, old))
        walk.found = walk.found.filter((one, i) => i < mark || !one.isExcusable);
    },
  };
}

function compileFields(schema: JsonSchema): RuleNode | undefined {
  const fields: [string, RuleNode][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = compileRuleNode(property, false);
    if (node) fields.push([name, node]);
  }
  const extra = typeof schema.additionalProperties === "object" ? compileRuleNode(schema.additionalProperties, false) : undefined;
  if (fields.length === 0 && !extra) return undefined;
  return {
    usesOldSelf: fields.some(([, node]) => node.usesOldSelf) || extra?.usesOldSelf === true,
    run(value, old, walk) {
      if (!isRecord(value)) return;
      const before = isRecord(old) ? old : undefined;
      for (const [name, node] of fields) {
        if (!Object.hasOwn(value, name)) continue;
        walk.path.push(name);
        node.run(value[name], before?.[name], walk);
        walk.path.pop();
      }
      if (!extra) return;
      for (const key in value) {
        walk.path.push({ key });
        extra.run(value[key], before?.[key], walk);
        walk.path.pop();
      }
    },
  };
}

function compileItems(schema: JsonSchema): RuleNode | undefined {
  const items = schema.items === undefined ? undefined : compileRuleNode(schema.items, false);
  if (!items) return undefined;
  const correlate: Correlate | undefined = correlation(schema);
  return {
    usesOldSelf: items.usesOldSelf,
    run(value, old, walk) {
      if (!Array.isArray(value)) return;
      const before = correlate && Array.isArray(old) ? correlate(old) : undefined;
      for (let i = 0; i < value.length; i++) {
        walk.path.push(i);
        items.run(value[i], before?.(value[i], i), walk);
        walk.path.pop();
      }
    },
  };
}

// ---- The rules of one node

function compileOwnRules(schema: JsonSchema, isResource: boolean): RuleNode | undefined {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0) return undefined;
  const scope = ruleScope(schema, isResource);
  let programs: readonly RuleProgram[] | undefined; // compiled with the first object, so that a server with many kinds starts fast
  return {
    // From the text: parsing waits. Too many is harmless, a rule that does not use it is skipped below.
    usesOldSelf: rules.some((rule) => rule.rule.includes("oldSelf")),
    run(value, old, walk) {
      programs ??= rules.map((rule) => scope.compile(rule));
      const self = scope.convert(value);
      const oldSelf = old === undefined || old === null ? undefined : scope.convert(old);
      for (const program of programs) {
        if (program.usesOldSelf && oldSelf === undefined && program.rule.optionalOldSelf !== true) continue;
        const error = runRule(program, self, oldSelf, value, walk);
        if (error) walk.found.push({ error, isExcusable: !program.usesOldSelf });
      }
    },
  };
}

function variablesOf(program: RuleProgram, self: unknown, oldSelf: unknown): Readonly<Record<string, unknown>> {
  if (!program.usesOldSelf) return { self };
  return { self, oldSelf: program.rule.optionalOldSelf === true ? Optional.of(oldSelf) : oldSelf };
}

function runRule(program: RuleProgram, self: unknown, oldSelf: unknown, value: unknown, walk: RuleWalk): FieldError | undefined {
  const { rule } = program;
  const field = (): string => pathText(walk.path);
  if (walk.budget.left < 0) return undefined;
  if (program.fault !== undefined) return invalid(field(), "", `rule compile error: ${program.fault}`);
  const variables = variablesOf(program, self, oldSelf);
  try {
    if (program.run(variables, walk.budget) === true) return undefined;
  } catch (error) {
    const why =
      walk.budget.left < 0
        ? "validation failed due to running out of cost budget, no further validation rules will be run"
        : `${textOf(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return invalid(field(), "", why);
  }
  return failure(rule, messageOf(program, variables, walk.budget), value, pathText([...walk.path, ...program.fieldPath]));
}

const textOf = (error: unknown): string => {
  const { summary, message } = error as { summary?: string; message?: string };
  return summary ?? message ?? String(error);
};

function messageOf(program: RuleProgram, variables: Readonly<Record<string, unknown>>, budget: StepBudget): string {
  const { rule } = program;
  try {
    const text = program.message?.(variables, budget);
    // An empty or broken text falls back to the fixed one.
    if (typeof text === "string" && text.trim() !== "" && !/[\r\n]/.test(text)) return text.trim();
  } catch {
    // The message must not hide that the rule failed.
  }
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
}

function failure(rule: ValidationRule, message: string, value: unknown, field: string): FieldError {
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(field, message);
    case "FieldValueRequired":
      return required(field, message);
    case "FieldValueDuplicate":
      return { ...duplicate(field, value), message: `Duplicate value: ${shown(value)}: ${message}` };
    default:
      return invalid(field, typeof value === "object" ? (Array.isArray(value) ? "array" : "object") : value, message);
  }
}
