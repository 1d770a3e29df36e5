// Comprehensions with two variables (index and item, key and value), and existsOne. Here: macros over the core library's checker.
// Source: cel-go's two-variable comprehension extension, as Kubernetes enables it.
import { type Environment, Optional } from "@marcbachmann/cel-js";
import { format } from "./strings.ts";

/** The parts of the core library that its types leave out: what a macro is handed. */
interface Node {
  readonly op: string;
  readonly args: unknown;
}
interface TypeOfNode {
  readonly kind: string;
  readonly name: string;
  readonly type: string;
  readonly keyType?: TypeOfNode;
  readonly valueType?: TypeOfNode;
}
interface Scope {
  forkWithVariable(name: string, type: TypeOfNode): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}
interface Checker {
  check(node: Node, scope: Scope): TypeOfNode;
  getType(name: string): TypeOfNode;
  createError(code: string, message: string, node: Node): Error;
}
interface Evaluator {
  run(node: Node, scope: Scope): unknown;
  dynType: TypeOfNode;
}
interface Macro {
  readonly receiver: Node;
  readonly args: readonly Node[];
  types?: readonly [TypeOfNode, TypeOfNode];
}

interface Comprehension {
  /** Nodes after the two variables, by position: which must be bool. */
  readonly predicateAt: number | undefined;
  readonly resultType: (macro: Macro, checked: readonly TypeOfNode[]) => string;
  readonly run: (steps: Iterable<(at: number) => unknown>, keys: readonly unknown[], items: readonly unknown[]) => unknown;
}

const truth = (value: unknown): boolean => {
  if (typeof value !== "boolean") throw new Error("a predicate must return bool");
  return value;
};

/** As `&&` and `||` do: an error counts only when no other item decides. */
function quantified(steps: Iterable<(at: number) => unknown>, decides: boolean): boolean {
  let fault: unknown;
  for (const step of steps) {
    try {
      if (truth(step(0)) === decides) return decides;
    } catch (error) {
      fault ??= error;
    }
  }
  if (fault !== undefined) throw fault;
  return !decides;
}

const ALL: Comprehension = { predicateAt: 0, resultType: () => "bool", run: (steps) => quantified(steps, false) };
const EXISTS: Comprehension = { predicateAt: 0, resultType: () => "bool", run: (steps) => quantified(steps, true) };
const EXISTS_ONE: Comprehension = {
  predicateAt: 0,
  resultType: () => "bool",
  run: (steps) => [...steps].filter((step) => truth(step(0))).length === 1,
};

const transformList = (filtered: boolean): Comprehension => ({
  predicateAt: filtered ? 0 : undefined,
  resultType: (_, checked) => `list<${nameOf(checked.at(-1))}>`,
  run: (steps) => [...steps].flatMap((step) => (filtered && !truth(step(0)) ? [] : [step(filtered ? 1 : 0)])),
});

const transformMap = (filtered: boolean): Comprehension => ({
  predicateAt: filtered ? 0 : undefined,
  resultType: (macro, checked) => `map<${nameOf(macro.types?.[0])}, ${nameOf(checked.at(-1))}>`,
  run: (steps, keys) => {
    const result = new Map<unknown, unknown>();
    let i = 0;
    for (const step of steps) {
      const key = keys[i++];
      if (!filtered || truth(step(0))) result.set(key, step(filtered ? 1 : 0));
    }
    return result;
  },
});

const transformMapEntry = (filtered: boolean): Comprehension => ({
  predicateAt: filtered ? 0 : undefined,
  resultType: () => "map<dyn, dyn>",
  run: (steps) => {
    const result = new Map<unknown, unknown>();
    for (const step of steps) {
      if (filtered && !truth(step(0))) continue;
      for (const [key, value] of entriesOf(step(filtered ? 1 : 0))) {
        if (result.has(key)) throw new Error(`insert failed: key ${String(key)} already exists`);
        result.set(key, value);
      }
    }
    return result;
  },
});

const nameOf = (type: TypeOfNode | undefined): string => type?.name ?? "dyn";

function entriesOf(range: unknown): [unknown, unknown][] {
  if (Array.isArray(range) || range instanceof Set) return [...range].map((item, i) => [BigInt(i), item]);
  if (range instanceof Map) return [...range];
  if (typeof range === "object" && range !== null) return Object.entries(range);
  throw new Error("a comprehension needs a list or a map");
}

function variable(node: Node | undefined): string {
  if (node?.op !== "id") throw new Error("a comprehension's variable must be a name");
  return node.args as string;
}

function variableTypes(checker: Checker, receiver: Node, scope: Scope): [TypeOfNode, TypeOfNode] {
  const range = checker.check(receiver, scope);
  const dyn = checker.getType("dyn");
  if (range.kind === "dyn") return [dyn, dyn];
  if (range.kind === "list") return [checker.getType("int"), range.valueType ?? dyn];
  if (range.kind === "map") return [range.keyType ?? dyn, range.valueType ?? dyn];
  throw checker.createError(
    "invalid_comprehension_range",
    `Expression of type '${range.name}' cannot be range of a comprehension`,
    receiver,
  );
}

function macroOf(comprehension: Comprehension, variables: 1 | 2) {
  return ({ args, receiver }: { readonly args: readonly Node[]; readonly receiver: Node }) => {
    const [keyName, itemName] = variables === 2 ? [variable(args[0]), variable(args[1])] : ["", variable(args[0])];
    const bodies = args.slice(variables);
    return {
      args,
      receiver,
      typeCheck(checker: Checker, macro: Macro, scope: Scope): TypeOfNode {
        const types = variableTypes(checker, receiver, scope);
        macro.types = variables === 2 ? types : [types[0], types[0].name === "int" || types[0].kind === "dyn" ? types[1] : types[0]];
        let inner = scope.forkWithVariable(itemName, macro.types[1]);
        if (keyName !== "") inner = inner.forkWithVariable(keyName, macro.types[0]);
        const checked = bodies.map((body) => checker.check(body, inner));
        const predicate = comprehension.predicateAt === undefined ? undefined : checked[comprehension.predicateAt];
        if (predicate && predicate.type !== "bool" && predicate.kind !== "dyn")
          throw checker.createError("invalid_predicate", `a predicate must return bool, got '${predicate.name}'`, receiver);
        return checker.getType(comprehension.resultType(macro, checked));
      },
      evaluate(evaluator: Evaluator, macro: Macro, scope: Scope): unknown {
        const range = evaluator.run(receiver, scope);
        const entries = entriesOf(range);
        const [keyType, itemType] = macro.types ?? [evaluator.dynType, evaluator.dynType];
        const overKeys = variables === 1 && !(Array.isArray(range) || range instanceof Set);
        const steps = entries.map(([key, item]) => (at: number) => {
          let inner = scope.forkWithVariable(itemName, itemType).setIterValue(overKeys ? key : item, evaluator);
          if (keyName !== "") inner = inner.forkWithVariable(keyName, keyType).setIterValue(key, evaluator);
          return evaluator.run(bodies[at] as Node, inner);
        });
        return comprehension.run(
          steps,
          entries.map(([key]) => key),
          entries.map(([, item]) => item),
        );
      },
      /** Nodes run once per item, for the step count (program.ts). */
      bodies,
      async: false,
    };
  };
}

/** `format` takes values of any types; everywhere else the items of a list have one. */
export function registerFormat(environment: Environment): void {
  const expand = ({ args, receiver }: { readonly args: readonly Node[]; readonly receiver: Node }) => {
    const [list] = args;
    const parts = list?.op === "list" ? (list.args as readonly Node[]) : undefined;
    return {
      args,
      receiver,
      typeCheck(checker: Checker, _: Macro, scope: Scope): TypeOfNode {
        const template = checker.check(receiver, scope);
        if (template.kind !== "dyn" && template.name !== "string")
          throw checker.createError("no_matching_overload", `found no matching overload for '${template.name}.format(list)'`, receiver);
        for (const part of parts ?? args) checker.check(part, scope);
        return checker.getType("string");
      },
      evaluate(evaluator: Evaluator, _: Macro, scope: Scope): unknown {
        const template = evaluator.run(receiver, scope) as string;
        if (parts)
          return format(
            template,
            parts.map((part) => evaluator.run(part, scope)),
          );
        return format(template, [...(evaluator.run(list as Node, scope) as Iterable<unknown>)]);
      },
      async: false,
    };
  };
  environment.registerFunction("string.format(ast): string", expand as never, { async: false } as never);
}

/** `optMap(v, body)`: the body's value where the optional has one; `optFlatMap`: the body gives an optional itself. */
function registerOptionalMap(environment: Environment, name: string, isFlat: boolean): void {
  const expand = ({ args, receiver }: { readonly args: readonly Node[]; readonly receiver: Node }) => {
    const item = variable(args[0]);
    const body = args[1] as Node;
    return {
      args,
      receiver,
      typeCheck(checker: Checker, macro: Macro, scope: Scope): TypeOfNode {
        const type = checker.check(receiver, scope);
        const dyn = checker.getType("dyn");
        if (type.kind !== "optional" && type.kind !== "dyn")
          throw checker.createError("optional_expected", `${name}() receiver must be optional, got '${type.name}'`, receiver);
        const inner = type.valueType ?? dyn;
        macro.types = [inner, inner];
        const result = checker.check(body, scope.forkWithVariable(item, inner));
        return isFlat ? result : checker.getType(`optional<${nameOf(result)}>`);
      },
      evaluate(evaluator: Evaluator, macro: Macro, scope: Scope): unknown {
        const optional = evaluator.run(receiver, scope) as Optional;
        if (!optional.hasValue()) return optional;
        const type = macro.types?.[0] ?? evaluator.dynType;
        const result = evaluator.run(body, scope.forkWithVariable(item, type).setIterValue(optional.value(), evaluator));
        return isFlat ? result : Optional.of(result);
      },
      async: false,
    };
  };
  environment.registerFunction(`dyn.${name}(ast, ast): dyn`, expand as never, { async: false } as never);
}

/** Sorted by what the body makes of each item. */
const SORT_BY: Comprehension = {
  predicateAt: undefined,
  resultType: (macro) => `list<${nameOf(macro.types?.[1])}>`,
  run: (steps, _keys, items) => {
    const sortKeys = [...steps].map((step) => step(0) as never);
    const order = items.map((_, i) => i);
    order.sort((a, b) => {
      const [left, right] = [sortKeys[a] as never, sortKeys[b] as never];
      return left < right ? -1 : left > right ? 1 : a - b;
    });
    return order.map((i) => items[i]);
  },
};

export function registerComprehensions(environment: Environment): void {
  const register = (signature: string, comprehension: Comprehension, variables: 1 | 2 = 2): void => {
    environment.registerFunction(signature, macroOf(comprehension, variables) as never, { async: false } as never);
  };
  register("dyn.all(ast, ast, ast): bool", ALL);
  register("dyn.exists(ast, ast, ast): bool", EXISTS);
  register("dyn.existsOne(ast, ast, ast): bool", EXISTS_ONE);
  register("dyn.exists_one(ast, ast, ast): bool", EXISTS_ONE);
  register("dyn.existsOne(ast, ast): bool", EXISTS_ONE, 1);
  registerOptionalMap(environment, "optMap", false);
  registerOptionalMap(environment, "optFlatMap", true);
  register("dyn.sortBy(ast, ast): list<dyn>", SORT_BY, 1);
  register("dyn.transformList(ast, ast, ast): list<dyn>", transformList(false));
  register("dyn.transformList(ast, ast, ast, ast): list<dyn>", transformList(true));
  register("dyn.transformMap(ast, ast, ast): map<dyn, dyn>", transformMap(false));
  register("dyn.transformMap(ast, ast, ast, ast): map<dyn, dyn>", transformMap(true));
  register("dyn.transformMapEntry(ast, ast, ast): map<dyn, dyn>", transformMapEntry(false));
  register("dyn.transformMapEntry(ast, ast, ast, ast): map<dyn, dyn>", transformMapEntry(true));
}
