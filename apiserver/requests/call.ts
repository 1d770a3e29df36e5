// What one request carries through the pipeline, and what it works with. Here: types and small helpers.
import type { ApiRequest, UserInfo } from "../../api/meta/transport.ts";
import type { CompiledSchema } from "../../schema/index.ts";
import type { AdmissionPlugin } from "../admission-seam.ts";
import type { RequestInfo } from "../auth-seam.ts";
import type { ServerContext } from "../context.ts";
import type { ResourceType, StrategyContext } from "../registry.ts";
import type { Store } from "../store/store.ts";
import type { FieldManagement } from "./field-management.ts";
import type { Negotiated } from "./negotiate.ts";
import type { Route } from "./route.ts";

/** The server as the pipeline sees it. */
export interface Core extends ServerContext {
  readonly store: Store;
  /** Tells servers apart that share a store: `` or `w1|`. */
  readonly keyPrefix: string;
  readonly admission: readonly AdmissionPlugin[];
  /** Compiled once per schema; undefined for a kind without one. */
  readonly compiled: (type: ResourceType) => CompiledSchema | undefined;
  readonly fields: FieldManagement;
}

/** A request to a resource, authorized, its type found. */
export interface Call {
  readonly core: Core;
  readonly request: ApiRequest;
  readonly route: Route;
  readonly info: RequestInfo;
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly accept: Negotiated;
  /** Texts of Warning headers, in order. */
  readonly warnings: string[];
}

export function warn(call: Call, text: string): void {
  if (!call.warnings.includes(text)) call.warnings.push(text);
}

export const strategyContext = (call: Call, verb: string): StrategyContext => ({
  user: call.user,
  nowMs: call.core.clock.nowMs(),
  subresource: call.route.subresource,
  verb,
  server: call.core,
  warn: (text) => warn(call, text),
});

/** The path names the namespace of an object; a namespace object itself has none. */
export const namespaceOf = (call: Call): string => (call.type.namespaced ? call.route.namespace : "");
