// Kubeconfig to Transport: which server, which credentials. Here: @kubernetes/client-node's KubeConfig asked for both.
// Not here: sockets (https-transport.ts).
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { type HttpsTransport, httpsTransport } from "./https-transport.ts";

/** Tokens of exec plugins and projected files are asked for again after this; the plugin has its own cache. */
const AUTHORIZATION_LIFE_MS = 30_000;

export interface KubeConfigSource {
  /** Path of a kubeconfig file. */
  readonly file?: string;
  /** Its text, as in a kubeconfig Secret. */
  readonly text?: string;
  readonly context?: string;
}

export interface KubeConnection extends HttpsTransport {
  readonly server: string;
}

/** Opens the server a kubeconfig names; without file and text: KUBECONFIG, ~/.kube/config, then the service account of the pod.
 *  @throws Error that says what is missing */
export async function connectKubeConfig(source: KubeConfigSource = {}): Promise<KubeConnection> {
  const config = new KubeConfig();
  if (source.text !== undefined) config.loadFromString(source.text);
  else if (source.file !== undefined) config.loadFromFile(source.file);
  else config.loadFromDefault();
  if (source.context !== undefined) {
    if (!config.getContextObject(source.context)) throw new Error(`the kubeconfig has no context "${source.context}"`);
    config.setCurrentContext(source.context);
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error("the kubeconfig names no current cluster: set current-context, or give --kubeconfig");
  const options = await optionsOf(config);
  const { ca, cert, key, rejectUnauthorized, servername } = options;
  const transport = httpsTransport({
    url: cluster.server,
    tls: { ca, cert, key, rejectUnauthorized, servername } as HttpsTransportOptionsTls,
    authorization: authorizationOf(config),
  });
  return { ...transport, server: cluster.server };
}

type HttpsTransportOptionsTls = NonNullable<Parameters<typeof httpsTransport>[0]["tls"]>;

async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

function authorizationOf(config: KubeConfig): (refresh: boolean) => Promise<string | undefined> {
  let known: { readonly value: string | undefined; readonly untilMs: number } | undefined;
  return async (refresh) => {
    if (known && !refresh && Date.now() < known.untilMs) return known.value;
    const options = await optionsOf(config);
    const headers = options.headers as Readonly<Record<string, string | undefined>>;
    const basic = options.auth ? `Basic ${Buffer.from(options.auth).toString("base64")}` : undefined;
    known = { value: headers.Authorization ?? headers.authorization ?? basic, untilMs: Date.now() + AUTHORIZATION_LIFE_MS };
    return known.value;
  };
}
