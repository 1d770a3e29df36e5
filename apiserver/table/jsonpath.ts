// The JSONPath subset of printer columns, selectable fields and scale paths: fields, indexes, slices, wildcards, filters.
// Here: compiling a path to a function over objects. Not here: templates with text and ranges (kubectl does those itself).
// Source: Kubernetes documentation, "JSONPath support".

/** All values that the path finds, in order; empty when it finds none. */
export type PathQuery = (object: unknown) => readonly unknown[];

type Step = (values: readonly unknown[]) => readonly unknown[];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((v) => (isRecord(v) && v[name] !== undefined ? [v[name]] : []));

const wildcard: Step = (values) => values.flatMap((v) => (Array.isArray(v) ? v : isRecord(v) ? Object.values(v) : []));

const deep = (value: unknown): readonly unknown[] => [
  value,
  ...(Array.isArray(value) ? value.flatMap(deep) : isRecord(value) ? Object.values(value).flatMap(deep) : []),
];

function slice(text: string): Step {
  const [from = "", to = "", step = "1"] = text.split(":");
  return (values) =>
    values.flatMap((v) => {
      if (!Array.isArray(v)) return [];
      const part: unknown[] = v.slice(from === "" ? 0 : Number(from), to === "" ? undefined : Number(to));
      const every = Math.max(1, Number(step) || 1);
      return part.filter((_, i) => i % every === 0);
    });
}

const index =
  (i: number): Step =>
  (values) =>
    values.flatMap((v) => {
      const item: unknown = Array.isArray(v) ? v.at(i) : undefined;
      return item === undefined ? [] : [item];
    });

type Compare = (a: unknown, b: unknown) => boolean;
const COMPARE: Readonly<Record<string, Compare>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">=": (a, b) => (a as number) >= (b as number),
  "<=": (a, b) => (a as number) <= (b as number),
  ">": (a, b) => (a as number) > (b as number),
  "<": (a, b) => (a as number) < (b as number),
};

function literal(text: string): unknown {
  const quoted = /^(["'])(.*)\1$/.exec(text);
  if (quoted) return quoted[2];
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : undefined;
}

function operand(text: string): (item: unknown) => unknown {
  if (!text.startsWith("@") && !text.startsWith("$")) {
    const value = literal(text);
    if (value === undefined) throw new Error(`unrecognized operand ${JSON.stringify(text)}`);
    return () => value;
  }
  const query = compilePath(text.slice(1));
  return (item) => query(item)[0];
}

function filter(text: string): Step {
  const match = /^(.+?)\s*(==|!=|>=|<=|>|<)\s*(.+)$/.exec(text.trim());
  const keep: (item: unknown) => boolean = (() => {
    if (!match) {
      const exists = operand(text.trim());
      return (item) => exists(item) !== undefined;
    }
    const [, left = "", sign = "", right = ""] = match;
    const [a, b] = [operand(left.trim()), operand(right.trim())];
    const compare = COMPARE[sign] as Compare;
    return (item) => a(item) !== undefined && compare(a(item), b(item));
  })();
  return (values) => values.flatMap((v) => (Array.isArray(v) ? v.filter(keep) : []));
}

/** The end of a bracket that opens at `from`, quotes and inner brackets respected. */
function closing(path: string, from: number): number {
  let depth = 0;
  let quote = "";
  for (let i = from; i < path.length; i++) {
    const c = path[i] ?? "";
    if (quote !== "") {
      if (c === quote) quote = "";
    } else if (c === "'" || c === '"') quote = c;
    else if (c === "[") depth += 1;
    else if (c === "]" && --depth === 0) return i;
  }
  throw new Error("unterminated array");
}

function bracket(text: string): Step {
  const inner = text.trim();
  if (inner === "*") return wildcard;
  if (inner.startsWith("?(") && inner.endsWith(")")) return filter(inner.slice(2, -1));
  if (/^-?\d+$/.test(inner)) return index(Number(inner));
  if (/^-?\d*:-?\d*(:\d*)?$/.test(inner)) return slice(inner);
  const quoted = /^(["'])(.*)\1$/.exec(inner);
  if (quoted) return field((quoted[2] ?? "").replace(/\\(.)/g, "$1"));
  if (inner.includes(",")) {
    const parts = inner.split(",").map(bracket);
    return (values) => parts.flatMap((part) => part(values));
  }
  throw new Error(`invalid array index ${JSON.stringify(inner)}`);
}

/** A field name from `from` on, backslashes taken out. */
function readName(text: string, from: number): { readonly name: string; readonly end: number } {
  let name = "";
  let i = from;
  while (i < text.length && text[i] !== "." && text[i] !== "[") {
    if (text[i] === "\\" && i + 1 < text.length) i += 1;
    name += text[i] ?? "";
    i += 1;
  }
  return { name, end: i };
}

/** One step of a path from `from` on; no step for a dot that only leads to a bracket or ends the path. */
function readStep(text: string, from: number): { readonly step?: Step; readonly end: number } {
  if (text[from] === "[") {
    const end = closing(text, from);
    return { step: bracket(text.slice(from + 1, end)), end: end + 1 };
  }
  if (text.startsWith("..", from)) {
    return { step: (values) => values.flatMap(deep), end: from + (text[from + 2] === "[" ? 2 : 1) };
  }
  if (text[from] !== "." && from > 0) throw new Error(`unexpected ${JSON.stringify(text.slice(from))}, expected . or [`);
  const { name, end } = readName(text, text[from] === "." ? from + 1 : from);
  if (name !== "") return { step: name === "*" ? wildcard : field(name), end };
  if (text[end] === "[" || text === ".") return { end };
  throw new Error(`empty field name in ${JSON.stringify(text)}`);
}

/** @param path such as `.spec.replicas` or `{.status.conditions[?(@.type=="Ready")].status}`   @throws Error with what is wrong */
export function compilePath(path: string): PathQuery {
  const text = path
    .trim()
    .replace(/^\{(.*)\}$/, "$1")
    .replace(/^\$/, "");
  const steps: Step[] = [];
  let i = 0;
  while (i < text.length) {
    const { step, end } = readStep(text, i);
    if (step) steps.push(step);
    i = end;
  }
  return (object) => steps.reduce<readonly unknown[]>((values, step) => step(values), [object]);
}
