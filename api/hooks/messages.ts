// What every hook call shares: group, paths, common fields, patches. Not here: single hooks, transport (hooks/).
// Source: spec/runtime/hooks.md sections 1 to 3.
import { hooksGroup, hooksVersion } from "../groups.ts";

export const hooksApiVersion = `${hooksGroup}/${hooksVersion}` as const;

/** Largest body, in bytes, in both directions. */
export const hookBodyBytesMax = 20 * 1024 * 1024;
/** Limit for one call when the handler tells none, in seconds. */
export const hookTimeoutSecondsDefault = 10;
/** Longest limit that a handler may tell, in seconds. */
export const hookTimeoutSecondsMax = 30;

export interface HookRequest {
  readonly apiVersion: typeof hooksApiVersion;
  /** `<Hook>Request`. */
  readonly kind: string;
  /** Settings of the ExtensionConfig, with those of the caller laid over them. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface HookResponse {
  readonly apiVersion?: string;
  /** `<Hook>Response`. */
  readonly kind?: string;
  readonly status: "Success" | "Failure";
  /** For people; must not change from call to call, and hold no secrets. */
  readonly message?: string;
}

export interface RetryResponse extends HookResponse {
  /** 0: go on. Above 0: blocked or still working, ask again after so many seconds. */
  readonly retryAfterSeconds: number;
}

export type PatchType = "JSONPatch" | "JSONMergePatch";

/** A patch on the wire. */
export interface HookPatch {
  readonly patchType?: PatchType;
  /** Base64 of the patch as JSON text. */
  readonly patch?: string;
}

/** Path of a hook on its server. @param prefix path part of the client configuration  @param handler short name; none for Discovery */
export function hookPath(prefix: string, hook: string, handler = ""): string {
  const parts = [...prefix.split("/"), hooksGroup, hooksVersion, hook.toLowerCase(), handler.toLowerCase()];
  return `/${parts.filter((part) => part !== "").join("/")}`;
}
