import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../api/meta/object.ts";
import { resource } from "../api/meta/resource.ts";
import { silentLogger } from "./base/log.ts";
import { randomInt, seededRandom } from "./base/random.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { type Change, index } from "./cache.ts";
import { createReflector } from "./reflector.ts";
import { Store } from "./store.ts";
import { miniServer, refusal } from "./testing/mini-server.ts";
import { transportClient } from "./transport-client.ts";

interface Thing extends KubeObject {
  readonly color?: string;
}
const Thing = resource<Thing>("example.io", "v1", "Thing", "things");
const byColor = index(Thing, "color", (t) => (t.color ? [t.color] : []));
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

const settle = async (clock: VirtualClock): Promise<void> => {
  for (let i = 0; i < 20 && clock.runNext(); i++) await turn();
};

function open(pageSize?: number) {
  const server = miniServer();
  const clock = new VirtualClock();
  const store = new Store<Thing>();
  const client = transportClient({ transport: server.transport });
  const changes: Change<Thing>[] = [];
  store.onChange((c) => changes.push(c));
  const reflector = createReflector({ client, clock, random: seededRandom(7), log: silentLogger, resource: Thing, store, pageSize });
  const thing = (name: string, color?: string): Thing => ({
    apiVersion: "example.io/v1",
    kind: "Thing",
    metadata: { name, namespace: "ns" },
    color,
  });
  const told = (): string[] => changes.splice(0).map((c) => `${c.type} ${c.object.metadata.name}`);
  return { server, clock, store, client, reflector, thing, told };
}

describe("reflector", () => {
  it("lists in pages, then follows the watch", async () => {
    const { server, store, client, reflector, thing, told } = open(2);
    for (const name of ["a", "b", "c", "d", "e"]) await client.create(Thing, thing(name));
    server.requests.length = 0;
    reflector.start();
    await turn();
    expect(store.list().map((t) => t.metadata.name)).toEqual(["a", "b", "c", "d", "e"]);
    expect(server.requests.filter((r) => r.includes("limit=2"))).toHaveLength(3);
    expect(told()).toHaveLength(5);
    await client.patch(Thing, { namespace: "ns", name: "b" }, { type: "merge", body: { color: "red" } });
    await client.delete(Thing, { namespace: "ns", name: "a" });
    expect(told()).toEqual(["updated b", "deleted a"]);
  });

  it("resumes a broken watch where it was, without another list", async () => {
    const { server, clock, client, reflector, thing, told } = open();
    reflector.start();
    await turn();
    await client.create(Thing, thing("a"));
    server.stall(true);
    await client.create(Thing, thing("b"));
    server.requests.length = 0;
    server.dropWatches();
    server.stall(false);
    await turn();
    await settle(clock);
    expect(told()).toEqual(["added a", "added b"]);
    expect(server.requests.every((r) => r.includes("watch=true"))).toBe(true);
  });

  it("lists again at once when its version expired, and tells what changed meanwhile", async () => {
    const { server, clock, store, client, reflector, thing, told } = open();
    await client.create(Thing, thing("gone"));
    await client.create(Thing, thing("kept", "red"));
    reflector.start();
    await turn();
    told();
    server.stall(true);
    await client.delete(Thing, { namespace: "ns", name: "gone" });
    await client.patch(Thing, { namespace: "ns", name: "kept" }, { type: "merge", body: { color: "blue" } });
    await client.create(Thing, thing("new"));
    server.compact();
    server.dropWatches();
    server.stall(false);
    await turn();
    await settle(clock);
    expect(told().sort()).toEqual(["added new", "deleted gone", "updated kept"]);
    expect(store.by(byColor, "blue").map((t) => t.metadata.name)).toEqual(["kept"]);
    expect(store.by(byColor, "red")).toEqual([]);
  });

  it("readers see the old list until the new one is whole", async () => {
    const { server, clock, store, client, reflector, thing } = open(1);
    await client.create(Thing, thing("a"));
    await client.create(Thing, thing("b"));
    reflector.start();
    await turn();
    const sizes = new Set<number>();
    server.fault = (request) => {
      if (request.query.includes("limit=")) sizes.add(store.size());
      return undefined;
    };
    server.stall(true);
    await client.create(Thing, thing("c"));
    server.compact();
    server.dropWatches();
    server.stall(false);
    await turn();
    await settle(clock);
    expect([...sizes]).toEqual([2]);
    expect(store.size()).toBe(3);
  });

  it("waits longer and longer while the server refuses, at most a minute", async () => {
    const { server, clock, reflector } = open();
    server.fault = () => refusal(503, "ServiceUnavailable");
    reflector.start();
    await turn();
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      const before = clock.nowMs();
      clock.runNext();
      await turn();
      waits.push(clock.nowMs() - before);
    }
    waits.forEach((wait, i) => {
      const floor = Math.min(800 * 2 ** i, 30_000);
      expect(wait).toBeGreaterThanOrEqual(floor);
      expect(wait).toBeLessThan(floor * 2);
    });
  });

  it("stops for good", async () => {
    const { server, clock, client, reflector, thing, told } = open();
    reflector.start();
    await turn();
    reflector.stop();
    await client.create(Thing, thing("a"));
    expect(told()).toEqual([]);
    expect(server.watcherCount()).toBe(0);
    expect(clock.nextDueMs()).toBeUndefined();
  });

  it.each([1, 2, 3, 4, 5, 6])("seed %i: equals the server after drops, stalls, 410s and refusals", async (seed) => {
    const { server, clock, store, client, reflector, thing, told } = open(seed % 2 ? 3 : undefined);
    const random = seededRandom(seed);
    const colors = ["red", "blue", undefined];
    let refusing = 0;
    server.fault = (r) => (r.method === "GET" && refusing > 0 && refusing-- > 0 ? refusal(500, "InternalError") : undefined);
    reflector.start();
    const seenNames = new Set<string>();
    const follow = (): void => {
      for (const text of told()) {
        const [type, name = ""] = text.split(" ");
        expect(seenNames.has(name)).toBe(type !== "added");
        if (type === "added") seenNames.add(name);
        if (type === "deleted") seenNames.delete(name);
      }
    };
    const some = () => ({ key: { namespace: "ns", name: `t${randomInt(random, 15)}` }, color: colors[randomInt(random, 3)] });
    const create = ({ key, color } = some()): Promise<unknown> => client.create(Thing, thing(key.name, color));
    const recolor = ({ key, color } = some()): Promise<unknown> => client.patch(Thing, key, { type: "merge", body: { color } });
    const remove = ({ key } = some()): Promise<unknown> => client.delete(Thing, key);
    const pass = async (): Promise<void> => {
      clock.runNext();
      await turn();
    };
    const refuse = (): void => {
      refusing = 2;
    };
    const actions: readonly (() => unknown)[] = [
      ...Array(7).fill(() => create()),
      ...Array(5).fill(() => recolor()),
      ...Array(5).fill(() => remove()),
      ...Array(2).fill(server.dropWatches),
      () => server.stall(random.next() < 0.5),
      server.compact,
      refuse,
      ...Array(2).fill(pass),
    ];
    for (let i = 0; i < 600; i++) {
      try {
        await actions[randomInt(random, actions.length)]?.();
      } catch {
        // The object is there already, or not at all.
      }
      follow();
    }
    server.stall(false);
    refusing = 0;
    for (let i = 0; i < 20; i++) {
      await turn();
      clock.runNext();
    }
    await turn();
    follow();
    expect(store.list()).toEqual(server.objects());
    for (const color of ["red", "blue"]) expect(store.by(byColor, color)).toEqual(server.objects().filter((o) => o.color === color));
    expect([...seenNames].sort()).toEqual(
      server
        .objects()
        .map((o) => o.metadata.name)
        .sort(),
    );
  });
});
