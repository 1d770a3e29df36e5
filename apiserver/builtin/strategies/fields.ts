// Reading fields of any object, and the rule shapes that many kinds share. Here: pure helpers for strategies.
import type { LabelSelector } from "../../../api/meta/object.ts";
import { type Labels, matchesSelector } from "../../../api/meta/selector.ts";
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldForbidden, fieldInvalid } from "../../errors.ts";
import { type ApiObject, sameJson } from "../../object.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const asFields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
export const asList = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as readonly Fields[]) : []);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
export const asNumber = (value: unknown, otherwise = 0): number => (typeof value === "number" ? value : otherwise);

/** The value at a path such as `spec.template.spec`; undefined when some part is absent. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Fields)[part];
  }
  return value;
}

export const specOf = (object: ApiObject): Fields => asFields(object.spec);
export const statusOf = (object: ApiObject): Fields => asFields(object.status);

/** Changed fields that may not change after creation. */
export const unchanged = (
  object: ApiObject,
  old: ApiObject,
  paths: readonly string[],
  why = "field is immutable",
): readonly StatusCause[] =>
  paths.filter((path) => !sameJson(at(object, path), at(old, path))).map((path) => fieldInvalid(path, at(object, path), why));

export const unchangedOrForbidden = (object: ApiObject, old: ApiObject, path: string, why: string): readonly StatusCause[] =>
  sameJson(at(object, path), at(old, path)) ? [] : [fieldForbidden(path, why)];

/** metav1.LabelSelector against labels; an absent selector selects nothing, an empty one everything. */
export const selects = (selector: unknown, labels: Labels | undefined): boolean =>
  typeof selector === "object" && selector !== null && matchesSelector(selector as LabelSelector, labels);
