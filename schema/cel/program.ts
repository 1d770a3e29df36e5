// One expression of a rule, compiled: type-checked against its schema, bounded in its steps.
// Here: parsing, checking and what must be changed of the core library. Not here: which expressions a schema has (rules.ts).
//
// The core library is kept, with these changes to each parsed expression:
// - some functions of its own that differ from CEL are replaced by ours under another name (library.ts RENAMED_*);
// - `has(x.y)` takes any chain of selections and checks that y exists in the type; objects are not looked into by `x["y"]`;
// - `==` and `+` know sets and keyed lists; - each step of a comprehension is counted, since nothing else in CEL can run long.
import type { Environment } from "@marcbachmann/cel-js";
import { compilePattern } from "../re2.ts";
import { RENAMED_FUNCTIONS, RENAMED_METHODS } from "./library.ts";
import { listsEqual, listsJoined, parseDuration } from "./value.ts";

/** Steps of comprehensions that are left; shared by the rules of one object. */
export interface StepBudget {
  left: number;
}

export interface Program {
  /** @throws Error with a text for people, also when the steps are used up */
  readonly run: (variables: Readonly<Record<string, unknown>>, budget: StepBudget) => unknown;
  readonly usesOldSelf: boolean;
}

interface Scope {
  readonly _?: never;
}
interface Checker {
  check(node: Node, scope: Scope): unknown;
  getType(name: string): unknown;
}
interface Evaluator {
  run(node: Node, scope: Scope): unknown;
  debugType(value: unknown): { fieldLazy(object: unknown, field: string, node: Node, evaluator: Evaluator): unknown };
}
interface Macro {
  readonly args?: readonly Node[];
  readonly receiver?: Node;
  readonly bodies?: readonly Node[];
  typeCheck(checker: Checker, macro: Macro, scope: Scope): unknown;
  evaluate(evaluator: Evaluator, macro: Macro, scope: Scope): unknown;
}
interface ComprehensionArgs {
  readonly iterable: Node;
  readonly init: Node;
  readonly step: Node;
}
interface Node {
  readonly op: string;
  args: unknown;
  readonly meta: {
    readonly alternate?: Node;
    readonly macro?: Macro;
    check?: (checker: Checker, node: Node, scope: Scope) => unknown;
  };
  readonly checkedType?: { readonly kind: string; readonly name: string };
  evaluate: (evaluator: Evaluator, node: Node, scope: Scope) => unknown;
  readonly left?: Node;
  readonly right?: Node;
  readonly handle?: (left: unknown, right: unknown, node: Node, evaluator: Evaluator) => unknown;
}

class OutOfSteps extends Error {
  readonly code = "OutOfSteps";
}

/**
 * @param wanted name of the result's type, such as `bool`
 * @throws Error when the text does not parse or its types do not fit
 */
export function compileProgram(environment: Environment, expression: string, wanted: string): Program {
  const parsed = environment.parse(expression);
  const state: State = { budget: { left: 0 }, usesOldSelf: false };
  adapt(parsed.ast as unknown as Node, state);
  const checked = parsed.check();
  if (!checked.valid) throw checked.error ?? new Error("type check failed");
  if (checked.type !== wanted && checked.type !== "dyn") throw new Error(`must evaluate to ${wanted}, but evaluates to ${checked.type}`);
  return {
    usesOldSelf: state.usesOldSelf,
    run(variables, budget) {
      state.budget = budget;
      const result: unknown = parsed(variables);
      if (budget.left < 0) throw new OutOfSteps("ran out of steps");
      return result;
    },
  };
}

interface State {
  budget: StepBudget;
  usesOldSelf: boolean;
}

function adapt(node: Node, state: State): void {
  if (node.op === "id" && node.args === "oldSelf") state.usesOldSelf = true;
  rename(node);
  const { alternate, macro } = node.meta;
  if (alternate?.op === "comprehension") adaptComprehension(alternate.args as ComprehensionArgs, state);
  else if (alternate) adapt(alternate, state);
  else {
    for (const child of childrenOf(node.args)) adapt(child, state);
    if (macro) adaptMacro(node, macro, state);
    if (node.op === "==" || node.op === "!=" || node.op === "+") adaptOperator(node);
    if (node.op === "[]") adaptLookup(node);
  }
}

function adaptComprehension(args: ComprehensionArgs, state: State): void {
  adapt(args.iterable, state);
  adapt(args.init, state);
  adapt(args.step, state);
  counted(args.step, state);
}

function counted(step: Node, state: State): void {
  let inner = step.evaluate;
  const evaluate: Node["evaluate"] = (evaluator, node, scope) => {
    if (--state.budget.left < 0) throw new OutOfSteps("ran out of steps");
    return inner.call(step, evaluator, node, scope);
  };
  // A node replaces its own `evaluate` when it first runs: what it puts there runs inside ours.
  Object.defineProperty(step, "evaluate", {
    get: () => evaluate,
    set: (replacement: Node["evaluate"]) => {
      inner = replacement;
    },
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "op" in value && "meta" in value;
}

function childrenOf(args: unknown): readonly Node[] {
  if (isNode(args)) return [args];
  return Array.isArray(args) ? args.flatMap(childrenOf) : [];
}

function rename(node: Node): void {
  if (node.op !== "rcall" && node.op !== "call") return;
  const args = node.args as unknown[];
  const name = args[0] as string;
  const isMethod = node.op === "rcall";
  checkLiteral(name, (isMethod ? (args[2] as Node[])[0] : (args[1] as Node[])[name === "matches" ? 1 : 0]) as Node | undefined, isMethod);
  const ours = (isMethod ? RENAMED_METHODS : RENAMED_FUNCTIONS).get(name);
  if (ours !== undefined) args[0] = ours;
}

const PATTERN_TAKERS: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);

/** Literal patterns and durations are judged with the rule, not with each object. */
function checkLiteral(name: string, node: Node | undefined, isMethod: boolean): void {
  if (node?.op !== "value" || typeof node.args !== "string") return;
  if (PATTERN_TAKERS.has(name) && (isMethod || name === "matches")) compilePattern(node.args);
  else if (!isMethod && name === "duration") parseDuration(node.args);
  else if (!isMethod && name === "timestamp" && Number.isNaN(Date.parse(node.args)))
    throw new Error(`invalid timestamp ${JSON.stringify(node.args)}`);
}

function adaptMacro(node: Node, macro: Macro, state: State): void {
  for (const body of macro.bodies ?? []) counted(body, state);
  const [name] = node.args as [string, ...unknown[]];
  if (name === "has") adaptHas(macro);
}

/** Any chain of selections, fields that exist in the type only; null counts as absent. */
function adaptHas(macro: Macro): void {
  const target = macro.args?.[0];
  if (target?.op !== "." && target?.op !== ".?") return;
  const [operand, field] = target.args as [Node, string];
  macro.typeCheck = (checker, _, scope) => {
    checker.check(target, scope);
    return checker.getType("bool");
  };
  macro.evaluate = (evaluator, _, scope) => {
    const object = evaluator.run(operand, scope);
    const found = evaluator.debugType(object).fieldLazy(object, field, target, evaluator);
    return target.op === ".?" ? (found as { hasValue(): boolean }).hasValue() : found !== undefined;
  };
}

/** Fields of objects are selected, never looked up by a text. */
function adaptLookup(node: Node): void {
  const before = node.meta.check;
  if (!before) return;
  node.meta.check = (checker, self, scope) => {
    const type = before(checker, self, scope);
    const left = self.left?.checkedType;
    if (left?.kind === "message") throw new Error(`found no matching overload for '_[_]' applied to '(${left.name}, ...)'`);
    return type;
  };
}

function adaptOperator(node: Node): void {
  const { op } = node;
  node.evaluate = (evaluator, self, scope) => {
    const left = evaluator.run(self.left as Node, scope);
    const right = evaluator.run(self.right as Node, scope);
    if (typeof left === "object" && left !== null && typeof right === "object") {
      if (op === "+") {
        const joined = listsJoined(left, right);
        if (joined !== undefined) return joined;
      } else {
        const equal = listsEqual(left, right);
        if (equal !== undefined) return op === "==" ? equal : !equal;
      }
    }
    return (self.handle as NonNullable<Node["handle"]>)(left, right, self, evaluator);
  };
}
