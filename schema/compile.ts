// A schema, compiled once to closures: defaults, pruning, validation.
// Here: the compiled form and how its parts come together. Not here: the parts (default.ts, validate.ts, rules.ts).
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileShape, type ShapeWalk } from "./default.ts";
import { type FieldError, invalid, ROOT_FIELD } from "./field.ts";
import { compileCheck } from "./validate.ts";
import { type Check, type CheckWalk, newWalk } from "./walk.ts";
import { isRecord } from "./equal.ts";
import { compileRules } from "./rules.ts";

export interface CompileOptions {
  /** `resource` (default): the schema is of a whole object: apiVersion, kind and metadata are kept and known. `value`: of any value. */
  readonly root?: "resource" | "value";
}

export interface PruneOptions {
  /** Drop fields that the schema does not name. Default true. */
  readonly prune?: boolean;
  /** Leave nulls that no default replaces, so that validation refuses them: an apply. Default false. */
  readonly keepNulls?: boolean;
  /** Told the path of each dropped field, such as `spec.list[0].foo`, in the order of the walk. */
  readonly onUnknown?: (path: string) => void;
}

/** Never throws on any JSON value; never changes its input (deeply frozen input is fine). */
export interface CompiledSchema {
  readonly schema: JsonSchema;
  /** True when some x-kubernetes-validations rule exists. */
  readonly hasRules: boolean;
  /**
   * Sets defaults, drops nulls of fields that are not nullable, drops unknown fields: what kube-apiserver does with each body, and with
   * stored objects when they are read. One walk, copy on write. @returns the same object when nothing changed
   */
  defaultAndPrune<T>(object: T, options?: PruneOptions): T;
  /**
   * Types, bounds, formats, list types, embedded resources, then rules. With `old` as an update: what breaks the schema without
   * having changed may stay, and transition rules run. Parts that are the same reference as in `old` are skipped.
   * @param part `status`: a write of the status, of which alone types and bounds are checked; rules see the whole object
   * @returns empty when good
   */
  validate(object: unknown, old?: unknown, part?: "status"): readonly FieldError[];
}

const NONE: readonly FieldError[] = Object.freeze([]);

// Errors after which the shape of the object cannot be trusted: rules are not run.
const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Parts of a schema that validateCrdSchema would refuse accept everything. */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): CompiledSchema {
  const isResource = options.root !== "value";
  const shape = compileShape(schema, isResource);
  const check = compileCheck(schema);
  const rules = compileRules(schema, isResource);
  let statusCheck: Check | undefined; // made with the first write of a status

  return {
    schema,
    hasRules: rules !== undefined,
    defaultAndPrune<T>(object: T, { prune = true, keepNulls = false, onUnknown }: PruneOptions = {}): T {
      if (!shape) return object;
      const walk: ShapeWalk = { prune, keepNulls, onUnknown, path: [] };
      return shape(object, walk) as T;
    },
    validate(object, old, part) {
      if (object === old && rules?.usesOldSelf !== true) return NONE;
      const walk = newWalk();
      if (part === "status") checkStatus(object, old, walk);
      else check?.(object, old, walk);
      const { errors } = walk;
      if (walk.listErrors.length > 0 && !hadListErrors(old)) errors.push(...walk.listErrors);
      if (rules) {
        if (errors.some((error) => BLOCKING.has(error.reason))) errors.push(invalid(ROOT_FIELD, null, NOT_CHECKED));
        else errors.push(...rules.validate(object, old));
      }
      return errors;
    },
  };

  function checkStatus(object: unknown, old: unknown, walk: CheckWalk): void {
    statusCheck ??= compileCheck(schema.properties?.status ?? {}) ?? (() => {});
    const status = isRecord(object) ? object.status : undefined;
    if (status === undefined) return;
    walk.path.push("status");
    statusCheck(status, isRecord(old) ? old.status : undefined, walk);
    walk.path.pop();
    // What names no field is an error of the status here.
    walk.errors = walk.errors.map((error) => (error.field === ROOT_FIELD ? { ...error, field: "status" } : error));
  }

  // Doubled members of the stored object excuse those of the new one.
  function hadListErrors(old: unknown): boolean {
    if (old === undefined) return false;
    const walk = newWalk();
    check?.(old, undefined, walk);
    return walk.listErrors.length > 0;
  }
}

const NOT_CHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
