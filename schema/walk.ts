// One walk of a check over an object: what it collects, and where it is. Here: types and field names. Not here: checks (validate.ts, ...).
import { type FieldError, type PathSegment, pathText } from "./field.ts";

export interface CheckWalk {
  /** Errors of this walk, ratcheted where the old value is the same. */
  errors: FieldError[];
  /** Doubled list members: they stay out when the old object has any. */
  readonly listErrors: FieldError[];
  readonly path: PathSegment[];
  /** How many nodes looked at something: of failing alternatives, the one that got furthest is reported. */
  matches: number;
}

/** @param old the value of the stored object at the same place, undefined when there is none */
export type Check = (value: unknown, old: unknown, walk: CheckWalk) => void;

/** A check for values of one JavaScript type. */
export type TypedCheck<T> = (value: T, walk: CheckWalk) => void;

/** A field as the OpenAPI validator names it: entries of maps like fields. */
export const fieldOf = (walk: CheckWalk, ...below: readonly PathSegment[]): string => pathText([...walk.path, ...below], true);

export const newWalk = (path: PathSegment[] = []): CheckWalk => ({ errors: [], listErrors: [], path, matches: 0 });
