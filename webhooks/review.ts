// One AdmissionReview request to a verdict: the same for webhooks in process and over HTTPS.
// Here: request in, verdict or patch out; pure. Not here: rules, transport. Source: admission.k8s.io/v1; spec/api/common.md section 2.
import type { FeatureGate } from "../api/feature-gates.ts";
import type { KubeObject } from "../api/meta/object.ts";
import type { Status } from "../api/meta/status.ts";
import type { FieldError } from "../schema/field.ts";
import { plain } from "./draft.ts";
import { contextOf, runDefaults, runValidation } from "./index.ts";
import { type Draft, type Findings, type Phase, type Read, Refusal, type RuleSet, Undefaultable, type WebhookRequest } from "./rule-set.ts";

/** The part of an AdmissionReview's request that rules use. */
export interface AdmissionRequest {
  readonly operation: string;
  readonly object: object | null;
  readonly oldObject: object | null;
  readonly dryRun?: boolean;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  /** Of `mutate`: the defaulted object, when something changed. */
  readonly object?: KubeObject;
  readonly status?: Partial<Status>;
}

export interface ReviewEnvironment extends Findings {
  readonly gate: (name: FeatureGate) => boolean;
}

const VERBS: Readonly<Record<string, WebhookRequest["verb"]>> = { CREATE: "create", UPDATE: "update", DELETE: "delete" };

export function requestOf(admission: AdmissionRequest): WebhookRequest | undefined {
  const verb = VERBS[admission.operation];
  const object = (admission.object ?? admission.oldObject) as Draft | null;
  if (!verb || !object) return undefined;
  return {
    verb,
    object,
    dryRun: admission.dryRun ?? false,
    ...(verb === "update" && admission.oldObject ? { old: admission.oldObject as Draft } : {}),
  };
}

/** What must be found before the rules can run; for callers that read elsewhere than in memory. */
export const readsOf = (rules: RuleSet, admission: AdmissionRequest, phase: Phase): readonly Read[] => {
  const request = requestOf(admission);
  return request && rules.reads ? rules.reads(request, phase) : [];
};

function refused(rules: RuleSet, request: WebhookRequest, errors: readonly FieldError[]): Verdict {
  const { kind, group } = rules.kind.resource;
  const name = request.object.metadata.name ?? "";
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  const texts = errors.map((e) => `${e.field}: ${e.message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return {
    allowed: false,
    status: {
      code: 422,
      reason: "Invalid",
      message: `${kind}.${group} ${JSON.stringify(name)} is invalid: ${text}`,
      details: { name, group: rules.errorGroup ?? group, kind, causes },
    },
  };
}

function verdict(work: () => Verdict): Verdict {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const reason = error.code === 403 ? { reason: "Forbidden" } : error.code === 500 ? { reason: "InternalError" } : {};
    return { allowed: false, status: { code: error.code, message: error.message, ...reason } };
  }
}

export const mutate = (rules: RuleSet, admission: AdmissionRequest, environment: ReviewEnvironment): Verdict =>
  verdict(() => {
    const request = requestOf(admission);
    if (!request) return { allowed: true };
    let object: KubeObject;
    try {
      object = runDefaults(rules, request, contextOf(request, environment, environment.gate));
    } catch (error) {
      if (error instanceof Undefaultable) return refused(rules, request, error.errors);
      throw error;
    }
    return object === request.object ? { allowed: true } : { allowed: true, object };
  });

export const validate = (rules: RuleSet, admission: AdmissionRequest, environment: ReviewEnvironment): Verdict =>
  verdict(() => {
    const request = requestOf(admission);
    if (!request || !rules.operations.includes(request.verb)) return { allowed: true };
    const context = contextOf(request, environment, environment.gate);
    const errors = runValidation(rules, request, context);
    const warnings = rules.warnings?.(request.object, context) ?? [];
    return { ...(errors.length === 0 ? { allowed: true } : refused(rules, request, errors)), ...(warnings.length > 0 ? { warnings } : {}) };
  });

export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** RFC 6902 from one object to another. Lists are replaced whole. */
export function patchBetween(before: unknown, after: unknown, path = ""): readonly PatchOperation[] {
  if (before === after) return [];
  const [old, now] = [plain(before), plain(after)];
  if (!old || !now) return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ op: "replace", path, value: after }];
  const at = (key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return [
    ...Object.keys(old).flatMap((key): readonly PatchOperation[] =>
      Object.hasOwn(now, key) ? patchBetween(old[key], now[key], at(key)) : [{ op: "remove", path: at(key) }],
    ),
    ...Object.keys(now).flatMap((key): readonly PatchOperation[] =>
      Object.hasOwn(old, key) ? [] : [{ op: "add", path: at(key), value: now[key] }],
    ),
  ];
}
