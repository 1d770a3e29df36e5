// Hook client: finds the handlers of a hook and calls them. Here: the seam that controllers use.
// Not here: which configs are usable (registry.ts), one call (call.ts), what patches mean (patch.ts, coverage.ts).
// Source: spec/runtime/client.md, sections 4 to 6; hooks.md, section 3.
import type { HookName, HookRequestOf, HookResponseOf } from "../api/hooks/index.ts";
import type { KubeObject } from "../api/meta/object.ts";

/** A request as controllers write it: apiVersion, kind and the merged settings are added. */
export type HookRequestBody<H extends HookName> = Omit<HookRequestOf<H>, "apiVersion" | "kind">;

export interface CallOptions {
  /** Keeps a good answer under this key, for as long as the hook's cache says. Only DiscoverVariables and GenerateUpgradePlan use it. */
  readonly cacheKey?: string;
}

/** Errors carry `code`: HookNotReady (a config that may serve the hook is not usable: wait), HookHandlerUnknown, HookNamespaceMismatch,
 *  HookCallFailed (transport), HookAnswerFailure (status is not Success), HookAnswerInvalid. All name handler and ExtensionConfig. */
export interface HookClient {
  /** Registered names (`<handler>.<config>`) that serve the hook for the namespace of `object`, sorted. @throws HookNotReady */
  handlers(hook: HookName, object: KubeObject): Promise<readonly string[]>;
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

/** How an object may be updated in place, as far as a handler told. */
export type CoverageDecision =
  | { readonly canUpdate: true; readonly handler: string; readonly affectsAvailability: boolean }
  | {
      readonly canUpdate: false;
      /** For people: per object the paths that are left. */
      readonly message: string;
      readonly notCovered: readonly UncoveredPaths[];
    };

export interface UncoveredPaths {
  readonly object: "machine" | "machineSet" | "infrastructure" | "bootstrap";
  /** Field paths, sorted: `.spec.version`. */
  readonly paths: readonly string[];
}
