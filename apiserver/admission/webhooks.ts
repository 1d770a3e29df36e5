// Mutating and validating webhooks as one admission plugin. Here: which hooks run, in which order, and what their answers lead to.
// Not here: matching (match.ts, conditions.ts), the review itself (review.ts), the wire (../real/call-webhook.ts).
// Source: Kubernetes, "Dynamic admission control".
import { uuid } from "../../runtime/base/random.ts";
import { jsonPatch } from "../../schema/patch/index.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../admission-seam.ts";
import type { ServerContext } from "../context.ts";
import { badRequest, forbidden, internalError } from "../errors.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { type Conditions, createConditions } from "./conditions.ts";
import { type Hook, hooksOf, type WebhookClientConfig } from "./configuration.ts";
import { denial } from "./denial.ts";
import { isExempt, type Matched, matchHook } from "./match.ts";
import { readVerdict, review, reviewRequest, reviewVersion, type Verdict } from "./review.ts";

export interface WebhookCall {
  readonly clientConfig: WebhookClientConfig;
  readonly timeoutSeconds: number;
  /** The AdmissionReview to send as JSON. */
  readonly review: object;
}

/** Sends a review. @returns the decoded answer. Rejects with an Error that says what went wrong, after timeoutSeconds at the latest. */
export type CallWebhook = (call: WebhookCall) => Promise<unknown>;

const DEFAULT_TIMEOUT_SECONDS = 10;

export function webhookPlugin(server: ServerContext, call: CallWebhook): AdmissionPlugin {
  const asker: Asker = { server, call, conditions: createConditions() };
  const mutating = hooksOf(server, "MutatingWebhookConfiguration");
  const validating = hooksOf(server, "ValidatingWebhookConfiguration");
  return {
    name: "Webhooks",
    mutate: async (attributes) => {
      const hooks = mutating();
      return hooks.length === 0 || isExempt(attributes) ? undefined : mutateAll(asker, hooks, attributes);
    },
    async validate(attributes) {
      const hooks = validating();
      if (hooks.length > 0 && !isExempt(attributes)) await validateAll(asker, hooks, attributes);
    },
  };
}

interface Asker {
  readonly server: ServerContext;
  readonly call: CallWebhook;
  readonly conditions: Conditions;
}

/** Hooks run one after the other; those that ask for it run once more when a later one changed the object. */
async function mutateAll(asker: Asker, hooks: readonly Hook[], attributes: AdmissionAttributes): Promise<ApiObject | undefined> {
  let object = attributes.object;
  const waiting = new Set<Hook>();
  const again = new Set<Hook>();
  const run = async (hook: Hook): Promise<void> => {
    const seen = { ...attributes, object };
    const matched = concerned(asker, hook, seen);
    if (matched === undefined) return;
    const verdict = await ask(asker, hook, seen, matched, true);
    const changed = verdict === undefined ? undefined : patched(hook, seen, matched, verdict);
    if (changed !== undefined && !sameJson(changed, object)) {
      object = changed;
      for (const earlier of waiting) again.add(earlier);
      waiting.clear();
    }
    if (hook.webhook.reinvocationPolicy === "IfNeeded") waiting.add(hook);
  };
  for (const hook of hooks) await run(hook);
  for (const hook of hooks.filter((h) => again.has(h))) await run(hook);
  return object === attributes.object ? undefined : object;
}

/** All hooks are asked at once; of several refusals the one of the first hook is told. */
async function validateAll(asker: Asker, hooks: readonly Hook[], attributes: AdmissionAttributes): Promise<void> {
  const asked = hooks.flatMap((hook) => {
    const matched = concerned(asker, hook, attributes);
    return matched === undefined ? [] : [ask(asker, hook, attributes, matched, false)];
  });
  const results = await Promise.allSettled(asked);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

function concerned({ server, conditions }: Asker, hook: Hook, attributes: AdmissionAttributes): Matched | undefined {
  const { webhook } = hook;
  const matched = matchHook(server, webhook, attributes);
  if (matched === undefined) return undefined;
  const verdict = conditions.judge(webhook.matchConditions ?? [], () => {
    const { object, oldObject, ...request } = reviewRequest(attributes, matched, "");
    return { object, oldObject, request };
  });
  if ("matches" in verdict) return verdict.matches ? matched : undefined;
  if (webhook.failurePolicy === "Ignore") {
    server.log.warn("webhook passed over: its match conditions cannot be evaluated", { webhook: webhook.name, error: verdict.fault });
    return undefined;
  }
  throw forbidden(attributes.type, attributes.name, verdict.fault);
}

/** @returns undefined when the hook could not be asked and that does not matter. Throws ApiError on a refusal */
async function ask(
  { server, call }: Asker,
  { webhook }: Hook,
  attributes: AdmissionAttributes,
  matched: Matched,
  mutating: boolean,
): Promise<Verdict | undefined> {
  if (attributes.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const uid = uuid(server.random);
  const version = reviewVersion(webhook);
  let verdict: Verdict;
  try {
    const answer = await call({
      clientConfig: webhook.clientConfig,
      timeoutSeconds: webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      review: review(version, reviewRequest(attributes, matched, uid)),
    });
    verdict = readVerdict(answer, version, uid, mutating);
  } catch (error) {
    const text = `failed calling webhook ${JSON.stringify(webhook.name)}: ${(error as Error).message}`;
    if (webhook.failurePolicy !== "Ignore") throw internalError(text);
    server.log.warn("webhook passed over: it could not be asked", { webhook: webhook.name, error: text });
    return undefined;
  }
  for (const warning of verdict.warnings) attributes.warn(warning);
  if (!verdict.allowed) throw denial(webhook.name, verdict.status);
  return verdict;
}

function patched({ webhook }: Hook, attributes: AdmissionAttributes, matched: Matched, { patch }: Verdict): ApiObject | undefined {
  if (patch === "") return undefined;
  const name = JSON.stringify(webhook.name);
  const { object, type } = attributes;
  try {
    const operations: unknown = JSON.parse(patch);
    if (Array.isArray(operations) && operations.length === 0) return undefined;
    if (object === undefined)
      throw new Error(`admission webhook ${name} attempted to modify the object, which is not supported for this operation`);
    const result = jsonPatch(matched.convert(object), operations) as ApiObject;
    return attributes.normalize({ ...result, apiVersion: object.apiVersion, kind: object.kind });
  } catch (error) {
    // What the patch made unfit for the kind is told as such.
    if ((error as { status?: unknown }).status !== undefined) throw error;
    throw internalError(`the patch of admission webhook ${name} for ${type.kind} cannot be applied: ${(error as Error).message}`);
  }
}
