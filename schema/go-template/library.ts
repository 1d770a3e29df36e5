// What functions of templates do. Here: those of the language and of sprig that make sense over JSON data and give the same result each time.
// Not here: the names that admission accepts (functions.ts); a name without an entry here fails when it runs. Source: text/template; sprig.
import { sameJson } from "../json-values.ts";
import { TemplateFault } from "./tokens.ts";
import { isTrue, textOf } from "./values.ts";

export type TemplateFunction = (...args: readonly unknown[]) => unknown;

const text = (value: unknown): string => (value === undefined || value === null ? "" : textOf(value));
const number = (value: unknown): number => {
  const n = typeof value === "number" ? value : Number(text(value).trim() || 0);
  return Number.isFinite(n) ? n : 0;
};
const whole = (value: unknown): number => Math.trunc(number(value));
const items = (value: unknown, name: string): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw new TemplateFault(`${name} needs a list, but got ${textOf(value)}`);
};
type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown, name: string): Fields => {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Fields;
  throw new TemplateFault(`${name} needs a map, but got ${textOf(value)}`);
};

function order(a: unknown, b: unknown, name: string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  throw new TemplateFault(`${name} cannot compare ${textOf(a)} with ${textOf(b)}`);
}

function lengthOf(value: unknown): number {
  if (typeof value === "string") return new TextEncoder().encode(value).length;
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object" && value !== null) return Object.keys(value).length;
  throw new TemplateFault(`len of ${textOf(value)} is not defined`);
}

function indexInto(value: unknown, ...keys: readonly unknown[]): unknown {
  return keys.reduce((at: unknown, key) => {
    if (Array.isArray(at)) {
      const i = number(key);
      if (i < 0 || i >= at.length) throw new TemplateFault(`index ${i} is out of range: the list has ${at.length} items`);
      return at[i];
    }
    return Object.hasOwn(fields(at, "index"), text(key)) ? fields(at, "index")[text(key)] : undefined;
  }, value);
}

function sliceOf(value: unknown, from: unknown = 0, to?: unknown): unknown {
  const end = to === undefined ? undefined : number(to);
  return typeof value === "string" ? value.slice(number(from), end) : items(value, "slice").slice(number(from), end);
}

/** Verbs of fmt for texts, numbers and any value. */
function format(pattern: unknown, ...args: readonly unknown[]): string {
  let next = 0;
  return text(pattern).replace(
    /%([-+# 0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g,
    (_all, flags: string, width: string | undefined, precision, verb) => {
      if (verb === "%") return "%";
      const out = formatted(verb as string, args[next++], precision as string | undefined);
      if (width === undefined) return out;
      if (flags.includes("-")) return out.padEnd(Number(width));
      return out.padStart(Number(width), flags.includes("0") ? "0" : " ");
    },
  );
}

function formatted(verb: string, value: unknown, precision: string | undefined): string {
  switch (verb) {
    case "q":
      return JSON.stringify(text(value));
    case "d":
      return String(whole(value));
    case "x":
      return typeof value === "number" ? value.toString(16) : text(value);
    case "f":
      return number(value).toFixed(Number(precision ?? 6));
    default:
      return textOf(value);
  }
}

const indented = (spaces: unknown, value: unknown): string => {
  const pad = " ".repeat(whole(spaces));
  return pad + text(value).replaceAll("\n", `\n${pad}`);
};
const pattern = (value: unknown): RegExp => {
  try {
    return new RegExp(text(value), "gu");
  } catch {
    throw new TemplateFault(`${textOf(value)} is no regular expression`);
  }
};
const goReplacement = (value: unknown): string =>
  text(value).replace(/\$\{(\w+)\}/g, (_a, group: string) => (/^\d+$/.test(group) ? `$${group}` : `$<${group}>`));
const steps = (from: number, to: number, step: number): readonly number[] => {
  const length = step === 0 ? 0 : Math.max(0, Math.ceil((to - from) / step));
  if (length > 10_000) throw new TemplateFault(`${length} numbers are too many`);
  return Array.from({ length }, (_, i) => from + i * step);
};
const unique = (list: readonly unknown[]): readonly unknown[] => list.filter((x, i) => list.findIndex((y) => sameJson(x, y)) === i);
const json = (value: unknown): string => JSON.stringify(sortedKeys(value) ?? null);
const sortedKeys = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sortedKeys)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sortedKeys(v)]),
        )
      : value;
const parsed = (value: unknown): unknown => {
  try {
    return JSON.parse(text(value));
  } catch {
    throw new TemplateFault("fromJson was given no JSON");
  }
};
const kindOf = (value: unknown): string => {
  if (value === undefined || value === null) return "invalid";
  if (Array.isArray(value)) return "slice";
  return { object: "map", string: "string", boolean: "bool", number: "float64" }[typeof value as string] ?? "invalid";
};
const title = (value: unknown): string =>
  text(value).replace(/(^|\s)(\S)/gu, (_a, gap: string, letter: string) => gap + letter.toUpperCase());
const pairs = (args: readonly unknown[]): Fields =>
  Object.fromEntries(Array.from({ length: Math.ceil(args.length / 2) }, (_, i) => [text(args[2 * i]), args[2 * i + 1] ?? ""]));
/** The first map wins, also below. */
const merged = (first: Fields, second: Fields): Fields => {
  const out: Record<string, unknown> = { ...second, ...first };
  for (const key of Object.keys(first)) {
    const [a, b] = [first[key], second[key]];
    if (kindOf(a) === "map" && kindOf(b) === "map") out[key] = merged(a as Fields, b as Fields);
  }
  return out;
};
const bytesToText = (bytes: Uint8Array): string => Array.from(bytes, (b) => String.fromCharCode(b)).join("");
const textToBytes = (binary: string): Uint8Array => Uint8Array.from(binary, (c) => c.charCodeAt(0));

const LANGUAGE: Readonly<Record<string, TemplateFunction>> = {
  not: (a) => !isTrue(a),
  eq: (a, ...others) => others.some((b) => sameJson(a ?? null, b ?? null)),
  ne: (a, b) => !sameJson(a ?? null, b ?? null),
  lt: (a, b) => order(a, b, "lt") < 0,
  le: (a, b) => order(a, b, "le") <= 0,
  gt: (a, b) => order(a, b, "gt") > 0,
  ge: (a, b) => order(a, b, "ge") >= 0,
  len: lengthOf,
  index: indexInto,
  slice: sliceOf,
  print: (...args) => args.map(textOf).join(""),
  println: (...args) => `${args.map(textOf).join(" ")}\n`,
  printf: format,
};

const TEXTS: Readonly<Record<string, TemplateFunction>> = {
  quote: (...args) =>
    args
      .filter((a) => (a ?? null) !== null)
      .map((a) => JSON.stringify(text(a)))
      .join(" "),
  squote: (...args) =>
    args
      .filter((a) => (a ?? null) !== null)
      .map((a) => `'${text(a)}'`)
      .join(" "),
  toString: text,
  upper: (a) => text(a).toUpperCase(),
  lower: (a) => text(a).toLowerCase(),
  title,
  trim: (a) => text(a).trim(),
  trimAll: (cut, a) => trimmed(text(a), text(cut)),
  trimall: (cut, a) => trimmed(text(a), text(cut)),
  trimPrefix: (prefix, a) => (text(a).startsWith(text(prefix)) ? text(a).slice(text(prefix).length) : text(a)),
  trimSuffix: (suffix, a) => (text(suffix) !== "" && text(a).endsWith(text(suffix)) ? text(a).slice(0, -text(suffix).length) : text(a)),
  trunc: (n, a) => (whole(n) < 0 ? text(a).slice(whole(n)) : text(a).slice(0, whole(n))),
  substr: (from, to, a) => text(a).slice(whole(from), whole(to) < 0 ? undefined : whole(to)),
  replace: (old, by, a) => text(a).replaceAll(text(old), () => text(by)),
  repeat: (n, a) => text(a).repeat(Math.min(Math.max(0, whole(n)), 10_000)),
  nospace: (a) => text(a).replace(/\s/g, ""),
  contains: (part, a) => text(a).includes(text(part)),
  hasPrefix: (prefix, a) => text(a).startsWith(text(prefix)),
  hasSuffix: (suffix, a) => text(a).endsWith(text(suffix)),
  indent: indented,
  nindent: (n, a) => `\n${indented(n, a)}`,
  cat: (...args) =>
    args
      .filter((a) => (a ?? null) !== null)
      .map(text)
      .join(" "),
  join: (by, list) => (Array.isArray(list) ? list : [list]).map(text).join(text(by)),
  splitList: (by, a) => text(a).split(text(by)),
  split: (by, a) =>
    Object.fromEntries(
      text(a)
        .split(text(by))
        .map((part, i) => [`_${i}`, part]),
    ),
  toStrings: (list) => items(list, "toStrings").map(text),
  sortAlpha: (list) => items(list, "sortAlpha").map(text).sort(),
  regexMatch: (p, a) => pattern(p).test(text(a)),
  regexFind: (p, a) => text(a).match(pattern(p))?.[0] ?? "",
  regexFindAll: (p, a, n) => (text(a).match(pattern(p)) ?? []).slice(0, whole(n) < 0 ? undefined : whole(n)),
  regexReplaceAll: (p, a, by) => text(a).replace(pattern(p), goReplacement(by)),
  regexReplaceAllLiteral: (p, a, by) => text(a).replace(pattern(p), () => text(by)),
  regexSplit: (p, a) => text(a).split(pattern(p)),
  b64enc: (a) => btoa(bytesToText(new TextEncoder().encode(text(a)))),
  b64dec: (a) => {
    try {
      return new TextDecoder().decode(textToBytes(atob(text(a))));
    } catch {
      throw new TemplateFault("b64dec was given no base64");
    }
  },
};

function trimmed(value: string, cut: string): string {
  let [from, to] = [0, value.length];
  while (from < to && cut.includes(value[from] ?? "\u0000")) from++;
  while (to > from && cut.includes(value[to - 1] ?? "\u0000")) to--;
  return value.slice(from, to);
}

const NUMBERS: Readonly<Record<string, TemplateFunction>> = {
  int: whole,
  int64: whole,
  float64: number,
  atoi: whole,
  add: (...args) => args.reduce((sum: number, a) => sum + whole(a), 0),
  add1: (a) => whole(a) + 1,
  sub: (a, b) => whole(a) - whole(b),
  mul: (...args) => args.reduce((product: number, a) => product * whole(a), 1),
  div: (a, b) => Math.trunc(whole(a) / divisor(b)),
  mod: (a, b) => whole(a) % divisor(b),
  addf: (...args) => args.reduce((sum: number, a) => sum + number(a), 0),
  subf: (a, ...rest) => rest.reduce((left: number, b) => left - number(b), number(a)),
  mulf: (...args) => args.reduce((product: number, a) => product * number(a), 1),
  divf: (a, ...rest) => rest.reduce((left: number, b) => left / number(b), number(a)),
  max: (...args) => Math.max(...args.map(whole)),
  min: (...args) => Math.min(...args.map(whole)),
  ceil: (a) => Math.ceil(number(a)),
  floor: (a) => Math.floor(number(a)),
  round: (a, digits) => Math.round(number(a) * 10 ** whole(digits)) / 10 ** whole(digits),
  until: (n) => steps(0, whole(n), whole(n) < 0 ? -1 : 1),
  untilStep: (from, to, step) => steps(whole(from), whole(to), whole(step)),
};

const divisor = (value: unknown): number => {
  const by = whole(value);
  if (by === 0) throw new TemplateFault("division by 0");
  return by;
};

const DATA: Readonly<Record<string, TemplateFunction>> = {
  default: (otherwise, value) => (isTrue(value) ? value : otherwise),
  empty: (value) => !isTrue(value),
  coalesce: (...args) => args.find(isTrue),
  all: (...args) => args.every(isTrue),
  any: (...args) => args.some(isTrue),
  ternary: (yes, no, value) => (isTrue(value) ? yes : no),
  list: (...args) => args,
  tuple: (...args) => args,
  dict: (...args) => pairs(args),
  get: (map, key) => fields(map, "get")[text(key)] ?? "",
  set: (map, key, value) => ({ ...fields(map, "set"), [text(key)]: value }),
  unset: (map, key) => Object.fromEntries(Object.entries(fields(map, "unset")).filter(([k]) => k !== text(key))),
  hasKey: (map, key) => Object.hasOwn(fields(map, "hasKey"), text(key)),
  keys: (...maps) => maps.flatMap((m) => Object.keys(fields(m, "keys")).sort()),
  values: (map) =>
    Object.entries(fields(map, "values"))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, v]) => v),
  pick: (map, ...keys) => Object.fromEntries(Object.entries(fields(map, "pick")).filter(([k]) => keys.includes(k))),
  omit: (map, ...keys) => Object.fromEntries(Object.entries(fields(map, "omit")).filter(([k]) => !keys.includes(k))),
  merge: (...maps) => maps.reduce((out: Fields, m) => merged(out, fields(m, "merge")), {}),
  mergeOverwrite: (...maps) => maps.reduce((out: Fields, m) => merged(fields(m, "mergeOverwrite"), out), {}),
  deepCopy: (value) => value,
  deepEqual: (a, b) => sameJson(a ?? null, b ?? null),
  first: (list) => items(list, "first")[0],
  last: (list) => items(list, "last").at(-1),
  rest: (list) => items(list, "rest").slice(1),
  initial: (list) => items(list, "initial").slice(0, -1),
  append: (list, item) => [...items(list, "append"), item],
  push: (list, item) => [...items(list, "push"), item],
  prepend: (list, item) => [item, ...items(list, "prepend")],
  concat: (...lists) => lists.flatMap((l) => items(l, "concat")),
  reverse: (list) => [...items(list, "reverse")].reverse(),
  uniq: (list) => unique(items(list, "uniq")),
  compact: (list) => items(list, "compact").filter(isTrue),
  without: (list, ...gone) => items(list, "without").filter((x) => !gone.some((g) => sameJson(x, g))),
  has: (item, list) => items(list, "has").some((x) => sameJson(x, item)),
  dig: (...args) => {
    const [otherwise, map] = args.slice(-2);
    let at: unknown = map;
    for (const key of args.slice(0, -2)) {
      at = fields(at, "dig")[text(key)];
      if (at === undefined) return otherwise;
    }
    return at;
  },
  toJson: json,
  toRawJson: json,
  toPrettyJson: (value) => JSON.stringify(sortedKeys(value) ?? null, undefined, 2),
  fromJson: parsed,
  kindOf,
  kindIs: (kind, value) => kindOf(value) === kind,
  typeOf: kindOf,
  typeIs: (kind, value) => kindOf(value) === kind,
  fail: (message) => {
    throw new TemplateFault(text(message));
  },
};

/** Functions whose `must` form differs only in how it fails. */
const withMust = (table: Readonly<Record<string, TemplateFunction>>): readonly (readonly [string, TemplateFunction])[] =>
  Object.entries(table).flatMap(([name, f]) => [[name, f] as const, [`must${title(name)}`, f] as const]);

export const templateLibrary: ReadonlyMap<string, TemplateFunction> = new Map([LANGUAGE, TEXTS, NUMBERS, DATA].flatMap(withMust));
