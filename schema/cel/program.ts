// One expression of a rule, compiled: type-checked against its schema, bounded in its steps.
// Here: parsing, checking and what must be changed of the core library. Not here: which expressions a schema has (rules.ts).
//
// The core library is kept, with these changes to each parsed expression:
// - some functions of its own that differ from CEL are replaced by ours under another name (library.ts RENAMED);
// - `has(x.y)` checks that y exists in the type, which it leaves out;
// - `==` and `+` know sets and keyed lists; - each step of a comprehension is counted, since nothing else in CEL can run long.
import type { Environment } from "@marcbachmann/cel-js";
import { compilePattern } from "../re2.ts";
import { RENAMED } from "./library.ts";
import { listsEqual, listsJoined } from "./value.ts";

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
}
interface Evaluator {
  run(node: Node, scope: Scope): unknown;
}
interface Macro {
  readonly args?: readonly Node[];
  readonly receiver?: Node;
  readonly bodies?: readonly Node[];
  typeCheck(checker: Checker, macro: Macro, scope: Scope): unknown;
}
interface ComprehensionArgs {
  readonly iterable: Node;
  readonly init: Node;
  readonly step: Node;
}
interface Node {
  readonly op: string;
  args: unknown;
  readonly meta: { readonly alternate?: Node; readonly macro?: Macro };
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
  if (name === "matches") checkPattern((node.op === "rcall" ? (args[2] as Node[])[0] : (args[1] as Node[])[1]) as Node | undefined);
  const ours = RENAMED.get(name);
  if (ours !== undefined && (node.op === "rcall" || name === "matches")) args[0] = ours;
}

/** A literal pattern is judged with the rule, not with each object. */
function checkPattern(node: Node | undefined): void {
  if (node?.op === "value" && typeof node.args === "string") compilePattern(node.args);
}

function adaptMacro(node: Node, macro: Macro, state: State): void {
  for (const body of macro.bodies ?? []) counted(body, state);
  const [name] = node.args as [string, ...unknown[]];
  if (name !== "has") return;
  const before = macro.typeCheck;
  macro.typeCheck = (checker, self, scope) => {
    const type = before(checker, self, scope);
    const target = self.args?.[0];
    if (target) checker.check(target, scope);
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
