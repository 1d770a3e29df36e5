// Webhooks over HTTPS. Here: one POST with time and size limits, trust in the hook's CA, services found through their endpoints.
// Not here: what is asked and what the answer means (../admission/).
import { request as httpsRequest } from "node:https";
import type { CallWebhook } from "../admission/webhooks.ts";
import type { WebhookClientConfig } from "../admission/configuration.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";

/** Larger answers are no review; kube-apiserver has the same limit for bodies. */
const ANSWER_BYTES_MAX = 3 * 1024 * 1024;
const HTTPS_PORT = 443;

/** Redirects are not followed: a hook that sends one is a hook that cannot be asked. */
export const createWebhookCaller =
  (server: ServerContext): CallWebhook =>
  ({ clientConfig, timeoutSeconds, review }) => {
    const target = targetOf(server, clientConfig);
    target.url.searchParams.set("timeout", `${timeoutSeconds}s`);
    return post(target, clientConfig.caBundle, JSON.stringify(review), timeoutSeconds);
  };

interface Target {
  readonly url: URL;
  /** Name in the hook's certificate, and in the Host header, when the address differs from it. */
  readonly serverName?: string;
}

function targetOf(server: ServerContext, { url, service }: WebhookClientConfig): Target {
  if (url !== undefined) return { url: new URL(url) };
  if (service === undefined) throw new Error("clientConfig has neither url nor service");
  const { namespace, name, path = "", port = HTTPS_PORT } = service;
  const serverName = `${name}.${namespace}.svc`;
  const address = addressOf(server, namespace, name, port) ?? `${serverName}:${port}`;
  return { url: new URL(`https://${address}${path === "" ? "/" : path}`), serverName };
}

type Fields = Readonly<Record<string, unknown>>;
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

/** host:port of a service: its external name, the first ready endpoint, its cluster address. */
function addressOf(server: ServerContext, namespace: string, name: string, port: number): string | undefined {
  const get = (kind: string): ApiObject | undefined => {
    const type = server.registry.byKind("", "v1", kind);
    return type && server.objects.get(type, namespace, name);
  };
  const service = get("Service");
  const spec = (service?.spec ?? {}) as Fields;
  if (service === undefined) return undefined;
  if (spec.type === "ExternalName") return `${String(spec.externalName)}:${port}`;
  const portName = list(spec.ports).find((p) => p.port === port)?.name ?? "";
  for (const subset of list(get("Endpoints")?.subsets)) {
    const ip = list(subset.addresses)[0]?.ip;
    const found = list(subset.ports).find((p) => (p.name ?? "") === portName)?.port;
    if (typeof ip === "string" && typeof found === "number") return `${ip.includes(":") ? `[${ip}]` : ip}:${found}`;
  }
  const { clusterIP } = spec;
  return typeof clusterIP === "string" && clusterIP !== "" && clusterIP !== "None" ? `${clusterIP}:${port}` : undefined;
}

function post({ url, serverName }: Target, caBundle: string | undefined, body: string, timeoutSeconds: number): Promise<unknown> {
  const bytes = Buffer.from(body);
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`failed to call webhook: Post ${JSON.stringify(url.href)}: ${why}`));
    const request = httpsRequest(
      url,
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, */*",
          "content-length": bytes.byteLength,
          ...(serverName === undefined ? {} : { host: serverName }),
        },
        ...(caBundle === undefined || caBundle === "" ? {} : { ca: Buffer.from(caBundle, "base64") }),
        ...(serverName === undefined ? {} : { servername: serverName }),
        minVersion: "TLSv1.2",
        // Hooks are few and seldom: no connection outlives its question, none is waited for at the end.
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > ANSWER_BYTES_MAX) request.destroy(new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`));
          else chunks.push(chunk);
        });
        response.on("error", (error) => fail(error.message));
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          const text = Buffer.concat(chunks).toString("utf8");
          if (status < 200 || status > 299) return fail(`the server answered ${status}`);
          try {
            resolve(JSON.parse(text));
          } catch {
            fail("the answer is not JSON");
          }
        });
      },
    );
    const timer = setTimeout(() => request.destroy(new Error("context deadline exceeded")), timeoutSeconds * 1000);
    request.on("close", () => clearTimeout(timer));
    request.on("error", (error) => fail(error.message));
    request.end(bytes);
  });
}
