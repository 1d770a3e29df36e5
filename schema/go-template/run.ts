// Running a Go text template over JSON-like data. Here: control, variables, fields, output. Not here: the tree (nodes.ts), functions (library.ts).
// Numbers are floats, as data that came through JSON has them. Source: text/template.
import { type TemplateFunction, templateLibrary } from "./library.ts";
import { type Body, type Command, type Operand, type Pipe, type TemplateNode, type TemplateTree, templateTree } from "./nodes.ts";
import { TemplateFault } from "./tokens.ts";
import { isTrue, textOf } from "./values.ts";

/** Longer output is a mistake: a template that repeats itself without end. */
const OUTPUT_MAX = 1_048_576;
const DEPTH_MAX = 100;

/** @param data what `.` stands for  @throws TemplateFault when it cannot be parsed or run */
export function renderTemplate(template: string, data: unknown): string {
  const tree = treeOf(template);
  const run = new Run(tree);
  run.body(tree.body, data, [new Map([["$", data]])], 0);
  return run.output;
}

const trees = new Map<string, TemplateTree>();
const TREES_MAX = 1_000;

/** Templates of a class run again and again. */
function treeOf(template: string): TemplateTree {
  const known = trees.get(template);
  if (known) return known;
  const tree = templateTree(template);
  if (trees.size >= TREES_MAX) trees.clear();
  trees.set(template, tree);
  return tree;
}

type Scopes = readonly Map<string, unknown>[];
type Signal = "break" | "continue" | undefined;

class Run {
  output = "";
  readonly #tree: TemplateTree;
  constructor(tree: TemplateTree) {
    this.#tree = tree;
  }

  body(nodes: Body, dot: unknown, scopes: Scopes, depth: number): Signal {
    if (depth > DEPTH_MAX) throw new TemplateFault(`templates call each other more than ${DEPTH_MAX} deep`);
    for (const node of nodes) {
      const signal = this.#node(node, dot, scopes, depth);
      if (signal) return signal;
    }
    return undefined;
  }

  #node(node: TemplateNode, dot: unknown, scopes: Scopes, depth: number): Signal {
    switch (node.is) {
      case "text":
        this.#print(node.text);
        return undefined;
      case "pipe": {
        const value = this.#pipe(node.pipe, dot, scopes);
        if (node.pipe.declares.length === 0) this.#print(textOf(value));
        return undefined;
      }
      case "break":
      case "continue":
        return node.is;
      case "template": {
        const named = this.#tree.named.get(node.name);
        if (!named) throw new TemplateFault(`template ${JSON.stringify(node.name)} is not defined`);
        const data = node.pipe ? this.#pipe(node.pipe, dot, scopes) : undefined;
        this.body(named, data, [new Map([["$", data]])], depth + 1);
        return undefined;
      }
      default:
        return this.#control(node, dot, [...scopes, new Map()], depth);
    }
  }

  #control(node: TemplateNode & { is: "if" | "with" | "range" }, dot: unknown, scopes: Scopes, depth: number): Signal {
    const value = this.#pipe(node.pipe, dot, scopes);
    if (!isTrue(value)) return this.body(node.otherwise, dot, scopes, depth);
    if (node.is === "if") return this.body(node.body, dot, scopes, depth);
    if (node.is === "with") return this.body(node.body, value, scopes, depth);
    for (const [key, item] of entriesOf(value)) {
      const scope = new Map<string, unknown>();
      const [first, second] = node.pipe.declares;
      if (first !== undefined) scope.set(first, second === undefined ? item : key);
      if (second !== undefined) scope.set(second, item);
      if (this.body(node.body, item, [...scopes, scope], depth) === "break") break;
    }
    return undefined;
  }

  #print(text: string): void {
    this.output += text;
    if (this.output.length > OUTPUT_MAX) throw new TemplateFault(`output is longer than ${OUTPUT_MAX} characters`);
  }

  #pipe({ declares, assigns, commands }: Pipe, dot: unknown, scopes: Scopes): unknown {
    let value: unknown;
    for (const [i, command] of commands.entries()) value = this.#command(command, dot, scopes, i > 0 ? [value] : []);
    const [name] = declares;
    if (name !== undefined) {
      const scope = assigns ? [...scopes].reverse().find((s) => s.has(name)) : scopes.at(-1);
      if (!scope) throw new TemplateFault(`variable ${name} is not defined`);
      scope.set(name, value);
    }
    return value;
  }

  #command([first, ...rest]: Command, dot: unknown, scopes: Scopes, piped: readonly unknown[]): unknown {
    if (!first) throw new TemplateFault("a command is empty");
    if (first.base.is === "function") {
      const { name } = first.base;
      const args = (): readonly unknown[] => [...rest.map((o) => this.#operand(o, dot, scopes)), ...piped];
      if (name === "and" || name === "or") return this.#lazy(name, rest, dot, scopes, piped);
      return fieldsOf(call(name, args()), first.fields);
    }
    if (rest.length > 0 || piped.length > 0) throw new TemplateFault("arguments are given to something that is no function");
    return this.#operand(first, dot, scopes);
  }

  /** Stops at the argument that decides. */
  #lazy(name: "and" | "or", operands: Command, dot: unknown, scopes: Scopes, piped: readonly unknown[]): unknown {
    let value: unknown;
    for (const operand of operands) {
      value = this.#operand(operand, dot, scopes);
      if (isTrue(value) === (name === "or")) return value;
    }
    return piped.length > 0 ? piped[0] : value;
  }

  #operand({ base, fields }: Operand, dot: unknown, scopes: Scopes): unknown {
    switch (base.is) {
      case "dot":
        return fieldsOf(dot, fields);
      case "value":
        return base.value;
      case "variable": {
        const scope = [...scopes].reverse().find((s) => s.has(base.name));
        if (!scope) throw new TemplateFault(`variable ${base.name} is not defined`);
        return fieldsOf(scope.get(base.name), fields);
      }
      case "function":
        return fieldsOf(call(base.name, []), fields);
      case "pipe":
        return fieldsOf(this.#pipe(base.pipe, dot, scopes), fields);
    }
  }
}

function call(name: string, args: readonly unknown[]): unknown {
  const found: TemplateFunction | undefined = templateLibrary.get(name);
  if (!found) throw new TemplateFault(`function ${name} cannot be used here: write the template without it`);
  return found(...args);
}

function fieldsOf(value: unknown, fields: readonly string[]): unknown {
  let at = value;
  for (const [i, field] of fields.entries()) {
    if (at === undefined || at === null) {
      if (i === 0) return undefined;
      throw new TemplateFault(`.${fields.slice(0, i).join(".")} has no value, so .${field} below it cannot be read`);
    }
    if (typeof at !== "object" || Array.isArray(at)) throw new TemplateFault(`.${field} is asked of ${textOf(at)}, which has no fields`);
    at = Object.hasOwn(at, field) ? (at as Readonly<Record<string, unknown>>)[field] : undefined;
  }
  return at;
}

function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(value)) return value.map((item, i) => [i, item]);
  if (typeof value === "number") return Array.from({ length: Math.max(0, Math.floor(value)) }, (_, i) => [i, i]);
  if (typeof value === "object" && value !== null) return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  throw new TemplateFault(`range cannot walk over ${textOf(value)}`);
}
