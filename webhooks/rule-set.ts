// The shape of a kind's rules: what they read, then pure functions over new, old and what was found.
// Here: types and the verdict. Not here: any kind's rules, how a request comes in (review.ts, simulator/webhooks.ts).
// Source: spec/api/common.md section 2; design/architecture.md section 3.
import type { FeatureGate } from "../api/feature-gates.ts";
import type { KindDefinition } from "../api/kind.ts";
import type { KubeObject } from "../api/meta/object.ts";
import type { ObjectKey, Resource } from "../api/meta/resource.ts";
import type { FieldError } from "../schema/field.ts";

/** An object before its schema was checked: any field may be missing. Types fit: decode.ts has seen to that. */
export type Draft = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

export interface WebhookRequest {
  readonly verb: "create" | "update" | "delete";
  readonly object: Draft;
  /** Absent on create. */
  readonly old?: Draft;
  readonly dryRun: boolean;
}

export interface Read {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

export interface WebhookContext {
  readonly verb: WebhookRequest["verb"];
  readonly old?: Draft;
  readonly dryRun: boolean;
  readonly gate: (name: FeatureGate) => boolean;
  /** Objects that `reads` asked for; undefined = absent. */
  readonly found: (read: Read) => KubeObject | undefined;
}

/** A refusal that names no field: a closed gate (403), a value that does not decode (400), something unreadable (500). */
export class Refusal extends Error {
  readonly code: 400 | 403 | 500;
  constructor(code: 400 | 403 | 500, message: string) {
    super(message);
    this.code = code;
  }
}

/** Defaults that cannot be made because of what is given: refused as 422 before the schema is looked at. */
export class Undefaultable extends Error {
  readonly errors: readonly FieldError[];
  constructor(errors: readonly FieldError[]) {
    super(errors.map((e) => `${e.field}: ${e.message}`).join(", "));
    this.errors = errors;
  }
}

export interface RuleSet {
  readonly kind: KindDefinition;
  /** Absent = the object itself. */
  readonly subresource?: "scale";
  readonly operations: readonly WebhookRequest["verb"][];
  /** Group that a 422 names in its details, where upstream names another than the kind's. */
  readonly errorGroup?: string;
  readonly reads?: (request: WebhookRequest) => readonly Read[];
  /** @returns the defaulted object, the same one when nothing is to do. Throws Refusal */
  readonly defaults?: (object: Draft, context: WebhookContext) => Draft;
  /** All faults at once. Throws Refusal */
  readonly validate?: (object: Draft, context: WebhookContext) => readonly FieldError[];
}
