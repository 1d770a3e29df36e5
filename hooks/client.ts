// Hook client: finds the handlers of a hook and calls them. Here: the seam that controllers use, names, selectors, merged answers.
// Not here: which configs are usable (registry.ts), one call (call.ts), what patches mean (patch.ts, coverage.ts).
// Source: spec/runtime/client.md, sections 4 to 6; hooks.md, section 3.
import type { HookName, HookRequestOf, HookResponse, HookResponseOf, RetryResponse } from "../api/hooks/index.ts";
import { hookCatalog, hooksApiVersion } from "../api/hooks/index.ts";
import type { KubeObject, LabelSelector } from "../api/meta/object.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { type CallTools, callHandler } from "./call.ts";
import { HookError } from "./errors.ts";
import { notReady, type RegisteredHandler, type Registry } from "./registry.ts";
import type { Labels } from "../api/meta/selector.ts";
import { selects, selectsAll } from "./selector.ts";

/** A request as controllers write it: apiVersion, kind and the merged settings are added. */
export type HookRequestBody<H extends HookName> = Omit<HookRequestOf<H>, "apiVersion" | "kind">;

export interface CallOptions {
  /** Keeps a good answer for ten minutes under this key, the handler and the version of its ExtensionConfig; settings count too. */
  readonly cacheKey?: string;
}

/** Errors are HookErrors: HookNotReady (a config that may serve the hook is not usable: wait), HookHandlerUnknown, HookNamespaceMismatch,
 *  HookCallFailed (transport), HookAnswerFailure (status is not Success), HookAnswerInvalid. All name handler and ExtensionConfig. */
export interface HookClient {
  /** Handlers that serve the hook for the namespace of `object`, sorted. @throws HookNotReady */
  handlers(hook: HookName, object: KubeObject): Promise<readonly RegisteredHandler[]>;
  /** Calls one handler by its registered name. */
  callOne<H extends HookName>(
    hook: H,
    name: string,
    object: KubeObject,
    request: HookRequestBody<H>,
    options?: CallOptions,
  ): Promise<HookResponseOf<H>>;
  /** Calls every matching handler, by name, until one fails. Answers are merged: lowest retryAfterSeconds above 0, messages joined by ", ".
   *  No handler = Success, 0. */
  callAll<H extends HookName>(hook: H, object: KubeObject, request: HookRequestBody<H>): Promise<HookResponseOf<H>>;
}

export interface HookClientOptions extends CallTools {
  readonly registry: Registry;
  /** Labels of a namespace; undefined when it does not exist. Asked only when a selector is not empty. */
  readonly namespaceLabels: (namespace: string) => Promise<Labels | undefined>;
}

const ANSWER_LIFE_MS = 600_000;

export function createHookClient(options: HookClientOptions): HookClient {
  const { registry } = options;
  const answers = createAnswerCache<HookResponse>(options.clock, ANSWER_LIFE_MS);

  /** Answers for several selectors with one look at the namespace. */
  const matcher = (object: KubeObject): ((selector: LabelSelector | undefined) => Promise<boolean>) => {
    let labels: Promise<Labels | undefined> | undefined;
    // A ClusterClass or anything else without a namespace would be matched on its own name; all hooks are about namespaced kinds.
    const namespace = object.metadata.namespace ?? "";
    return async (selector) => {
      if (selectsAll(selector)) return true;
      if (!selector) return false;
      labels ??= options.namespaceLabels(namespace);
      const found = await labels;
      if (!found)
        throw new HookError("HookNotReady", `namespace ${namespace} does not exist, so no ExtensionConfig can be selected for it`);
      return selects(selector, found);
    };
  };

  const handlers = async (hook: HookName, object: KubeObject): Promise<readonly RegisteredHandler[]> => {
    const matches = matcher(object);
    const found: RegisteredHandler[] = [];
    for (const handler of registry.list(hook)) if (await matches(handler.namespaceSelector)) found.push(handler);
    for (const u of registry.unready()) {
      if ((u.hooks === undefined || u.hooks.includes(hook)) && (await matches(u.namespaceSelector))) throw notReady(u, hook);
    }
    return found;
  };

  return {
    handlers,
    callOne: async (hook, name, object, request, { cacheKey } = {}) => {
      const handler = registry.get(name);
      if (handler.hook !== hook) {
        throw new HookError(
          "HookHandlerUnknown",
          `handler "${name}" (ExtensionConfig ${handler.config}) serves ${handler.hook}, not ${hook}`,
        );
      }
      if (!(await matcher(object)(handler.namespaceSelector))) {
        const where = object.metadata.namespace ?? "";
        throw new HookError(
          "HookNamespaceMismatch",
          `handler "${name}": ExtensionConfig ${handler.config} does not select namespace ${where}`,
        );
      }
      if (cacheKey === undefined) return callHandler(options, handler, hook, request);
      const key = [hook, name, handler.configVersion, cacheKey, settingsText(request.settings)].join("\u0000");
      const known = answers.get(key);
      if (known) return known as HookResponseOf<typeof hook>;
      const answer = await callHandler(options, handler, hook, request);
      answers.set(key, answer);
      return answer;
    },
    callAll: async (hook, object, request) => {
      const all: HookResponse[] = [];
      for (const handler of await handlers(hook, object)) all.push(await callHandler(options, handler, hook, request));
      return merged(hook, all) as HookResponseOf<typeof hook>;
    },
  };
}

/** Equal settings give equal texts, whatever their order. */
const settingsText = (settings: Readonly<Record<string, string>> = {}): string => JSON.stringify(Object.entries(settings).sort());

function merged(hook: HookName, answers: readonly HookResponse[]): HookResponse {
  const message = answers.flatMap((a) => (a.message ? [a.message] : [])).join(", ");
  const base: HookResponse = { apiVersion: hooksApiVersion, kind: `${hook}Response`, status: "Success", message };
  if (!hookCatalog[hook].retries) return base;
  const waits = answers.map((a) => (a as RetryResponse).retryAfterSeconds).filter((s) => s > 0);
  return { ...base, retryAfterSeconds: waits.length === 0 ? 0 : Math.min(...waits) } as RetryResponse;
}
