// What a rule may cost at worst, before it ever runs: kube-apiserver refuses CRDs whose rules could be too expensive.
// Here: sizes that a schema allows, and the cost of expressions over them. Not here: limits and where they are told (../crd-rules.ts).
// Source: cel-go's cost estimation with Kubernetes' sizes. What is not known counts as nothing, so that no good rule is refused.
import type { JsonSchema } from "../../api/meta/schema.ts";
import { escapeName } from "./value.ts";

/** The largest request body, bytes: no value can be larger. */
const REQUEST_BYTES_MAX = 3 * 1024 * 1024;
const BYTES_PER_CHARACTER = 4;
const NAME_MAX = 253;
const STRING_FACTOR = 0.1; // cost of looking at one character
const REGEX_FACTOR = 0.25; // cost of one character of a pattern, for each character it is tried on
const LIST_COST = 10;
const MAP_COST = 30;

/** How large a value can be. Sizes are characters, items or entries; 1 for scalars, 0 for objects. */
export interface Shape {
  readonly kind: "string" | "list" | "map" | "object" | "scalar";
  readonly size: number;
  /** Fewest bytes as JSON. */
  readonly bytesMin: number;
  readonly item?: Shape;
  readonly fields?: ReadonlyMap<string, Shape>;
}

const text = (size: number): Shape => ({ kind: "string", size, bytesMin: 2 });
const SCALAR: Shape = { kind: "scalar", size: 1, bytesMin: 1 };
const UNBOUNDED_TEXT = text(REQUEST_BYTES_MAX - 2);

export function shapeOf(schema: JsonSchema, isResource = false): Shape {
  if (schema["x-kubernetes-int-or-string"] === true) return UNBOUNDED_TEXT;
  switch (schema.type) {
    case "string":
      return stringShape(schema);
    case "array": {
      const item = schema.items ? shapeOf(schema.items) : SCALAR;
      const size = schema.maxItems ?? Math.floor((REQUEST_BYTES_MAX - 2) / (item.bytesMin + 1));
      return { kind: "list", size, bytesMin: 2, item };
    }
    case "object":
      return objectShape(schema, isResource || schema["x-kubernetes-embedded-resource"] === true);
    case "boolean":
      return { ...SCALAR, bytesMin: 4 };
    default:
      return SCALAR;
  }
}

function stringShape(schema: JsonSchema): Shape {
  if (schema.format === "date" || schema.format === "date-time" || schema.format === "duration") return { ...SCALAR, bytesMin: 3 };
  if (schema.maxLength !== undefined) return text(schema.maxLength * (schema.format === "byte" ? 1 : BYTES_PER_CHARACTER));
  if (schema.enum && schema.enum.length > 0) return text(Math.max(...schema.enum.map((value) => String(value).length)));
  return UNBOUNDED_TEXT;
}

function objectShape(schema: JsonSchema, isResource: boolean): Shape {
  if (typeof schema.additionalProperties === "object") {
    const item = shapeOf(schema.additionalProperties);
    const size = schema.maxProperties ?? Math.floor((REQUEST_BYTES_MAX - 2) / (item.bytesMin + 6));
    return { kind: "map", size, bytesMin: 2, item };
  }
  const fields = new Map<string, Shape>();
  let bytesMin = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const shape = shapeOf(property);
    fields.set(escapeName(name) ?? name, shape);
    // Quotes, colon and comma beside the name itself.
    if (schema.required?.includes(name) && property.default === undefined) bytesMin += name.length + 4 + shape.bytesMin;
  }
  if (isResource) {
    fields.set("apiVersion", UNBOUNDED_TEXT).set("kind", UNBOUNDED_TEXT);
    const name = text(NAME_MAX * BYTES_PER_CHARACTER);
    const names = new Map([["name", name] as const, ["generateName", name] as const]);
    fields.set("metadata", { kind: "object", size: 0, bytesMin: 2, fields: names });
  }
  return { kind: "object", size: 0, bytesMin, fields };
}

/** How often a value of this shape fits into one request. */
export const occurrencesMax = (shape: Shape): number => Math.floor(REQUEST_BYTES_MAX / (shape.bytesMin + 1));

// ---- Expressions

/** A parsed expression of the core library, before its checks. */
export interface ExpressionNode {
  readonly op: string;
  readonly args: unknown;
}

interface Estimate {
  readonly cost: number;
  /** Undefined: not known. */
  readonly shape?: Shape;
}

type Variables = ReadonlyMap<string, Shape | undefined>;

/** Cost of one evaluation at worst. */
export const expressionCost = (node: ExpressionNode, self: Shape): number =>
  estimate(
    node,
    new Map([
      ["self", self],
      ["oldSelf", self],
    ]),
  ).cost;

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
const ARITHMETIC: ReadonlySet<string> = new Set(["-", "*", "/", "%", "!_", "-_"]);

const nodesOf = (args: unknown): readonly ExpressionNode[] => (Array.isArray(args) ? args : [args]) as readonly ExpressionNode[];
const traversal = (size: number): number => Math.ceil(size * STRING_FACTOR);
const sizeOf = (e: Estimate | undefined): number => e?.shape?.size ?? 0;
const sum = (estimates: readonly Estimate[]): number => estimates.reduce((total, e) => total + e.cost, 0);

function estimate(node: ExpressionNode, variables: Variables): Estimate {
  const { op, args } = node;
  const all = (): Estimate[] => nodesOf(args).map((part) => estimate(part, variables));
  if (COMPARISONS.has(op)) return comparison(all());
  if (ARITHMETIC.has(op)) return { cost: sum(all()) + 1, shape: SCALAR };
  switch (op) {
    case "value":
      return { cost: 0, shape: typeof args === "string" ? text(args.length) : SCALAR };
    case "id":
      return { cost: 1, shape: variables.get(args as string) };
    case ".":
    case ".?":
      return select(args as [ExpressionNode, string], variables);
    case "[]":
    case "[?]": {
      const [range, index] = all();
      return { cost: (range?.cost ?? 0) + (index?.cost ?? 0) + 1, shape: range?.shape?.item };
    }
    case "&&":
    case "||":
      return { cost: sum(all()), shape: SCALAR };
    case "?:": {
      const [condition, left, right] = all();
      const cost = (condition?.cost ?? 0) + Math.max(left?.cost ?? 0, right?.cost ?? 0);
      return { cost, shape: sizeOf(left) > sizeOf(right) ? left?.shape : right?.shape };
    }
    case "+":
      return addition(all());
    case "in":
      return membership(all());
    case "list": {
      const items = all();
      return { cost: LIST_COST + sum(items), shape: { kind: "list", size: items.length, bytesMin: 2, item: items[0]?.shape } };
    }
    case "map": {
      const pairs = (args as readonly (readonly ExpressionNode[])[]).flat().map((part) => estimate(part, variables));
      return { cost: MAP_COST + sum(pairs), shape: { kind: "map", size: pairs.length / 2, bytesMin: 2, item: pairs[1]?.shape } };
    }
    case "call":
      return call(args as [string, readonly ExpressionNode[]], variables);
    case "rcall":
      return method(args as [string, ExpressionNode, readonly ExpressionNode[]], variables);
    default:
      return { cost: 0 };
  }
}

/** Only as far as the shorter side. */
function comparison(sides: readonly Estimate[]): Estimate {
  const known = sides.flatMap((side) => (side.shape ? [side.shape.size] : []));
  return { cost: sum(sides) + (known.length === 0 ? 1 : traversal(Math.min(...known))), shape: SCALAR };
}

function select([operand, name]: [ExpressionNode, string], variables: Variables): Estimate {
  const { cost, shape } = estimate(operand, variables);
  return { cost: cost + 1, shape: shape?.kind === "map" ? shape.item : shape?.fields?.get(name) };
}

function addition(sides: readonly Estimate[]): Estimate {
  const size = sizeOf(sides[0]) + sizeOf(sides[1]);
  const shape = sides[0]?.shape ?? sides[1]?.shape;
  const isText = shape?.kind === "string";
  return { cost: sum(sides) + (isText ? traversal(size) : 1), shape: shape && (shape.kind === "scalar" ? shape : { ...shape, size }) };
}

function membership(sides: readonly Estimate[]): Estimate {
  const range = sides[1]?.shape;
  return { cost: sum(sides) + (range?.kind === "list" ? range.size : 1), shape: SCALAR };
}

function call([name, args]: [string, readonly ExpressionNode[]], variables: Variables): Estimate {
  const parts = args.map((part) => estimate(part, variables));
  const [first, second] = parts;
  switch (name) {
    case "has":
      return { cost: (first?.cost ?? 1) - 1, shape: SCALAR }; // the test itself is free
    case "size":
      return { cost: sum(parts) + 1, shape: SCALAR };
    case "matches":
      return { cost: sum(parts) + matching(first, second), shape: SCALAR };
    case "string":
    case "dyn":
      return { cost: sum(parts) + traversal(sizeOf(first)), shape: first?.shape };
    default:
      // Parsers of durations, quantities, addresses look at each character once.
      return { cost: sum(parts) + (first?.shape?.kind === "string" ? traversal(first.shape.size) : 1), shape: SCALAR };
  }
}

const matching = (subject: Estimate | undefined, pattern: Estimate | undefined): number =>
  traversal(sizeOf(subject) + 1) * Math.ceil(sizeOf(pattern) * REGEX_FACTOR);

/** Cost of one round beside its body, and how the bodies and the result look. */
interface Loop {
  readonly variables: 1 | 2;
  readonly perItem: number;
  readonly result: "scalar" | "list" | "map";
}
const loop = (variables: 1 | 2, perItem: number, result: Loop["result"] = "scalar"): Loop => ({ variables, perItem, result });

/** By name and number of arguments. */
const LOOPS: Readonly<Record<string, Loop>> = {
  "all/2": loop(1, 3),
  "exists/2": loop(1, 4),
  "exists_one/2": loop(1, 2),
  "existsOne/2": loop(1, 2),
  "map/2": loop(1, 12, "list"),
  "map/3": loop(1, 13, "list"),
  "filter/2": loop(1, 14, "list"),
  "all/3": loop(2, 3),
  "exists/3": loop(2, 4),
  "existsOne/3": loop(2, 2),
  "exists_one/3": loop(2, 2),
  "transformList/3": loop(2, 12, "list"),
  "transformList/4": loop(2, 13, "list"),
  "transformMap/3": loop(2, 12, "map"),
  "transformMap/4": loop(2, 13, "map"),
  "transformMapEntry/3": loop(2, 40, "map"),
  "transformMapEntry/4": loop(2, 41, "map"),
};

const WHOLE_TEXT: ReadonlySet<string> = new Set(
  "lowerAscii upperAscii trim replace substring split charAt indexOf lastIndexOf reverse format".split(" "),
);
const WHOLE_LIST: ReadonlySet<string> = new Set("isSorted sum min max indexOf lastIndexOf join".split(" "));

function method([name, receiver, args]: [string, ExpressionNode, readonly ExpressionNode[]], variables: Variables): Estimate {
  const found = LOOPS[`${name}/${args.length}`];
  if (found) return comprehension(found, receiver, args, variables);
  const on = estimate(receiver, variables);
  const parts = args.map((part) => estimate(part, variables));
  const cost = on.cost + sum(parts);
  const isList = on.shape?.kind === "list";
  if (name === "startsWith" || name === "endsWith") return { cost: cost + traversal(sizeOf(parts[0])), shape: SCALAR };
  if (name === "contains" && !isList) return { cost: cost + traversal(sizeOf(on)) * traversal(sizeOf(parts[0])), shape: SCALAR };
  if (name === "matches" || name === "find" || name === "findAll")
    return { cost: cost + matching(on, parts[0]), shape: name === "matches" ? SCALAR : on.shape };
  if (isList && WHOLE_LIST.has(name)) return { cost: cost + sizeOf(on), shape: on.shape?.item };
  if (WHOLE_TEXT.has(name)) return { cost: cost + traversal(sizeOf(on)), shape: on.shape };
  const keeps = name === "orValue" || name === "value" || name === "or";
  return { cost: cost + 1, shape: keeps ? (on.shape ?? parts[0]?.shape) : SCALAR };
}

function comprehension(found: Loop, receiver: ExpressionNode, args: readonly ExpressionNode[], variables: Variables): Estimate {
  const range = estimate(receiver, variables);
  const size = sizeOf(range);
  const item = range.shape?.item;
  const inner = new Map(variables);
  const names = args.slice(0, found.variables).map((node) => String(node.args));
  const key = range.shape?.kind === "map" ? UNBOUNDED_TEXT : SCALAR;
  if (names.length === 2) inner.set(names[0] as string, key).set(names[1] as string, item);
  else inner.set(names[0] as string, range.shape?.kind === "map" ? key : item);
  const bodies = args.slice(found.variables).map((body) => estimate(body, inner));
  const result = bodies.at(-1)?.shape;
  const shape: Shape = found.result === "scalar" ? SCALAR : { kind: found.result, size, bytesMin: 2, item: result ?? item };
  const create = found.result === "list" ? LIST_COST : found.result === "map" ? MAP_COST : 0;
  return {
    cost: range.cost + create + 1 + size * (found.perItem + sum(bodies)),
    shape: namesItems(found, args) ? { ...shape, item } : shape,
  };
}

/** `filter` gives the items themselves. */
const namesItems = (found: Loop, args: readonly ExpressionNode[]): boolean => found === LOOPS["filter/2"] && args.length === 2;
