// What a schema refuses: types, bounds, formats, junctors, list types, embedded objects, in one walk without rules.
// Here: objects, lists and junctors, and ratcheting. Not here: scalars (scalars.ts), rules (rules.ts), defaults (default.ts).
// Source: kube-openapi's validator as kube-apiserver calls it; field names and reasons are its own, quirks included.
import type { JsonSchema } from "../api/meta/schema.ts";
import { isRecord, sameValue } from "./equal.ts";
import { type FieldError, invalid, pathText, required, ROOT_FIELD, shown, tooMany, typeInvalid } from "./field.ts";
import { compileListType, type Correlate, correlation } from "./list-type.ts";
import { embeddedErrors } from "./object-meta.ts";
import { type Check, type CheckWalk, fieldOf, newWalk, type TypedCheck } from "./walk.ts";
import { compileEnum, compileNumber, compileString, typeName } from "./scalars.ts";

type Fields = Readonly<Record<string, unknown>>;
type NodeCheck<T> = (value: T, old: unknown, walk: CheckWalk) => void;

/** @returns undefined when the schema accepts everything */
export function compileCheck(schema: JsonSchema): Check | undefined {
  const types = allowedTypes(schema);
  const junctors = compileJunctors(schema);
  const onString = compileString(schema);
  const onNumber = compileNumber(schema);
  const onEnum = compileEnum(schema);
  const onList = compileList(schema);
  const onObject = compileObject(schema);
  const nullable = schema.nullable === true;
  if (types === undefined && !junctors && !onString && !onNumber && !onEnum && !onList && !onObject) return undefined;

  return (value, old, walk) => {
    // Unchanged: whatever is wrong with it was wrong before and may stay.
    if (old !== undefined && value === old) return;
    const errors = walk.errors;
    const mark = errors.length;
    walk.matches++;
    if (types !== undefined) checkType(types, nullable, schema, value, walk);
    if (value !== null && value !== undefined) {
      junctors?.(value, walk);
      if (typeof value === "string") onString?.(value, walk);
      else if (typeof value === "number") onNumber?.(value, walk);
      else if (Array.isArray(value)) onList?.(value, old, walk);
      else if (typeof value === "object") onObject?.(value as Fields, old, walk);
    }
    onEnum?.(value, walk);
    if (errors.length > mark && old !== undefined && sameValue(value, old)) errors.length = mark;
  };
}

interface Types {
  readonly names: ReadonlySet<string>;
  readonly text: string;
}

function allowedTypes(schema: JsonSchema): Types | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return { names: new Set(["integer", "string"]), text: "integer,string" };
  return schema.type === undefined ? undefined : { names: new Set([schema.type]), text: schema.type };
}

function checkType(types: Types, nullable: boolean, schema: JsonSchema, value: unknown, walk: CheckWalk): void {
  if (value === null || value === undefined) {
    if (!nullable) walk.errors.push(typeInvalid(fieldOf(walk), "null", `must be of type ${types.text}: "null"`));
    return;
  }
  const found = typeName(value);
  if (types.names.has(found) || (found === "integer" && types.names.has("number"))) return;
  // The real validator leaves strings and lists to the format, when there is one and the type is no number.
  const byFormat = schema.format !== undefined && (found === "string" || found === "array");
  if (byFormat && !types.names.has("number") && !types.names.has("integer")) return;
  walk.errors.push(typeInvalid(fieldOf(walk), found, `must be of type ${types.text}: ${shown(found)}`));
}

// ---- Objects

function compileObject(schema: JsonSchema): NodeCheck<Fields> | undefined {
  // Null: a field that accepts everything.
  const fields = new Map<string, Check | null>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) fields.set(name, compileCheck(property) ?? null);
  const checksFields = [...fields.values()].some((check) => check !== null);
  const additional = typeof schema.additionalProperties === "object" ? compileCheck(schema.additionalProperties) : undefined;
  const needs = schema.required ?? [];
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const { minProperties, maxProperties } = schema;
  const counts = minProperties !== undefined || maxProperties !== undefined;
  if (!checksFields && !additional && needs.length === 0 && !isEmbedded && !counts) return undefined;

  const checkFields = (value: Fields, before: Fields | undefined, walk: CheckWalk): void => {
    for (const key in value) {
      const field = fields.get(key);
      const check = field === undefined ? additional : field;
      if (!check) continue;
      walk.path.push(field === undefined ? { key } : key);
      check(value[key], before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined, walk);
      walk.path.pop();
    }
  };

  return (value, old, walk) => {
    if (isEmbedded) walk.errors.push(...embeddedErrors(value, walk.path.length === 0 ? "" : pathText(walk.path)));
    if (counts && !checkCount(value, minProperties, maxProperties, walk)) return;
    checkFields(value, isRecord(old) ? old : undefined, walk);
    for (const key of needs) {
      if (value[key] === undefined) walk.errors.push(required(fieldOf(walk, key)));
    }
  };
}

const textOf = (walk: CheckWalk): string => (walk.path.length === 0 ? "" : fieldOf(walk));

/** @returns false when the count is wrong, and nothing else is looked at */
function checkCount(value: Fields, min: number | undefined, max: number | undefined, walk: CheckWalk): boolean {
  let count = 0;
  for (const _ in value) count++;
  if (min !== undefined && count < min) {
    walk.errors.push(invalid(fieldOf(walk), count, `should have at least ${min} properties`));
    return false;
  }
  if (max !== undefined && count > max) {
    walk.errors.push(invalid(fieldOf(walk), count, `should have at most ${max} properties`));
    return false;
  }
  return true;
}

// ---- Lists

function compileList(schema: JsonSchema): NodeCheck<readonly unknown[]> | undefined {
  const items = schema.items === undefined ? undefined : compileCheck(schema.items);
  const listType = compileListType(schema);
  const correlate = correlation(schema);
  const { minItems, maxItems, uniqueItems } = schema;
  if (!items && !listType && minItems === undefined && maxItems === undefined && uniqueItems !== true) return undefined;

  return (value, old, walk) => {
    if (items) checkItems(items, value, correlate, old, walk);
    if (minItems !== undefined && value.length < minItems)
      walk.errors.push(invalid(fieldOf(walk), value.length, `should have at least ${minItems} items`));
    if (maxItems !== undefined && value.length > maxItems) walk.errors.push(tooMany(fieldOf(walk), value.length, maxItems));
    if (uniqueItems === true && value.some((item, i) => value.findIndex((other) => sameValue(item, other)) < i))
      walk.errors.push(invalid(fieldOf(walk), value.length, "shouldn't contain duplicates"));
    listType?.(value, walk);
  };
}

function checkItems(items: Check, value: readonly unknown[], correlate: Correlate | undefined, old: unknown, walk: CheckWalk): void {
  const before = correlate && Array.isArray(old) ? correlate(old) : undefined;
  for (let i = 0; i < value.length; i++) {
    walk.path.push(i);
    items(value[i], before?.(value[i], i), walk);
    walk.path.pop();
  }
}

// ---- Junctors: allOf, anyOf, oneOf, not. Their own errors name no field.

function compileJunctors(schema: JsonSchema): TypedCheck<unknown> | undefined {
  const parts = [compileAny(schema), compileOne(schema), compileAll(schema), compileNot(schema)].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  if (parts.length === 1) return parts[0];
  return (value, walk) => {
    for (const part of parts) part(value, walk);
  };
}

const acceptsAll: Check = () => {};
const branches = (schemas: readonly JsonSchema[]): readonly Check[] => schemas.map((schema) => compileCheck(schema) ?? acceptsAll);

function attempt(branch: Check, value: unknown, walk: CheckWalk): CheckWalk {
  const inner = newWalk(walk.path);
  branch(value, undefined, inner);
  return inner;
}

const furthest = (failures: readonly CheckWalk[]): readonly FieldError[] =>
  failures.reduce<CheckWalk | undefined>((best, next) => (best === undefined || next.matches > best.matches ? next : best), undefined)
    ?.errors ?? [];

const noField = (walk: CheckWalk, detail: string): FieldError => invalid(ROOT_FIELD, "", `${JSON.stringify(textOf(walk))} ${detail}`);

function compileAny(schema: JsonSchema): TypedCheck<unknown> | undefined {
  if (!schema.anyOf || schema.anyOf.length === 0) return undefined;
  const checks = branches(schema.anyOf);
  return (value, walk) => {
    const failures: CheckWalk[] = [];
    for (const check of checks) {
      const inner = attempt(check, value, walk);
      if (inner.errors.length === 0) return;
      failures.push(inner);
    }
    walk.errors.push(noField(walk, "must validate at least one schema (anyOf)"), ...furthest(failures));
  };
}

function compileOne(schema: JsonSchema): TypedCheck<unknown> | undefined {
  if (!schema.oneOf || schema.oneOf.length === 0) return undefined;
  const checks = branches(schema.oneOf);
  return (value, walk) => {
    const failures: CheckWalk[] = [];
    let valid = 0;
    for (const check of checks) {
      const inner = attempt(check, value, walk);
      if (inner.errors.length === 0) valid++;
      else failures.push(inner);
    }
    if (valid === 1) return;
    const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
    walk.errors.push(noField(walk, `must validate one and only one schema (oneOf). ${found}`));
    if (valid === 0) walk.errors.push(...furthest(failures));
  };
}

function compileAll(schema: JsonSchema): TypedCheck<unknown> | undefined {
  if (!schema.allOf || schema.allOf.length === 0) return undefined;
  const checks = branches(schema.allOf);
  return (value, walk) => {
    const mark = walk.errors.length;
    for (const check of checks) walk.errors.push(...attempt(check, value, walk).errors);
    if (walk.errors.length > mark) walk.errors.push(noField(walk, "must validate all the schemas (allOf)"));
  };
}

function compileNot(schema: JsonSchema): TypedCheck<unknown> | undefined {
  if (!schema.not) return undefined;
  const check = compileCheck(schema.not) ?? acceptsAll;
  return (value, walk) => {
    if (attempt(check, value, walk).errors.length === 0) walk.errors.push(noField(walk, "must not validate the schema (not)"));
  };
}
