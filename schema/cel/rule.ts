// The rules of one schema node against its type: variables, programs, field paths.
// Here: how a rule's texts become programs. Not here: when they run (../rules.ts).
import type { Environment } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "../../api/meta/schema.ts";
import { canonical } from "../equal.ts";
import type { PathSegment } from "../field.ts";
import { type ExpressionNode, expressionCost, shapeOf } from "./cost.ts";
import { kubernetesEnvironment } from "./library.ts";
import { compileProgram, type Program } from "./program.ts";
import { type CelType, celType } from "./value.ts";

export interface RuleProgram {
  readonly rule: ValidationRule;
  readonly usesOldSelf: boolean;
  /** Why the rule cannot run; refused with its CRD, so this is of schemas that were stored by other means. */
  readonly fault?: string;
  readonly run: Program["run"];
  readonly message?: Program["run"];
  /** Where its error belongs, below the node. */
  readonly fieldPath: readonly PathSegment[];
}

export interface RuleScope {
  /** Never throws: a rule that does not compile has a `fault`. */
  compile(rule: ValidationRule): RuleProgram;
  convert(value: unknown): unknown;
  /** Cost of one evaluation at worst; 0 for what does not parse. */
  cost(expression: string): number;
}

// Built once: registering some hundred functions takes longer than a rule.
let base: Environment | undefined;
function baseEnvironment(): Environment {
  base ??= kubernetesEnvironment();
  return base;
}

// A schema is judged with its CRD and compiled for its objects, and kinds repeat parts of each other (kubeadm settings occur eight times):
// equal nodes share one scope. Pure, so that sharing is safe; bounded, so that changed CRDs do not pile up.
const SCOPES_MAX = 256;
const scopes = new Map<string, RuleScope>();

export function ruleScope(schema: JsonSchema, isResource: boolean): RuleScope {
  const key = `${isResource}${canonical(schema)}`;
  const known = scopes.get(key);
  if (known) return known;
  const scope = newScope(schema, isResource);
  if (scopes.size >= SCOPES_MAX) scopes.clear();
  scopes.set(key, scope);
  return scope;
}

function newScope(schema: JsonSchema, isResource: boolean): RuleScope {
  const compiled = new Map<string, RuleProgram>();
  let opened: { readonly type: CelType; readonly plain: Environment; readonly optional: Environment } | undefined;
  const open = () => {
    opened ??= openScope(schema, isResource);
    return opened;
  };
  return {
    convert: (value) => open().type.convert(value),
    cost(expression) {
      try {
        return expressionCost(open().plain.parse(expression).ast as ExpressionNode, shapeOf(schema, isResource));
      } catch {
        return 0;
      }
    },
    compile(rule) {
      const key = canonical(rule);
      const known = compiled.get(key);
      if (known) return known;
      const program = compileOrFault(rule, () => compileRule(rule, schema, open()));
      compiled.set(key, program);
      return program;
    },
  };
}

function compileOrFault(rule: ValidationRule, compile: () => RuleProgram): RuleProgram {
  try {
    return compile();
  } catch (error) {
    const { summary, message } = error as { summary?: string; message?: string };
    const run = (): never => {
      throw error;
    };
    return { rule, usesOldSelf: false, fault: summary ?? message ?? String(error), run, fieldPath: [] };
  }
}

function openScope(schema: JsonSchema, isResource: boolean) {
  const types = baseEnvironment().clone();
  const type = celType({ ...schema, nullable: false }, { environment: types, declared: 0 }, isResource);
  if (!type) throw new Error("rules cannot see a schema without a type");
  const plain = types.clone().registerVariable("self", type.name);
  const optional = types.clone().registerVariable("self", type.name).registerVariable("oldSelf", `optional<${type.name}>`);
  return { type, plain: plain.registerVariable("oldSelf", type.name), optional };
}

function compileRule(
  rule: ValidationRule,
  schema: JsonSchema,
  scope: { readonly plain: Environment; readonly optional: Environment },
): RuleProgram {
  const environment = rule.optionalOldSelf === true ? scope.optional : scope.plain;
  const program = compileProgram(environment, rule.rule, "bool");
  const message = rule.messageExpression === undefined ? undefined : compileProgram(environment, rule.messageExpression, "string");
  return {
    rule,
    usesOldSelf: program.usesOldSelf || message?.usesOldSelf === true,
    run: program.run,
    message: message?.run,
    fieldPath: rule.fieldPath === undefined ? [] : parseFieldPath(rule.fieldPath, schema),
  };
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (all, sign: string) => {
    const meant = ESCAPES[sign];
    if (meant === undefined) throw new Error(`invalid escape char ${all}`);
    return meant;
  });

/**
 * `.a.b`, `.map['key']`, `['a.b']`: as JSON paths that name one field of the schema.
 * @throws Error when the path is none, or names a field that does not exist
 */
export function parseFieldPath(text: string, schema: JsonSchema): readonly PathSegment[] {
  const segments: PathSegment[] = [];
  let node: JsonSchema | undefined = schema;
  let rest = text;
  while (rest !== "") {
    const found = /^(?:\.([^.[\]'"\s]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    if (!found)
      throw new Error(`fieldPath ${JSON.stringify(text)} is not a valid path: expected .name or ['name'] at ${JSON.stringify(rest)}`);
    rest = rest.slice(found[0].length);
    const name = found[1] ?? unescaped(found[2] ?? "");
    const property: JsonSchema | undefined = node?.properties?.[name];
    if (property) segments.push(name);
    else if (typeof node?.additionalProperties === "object") segments.push({ key: name });
    else throw new Error(`fieldPath ${JSON.stringify(text)} does not refer to a field of the schema: ${JSON.stringify(name)}`);
    node = property ?? (node?.additionalProperties as JsonSchema);
  }
  if (segments.length === 0) throw new Error("fieldPath must not be empty");
  return segments;
}
