// Does an object fit its Go type? Webhooks get objects before their schema is checked, and one that does not decode is refused as a whole.
// Here: types and ranges of numbers, by the schema. Not here: bounds, patterns, required fields (schema/). Source: spec/api/common.md section 2.
import type { JsonSchema } from "../api/meta/schema.ts";
import { child, indexed, shown } from "../schema/field.ts";
import { plain } from "./draft.ts";

const INT32_MAX = 2 ** 31 - 1;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function integerFault(schema: JsonSchema, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return "a whole number";
  if (schema.format === "int32" && (value > INT32_MAX || value < -INT32_MAX - 1)) return "a number of 32 bits";
  return undefined;
}

/** What was expected, when the value itself does not fit; children are not looked at. */
function fault(schema: JsonSchema, value: unknown): string | undefined {
  if (schema["x-kubernetes-int-or-string"])
    return typeof value === "string" || integerFault({ format: "int32" }, value) === undefined ? undefined : "a whole number or a text";
  switch (schema.type) {
    case "integer":
      return integerFault(schema, value);
    case "number":
      return typeof value === "number" ? undefined : "a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "string":
      if (typeof value !== "string") return "a text";
      if (schema.format === "byte" && !BASE64.test(value)) return "base64";
      return schema.format === "date-time" && !DATE_TIME.test(value) ? "a time such as 2026-01-31T10:00:00Z" : undefined;
    case "array":
      return Array.isArray(value) ? undefined : "a list";
    case "object":
      return plain(value) ? undefined : "a map";
    default:
      return undefined;
  }
}

/** @returns the first value that does not fit, in words; undefined when all do. Null fits everywhere. */
export function decodeFault(schema: JsonSchema, value: unknown, path = ""): string | undefined {
  if (value === undefined || value === null) return undefined;
  const wanted = fault(schema, value);
  if (wanted) return `${path === "" ? "the object" : path} is ${shown(value)}, but must be ${wanted}`;
  if (Array.isArray(value)) return firstOf(value.map((item, i) => () => decodeFault(schema.items ?? {}, item, indexed(path, i))));
  const fields = plain(value);
  if (!fields || schema["x-kubernetes-preserve-unknown-fields"]) return undefined;
  const extra = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return firstOf(
    Object.entries(fields).map(
      ([name, item]) =>
        () =>
          decodeFault(schema.properties?.[name] ?? extra ?? {}, item, child(path, name)),
    ),
  );
}

const firstOf = (checks: readonly (() => string | undefined)[]): string | undefined => {
  for (const check of checks) {
    const found = check();
    if (found) return found;
  }
  return undefined;
};
