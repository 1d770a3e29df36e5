import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, keyText, type ObjectKey, resource } from "../api/meta/resource.ts";
import { type LogFields, silentLogger } from "./base/log.ts";
import { seededRandom } from "./base/random.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { createCaches } from "./caches.ts";
import { type AnyController, type Controller, controller, mapped, owned, ownerReference, TerminalError } from "./controller.ts";
import { fixedGates } from "./feature-gates.ts";
import { createManager, type ManagerOptions } from "./manager.ts";
import { Event } from "./recorder.ts";
import { stepDriver } from "./step-driver.ts";
import { miniServer } from "./testing/mini-server.ts";
import { transportClient } from "./transport-client.ts";

interface Thing extends KubeObject {
  readonly value?: number;
}
const Parent = resource<Thing>("example.io", "v1", "Parent", "parents");
const Child = resource<Thing>("example.io", "v1", "Child", "children");
const Other = resource<Thing>("example.io", "v1", "Other", "others");
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
const at = (name: string): ObjectKey => ({ namespace: "ns", name });

const thing = (r: typeof Parent, name: string, more: Partial<Thing["metadata"]> & { value?: number } = {}): Thing => {
  const { value, ...metadata } = more;
  return { apiVersion: `${r.group}/${r.version}`, kind: r.kind, metadata: { name, namespace: "ns", ...metadata }, value };
};

function open(controllers: readonly AnyController[], more: Partial<ManagerOptions> = {}) {
  const server = miniServer();
  const clock = new VirtualClock(1_000_000);
  const client = transportClient({ transport: server.transport });
  const random = seededRandom(3);
  const manager = createManager({ client, clock, random, log: silentLogger, gates: fixedGates({}), controllers, ...more });
  const driver = stepDriver({ managers: () => [manager], random, turn, order: "oldest" });
  const settle = async (): Promise<string[]> => {
    const ran: string[] = [];
    for (let i = 0; i < 100; i++) {
      const report = await driver.step();
      if (!report) return ran;
      ran.push(`${report.controller} ${report.key} ${report.outcome}`);
    }
    throw new Error(`not quiet after 100 steps: ${ran.slice(-5).join(", ")}`);
  };
  return { server, clock, client, manager, driver, settle };
}

const noting = (more: Partial<Controller<Thing>> = {}): Controller<Thing> => ({
  name: "parent",
  resource: Parent,
  watches: [],
  reconcile: async () => ({}),
  ...more,
});

describe("manager", () => {
  it("runs what was there, then what changes, and owners of what changes", async () => {
    const { client, manager, settle } = open([noting({ watches: [owned(Child)] })]);
    const parent = await client.create(Parent, thing(Parent, "p"));
    await client.create(Parent, thing(Parent, "q"));
    manager.start();
    expect(await settle()).toEqual(["parent ns/p success", "parent ns/q success"]);
    await client.create(Child, thing(Child, "c", { ownerReferences: [ownerReference(parent, Parent)] }));
    await client.create(Child, thing(Child, "loose", { ownerReferences: [ownerReference(parent, Parent, false)] }));
    expect(await settle()).toEqual(["parent ns/p success"]);
    await client.delete(Child, at("c"));
    expect(await settle()).toEqual(["parent ns/p success"]);
  });

  it("an update that moves a mapping runs the old and the new key; a predicate hides changes", async () => {
    const toParents = mapped(
      Other,
      (o) => [at(`p${o.value}`)],
      (c) => c.type !== "added",
    );
    const { client, manager, settle } = open([noting({ watches: [toParents] })]);
    manager.start();
    await client.create(Other, thing(Other, "o", { value: 1 }));
    expect(await settle()).toEqual([]);
    await client.patch(Other, at("o"), { type: "merge", body: { value: 2 } });
    expect(await settle()).toEqual(["parent ns/p1 success", "parent ns/p2 success"]);
  });

  it("only objects with the watch filter label cause runs", async () => {
    const { client, manager, settle } = open([noting()], { watchFilter: "mine" });
    manager.start();
    await settle();
    await client.create(Parent, thing(Parent, "theirs"));
    await client.create(Parent, thing(Parent, "ours", { labels: { "cluster.x-k8s.io/watch-filter": "mine" } }));
    expect(await settle()).toEqual(["parent ns/ours success"]);
  });

  it("retries failures with back-off, not those for good; a conflict is a failure like any other", async () => {
    const runs: string[] = [];
    const { client, clock, manager, settle } = open([
      noting({
        reconcile: async (key, context) => {
          runs.push(`${key.name}@${context.clock.nowMs() - 1_000_000}`);
          if (key.name === "hopeless") throw new TerminalError("no");
          if (runs.length < 4) throw new Error("again");
          return {};
        },
      }),
    ]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    do await settle();
    while (clock.runNext());
    expect(runs).toEqual(["p@0", "p@5", "p@15", "p@35"]);
    runs.length = 0;
    await client.create(Parent, thing(Parent, "hopeless"));
    expect(await settle()).toEqual(["parent ns/hopeless terminal"]);
    expect(clock.runNext()).toBe(false);
  });

  it("tells a failure once, again when it changes or lasts", async () => {
    const lines: string[] = [];
    const log = { ...silentLogger, with: () => log, error: (_m: string, f?: LogFields) => void lines.push(`${f?.error} ${f?.retryInMs}`) };
    let runs = 0;
    const reconcile = async () => {
      runs++;
      throw new Error(runs === 3 ? "other" : "same");
    };
    const { client, clock, manager, settle } = open([noting({ reconcile })], { log });
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    do await settle();
    while (runs < 14 && clock.runNext());
    expect(lines).toEqual(["same 5", "other 20", "same 40", "same 10240", "same 20480", "same 40960"]);
  });

  it("a requeue is dropped when an event runs the key before", async () => {
    const { client, clock, manager, settle } = open([
      noting({ reconcile: async (key, c) => (c.cache.get(Parent, key)?.value ? {} : { requeueAfterMs: 500 }) }),
    ]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await settle();
    await client.patch(Parent, at("p"), { type: "merge", body: { value: 1 } });
    await settle();
    expect(clock.runNext()).toBe(false);
  });

  const creator = noting({
    watches: [owned(Child)],
    reconcile: async (key, { cache, client }) => {
      const parent = cache.get(Parent, key);
      if (!parent || cache.ownedBy(Child, parent.metadata.uid ?? "").length > 0) return {};
      await client.create(
        Child,
        thing(Child, `c${Math.floor(client ? 1e6 * seed.next() : 0)}`, { ownerReferences: [ownerReference(parent, Parent)] }),
      );
      return {};
    },
  });
  const seed = seededRandom(1);

  it("never creates twice although the watch is late", async () => {
    const { server, client, clock, manager, settle } = open([creator]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await turn();
    server.stall(true);
    expect(await settle()).toHaveLength(1);
    manager.enqueue("parent", at("p"));
    expect(await settle()).toEqual([]);
    expect(manager.heldCount()).toBe(1);
    server.stall(false);
    expect(await settle()).toEqual(["parent ns/p success"]);
    expect(server.objects().filter((o) => o.kind === "Child")).toHaveLength(1);
    expect(clock.nextDueMs()).toBeUndefined();
  });

  it("after 30 s without the event reads live what it wrote, and still does not create twice", async () => {
    const { server, client, clock, manager, settle } = open([creator]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await turn();
    server.stall(true);
    await settle();
    manager.enqueue("parent", at("p"));
    const startMs = clock.nowMs();
    expect(clock.runNext()).toBe(true);
    expect(clock.nowMs() - startMs).toBe(30_000);
    // The live read is a change like any other, so the key runs once more.
    expect(await settle()).toEqual(["parent ns/p success", "parent ns/p success"]);
    expect(server.objects().filter((o) => o.kind === "Child")).toHaveLength(1);
  });

  it("a write whose answer was lost is looked for before the next run", async () => {
    const server = miniServer();
    let lost = 0;
    const transport: typeof server.transport = async (request) => {
      const answer = await server.transport(request);
      if (request.method !== "POST" || !request.path.endsWith("children")) return answer;
      lost++;
      throw new Error("socket hang up");
    };
    const clock = new VirtualClock(1_000_000);
    const client = transportClient({ transport });
    const common = { client, clock, random: seededRandom(3), log: silentLogger, gates: fixedGates({}) };
    const manager = createManager({ ...common, controllers: [creator] });
    const driver = stepDriver({ managers: () => [manager], random: seededRandom(3), turn });
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await turn();
    server.stall(true);
    do while (await driver.step());
    while (clock.nowMs() < 1_020_000 && clock.runNext());
    expect(lost).toBe(1);
    expect(server.objects().filter((o) => o.kind === "Child")).toHaveLength(1);
  });

  it("a live read beside the watch does not pretend that the watch has delivered", async () => {
    const { server, client } = open([]);
    const caches = createCaches({ client, clock: new VirtualClock(), random: seededRandom(1), log: silentLogger });
    const watched = caches.watch(Child);
    caches.start();
    await turn();
    server.stall(true);
    const early = await client.create(Child, thing(Child, "early"));
    await client.create(Child, thing(Child, "late"));
    await caches.refresh(Child, at("late"));
    expect(watched.get(at("late"))).toBeDefined();
    expect(watched.shows(at("early"), early.metadata.resourceVersion ?? "")).toBe(false);
    server.stall(false);
    expect(watched.shows(at("early"), early.metadata.resourceVersion ?? "")).toBe(true);
    caches.stop();
  });

  it("the same seed gives the same order, another seed another", async () => {
    const orderOf = async (seed: number): Promise<string[]> => {
      const { client, manager } = open([noting()]);
      for (let i = 0; i < 12; i++) await client.create(Parent, thing(Parent, `p${i}`));
      manager.start();
      const driver = stepDriver({ managers: () => [manager], random: seededRandom(seed), turn });
      const ran: string[] = [];
      for (let report = await driver.step(); report; report = await driver.step()) ran.push(report.key);
      return ran;
    };
    const first = await orderOf(1);
    expect(await orderOf(1)).toEqual(first);
    expect(await orderOf(2)).not.toEqual(first);
    expect([...first].sort()).toHaveLength(12);
  });

  it("a delete is seen when the object is gone, and a dry run is not waited for", async () => {
    const { server, client, manager, settle } = open([
      noting({
        watches: [owned(Child)],
        reconcile: async (_key, c) => {
          if (!c.cache.get(Child, at("c"))) return {};
          await c.client.patch(Child, at("c"), { type: "merge", body: { value: 5 } }, { dryRun: true });
          await c.client.delete(Child, at("c"));
          return {};
        },
      }),
    ]);
    await client.create(Parent, thing(Parent, "p"));
    await client.create(Child, thing(Child, "c"));
    manager.start();
    await turn();
    server.stall(true);
    await settle();
    expect(manager.heldCount()).toBe(1);
    server.stall(false);
    await settle();
    expect(manager.heldCount()).toBe(0);
  });

  it("watches a kind named at run time and runs the key when its list has arrived", async () => {
    const seen: string[] = [];
    const { client, manager, settle } = open([
      noting({
        reconcile: async (key, c) => {
          const ready = c.watchAlso(mapped(Other, (o) => [at(`p${o.value}`)]));
          seen.push(`${keyText(key)} ${ready ? c.cache.list(Other).length : "waits"}`);
          return {};
        },
      }),
    ]);
    await client.create(Parent, thing(Parent, "p1"));
    await client.create(Other, thing(Other, "o", { value: 1 }));
    manager.start();
    await settle();
    await client.patch(Other, at("o"), { type: "merge", body: { value: 1 } });
    await settle();
    expect(seen).toEqual(["ns/p1 waits", "ns/p1 1", "ns/p1 1"]);
  });

  it("reading a kind nobody watches says what to do", async () => {
    const { client, manager, driver } = open([noting({ reconcile: async (_k, c) => void c.cache.list(Other) as never })]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    const report = await driver.step();
    expect(String(report?.error)).toContain("others.example.io is not watched: name it in the controller's watches or reads");
  });

  it("writes events, and counts up the same one", async () => {
    const { server, client, manager, settle } = open([
      noting({
        reconcile: async (key, c) => {
          const parent = c.cache.get(Parent, key);
          if (parent) c.record(parent, "Normal", "Seen", "looked at it");
          return {};
        },
      }),
    ]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await settle();
    await client.patch(Parent, at("p"), { type: "merge", body: { value: 1 } });
    await settle();
    const events = server.objects().filter((o) => o.kind === Event.kind);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ reason: "Seen", count: 2, involvedObject: { kind: "Parent", name: "p", namespace: "ns" } });
  });

  it("a reconcile that waits for something outside is an error in simulation", async () => {
    const { client, manager, driver } = open([noting({ reconcile: () => new Promise(() => {}) })]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await expect(driver.step()).rejects.toThrow("real I/O in simulation: parent ns/p still waits");
  });

  it("stops: no watches, no timers, no more runs", async () => {
    const { server, client, clock, manager, settle } = open([noting({ reconcile: async () => ({ requeueAfterMs: 10 }) })]);
    await client.create(Parent, thing(Parent, "p"));
    manager.start();
    await settle();
    manager.stop();
    await client.create(Parent, thing(Parent, "q"));
    expect(await settle()).toEqual([]);
    expect(server.watcherCount()).toBe(0);
    expect(clock.nextDueMs()).toBeUndefined();
  });
});

describe("controller of steps", () => {
  const said: string[] = [];
  const say = (text: string) => () => void said.push(text);
  const steps = controller(Parent, {
    watches: [],
    load: (object) => (object.value === 0 ? undefined : object),
    whenDeleting: [say("deleting")],
    whenLive: [
      say("first"),
      (o) => {
        if (o.value === 2) return { stop: true, requeueAfterMs: 700 };
        if (o.value === 3) throw new Error("second failed");
        return { requeueAfterMs: 900 };
      },
      say("third"),
    ],
    finally: say("status"),
  });

  it.each([
    ["live", { value: 1 }, ["first", "third", "status"], "requeueAfter", 900],
    ["stopped", { value: 2 }, ["first", "status"], "requeueAfter", 700],
    ["failed", { value: 3 }, ["first", "status"], "error", 5],
    ["left alone", { value: 0 }, [], "success", undefined],
    ["deleting", { value: 1, deletionTimestamp: "2026-01-01T00:00:00Z" }, ["deleting", "status"], "success", undefined],
  ])("%s", async (_title, more, expected, outcome, requeueAfterMs) => {
    said.length = 0;
    const { client, manager, driver } = open([steps]);
    await client.create(Parent, thing(Parent, "p", more));
    manager.start();
    const report = await driver.step();
    expect(said).toEqual(expected);
    expect(report).toMatchObject({ controller: "parent", key: keyText(keyOf(thing(Parent, "p"))), outcome });
    expect(report?.requeueAfterMs).toBe(requeueAfterMs);
  });
});
