// Formats in a schema that mean nothing to the server, for a warning to who writes the schema. Here: finding them.
// Source: apiextensions validation formats; a format counts only for the type it belongs to.
import type { JsonSchema } from "../api/meta/schema.ts";
import { formatCheck } from "./formats.ts";

const NUMBER_FORMATS: Readonly<Partial<Record<string, readonly string[]>>> = { integer: ["int32", "int64"], number: ["float", "double"] };

const isKnown = ({ type = "string", format = "" }: JsonSchema): boolean =>
  type === "string" ? formatCheck(format) !== undefined : (NUMBER_FORMATS[type] ?? []).includes(format);

function* children(schema: JsonSchema): Generator<JsonSchema> {
  yield* Object.values(schema.properties ?? {});
  if (typeof schema.additionalProperties === "object") yield schema.additionalProperties;
  if (schema.items) yield schema.items;
  for (const branches of [schema.allOf, schema.anyOf, schema.oneOf]) yield* branches ?? [];
  if (schema.not) yield schema.not;
}

/** @returns each format once, sorted */
export function unknownFormats(schema: JsonSchema): readonly string[] {
  const found = new Set<string>();
  const open = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.format && !isKnown(next)) found.add(next.format);
    open.push(...children(next));
  }
  return [...found].sort();
}
