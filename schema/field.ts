// Field errors and field paths: how the API names a field and what is wrong with it.
// Here: the error shape, its constructors, path texts. Not here: which rule fails when (validate.ts, crd/).
// Source: k8s.io/apimachinery util/validation/field.
import type { StatusCause } from "../api/meta/status.ts";

export type FieldErrorReason =
  | "FieldValueInvalid"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueNotFound"
  | "FieldValueTypeInvalid"
  | "InternalError";

/** One thing wrong with one field; is a cause of a 422 Status as it stands. */
export interface FieldError extends StatusCause {
  readonly reason: FieldErrorReason;
  /** `spec.list[0].key`, `spec.map[key]`, or ROOT_FIELD. */
  readonly field: string;
  readonly message: string;
}

/** What kube-apiserver writes for an error that names no field: the text of a nil path. */
export const ROOT_FIELD = "<nil>";

/** `parent.name`; a parent that is empty or ROOT_FIELD adds nothing. */
export const child = (parent: string, name: string): string => (parent === "" || parent === ROOT_FIELD ? name : `${parent}.${name}`);

/** `parent[3]`. */
export const indexed = (parent: string, index: number): string => `${parent === ROOT_FIELD ? "" : parent}[${index}]`;

/** `parent[key]`, for maps and for lists told apart by key. */
export const keyed = (parent: string, key: string): string => `${parent === ROOT_FIELD ? "" : parent}[${key}]`;

export type PathSegment = string | number | { readonly key: string };

/** Text of a whole path: names, indexes and map keys. Empty gives ROOT_FIELD. @param keysAsNames write map keys as if they were fields */
export function pathText(segments: readonly PathSegment[], keysAsNames = false): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (typeof segment === "object" && !keysAsNames) text += `[${segment.key}]`;
    else {
      const name = typeof segment === "object" ? segment.key : segment;
      text += text === "" ? name : `.${name}`;
    }
  }
  return text === "" ? ROOT_FIELD : text;
}

const SHOWN_MAX = 200; // values in messages are for people; a whole object is not

/** A value as messages show it. */
export function shown(value: unknown): string {
  if (value === undefined) return "null";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}

export const required = (field: string, detail = ""): FieldError => ({
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`,
  field,
});
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
  field,
});
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  reason: "FieldValueTypeInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
  field,
});
export const forbidden = (field: string, detail: string): FieldError => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
  field,
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
  field,
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${shown(value)}${supported.length === 0 ? "" : `: supported values: ${supported.map((s) => JSON.stringify(s)).join(", ")}`}`,
  field,
});
/** @param max characters or bytes, as the rule counts them */
export const tooLong = (field: string, max: number): FieldError => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${max} bytes`,
  field,
});
export const tooMany = (field: string, count: number, max: number): FieldError => ({
  reason: "FieldValueTooMany",
  message: `Too many: ${count}: must have at most ${max} items`,
  field,
});
