// The shape of a kind's rules: what they read, then pure functions over new, old and what was found.
// Here: types and the verdict. Not here: any kind's rules, how a request comes in (review.ts, simulator/webhook-functions.ts, real/server.ts).
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

/** One object. */
export interface ObjectRead {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Whether what was found will do. A reader that can wait looks again for a short while: the object may be on its way. */
  readonly suffices?: (found: KubeObject | undefined) => boolean;
}

/** All objects of a kind. */
export interface ListRead {
  readonly resource: Resource;
  /** Absent = all. */
  readonly namespace?: string;
  /** Labels they must have. */
  readonly labels?: Readonly<Record<string, string>>;
}

export type Read = ObjectRead | ListRead;

/** Which half of the rules will look. */
export type Phase = "defaults" | "validation";

/** What was found. Both throw Unreadable when the reading failed. */
export interface Findings {
  /** undefined = absent. */
  readonly found: (read: ObjectRead) => KubeObject | undefined;
  /** Sorted by namespace and name. */
  readonly listed: (read: ListRead) => readonly KubeObject[];
}

/** Only what `reads` asked for can be looked up. */
export interface WebhookContext extends Findings {
  readonly verb: WebhookRequest["verb"];
  readonly old?: Draft;
  readonly dryRun: boolean;
  readonly gate: (name: FeatureGate) => boolean;
}

/** A refusal that names no field: a closed gate (403), a value that does not decode (400), something unreadable (500). */
export class Refusal extends Error {
  readonly code: 400 | 403 | 500;
  constructor(code: 400 | 403 | 500, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a rule asked for could not be read. */
export class Unreadable extends Refusal {
  constructor(message: string) {
    super(500, message);
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
  readonly reads?: (request: WebhookRequest, phase: Phase) => readonly Read[];
  /** @returns the defaulted object, the same one when nothing is to do. Throws Refusal */
  readonly defaults?: (object: Draft, context: WebhookContext) => Draft;
  /** All faults at once. Throws Refusal */
  readonly validate?: (object: Draft, context: WebhookContext) => readonly FieldError[];
  /** What the client is told beside the verdict. */
  readonly warnings?: (object: Draft, context: WebhookContext) => readonly string[];
}
