// Defaults, nulls and unknown fields: one walk, copy on write.
// Here: what a schema changes in an object. Not here: what it refuses (validate.ts).
// Source: kube-apiserver's order for custom resources: defaults, then nulls of fields that are not nullable, then pruning.
import type { JsonSchema } from "../api/meta/schema.ts";
import { frozen } from "./equal.ts";
import { type PathSegment, pathText } from "./field.ts";
import { OBJECT_META } from "./object-meta.ts";

export interface ShapeWalk {
  readonly prune: boolean;
  readonly keepNulls: boolean;
  readonly onUnknown: ((path: string) => void) | undefined;
  readonly path: PathSegment[];
}

/** @returns the value, or a changed copy; anything of another type than the schema's comes back as it is */
export type Shape = (value: unknown, walk: ShapeWalk) => unknown;

const KEEPS = { "x-kubernetes-preserve-unknown-fields": true } as const;

type Fields = Readonly<Record<string, unknown>>;

interface Field {
  readonly shape: Shape | undefined;
  readonly nullable: boolean;
  readonly fallback: unknown;
}

interface ObjectPlan {
  readonly fields: ReadonlyMap<string, Field>;
  /** Fields with a default. */
  readonly defaults: readonly (readonly [string, Field])[];
  readonly additional: Field | undefined;
  /** True: fields that no part of the schema names stay. */
  readonly keepsUnknown: boolean;
}

const QUIET: ShapeWalk = { prune: false, keepNulls: false, onUnknown: undefined, path: [] };

/** @returns undefined when no value is ever changed by the schema */
export function compileShape(schema: JsonSchema, isResource = false): Shape | undefined {
  const keeps = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const ofObject = isObjectSchema(schema) || isResource ? objectShape(schema, isResource) : undefined;
  // A list that keeps unknown fields keeps those of its items.
  const ofList = schema.items === undefined ? undefined : listShape(keeps ? { ...schema.items, ...KEEPS } : schema.items);
  if (keeps && !ofObject && !ofList) return undefined;
  const ofOthers: Shape = keeps ? (value) => value : emptied;
  return (value, walk) => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return ofList ? ofList(value, walk) : ofOthers(value, walk);
    return ofObject ? ofObject(value as Fields, walk) : ofOthers(value, walk);
  };
}

// A schema without type is of scalars (int-or-string) or keeps what it does not know.
const isObjectSchema = (s: JsonSchema): boolean =>
  s.type === "object" || (s.type === undefined && (s.properties !== undefined || s.additionalProperties !== undefined));

function compileField(schema: JsonSchema): Field {
  const shape = compileShape(schema);
  // The default is itself completed by the defaults below it; frozen, since all objects share it.
  const fallback = schema.default === undefined ? undefined : frozen(shape ? shape(schema.default, QUIET) : schema.default);
  return { shape, nullable: schema.nullable === true, fallback };
}

/** Entries of `additionalProperties: true` (or false): any scalar, and objects without fields, since no schema names any. */
const ANY: Field = { shape: emptied, nullable: true, fallback: undefined };

/** What is left where the schema names no fields. */
function emptied(value: unknown, walk: ShapeWalk): unknown {
  if (!walk.prune || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, i) => {
      walk.path.push(i);
      const after = emptied(item, walk);
      walk.path.pop();
      return after;
    });
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const keys = Object.keys(value);
  for (const key of keys) walk.onUnknown?.(pathText([...walk.path, key], true));
  return keys.length === 0 ? value : {};
}

const SCALAR: Field = { shape: emptied, nullable: false, fallback: undefined };

function planObject(schema: JsonSchema, isResource: boolean): ObjectPlan {
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) fields.set(name, compileField(property));
  if (isResource || schema["x-kubernetes-embedded-resource"] === true) {
    if (!fields.has("apiVersion")) fields.set("apiVersion", SCALAR);
    if (!fields.has("kind")) fields.set("kind", SCALAR);
    fields.set("metadata", compileField(OBJECT_META));
  }
  const extra = schema.additionalProperties;
  return {
    fields,
    defaults: [...fields].filter(([, field]) => field.fallback !== undefined),
    additional: typeof extra === "object" ? compileField(extra) : extra === undefined ? undefined : ANY,
    keepsUnknown: schema["x-kubernetes-preserve-unknown-fields"] === true,
  };
}

function objectShape(schema: JsonSchema, isResource: boolean): (value: Fields, walk: ShapeWalk) => Fields {
  const plan = planObject(schema, isResource);
  return (value, walk) => {
    let changed: Map<string, unknown> | undefined; // undefined value = dropped
    for (const key in value) {
      const before = value[key];
      const field = plan.fields.get(key) ?? plan.additional;
      if (field === undefined) {
        if (plan.keepsUnknown || !walk.prune) continue;
        if (walk.onUnknown) walk.onUnknown(pathText([...walk.path, key], true));
        changed ??= new Map();
        changed.set(key, undefined);
        continue;
      }
      const after = shapeField(field, key, before, walk);
      if (after === before) continue;
      changed ??= new Map();
      changed.set(key, after);
    }
    for (const [key, field] of plan.defaults) {
      if (value[key] !== undefined) continue;
      changed ??= new Map();
      changed.set(key, field.fallback);
    }
    return changed ? rebuild(value, changed) : value;
  };
}

function shapeField(field: Field, key: string, before: unknown, walk: ShapeWalk): unknown {
  if (before === null) return field.nullable ? null : (field.fallback ?? (walk.keepNulls ? null : undefined));
  if (field.shape === undefined || typeof before !== "object") return before;
  walk.path.push(key);
  const after = field.shape(before, walk);
  walk.path.pop();
  return after;
}

function rebuild(value: Fields, changed: ReadonlyMap<string, unknown>): Fields {
  const copy: Record<string, unknown> = {};
  const put = (key: string, entry: unknown): void => {
    // A plain assignment to this key would set the prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { value: entry, enumerable: true, writable: true, configurable: true });
    else copy[key] = entry;
  };
  for (const key in value) {
    const entry = changed.has(key) ? changed.get(key) : value[key];
    if (entry !== undefined) put(key, entry);
  }
  for (const [key, entry] of changed) if (entry !== undefined && !Object.hasOwn(value, key)) put(key, entry);
  return copy;
}

function listShape(items: JsonSchema): (value: readonly unknown[], walk: ShapeWalk) => readonly unknown[] {
  const { shape, nullable, fallback } = compileField(items);
  return (value, walk) => {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const before = value[i];
      let after = before;
      if (before === null) {
        if (!nullable && fallback !== undefined) after = fallback;
      } else if (shape && typeof before === "object") {
        walk.path.push(i);
        after = shape(before, walk);
        walk.path.pop();
      }
      if (after === before) continue;
      copy ??= [...value];
      copy[i] = after;
    }
    return copy ?? value;
  };
}
