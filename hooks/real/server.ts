// HTTPS server of an extension. Here: TLS, limits, bodies, health. Not here: what handlers do (../extension.ts). Source: hooks.md, section 1.1.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { hookBodyBytesMax } from "../../api/hooks/index.ts";
import { type Extension, handleHookRequest } from "../extension.ts";

const PORT_DEFAULT = 9443;
/** A peer that sends its request slower than this is cut off. */
const REQUEST_TIMEOUT_MS = 60_000;

export interface ServeOptions {
  /** 0 = any free port. Default 9443. */
  readonly port?: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** Folder with tls.crt and tls.key; read again when they change in time for the next connection. */
  readonly certDir?: string;
  /** The pair itself, PEM, instead of certDir. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** PEM; callers must then show a certificate from this CA. */
  readonly clientCa?: string;
}

export interface RunningExtension {
  readonly port: number;
  readonly url: string;
  /** Stops listening and waits for requests under way. */
  close(): Promise<void>;
}

/** @throws Error that says which file or port is the trouble */
export async function serveExtension(e: Extension, options: ServeOptions = {}): Promise<RunningExtension> {
  const tls = options.tls ?? readPair(options.certDir);
  const clientAuth = options.clientCa ? { ca: options.clientCa, requestCert: true, rejectUnauthorized: true } : {};
  const server = createServer({ ...tls, ...clientAuth, requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void respond(e, request, response);
  });
  const port = await listening(server, options.port ?? PORT_DEFAULT, options.host);
  const reload = options.certDir ? setInterval(() => reloadPair(server, options.certDir), 60_000) : undefined;
  reload?.unref();
  const host = options.host === undefined || options.host === "0.0.0.0" || options.host === "::" ? "127.0.0.1" : options.host;
  return {
    port,
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((done) => {
        clearInterval(reload);
        server.close(() => done());
        server.closeIdleConnections();
      }),
  };
}

async function respond(e: Extension, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  if (request.method === "GET" && (path === "/healthz" || path === "/readyz")) {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    return;
  }
  const body = request.method === "POST" ? await readBody(request) : undefined;
  const { status, answer } = await handleHookRequest(e, request.method ?? "", path, body);
  let text: string;
  try {
    text = JSON.stringify(answer);
  } catch (error) {
    response.writeHead(500, { "content-type": "text/plain" }).end(`the answer cannot be written as JSON: ${String(error)}`);
    return;
  }
  response.writeHead(status, { "content-type": "application/json", ...(status === 405 ? { allow: "POST" } : {}) }).end(text);
}

/** The parsed body whatever its content type, or an Error that becomes a Failure answer. A body that is too large is read to its end and dropped. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length <= hookBodyBytesMax) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return new Error("the request body ended too soon");
  }
  if (length > hookBodyBytesMax) return new Error(`the request body is larger than ${hookBodyBytesMax} bytes`);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return new Error("the request body is not JSON");
  }
}

function readPair(certDir: string | undefined): { readonly cert: string; readonly key: string } {
  if (certDir === undefined) throw new Error("an extension server needs tls (certificate and key) or certDir with tls.crt and tls.key");
  try {
    return { cert: readFileSync(join(certDir, "tls.crt"), "utf8"), key: readFileSync(join(certDir, "tls.key"), "utf8") };
  } catch (e) {
    throw new Error(`cannot read the serving certificate: ${e instanceof Error ? e.message : String(e)}`);
  }
}

/** A half-written pair is not taken; the next look finds it whole. */
function reloadPair(server: Server, certDir: string | undefined): void {
  try {
    server.setSecureContext(readPair(certDir));
  } catch {
    // The pair that is in use stays.
  }
}

const listening = (server: Server, port: number, host: string | undefined): Promise<number> =>
  new Promise((done, failed) => {
    server.once("error", (e) => failed(new Error(`cannot listen on port ${port}: ${e.message}`)));
    server.listen(port, host, () => done((server.address() as AddressInfo).port));
  });
