// What a server bears: too large, too deep, too many, too slow. Here: limits over HTTPS of a process of its own.
import http2 from "node:http2";
import https from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { CONFIG_MAPS, configMap, folders, isAlive, type ServerProcess, startServer } from "./server-process.ts";

const LIMIT_MS = 2 * 60_000;
const MIB = 1024 * 1024;
const { make, removeAll } = folders();
let server: ServerProcess;
beforeAll(async () => {
  server = await startServer(make());
}, LIMIT_MS);
afterAll(async () => {
  await server.end("SIGTERM");
  removeAll();
});

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const body = (data: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${data}}`;

describe("requests beyond a limit are refused and the server goes on", () => {
  it.each([
    ["a body above 3 MiB", () => server.send("POST", CONFIG_MAPS, configMap("large", { a: "x".repeat(4 * MIB) })), 413],
    ["an object above 1.5 MiB of data", () => server.send("POST", CONFIG_MAPS, configMap("large", { a: "x".repeat(2 * MIB) })), 422],
    ["JSON 100,000 deep", () => server.send("POST", CONFIG_MAPS, body(nested(100_000))), 400],
    ["arrays 100,000 deep", () => server.send("POST", CONFIG_MAPS, body("[".repeat(100_000) + "]".repeat(100_000))), 400],
    [
      "a merge patch that is too deep",
      () => server.send("PATCH", `${CONFIG_MAPS}/none`, nested(100_000), { "content-type": "application/merge-patch+json" }),
      400,
    ],
    [
      "a JSON patch with too many operations",
      async () => {
        await server.send("POST", CONFIG_MAPS, configMap("patched"));
        const operations = Array.from({ length: 20_000 }, () => ({ op: "add", path: "/data", value: {} }));
        return server.send("PATCH", `${CONFIG_MAPS}/patched`, JSON.stringify(operations), {
          "content-type": "application/json-patch+json",
        });
      },
      413,
    ],
    ["a URL that is too long", () => server.send("GET", `${CONFIG_MAPS}?labelSelector=${"a".repeat(100_000)}`), 400],
    ["headers that are too large", () => server.send("GET", CONFIG_MAPS, undefined, { "x-large": "a".repeat(300 * 1024) }), 431],
    [
      "a YAML document of references to references",
      () => {
        const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"];
        for (let i = 1; i < 12; i++)
          lines.push(
            `a${i}: &a${i} [${Array(9)
              .fill(`*a${i - 1}`)
              .join(",")}]`,
          );
        const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${lines.join("\n")}\n`;
        return server.send("POST", CONFIG_MAPS, text, { "content-type": "application/yaml" });
      },
      400,
    ],
  ])(
    "%s",
    async (_, send, status) => {
      // Some ends of a connection are cut before the whole request is read: that is a refusal too, but only for headers.
      const answer = await send().catch((error: Error) => ({ status: error.message, text: "" }));
      expect({ status: answer.status, text: answer.text.slice(0, 200) }).toMatchObject({ status });
      expect((await server.send("GET", "/readyz")).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    "random bytes with any method and media type are answered, never with a fault",
    async () => {
      const random = seededRandom(5);
      const medias = [
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
        "application/cbor",
        "text/plain",
      ];
      const oneOf = <T>(list: readonly T[]): T => list[randomInt(random, list.length)] as T;
      const faults: unknown[] = [];
      for (let i = 0; i < 400; i++) {
        const bytes = Buffer.from(Array.from({ length: randomInt(random, 200) }, () => randomInt(random, 256)));
        const text = oneOf([bytes.toString("latin1"), `k8s\0${bytes.toString("latin1")}`, `{"metadata":${bytes.toString("latin1")}`]);
        const [method, path, media] = [
          oneOf(["POST", "PUT", "PATCH", "DELETE"]),
          `${CONFIG_MAPS}${oneOf(["", "/a", "/a/b", "/%00", "?fieldManager=%"])}`,
          oneOf(medias),
        ];
        const answer = await server.send(method, path, text, { "content-type": media });
        if (answer.status >= 500) faults.push({ i, method, path, media, text, answer: answer.text });
      }
      expect(faults).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe("too many at once", () => {
  it(
    "are told to come again later",
    async () => {
      // Bodies that never end hold their places.
      const held = Array.from({ length: 260 }, () => {
        const request = https.request(`${server.url}${CONFIG_MAPS}`, {
          method: "POST",
          ca: server.ca,
          agent: false,
          headers: { authorization: "Bearer strength", "content-length": "1000", "content-type": "application/json" },
        });
        request.on("error", () => undefined);
        request.write("{");
        const status = new Promise<readonly [number, string | undefined]>((done) =>
          request.on("response", (response) => done([response.statusCode ?? 0, response.headers["retry-after"]])),
        );
        return { request, status };
      });
      const first = await Promise.race(held.map((one) => one.status));
      expect(first).toEqual([429, "1"]);
      expect((await server.send("GET", "/readyz")).status).toBe(200);
      for (const { request } of held) request.destroy();
      let status = 0;
      for (let i = 0; i < 100 && status !== 201; i++) {
        ({ status } = await server.send("POST", CONFIG_MAPS, configMap(`after-${i}`)));
        await new Promise((done) => setTimeout(done, 50));
      }
      expect(status).toBe(201);
    },
    LIMIT_MS,
  );
});

describe("a watch that is not read", () => {
  it(
    "is cut, and what the server holds for it is bounded",
    async () => {
      const session = http2.connect(server.url, { ca: server.ca, settings: { initialWindowSize: 1024 } });
      session.on("error", () => undefined);
      const stream = session.request({ ":path": `${CONFIG_MAPS}?watch=true`, authorization: "Bearer strength" });
      const closed = new Promise<void>((done) => stream.on("close", done));
      stream.on("error", () => undefined);
      await new Promise((done) => stream.on("response", done));
      stream.pause();

      await server.send("POST", CONFIG_MAPS, configMap("busy"));
      let cut = false;
      void closed.then(() => {
        cut = true;
      });
      const filling = "x".repeat(MIB - 1024);
      let written = 0;
      while (!cut && written < 120) {
        const { status } = await server.send("PUT", `${CONFIG_MAPS}/busy`, configMap("busy", { filling, round: String(written) }));
        expect(status).toBe(200);
        written += 1;
      }
      stream.resume(); // the end is read only behind what came before
      await Promise.race([closed, new Promise((done) => setTimeout(done, 20_000))]);
      session.destroy();
      expect(cut).toBe(true);
      expect(isAlive(server.pid)).toBe(true);
      expect((await server.send("GET", "/readyz")).status).toBe(200);
    },
    LIMIT_MS,
  );
});
