// Discovery: a server tells its handlers. Source: spec/runtime/hooks.md section 4.
import type { HookRequest, HookResponse } from "./messages.ts";

export type DiscoveryRequest = HookRequest;

export interface DiscoveredHandler {
  /** DNS label, unique in the answer. */
  readonly name: string;
  readonly requestHook: { readonly apiVersion: string; readonly hook: string };
  /** 0 to 30; unset and 0 mean 10. */
  readonly timeoutSeconds?: number;
  /** Unset means Fail. */
  readonly failurePolicy?: "Fail" | "Ignore";
}

export interface DiscoveryResponse extends HookResponse {
  readonly handlers?: readonly DiscoveredHandler[];
}
