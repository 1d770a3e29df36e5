// The parts that own sockets, timers and streams: worker pools, logs, health endpoint.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { resource } from "../../api/meta/resource.ts";
import { silentLogger } from "../base/log.ts";
import { systemClock } from "../base/real/system-clock.ts";
import { seededRandom } from "../base/random.ts";
import { fixedGates } from "../feature-gates.ts";
import { createManager } from "../manager.ts";
import { createMetrics } from "../metrics.ts";
import { miniServer } from "../testing/mini-server.ts";
import { transportClient } from "../transport-client.ts";
import { parseAddress, startHealthServer } from "./health-server.ts";
import { createLogger } from "./logger.ts";
import { prometheusMetrics } from "./metrics.ts";
import { startWorkers } from "./worker-driver.ts";

describe("worker pools", () => {
  it("run keys at once up to the limit, never one key twice, and stop when the last is done", async () => {
    const Thing = resource("example.io", "v1", "Thing", "things");
    const server = miniServer();
    const client = transportClient({ transport: server.transport });
    const create = (name: string) =>
      client.create(Thing, { apiVersion: "example.io/v1", kind: "Thing", metadata: { name, namespace: "ns" } });
    for (let i = 0; i < 20; i++) await create(`t${i}`);
    const running = new Set<string>();
    const done: string[] = [];
    let most = 0;
    const manager = createManager({
      client,
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
      gates: fixedGates({}),
      controllers: [
        {
          name: "thing",
          resource: Thing,
          watches: [],
          reconcile: async (key) => {
            expect(running.has(key.name)).toBe(false);
            running.add(key.name);
            most = Math.max(most, running.size);
            manager.enqueue("thing", done.length < 10 ? key : { namespace: "ns", name: "t0" });
            await new Promise((later) => setTimeout(later, 1));
            running.delete(key.name);
            done.push(key.name);
            return {};
          },
        },
      ],
    });
    const workers = startWorkers(manager, { concurrency: { thing: 4 } });
    while (done.length < 40) await new Promise((later) => setTimeout(later, 1));
    expect(await workers.stop()).toBe(true);
    expect(most).toBe(4);
    expect(running.size).toBe(0);
    expect(new Set(done).size).toBe(20);
  });

  it("let timers and sockets in between, even when keys never wait and always bring another", async () => {
    const Thing = resource("example.io", "v1", "Thing", "things");
    const server = miniServer();
    let served = false;
    let runs = 0;
    const manager = createManager({
      client: transportClient({ transport: server.transport }),
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
      gates: fixedGates({}),
      controllers: [
        {
          name: "thing",
          resource: Thing,
          watches: [],
          reconcile: async () => {
            if (runs === 0) setTimeout(() => (served = true), 0);
            runs += 1;
            if (!served && runs < 200_000) manager.enqueue("thing", { namespace: "ns", name: `t${runs % 7}` });
            return {};
          },
        },
      ],
    });
    const workers = startWorkers(manager);
    manager.enqueue("thing", { namespace: "ns", name: "t0" });
    while (!served) await new Promise((later) => setTimeout(later, 1));
    expect(await workers.stop()).toBe(true);
    expect(runs).toBeLessThan(200_000);
  });
});

describe("logger", () => {
  const lines = (format: "text" | "json", verbosity: number): string[] => {
    const stream = new PassThrough();
    const log = createLogger({ format, verbosity, stream }).with({ controller: "machine" });
    log.debug("hidden");
    log.info("moved", { Machine: "ns/m-1", reason: "two words", skipped: undefined, count: 3 });
    return String(stream.read() ?? "")
      .trim()
      .split("\n");
  };

  it("writes text with key=value", () => {
    expect(lines("text", 0).map((l) => l.replace(/^\S+ /, ""))).toEqual([
      'INFO  moved controller=machine Machine=ns/m-1 reason="two words" count=3',
    ]);
  });

  it("writes JSON, and debug lines from --v=4 on", () => {
    const [debug, info] = lines("json", 4).map((l) => JSON.parse(l));
    expect(debug).toMatchObject({ level: "debug", message: "hidden" });
    expect(info).toMatchObject({ level: "info", message: "moved", controller: "machine", Machine: "ns/m-1", count: 3 });
  });
});

describe("health endpoint", () => {
  it("tells health, readiness with reasons, and metrics", async () => {
    const metrics = createMetrics();
    metrics.add({ name: "things_total", help: "Things", type: "counter" }, {}, 2);
    const server = await startHealthServer({
      address: "127.0.0.1:0",
      healthy: { ping: () => true },
      ready: { caches: () => "machines are not synced", ping: () => true },
      metrics: prometheusMetrics(metrics),
    });
    const get = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return [answer.status, await answer.text()] as const;
    };
    expect(await get("/healthz")).toEqual([200, "ok"]);
    expect(await get("/readyz")).toEqual([500, "[-]caches failed: machines are not synced\n[+]ping ok\n"]);
    const [, text] = await get("/metrics");
    expect(text).toContain("things_total 2\n");
    expect(text).toContain("process_cpu_seconds_total");
    expect((await get("/other"))[0]).toBe(404);
    await server.close();
  });

  it.each([
    [":9440", { host: undefined, port: 9440 }],
    ["[::1]:0", { host: "::1", port: 0 }],
  ])("reads %s", (text, expected) => expect(parseAddress(text)).toEqual(expected));

  it.each(["9440", "host:", "a:99999"])("refuses %s", (text) => expect(() => parseAddress(text)).toThrow("write host:port or :port"));
});
