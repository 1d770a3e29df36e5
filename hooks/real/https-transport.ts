// Hook calls over HTTPS. Here: one agent per host and CA, limits, no redirects. Not here: what answers mean (../call.ts).
// Source: client.md, section 7.
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { hookBodyBytesMax } from "../../api/hooks/index.ts";
import type { HookTransport } from "../transport.ts";

/** A host whose CA was rotated leaves an agent behind; it goes after this. */
const AGENT_LIFE_MS = 24 * 3_600_000;
const CONNECTIONS_MAX = 16;

export interface HttpsHookTransportOptions {
  /** Client certificate and key, PEM; both or none. Asked when an agent is made. */
  readonly clientCertificate?: () => { readonly cert: string; readonly key: string } | undefined;
}

export interface HttpsHookTransport {
  readonly transport: HookTransport;
  /** Forgets all agents, so that a new client certificate is used. Calls under way finish. */
  reset(): void;
  /** Agents open now. */
  agentCount(): number;
  close(): Promise<void>;
}

interface Kept {
  readonly agent: Dispatcher;
  readonly untilMs: number;
}

export function httpsHookTransport(options: HttpsHookTransportOptions = {}): HttpsHookTransport {
  const agents = new Map<string, Kept>();

  const agentFor = (url: URL, caBundle: string | undefined): Dispatcher => {
    const key = `${url.hostname}\n${caBundle ?? ""}`;
    const nowMs = Date.now();
    for (const [old, { agent, untilMs }] of agents) {
      if (untilMs > nowMs) break;
      agents.delete(old);
      void agent.close();
    }
    const known = agents.get(key);
    if (known) return known.agent;
    const tls = { ca: caBundle, ...options.clientCertificate?.(), servername: isAddress(url.hostname) ? undefined : url.hostname };
    const agent = proxied()
      ? new EnvHttpProxyAgent({ connections: CONNECTIONS_MAX, connect: tls, requestTls: tls })
      : new Agent({ connections: CONNECTIONS_MAX, connect: tls });
    agents.set(key, { agent, untilMs: nowMs + AGENT_LIFE_MS });
    return agent;
  };
  const forget = (): readonly Dispatcher[] => {
    const old = [...agents.values()].map((k) => k.agent);
    agents.clear();
    return old;
  };

  return {
    transport: async ({ url, caBundle, timeoutMs, body }) => {
      const text = JSON.stringify(body);
      if (Buffer.byteLength(text) > hookBodyBytesMax) throw new Error(`the request is larger than ${hookBodyBytesMax} bytes`);
      const target = new URL(url);
      if (target.protocol !== "https:") throw new Error(`hooks are called over https only, not ${target.protocol}//`);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await agentFor(target, caBundle).request({
          origin: target.origin,
          path: `${target.pathname}${target.search}`,
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json" },
          body: text,
          signal,
        });
        return { status: answer.statusCode, body: await bounded(answer.body) };
      } catch (e) {
        if (signal.aborted) throw new Error(`no answer within ${timeoutMs / 1_000}s`);
        throw withCause(e);
      }
    },
    reset: () => {
      for (const agent of forget()) void agent.close();
    },
    agentCount: () => agents.size,
    close: async () => {
      await Promise.all(forget().map((agent) => agent.destroy()));
    },
  };
}

async function bounded(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > hookBodyBytesMax) throw new Error(`the answer is larger than ${hookBodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The network's own reason is in the cause; people want to read it. */
function withCause(e: unknown): Error {
  const error = e instanceof Error ? e : new Error(String(e));
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return new Error(`${error.message}${cause}`);
}

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(":");
const proxied = (): boolean => Boolean(process.env.HTTPS_PROXY ?? process.env.https_proxy);
