// Calls over real sockets: certificates, limits, redirects, connections.
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { done } from "../answers.ts";
import { extension } from "../extension.ts";
import { machineObjects } from "../testing/fixtures.ts";
import { httpsHookTransport } from "./https-transport.ts";
import { type RunningExtension, serveExtension } from "./server.ts";

const HOUR_MS = 3_600_000;
const LIMIT = 20 * 1024 * 1024;
const pki = createNodePki({ clock: systemClock });
const ca = pki.createCa("test", HOUR_MS, "ECDSA-P256");
const otherCa = pki.createCa("other", HOUR_MS, "ECDSA-P256");
const pair = pki.issue(ca, {
  commonName: "ext",
  names: ["localhost", "127.0.0.1"],
  usages: ["server"],
  validForMs: HOUR_MS,
  algorithm: "ECDSA-P256",
});
const path = "/hooks.runtime.cluster.x-k8s.io/v1alpha1/updatemachine/update-machine?timeout=1s";

let running: RunningExtension;
let odd: Server;
const sockets = new Set<unknown>();
const http = httpsHookTransport();
const call = (url: string, body: object = { desired: machineObjects() }, timeoutMs = 10_000, caBundle = ca.certificate) =>
  http.transport({ url, caBundle, timeoutMs, body });
const textOf = (body: Uint8Array | object): string => new TextDecoder().decode(body as Uint8Array);

beforeAll(async () => {
  const e = extension("ext").on("UpdateMachine", ({ settings }) => done(settings?.say ?? "hello"));
  running = await serveExtension(e, { port: 0, host: "127.0.0.1", tls: { cert: pair.certificate, key: pair.key } });
  odd = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    if (request.url === "/redirect") response.writeHead(301, { location: `${running.url}${path}` }).end();
    else if (request.url === "/huge") response.writeHead(200).end(Buffer.alloc(LIMIT + 1, 32));
    else if (request.url === "/slow") setTimeout(() => response.writeHead(200).end("{}"), 5_000).unref();
    else response.writeHead(200).end(JSON.stringify({ type: request.headers["content-type"] ?? "" }));
  });
  odd.on("secureConnection", (socket) => sockets.add(socket));
  await new Promise<void>((listening) => odd.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  await http.close();
  await running.close();
  odd.closeAllConnections();
  await new Promise((closed) => odd.close(closed));
});
const oddUrl = (at: string): string => `https://localhost:${(odd.address() as AddressInfo).port}${at}`;

describe("hook calls over HTTPS", () => {
  it("reach the handler", async () => {
    const { status, body } = await call(`${running.url}${path}`);
    expect([status, JSON.parse(textOf(body)).message]).toEqual([200, "hello"]);
  });

  it("trust the given CA only", async () => {
    await expect(call(`${running.url}${path}`, {}, 10_000, otherCa.certificate)).rejects.toThrow(/certificate|self.signed/i);
    expect((await call(`${running.url}${path}`)).status).toBe(200);
  });

  it("do not follow redirects", async () => {
    expect((await call(oddUrl("/redirect"))).status).toBe(301);
  });

  it("end at the limit of time", async () => {
    await expect(call(oddUrl("/slow"), {}, 200)).rejects.toThrow("no answer within 0.2s");
  });

  it("end at the limit of size, both ways", async () => {
    await expect(call(oddUrl("/huge"))).rejects.toThrow(`the answer is larger than ${LIMIT} bytes`);
    await expect(call(oddUrl("/"), { text: "x".repeat(LIMIT) })).rejects.toThrow(`the request is larger than ${LIMIT} bytes`);
  });

  it("tell why a host cannot be reached", async () => {
    await expect(call("https://127.0.0.1:1/x", {}, 2_000)).rejects.toThrow("ECONNREFUSED");
    await expect(call("http://127.0.0.1:1/x")).rejects.toThrow("hooks are called over https only");
  });

  it("share one agent and few sockets", async () => {
    sockets.clear();
    await Promise.all(Array.from({ length: 200 }, () => call(oddUrl("/"))));
    expect(sockets.size).toBeLessThanOrEqual(16);
    const before = http.agentCount();
    await call(oddUrl("/"));
    expect(http.agentCount()).toBe(before);
  });
});

describe("extension server", () => {
  const post = (init: RequestInit & { raw?: Uint8Array } = {}): Promise<{ status: number; text: string; headers: Headers }> =>
    new Promise((answered, failed) => {
      const { port } = running;
      import("node:https").then(({ request }) => {
        const r = request({ port, host: "localhost", path, method: init.method ?? "POST", ca: ca.certificate }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (c: Buffer) => chunks.push(c));
          response.on("end", () =>
            answered({
              status: response.statusCode ?? 0,
              text: Buffer.concat(chunks).toString(),
              headers: new Headers(response.headers as Record<string, string>),
            }),
          );
        });
        r.on("error", failed);
        r.end(init.raw);
      }, failed);
    });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it("reads a body without a content type", async () => {
    const { status, text } = await post({ raw: bytes('{"settings":{"say":"bare"}}') });
    expect([status, JSON.parse(text).message]).toEqual([200, "bare"]);
  });

  it.each([
    ["a body that is not JSON", bytes("{"), "the request body is not JSON"],
    ["no body", bytes(""), "the request body is not JSON"],
    ["20 MiB and a byte", Buffer.alloc(LIMIT + 1, 32), `the request body is larger than ${LIMIT} bytes`],
  ])("%s is a Failure with 200", async (_title, raw, message) => {
    const { status, text } = await post({ raw });
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ status: "Failure", message })]);
  });

  it("answers 405 to anything but POST", async () => {
    const { status, headers } = await post({ method: "PUT", raw: bytes("{}") });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("says which file or port is the trouble", async () => {
    const e = extension("x");
    await expect(serveExtension(e, {})).rejects.toThrow("needs tls (certificate and key) or certDir");
    await expect(serveExtension(e, { certDir: "/nowhere" })).rejects.toThrow("/nowhere/tls.crt");
    const taken = serveExtension(e, { port: running.port, host: "127.0.0.1", tls: { cert: pair.certificate, key: pair.key } });
    await expect(taken).rejects.toThrow(`cannot listen on port ${running.port}`);
  });
});
