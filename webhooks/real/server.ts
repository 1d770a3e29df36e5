// Webhooks over HTTPS: AdmissionReviews in and out. Here: listener, limits, reading what rules ask for. Not here: rules and verdicts (../).
// Source: admission.k8s.io/v1.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { FeatureGate } from "../../api/feature-gates.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import { webhookPath } from "../configuration.ts";
import { type RuleSet, ruleSets } from "../index.ts";
import { type ObjectReader, readAll } from "../reading.ts";
import { type AdmissionRequest, mutate, patchBetween, readsOf, type Verdict, validate } from "../review.ts";

export interface WebhookServerOptions {
  readonly port: number;
  readonly host?: string;
  /** Folder with tls.crt and tls.key; read again when they change, for the next connection. */
  readonly certDir: string;
  readonly gate: (name: FeatureGate) => boolean;
  readonly reader: ObjectReader;
  /** Of the short wait for an object that is on its way. */
  readonly clock: Clock;
}

export interface WebhookServer {
  readonly port: number;
  close(): Promise<void>;
}

interface AdmissionReview {
  readonly apiVersion?: string;
  readonly request?: AdmissionRequest & { readonly uid: string };
}

/** A request holds two objects of at most 3 MiB and little else. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
const RELOAD_MS = 60_000;

const handlers: ReadonlyMap<string, { readonly phase: "mutate" | "validate"; readonly rules: RuleSet }> = new Map(
  ruleSets.flatMap((rules) => (["mutate", "validate"] as const).map((phase) => [webhookPath(phase, rules), { phase, rules }] as const)),
);

/** @throws Error that says which file or port is the trouble */
export async function serveWebhooks(options: WebhookServerOptions): Promise<WebhookServer> {
  const server = createServer({ ...readPair(options.certDir), requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void respond(options, request, response);
  });
  const reload = setInterval(() => reloadPair(server, options.certDir), RELOAD_MS);
  reload.unref();
  await new Promise<void>((done, failed) => {
    server.once("error", (e: NodeJS.ErrnoException) =>
      failed(e.code === "EADDRINUSE" ? new Error(`webhook port ${options.port} is taken; choose another with --webhook-port`) : e),
    );
    server.listen(options.port, options.host, () => done());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        clearInterval(reload);
        server.close(() => done());
        server.closeIdleConnections();
      }),
  };
}

async function respond(options: WebhookServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const plain = (status: number, text: string): void => void response.writeHead(status, { "content-type": "text/plain" }).end(text);
  const handler = handlers.get((request.url ?? "").split("?", 1)[0] ?? "");
  if (!handler) return plain(404, "no webhook has this path");
  if (request.method !== "POST") return plain(405, "webhooks are called with POST");
  try {
    const review = JSON.parse(await readBody(request)) as AdmissionReview;
    if (!review.request?.uid) return plain(400, "the body must be an AdmissionReview with a request");
    const verdict = await judge(options, handler.phase, handler.rules, review.request);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer(review.request, verdict)));
  } catch (error) {
    plain(error instanceof SyntaxError ? 400 : 500, error instanceof Error ? error.message : String(error));
  }
}

async function judge(
  options: WebhookServerOptions,
  phase: "mutate" | "validate",
  rules: RuleSet,
  request: AdmissionRequest,
): Promise<Verdict> {
  const reads = readsOf(rules, request, phase === "mutate" ? "defaults" : "validation");
  const environment = { gate: options.gate, ...(await readAll(options.reader, reads, options.clock)) };
  return phase === "mutate" ? mutate(rules, request, environment) : validate(rules, request, environment);
}

function answer(request: AdmissionRequest & { readonly uid: string }, { allowed, object, status, warnings }: Verdict): object {
  const patch = object
    ? { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patchBetween(request.object, object))).toString("base64") }
    : {};
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: request.uid, allowed, ...patch, ...(status ? { status } : {}), ...(warnings ? { warnings } : {}) },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new SyntaxError(`the body is larger than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readPair(certDir: string): { readonly cert: string; readonly key: string } {
  try {
    return { cert: readFileSync(join(certDir, "tls.crt"), "utf8"), key: readFileSync(join(certDir, "tls.key"), "utf8") };
  } catch (e) {
    throw new Error(
      `the webhooks' certificate cannot be read: ${e instanceof Error ? e.message : String(e)}; put tls.crt and tls.key into --webhook-cert-dir`,
    );
  }
}

function reloadPair(server: Server, certDir: string): void {
  try {
    server.setSecureContext(readPair(certDir));
  } catch {
    // A half-written pair is not taken; the one in use stays until the next look.
  }
}
