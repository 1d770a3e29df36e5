// HookTransport: one call of an extension server, with or without a socket. Here: the seam and the in-process form.
// Not here: HTTPS (real/https-transport.ts), what answers mean (client.ts). Source: spec/runtime/client.md, sections 6 and 7.
import { type Extension, handleHookRequest } from "./extension.ts";

export interface HookCall {
  /** Whole URL with path and query. */
  readonly url: string;
  /** PEM; absent = the system's roots. */
  readonly caBundle?: string;
  /** Covers connect, TLS, headers and body. */
  readonly timeoutMs: number;
  /** Must not be changed any more by the sender. */
  readonly body: object;
}

export interface HookAnswer {
  readonly status: number;
  /** Bytes from a socket; in process the object itself. */
  readonly body: Uint8Array | object;
}

/** Rejects when the server could not be reached in time; any HTTP status is an answer. */
export type HookTransport = (call: HookCall) => Promise<HookAnswer>;

/** Calls handlers as functions. @param extensionAt the extension behind a host (`name.namespace.svc:443`), if there is one */
export function inProcessTransport(extensionAt: (host: string) => Extension | undefined): HookTransport {
  return async ({ url, body }) => {
    const { host, path } = splitUrl(url);
    const extension = extensionAt(host);
    if (!extension) throw new Error(`connect ECONNREFUSED ${host}: no extension is registered for this host`);
    const { status, answer } = await handleHookRequest(extension, "POST", path, body);
    return { status, body: answer };
  };
}

/** Host with port and path of an https URL; the query is dropped. */
export function splitUrl(url: string): { readonly host: string; readonly path: string } {
  const rest = url.slice(url.indexOf("://") + 3);
  const slash = rest.indexOf("/");
  const [authority, tail] = slash < 0 ? [rest, "/"] : [rest.slice(0, slash), rest.slice(slash)];
  return { host: authority.includes(":") ? authority : `${authority}:443`, path: tail.split("?", 1)[0] ?? "/" };
}
