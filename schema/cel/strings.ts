// String functions of rules, counted in characters (code points) as CEL does; the core library counts UTF-16 units.
// Here: pure functions over strings. Not here: their registration (library.ts). Source: cel-go's strings extension.
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { compilePattern } from "../re2.ts";

const points = (text: string): string[] => Array.from(text);
// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

const outOfRange = (at: bigint): Error => new Error(`index out of range: ${at}`);

export function charAt(text: string, at: bigint): string {
  const all = points(text);
  if (at < 0n || at > BigInt(all.length)) throw outOfRange(at);
  return all[Number(at)] ?? "";
}

export function indexOf(text: string, part: string, from = 0n): bigint {
  const all = points(text);
  if (from < 0n || from > BigInt(all.length)) throw outOfRange(from);
  if (part === "") return from;
  if (isAscii(text)) return BigInt(text.indexOf(part, Number(from)));
  const unit = text.indexOf(part, all.slice(0, Number(from)).join("").length);
  return unit < 0 ? -1n : BigInt(points(text.slice(0, unit)).length);
}

export function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const all = points(text);
  if (from !== undefined && (from < 0n || from > BigInt(all.length))) throw outOfRange(from);
  if (part === "") return from ?? BigInt(all.length);
  const unit = text.lastIndexOf(part, from === undefined ? undefined : all.slice(0, Number(from)).join("").length);
  return unit < 0 ? -1n : BigInt(points(text.slice(0, unit)).length);
}

export function substring(text: string, start: bigint, end?: bigint): string {
  const all = points(text);
  const last = end ?? BigInt(all.length);
  if (start < 0n || start > BigInt(all.length)) throw outOfRange(start);
  if (last < start || last > BigInt(all.length)) throw outOfRange(last);
  return all.slice(Number(start), Number(last)).join("");
}

export function replace(text: string, old: string, by: string, limit = -1n): string {
  if (limit === 0n) return text;
  if (limit < 0n) return text.replaceAll(old, () => by);
  const parts = text.split(old);
  const head = parts.slice(0, Number(limit) + 1).join(by);
  const rest = parts.slice(Number(limit) + 1);
  return rest.length === 0 ? head : `${head}${old}${rest.join(old)}`;
}

export function split(text: string, by: string, limit = -1n): string[] {
  if (limit === 0n) return [];
  const parts = by === "" ? points(text) : text.split(by);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  return [...parts.slice(0, Number(limit) - 1), parts.slice(Number(limit) - 1).join(by)];
}

export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase());
export const reverse = (text: string): string => points(text).reverse().join("");

const PATTERNS_MAX = 200; // patterns are mostly literals of rules; computed ones must not pile up

/** Compiled patterns by text. */
export function patternCache(): (pattern: string) => RegExp {
  const known = new Map<string, RegExp>();
  return (pattern) => {
    const found = known.get(pattern);
    if (found) return found;
    const compiled = compilePattern(pattern);
    if (known.size >= PATTERNS_MAX) known.clear();
    known.set(pattern, compiled);
    return compiled;
  };
}

export const find = (text: string, pattern: RegExp): string => pattern.exec(text)?.[0] ?? "";

export function findAll(text: string, pattern: RegExp, limit = -1n): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(new RegExp(pattern.source, "gu"))) {
    if (limit >= 0n && BigInt(found.length) >= limit) break;
    found.push(match[0]);
  }
  return found;
}

/** `"%s is %d".format([...])`. @throws Error on a verb that is none or an argument that is missing */
export function format(template: string, args: readonly unknown[]): string {
  let next = 0;
  return template.replace(/%(?:\.(\d+))?([%a-zA-Z])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (next >= args.length) throw new Error(`index ${next} out of range`);
    return verbText(args[next++], verb, precision === undefined ? undefined : Number(precision));
  });
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((sign, digit) => [String(digit), sign]));

/** `3.140000×10⁰⁰`, as cel-go writes it. */
function exponentText(value: number, precision: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(precision).split("e");
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  return `${mantissa}×10${exponent.startsWith("-") ? "⁻" : ""}${digits.replace(/\d/g, (digit) => SUPERSCRIPTS[digit] as string)}`;
}

function verbText(value: unknown, verb: string, precision: number | undefined): string {
  switch (verb) {
    case "s":
      return plainText(value);
    case "d":
      return String(value);
    case "f":
      return Number(value).toFixed(precision ?? 6);
    case "e":
      return exponentText(Number(value), precision ?? 6);
    case "b":
      return value === true ? "1" : value === false ? "0" : BigInt(value as bigint).toString(2);
    case "o":
      return BigInt(value as bigint).toString(8);
    case "x":
    case "X": {
      const hex =
        typeof value === "string"
          ? Array.from(new TextEncoder().encode(value), (b) => b.toString(16).padStart(2, "0")).join("")
          : BigInt(value as bigint).toString(16);
      return verb === "X" ? hex.toUpperCase() : hex;
    }
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function plainText(value: unknown): string {
  if (Array.isArray(value) || value instanceof Set) return `[${[...value].map(plainText).join(", ")}]`;
  if (value instanceof Map)
    return `{${[...value]
      .map(([k, v]) => `${plainText(k)}: ${plainText(v)}`)
      .sort()
      .join(", ")}}`;
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  return String(value);
}

/** RFC 3339 as CEL prints timestamps: no fraction when there is none. */
export const timestampText = (date: Date): string =>
  date.toISOString().replace(/\.(\d*?)0*Z$/, (_, digits: string) => (digits === "" ? "Z" : `.${digits}Z`));

export const nanosOf = (span: Duration): bigint => span.seconds * 1_000_000_000n + BigInt(span.nanos);

/** Seconds with what fraction there is, such as `5400.5s`. */
export function durationText(span: Duration): string {
  const nanos = nanosOf(span);
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return `${nanos < 0n ? "-" : ""}${size / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}
