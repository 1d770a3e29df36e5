// Scalars: strings, numbers, enums. Here: bounds, patterns, formats, number ranges. Not here: which value is looked at (validate.ts).
// Source: kube-openapi's validator, with its quirks: a whole number is compared with bounds cut to whole numbers, and range errors
// of a number format name no field.
import type { JsonSchema } from "../api/meta/schema.ts";
import { runeCount, sameValue } from "./equal.ts";
import { invalid, notSupported, ROOT_FIELD, shown, tooLong, typeInvalid } from "./field.ts";
import { formatCheck } from "./formats.ts";
import { compilePattern } from "./re2.ts";
import { type CheckWalk, fieldOf, type TypedCheck } from "./walk.ts";

export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

// ---- Strings

export function compileString(schema: JsonSchema): TypedCheck<string> | undefined {
  const { minLength, maxLength, pattern, format } = schema;
  const regexp = pattern === undefined ? undefined : patternOf(pattern);
  const fits = format === undefined ? undefined : formatCheck(format);
  if (minLength === undefined && maxLength === undefined && !regexp && !fits) return undefined;
  // The first of these that fails is the one that is told.
  const checkText = (value: string, walk: CheckWalk): void => {
    // UTF-16 units are never fewer than characters, and at most twice as many.
    if (maxLength !== undefined && value.length > maxLength && runeCount(value) > maxLength)
      walk.errors.push(tooLong(fieldOf(walk), maxLength));
    else if (minLength !== undefined && value.length < 2 * minLength && runeCount(value) < minLength)
      walk.errors.push(invalid(fieldOf(walk), value, `should be at least ${minLength} chars long`));
    else if (regexp !== undefined && !regexp.test(value)) walk.errors.push(invalid(fieldOf(walk), value, `should match '${pattern}'`));
  };
  return (value, walk) => {
    checkText(value, walk);
    if (fits !== undefined && !fits(value))
      walk.errors.push(typeInvalid(fieldOf(walk), value, `must be of type ${format}: ${shown(value)}`));
  };
}

/** A pattern that is none is refused with the CRD; should one be stored all the same, it refuses every string. */
function patternOf(pattern: string): RegExp {
  try {
    return compilePattern(pattern);
  } catch {
    return /(?!)/;
  }
}

// ---- Numbers

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INT64_LIMIT = 2 ** 63; // beyond 2^53 numbers have lost their last digits already: this one stands for the largest, 2^63 - 1
const FLOAT32_MAX = 3.4028234663852886e38;

type NumberRange = (value: number) => boolean;

function rangeOf(schema: JsonSchema): NumberRange | undefined {
  if (schema.type === "integer") {
    if (schema.format === "int32") return (v) => Number.isInteger(v) && v <= INT32_MAX && v >= INT32_MIN;
    if (schema.format === "uint32") return (v) => Number.isInteger(v) && v < 2 ** 32 && v >= 0;
    return (v) => Number.isInteger(v) && v <= INT64_LIMIT && v >= -INT64_LIMIT;
  }
  if (schema.type === "number" && (schema.format === "float" || schema.format === "float32")) return (v) => Math.abs(v) <= FLOAT32_MAX;
  return undefined;
}

function rangeError(schema: JsonSchema, what: string, walk: CheckWalk): void {
  const type = schema.format === undefined ? `${schema.type} (default format)` : `${schema.type} with format ${schema.format}`;
  const field = walk.path.length === 0 ? "" : fieldOf(walk);
  walk.errors.push(invalid(ROOT_FIELD, "", `${what} value must be of type ${type} in ${field}`));
}

export function compileNumber(schema: JsonSchema): TypedCheck<number> | undefined {
  const inRange = rangeOf(schema);
  const { minimum, maximum, multipleOf } = schema;
  if (!inRange && minimum === undefined && maximum === undefined && multipleOf === undefined) return undefined;
  const bounds = [boundCheck(schema, "Maximum boundary", maximum, inRange), boundCheck(schema, "Minimum boundary", minimum, inRange)];
  return (value, walk) => {
    if (inRange && !inRange(value)) rangeError(schema, "Checked", walk);
    if (multipleOf !== undefined) {
      if (inRange && !inRange(multipleOf)) rangeError(schema, "MultipleOf", walk);
      else checkMultiple(value, multipleOf, walk);
    }
    for (const bound of bounds) bound?.(value, walk);
  };
}

function boundCheck(
  schema: JsonSchema,
  what: "Maximum boundary" | "Minimum boundary",
  bound: number | undefined,
  inRange: NumberRange | undefined,
): TypedCheck<number> | undefined {
  if (bound === undefined) return undefined;
  if (inRange && !inRange(bound)) return (_, walk) => rangeError(schema, what, walk);
  const isMaximum = what === "Maximum boundary";
  const exclusive = (isMaximum ? schema.exclusiveMaximum : schema.exclusiveMinimum) === true;
  const detail = `should be ${isMaximum ? "less" : "greater"} than ${exclusive ? "" : "or equal to "}${bound}`;
  return (value, walk) => {
    const wrong = isMaximum ? above(value, bound, exclusive) : above(-value, -bound, exclusive);
    if (wrong) walk.errors.push(invalid(fieldOf(walk), value, detail));
  };
}

const above = (value: number, bound: number, exclusive: boolean): boolean => {
  const limit = Number.isInteger(value) ? Math.trunc(bound) : bound;
  return exclusive ? value >= limit : value > limit;
};

const RATIO_TOLERANCE = 1e-9; // 0.3 / 0.1 is not 3 in binary

function checkMultiple(value: number, factor: number, walk: CheckWalk): void {
  const step = Number.isInteger(value) ? Math.trunc(factor) : factor;
  if (step <= 0) {
    walk.errors.push(invalid(fieldOf(walk), value, `factor MultipleOf declared for ${factor} must be positive`));
    return;
  }
  const ratio = value / step;
  const off = Math.abs(ratio - Math.round(ratio));
  if (off > RATIO_TOLERANCE * Math.max(1, Math.abs(ratio)))
    walk.errors.push(invalid(fieldOf(walk), value, `should be a multiple of ${factor}`));
}

// ---- Enums

export function compileEnum(schema: JsonSchema): TypedCheck<unknown> | undefined {
  const values = schema.enum;
  if (!values || values.length === 0) return undefined;
  const scalars = new Set<unknown>(values.filter((value) => typeof value !== "object" || value === null));
  const others = values.filter((value) => typeof value === "object" && value !== null);
  return (value, walk) => {
    if (scalars.has(value) || others.some((other) => sameValue(other, value))) return;
    const texts = values.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry)));
    walk.errors.push(notSupported(fieldOf(walk), value, texts));
  };
}
