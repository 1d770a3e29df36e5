// Health and metrics over plain HTTP: /healthz, /readyz, /metrics. Here: the listener. Not here: what healthy means (given as functions).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { MetricsText } from "./metrics.ts";

/** Name of a check and what it says: true, or why not. */
export type HealthChecks = Readonly<Record<string, () => true | string>>;

export interface HealthServerOptions {
  /** `:9440`, `127.0.0.1:0`. */
  readonly address: string;
  readonly healthy?: HealthChecks;
  readonly ready?: HealthChecks;
  readonly metrics?: MetricsText;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws Error for an address that is none or that is taken */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    void answer(options, request.url ?? "/").then(({ status, text, type = "text/plain; charset=utf-8" }) => {
      response.writeHead(status, { "content-type": type });
      response.end(text);
    });
  });
  const { host, port } = parseAddress(options.address);
  await new Promise<void>((listening, failed) => {
    server.once("error", (e) => failed(new Error(`cannot listen on ${options.address}: ${e.message}`)));
    server.listen(port, host, listening);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closed(server) };
}

/** `host:port` or `:port`. @throws Error that says how it is written */
export function parseAddress(address: string): { readonly host?: string; readonly port: number } {
  const match = /^(.*):(\d{1,5})$/.exec(address);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) throw new Error(`invalid address "${address}": write host:port or :port`);
  return { host: match[1]?.replace(/^\[(.*)\]$/, "$1") || undefined, port };
}

async function answer(options: HealthServerOptions, url: string): Promise<{ status: number; text: string; type?: string }> {
  const path = url.split("?", 1)[0]?.replace(/\/$/, "");
  if (path === "/healthz") return checked(options.healthy ?? {});
  if (path === "/readyz") return checked(options.ready ?? {});
  if (path === "/metrics" && options.metrics) return { status: 200, text: await options.metrics.text(), type: options.metrics.contentType };
  return { status: 404, text: "not found: /healthz, /readyz and /metrics are here\n" };
}

function checked(checks: HealthChecks): { status: number; text: string } {
  const results = Object.entries(checks).map(([name, check]) => [name, check()] as const);
  const failed = results.filter(([, result]) => result !== true);
  if (failed.length === 0) return { status: 200, text: "ok" };
  const lines = results.map(([name, result]) => (result === true ? `[+]${name} ok` : `[-]${name} failed: ${result}`));
  return { status: 500, text: `${lines.join("\n")}\n` };
}

const closed = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
