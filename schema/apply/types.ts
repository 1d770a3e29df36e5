// Server-side apply: what goes in and what comes out. Here: requests, results, errors. Not here: how (apply.ts, track-update.ts).
// Source: Kubernetes server-side apply; recorded cases of kube-apiserver 1.36.
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import type { StatusCause } from "../../api/meta/status.ts";
import type { FieldSet } from "./field-set.ts";
import type { Typed } from "./typed.ts";

/** What each served version of the kind means; undefined for a version that is not served: its managers lose their fields. */
export type TypedVersions = (apiVersion: string) => Typed | undefined;

interface Tracked {
  readonly schemas: TypedVersions;
  /** The version of the request; `schemas` knows it and all objects given are in it. */
  readonly apiVersion: string;
  readonly manager: string;
  /** Empty or absent for the object itself. */
  readonly subresource?: string;
  readonly nowMs: number;
  /** Fields that this path cannot write, with all below them: never owned here, never in conflict (resetFieldsOf). */
  readonly resetFields?: FieldSet;
}

export interface ApplyRequest extends Tracked {
  /** Absent when the apply creates the object. */
  readonly live: KubeObject | undefined;
  readonly config: KubeObject;
  /** Take fields from managers that want another value. */
  readonly force?: boolean;
}

export interface ApplyResult {
  /** Merged and pruned, with its managedFields; shares parts with `live` and `config`. Not defaulted; reset fields are still in it. */
  readonly object: KubeObject;
  /** Empty when nobody owns anything. */
  readonly managedFields: readonly ManagedFieldsEntry[];
  /** False when `object` is `live` itself: nothing to write. True may still turn out to be nothing after defaulting (sameButTimes). */
  readonly changed: boolean;
}

export interface UpdateRequest extends Tracked {
  /** Absent on create. */
  readonly live: KubeObject | undefined;
  /** On create: what every new object of the kind holds by itself; nobody owns that. Default: nothing. */
  readonly empty?: KubeObject;
  /** As it will be stored; its managedFields are the client's wish. */
  readonly updated: KubeObject;
}

export interface FieldConflict {
  /** The other manager as shown to people: `"kubectl-edit" using v1`. */
  readonly manager: string;
  /** Such as `.spec.items[name="a"].value`. */
  readonly field: string;
  /** The same as path elements. */
  readonly path: readonly string[];
}

/** Answer 409 with the message and the causes. */
export class ApplyConflict extends Error {
  readonly code = "ApplyConflict";
  readonly conflicts: readonly FieldConflict[];
  constructor(message: string, conflicts: readonly FieldConflict[]) {
    super(message);
    this.name = "ApplyConflict";
    this.conflicts = conflicts;
  }
  get causes(): readonly StatusCause[] {
    return this.conflicts.map((c) => ({ reason: "FieldManagerConflict", message: `conflict with ${c.manager}`, field: c.field }));
  }
}

/** A value that does not fit its schema: unknown field, wrong type, twice the same key. kube-apiserver answers 500 without a reason. */
export class TypedValueError extends Error {
  readonly code = "TypedValueError";
  constructor(message: string) {
    super(message);
    this.name = "TypedValueError";
  }
}

/** The applied object holds managedFields: 400. */
export class ManagedFieldsInBody extends Error {
  readonly code = "ManagedFieldsInBody";
  constructor() {
    super("metadata.managedFields must be nil");
    this.name = "ManagedFieldsInBody";
  }
}
