// Is a CustomResourceDefinition's schema one that the server can serve?
// Here: the signature and how its parts come together. Not here: the rest of a CRD (apiserver/crd).
import type { FieldError } from "./field.ts";

export interface CrdSchemaOptions {
  /** Rules of the schema that was stored before: what they break may stay (only for rules that are equal). */
  readonly oldSchema?: unknown;
}

/**
 * @param schema openAPIV3Schema as sent, already decoded as JSON
 * @param path such as `spec.validation.openAPIV3Schema`
 * @returns empty when the schema is structural, its defaults fit and its rules compile
 */
export type ValidateCrdSchema = (schema: unknown, path: string, options?: CrdSchemaOptions) => readonly FieldError[];
