// Webhooks as functions in the same process: the same questions and answers as over the wire, without the wire.
// Here: the plugin that asks them. Not here: the functions, configurations and webhooks outside (webhooks.ts).
import type { Status } from "../../api/meta/status.ts";
import { uuid } from "../../runtime/base/random.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../admission-seam.ts";
import type { ServerContext } from "../context.ts";
import type { WebhookRule } from "./configuration.ts";
import { denial } from "./denial.ts";
import { type Matched, matchHook } from "./match.ts";
import { type ReviewRequest, reviewRequest } from "./review.ts";

export interface FunctionVerdict {
  readonly allowed: boolean;
  /** The changed object; absent or the same for no change. Of `mutate` only. */
  readonly object?: object;
  /** Why not, when not allowed. */
  readonly status?: Partial<Status>;
  readonly warnings?: readonly string[];
}

type Answer = FunctionVerdict | Promise<FunctionVerdict>;

export interface AdmissionFunction {
  /** As a webhook is named, e.g. `default.machine.cluster.x-k8s.io`; shown in refusals. */
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  /** Objects in the request are frozen. */
  readonly mutate?: (request: ReviewRequest) => Answer;
  readonly validate?: (request: ReviewRequest) => Answer;
}

/** Functions run in the order given: first all that mutate, then all that validate. */
export function functionPlugin(server: ServerContext, functions: readonly AdmissionFunction[]): AdmissionPlugin {
  const match = (one: AdmissionFunction, attributes: AdmissionAttributes): Matched | undefined =>
    matchHook(server, { name: one.name, clientConfig: {}, rules: one.rules, matchPolicy: "Exact" }, attributes);
  const answered = async (one: AdmissionFunction, answer: Answer, attributes: AdmissionAttributes): Promise<FunctionVerdict> => {
    const verdict = await answer;
    for (const warning of verdict.warnings ?? []) attributes.warn(warning);
    if (!verdict.allowed) throw denial(one.name, verdict.status);
    return verdict;
  };
  return {
    name: "Functions",
    async mutate(attributes) {
      let object = attributes.object;
      for (const one of functions) {
        const seen = { ...attributes, object };
        const matched = one.mutate && match(one, seen);
        if (!one.mutate || matched === undefined) continue;
        const verdict = await answered(one, one.mutate(reviewRequest(seen, matched, uuid(server.random))), attributes);
        if (object !== undefined && verdict.object !== undefined && verdict.object !== object)
          object = attributes.normalize(verdict.object);
      }
      return object === attributes.object ? undefined : object;
    },
    async validate(attributes) {
      for (const one of functions) {
        const matched = one.validate && match(one, attributes);
        if (!one.validate || matched === undefined) continue;
        await answered(one, one.validate(reviewRequest(attributes, matched, uuid(server.random))), attributes);
      }
    },
  };
}
