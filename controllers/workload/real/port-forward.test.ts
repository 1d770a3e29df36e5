// Port-forward as a real API server speaks it: WebSocket, v4.channel.k8s.io, one data and one error channel per port.
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import type { Duplex } from "node:stream";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, describe, expect, it } from "@jest/globals";
import { createNodePki } from "../../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../../runtime/base/real/system-clock.ts";
import { forwardTo } from "./port-forward.ts";

const pki = createNodePki({ clock: systemClock });
const ca = pki.createCa("kubernetes", 3_600_000, "ECDSA-P256");
const open: (Server | TcpServer)[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  }
});

/** One unmasked binary frame, as servers send them. */
function frame(payload: Buffer): Buffer {
  const head =
    payload.length < 126 ? Buffer.from([0x82, payload.length]) : Buffer.from([0x82, 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** Payloads of the binary frames in what a client sent; masked, as clients send them. */
function* payloads(buffer: { rest: Buffer }): Generator<Buffer> {
  for (;;) {
    const { rest } = buffer;
    if (rest.length < 6) return;
    const short = (rest[1] ?? 0) & 0x7f;
    const headLength = short < 126 ? 2 : 4;
    const length = short < 126 ? short : rest.readUInt16BE(2);
    const end = headLength + 4 + length;
    if (rest.length < end) return;
    const mask = rest.subarray(headLength, headLength + 4);
    const data = Buffer.from(rest.subarray(headLength + 4, end).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
    buffer.rest = rest.subarray(end);
    if (((rest[0] ?? 0) & 0x0f) === 2) yield data;
  }
}

/** An API server that forwards each Pod's port to a TCP port here. */
async function apiServer(targetPort: number, asked: string[]): Promise<KubeConfig> {
  const { certificate, key } = pki.issue(ca, {
    commonName: "kube-apiserver",
    names: ["127.0.0.1"],
    usages: ["server"],
    validForMs: 3_600_000,
    algorithm: "ECDSA-P256",
  });
  const server = createServer({ cert: certificate, key });
  server.on("upgrade", (request, socket: Duplex) => {
    asked.push(request.url ?? "");
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    const protocol = String(request.headers["sec-websocket-protocol"]).split(",")[0];
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    );
    for (const channel of [0, 1]) socket.write(frame(Buffer.from([channel, targetPort & 0xff, targetPort >> 8])));
    const target = connect(targetPort, "127.0.0.1");
    target.on("data", (bytes) => socket.write(frame(Buffer.concat([Buffer.from([0]), bytes]))));
    target.on("error", (e) => socket.write(frame(Buffer.concat([Buffer.from([1]), Buffer.from(e.message)]))));
    const buffer = { rest: Buffer.alloc(0) };
    socket.on("data", (bytes: Buffer): unknown => {
      buffer.rest = Buffer.concat([buffer.rest, bytes]);
      if (((buffer.rest[0] ?? 0) & 0x0f) === 8) return socket.end();
      for (const payload of payloads(buffer)) if (payload[0] === 0) target.write(payload.subarray(1));
      return undefined;
    });
    socket.on("error", () => target.destroy());
    socket.on("close", () => target.destroy());
  });
  open.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [
      {
        name: "c",
        server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
        caData: Buffer.from(ca.certificate).toString("base64"),
        skipTLSVerify: false,
      },
    ],
    users: [{ name: "u", token: "t" }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  return config;
}

/** Answers each line in capitals. */
async function echo(): Promise<number> {
  const server = createTcpServer((socket) => socket.on("data", (bytes) => socket.write(bytes.toString().toUpperCase())));
  open.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

describe("forwardTo", () => {
  it("is a stream to the port of the Pod, both ways", async () => {
    const asked: string[] = [];
    const config = await apiServer(await echo(), asked);
    const stream = await forwardTo(config, "kube-system", "etcd-n1", 2379);
    const answer = new Promise<string>((done) => stream.once("data", (bytes: Buffer) => done(bytes.toString())));
    stream.write(`hello ${"x".repeat(300)}`);
    expect(await answer).toBe(`HELLO ${"X".repeat(300)}`);
    stream.destroy();
    expect(asked).toEqual(["/api/v1/namespaces/kube-system/pods/etcd-n1/portforward?ports=2379"]);
  });

  it("fails with what the error channel says", async () => {
    const closed = await echo();
    open.pop()?.close();
    const config = await apiServer(closed, []);
    const stream = await forwardTo(config, "kube-system", "etcd-n1", 2379);
    const failure = new Promise<Error>((done) => stream.once("error", done));
    expect((await failure).message).toContain("port-forward to kube-system/etcd-n1:2379 failed: connect ECONNREFUSED");
  });
});
