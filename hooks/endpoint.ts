// Where an extension is: URL and CA from an ExtensionConfig. Here: pure text. Not here: connecting (real/). Source: client.md, sections 1 and 7.
import { hookPath } from "../api/hooks/index.ts";
import type { ExtensionConfigSpec } from "../api/extensionconfig.ts";
import { decodeBase64 } from "./base64.ts";

const SERVICE_PORT_DEFAULT = 443;

export interface Endpoint {
  /** `https://host:port`. */
  readonly origin: string;
  /** Host with port, as metrics name it. */
  readonly host: string;
  /** Path in front of the hooks. */
  readonly prefix: string;
  /** PEM; absent = the system's roots. */
  readonly caBundle?: string;
}

/** @throws Error for a client config without url and service, or a url that is not https */
export function endpointOf({ url, service, caBundle }: ExtensionConfigSpec["clientConfig"]): Endpoint {
  const ca = caBundle ? { caBundle: decodeBase64(caBundle) } : {};
  if (service) {
    const host = `${service.name}.${service.namespace}.svc:${service.port ?? SERVICE_PORT_DEFAULT}`;
    return { origin: `https://${host}`, host, prefix: service.path ?? "", ...ca };
  }
  if (!url) throw new Error("spec.clientConfig needs url or service");
  const match = /^https:\/\/([^/?#@]+)([^?#]*)/.exec(url);
  const [, authority = "", path = ""] = match ?? [];
  if (!match || authority === "") throw new Error(`spec.clientConfig.url "${url}" must be https://HOST[:PORT][/PATH]`);
  const host = /:\d+$/.test(authority) ? authority : `${authority}:443`;
  return { origin: `https://${host}`, host, prefix: path, ...ca };
}

/** @param handler short name; none for Discovery */
export const hookUrl = (e: Endpoint, hook: string, handler: string, timeoutSeconds: number): string =>
  `${e.origin}${hookPath(e.prefix, hook, handler)}?timeout=${timeoutSeconds}s`;
