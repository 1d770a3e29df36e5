// A schema, compiled once to closures: defaults, pruning, validation.
// Here: the compiled form and how its parts come together. Not here: the parts (default.ts, validate.ts, rules.ts).
import type { JsonSchema } from "../api/meta/schema.ts";
import type { FieldError } from "./field.ts";

export interface CompileOptions {
  /** `resource` (default): the schema is of a whole object: apiVersion, kind and metadata are kept and known. `value`: of any value. */
  readonly root?: "resource" | "value";
}

export interface PruneOptions {
  /** Drop fields that the schema does not name. Default true. */
  readonly prune?: boolean;
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
   * @returns empty when good
   */
  validate(object: unknown, old?: unknown): readonly FieldError[];
}

/** @throws never for a schema that passed validateCrdSchema; parts of others that make no sense accept everything */
export type CompileSchema = (schema: JsonSchema, options?: CompileOptions) => CompiledSchema;
