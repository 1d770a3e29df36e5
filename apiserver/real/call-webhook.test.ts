import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { ADMIN, testServer, type TestServer } from "../in-process.testing.ts";
import { createWebhookCaller } from "./call-webhook.ts";

const HOUR_MS = 3_600_000;
const TWICE_TOO_LARGE = 6 * 1024 * 1024;
const pki = createNodePki({ clock: systemClock });
const ca = pki.createCa("hooks", HOUR_MS, "ECDSA-P256");
const names = ["127.0.0.1", "hook.default.svc"];
const leaf = pki.issue(ca, { commonName: "hook", names, usages: ["server"], validForMs: HOUR_MS, algorithm: "ECDSA-P256" });
const bundle = (certificate: string): string => Buffer.from(certificate).toString("base64");

describe("calling a webhook over HTTPS", () => {
  let https: Server;
  let port = 0;
  let test: TestServer;
  const seen: { url: string | undefined; host: string | undefined; body: unknown }[] = [];

  function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
    seen.push({ url: request.url, host: request.headers.host, body: JSON.parse(body) });
    const path = request.url?.split("?")[0];
    if (path === "/redirect") response.writeHead(302, { location: "/ok" }).end();
    else if (path === "/broken") response.writeHead(500).end("{}");
    else if (path === "/text") response.end("hello");
    else if (path === "/large") response.end(JSON.stringify("x".repeat(TWICE_TOO_LARGE)));
    else if (path !== "/silent") response.end(JSON.stringify({ asked: JSON.parse(body) }));
  }

  beforeAll(async () => {
    https = createServer({ key: leaf.key, cert: leaf.certificate }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => respond(request, response, Buffer.concat(chunks).toString()));
    });
    await new Promise<void>((done) => https.listen(0, "127.0.0.1", done));
    port = (https.address() as AddressInfo).port;
    test = await testServer();
  });
  afterAll(() => {
    https.closeAllConnections();
    https.close();
  });

  const call = (path: string, caBundle = bundle(ca.certificate), timeoutSeconds = 10) =>
    createWebhookCaller(test.server)({
      clientConfig: { url: `https://127.0.0.1:${port}${path}`, caBundle },
      timeoutSeconds,
      review: { a: 1 },
    });

  it("sends the review with its time limit and gives the answer back", async () => {
    expect(await call("/ok?x=1")).toEqual({ asked: { a: 1 } });
    expect(seen.at(-1)).toMatchObject({ url: "/ok?x=1&timeout=10s", body: { a: 1 } });
  });

  it.each([
    ["/redirect", "the server answered 302"],
    ["/broken", "the server answered 500"],
    ["/text", "the answer is not JSON"],
    ["/large", "the answer is larger than"],
  ])("%s: %s", async (path, why) => {
    await expect(call(path)).rejects.toThrow(why);
  });

  it("gives up after its time", async () => {
    await expect(call("/silent", undefined, 0.05)).rejects.toThrow("context deadline exceeded");
  });

  it("trusts the bundle only", async () => {
    const other = pki.createCa("others", HOUR_MS, "ECDSA-P256");
    await expect(call("/ok", bundle(other.certificate))).rejects.toThrow("certificate");
    await expect(call("/ok", "")).rejects.toThrow("certificate");
  });

  it("finds a service through its endpoints, under the service's name", async () => {
    const metadata = { name: "hook" };
    const service = { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 443, targetPort: 9443 }] } };
    const endpoints = { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port }] }] };
    expect((await test.send(ADMIN, "POST", "/api/v1/namespaces/default/services", service)).code).toBe(201);
    expect((await test.send(ADMIN, "POST", "/api/v1/namespaces/default/endpoints", endpoints)).code).toBe(201);
    const clientConfig = { service: { namespace: "default", name: "hook", path: "/ok" }, caBundle: bundle(ca.certificate) };
    await createWebhookCaller(test.server)({ clientConfig, timeoutSeconds: 10, review: { b: 2 } });
    expect(seen.at(-1)).toEqual({ url: "/ok?timeout=10s", host: "hook.default.svc", body: { b: 2 } });
  });
});
