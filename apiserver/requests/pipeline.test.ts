// Stories of the pipeline in process: what a request does to objects, versions and watchers.
import { describe, expect, it } from "@jest/globals";
import type { ApiRequest, ApiResponse, WatchEvent } from "../../api/meta/transport.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import type { ApiObject } from "../object.ts";
import { ALL_VERBS, type ResourceType } from "../registry.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../server.ts";

const base: ResourceType = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  singular: "widget",
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ALL_VERBS,
  storageKey: "example.com/widgets",
  storageVersion: "example.com/v1",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { size: { type: "integer", minimum: 0 }, color: { type: "string", default: "red" }, replicas: { type: "integer" } },
      },
      status: { type: "object", properties: { phase: { type: "string" } } },
    },
  },
  custom: true,
  subresources: { status: true, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  strategy: { generation: "allButStatusAndMetadata" },
};
const v2: ResourceType = { ...base, version: "v2" };
const gadget: ResourceType = {
  ...base,
  kind: "Gadget",
  listKind: "GadgetList",
  plural: "gadgets",
  singular: "gadget",
  namespaced: false,
  storageKey: "example.com/gadgets",
};

const START_MS = Date.parse("2026-08-21T10:00:00Z");
const newServer = (options: Partial<ApiServerOptions> = {}): { server: ApiServer; clock: VirtualClock } => {
  const clock = new VirtualClock(START_MS);
  return { clock, server: createApiServer({ clock, random: seededRandom(7), types: [base, v2, gadget], ...options }) };
};

interface Answer {
  readonly status: number;
  readonly object: ApiObject & { readonly items?: readonly ApiObject[]; readonly reason?: string; readonly spec?: Record<string, unknown> };
  readonly headers: Readonly<Record<string, string>>;
}
const ROOT = "/apis/example.com/v1/namespaces/n/widgets";

async function send(server: ApiServer, method: string, path: string, extra: Partial<ApiRequest> = {}): Promise<Answer> {
  const answer = await server.handle({ method, path, query: "", headers: {}, ...extra });
  if (answer.kind !== "object") throw new Error(`answered with ${answer.kind}`);
  return { status: answer.status, object: answer.object as Answer["object"], headers: answer.headers };
}
const widget = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});
const patch = (body: object): Partial<ApiRequest> => ({ headers: { "content-type": "application/merge-patch+json" }, body });
const versionOf = (answer: Answer): string => answer.object.metadata.resourceVersion ?? "";

function watch(answer: ApiResponse): {
  readonly events: string[];
  readonly raw: WatchEvent[];
  readonly bytes: Uint8Array[];
  ended: boolean;
  stop: () => void;
} {
  if (answer.kind !== "watch") throw new Error(`answered with ${answer.kind}: ${JSON.stringify("object" in answer ? answer.object : "")}`);
  const seen = { events: [] as string[], raw: [] as WatchEvent[], bytes: [] as Uint8Array[], ended: false, stop: () => {} };
  seen.stop = answer.subscribe({
    event(event, encoded) {
      const object = event.object as ApiObject & { code?: number };
      seen.events.push(`${event.type} ${object.metadata?.name ?? object.code ?? ""}`.trim());
      seen.raw.push(event);
      seen.bytes.push(encoded());
      return true;
    },
    end() {
      seen.ended = true;
    },
  });
  return seen;
}
const openWatch = async (server: ApiServer, query: string, path = ROOT) =>
  watch(await server.handle({ method: "GET", path, query: `watch=true&${query}`, headers: {} }));

describe("writes", () => {
  it("share frozen objects between answer, store and later reads", async () => {
    const { server } = newServer();
    const created = await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    expect(created.status).toBe(201);
    expect(created.object.spec).toEqual({ size: 1, color: "red" });
    expect(Object.isFrozen(created.object.spec)).toBe(true);
    const read = await send(server, "GET", `${ROOT}/a`);
    expect(read.object).toBe(created.object);
    const labelled = await send(server, "PATCH", `${ROOT}/a`, patch({ metadata: { labels: { x: "1" } } }));
    expect(labelled.object.spec).toBe(created.object.spec); // copied on write, elsewhere shared
  });

  it("keep resourceVersion and object when nothing changes", async () => {
    const { server } = newServer();
    const created = await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    const revision = server.store.revision();
    for (const request of [
      send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 1 } })),
      send(server, "PUT", `${ROOT}/a`, { body: { ...created.object } }),
      send(server, "PATCH", `${ROOT}/a`, patch({ status: { phase: "not from here" } })),
    ]) {
      expect((await request).object).toBe(created.object);
    }
    expect(server.store.revision()).toBe(revision);
  });

  it("raise the generation for what is not metadata or status", async () => {
    const { server } = newServer();
    const generations: (number | undefined)[] = [];
    const note = (answer: Answer): void => void generations.push(answer.object.metadata.generation);
    note(await send(server, "POST", ROOT, { body: widget("a", {}, { finalizers: ["example.com/f"] }) }));
    note(await send(server, "PATCH", `${ROOT}/a`, patch({ metadata: { annotations: { x: "1" } } })));
    note(await send(server, "PATCH", `${ROOT}/a/status`, patch({ status: { phase: "Up" }, spec: { size: 9 } })));
    note(await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 2 } })));
    note(await send(server, "DELETE", `${ROOT}/a`));
    note(await send(server, "DELETE", `${ROOT}/a`));
    expect(generations).toEqual([1, 1, 1, 2, 3, 3]);
  });

  it("remove an object with its last finalizer, and tell watchers its last stored state", async () => {
    const { server } = newServer();
    await send(server, "POST", ROOT, { body: widget("a", {}, { finalizers: ["example.com/f"] }) });
    const marked = await send(server, "DELETE", `${ROOT}/a`);
    expect(marked.object.metadata).toMatchObject({ deletionTimestamp: "2026-08-21T10:00:00Z", deletionGracePeriodSeconds: 0 });
    const seen = await openWatch(server, `resourceVersion=${versionOf(marked)}`);
    const last = await send(server, "PATCH", `${ROOT}/a`, patch({ metadata: { finalizers: [] } }));
    expect([last.status, versionOf(last)]).toEqual([200, versionOf(marked)]);
    expect((await send(server, "GET", `${ROOT}/a`)).status).toBe(404);
    expect(seen.events).toEqual(["DELETED a"]);
    expect(seen.raw[0]?.object).toMatchObject({
      metadata: { finalizers: ["example.com/f"], resourceVersion: String(server.store.revision()) },
    });
  });

  it("do nothing on a dry run, but answer as if", async () => {
    const { server } = newServer();
    const dry = { query: "dryRun=All" };
    const revision = server.store.revision();
    expect((await send(server, "POST", ROOT, { ...dry, body: widget("a") })).status).toBe(201);
    expect((await send(server, "GET", `${ROOT}/a`)).status).toBe(404);
    expect(server.store.revision()).toBe(revision);
    await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    expect((await send(server, "PATCH", `${ROOT}/a`, { ...patch({ spec: { size: 5 } }), ...dry })).object.spec).toMatchObject({ size: 5 });
    expect((await send(server, "DELETE", `${ROOT}/a`, dry)).status).toBe(200);
    expect((await send(server, "GET", `${ROOT}/a`)).object.spec).toMatchObject({ size: 1 });
  });

  it("try again when another write comes in between, unless the request names a version", async () => {
    let interfere: (() => Promise<unknown>) | undefined;
    const { server } = newServer({
      admission: [
        {
          name: "interferes once",
          async validate(attributes) {
            const now = attributes.operation === "UPDATE" ? interfere : undefined;
            interfere = undefined;
            await now?.();
          },
        },
      ],
    });
    const created = await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    const other = (): Promise<unknown> =>
      send(server, "PATCH", `${ROOT}/a`, patch({ metadata: { labels: { other: String(server.store.revision()) } } }));
    interfere = other;
    const patched = await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 2 } }));
    expect(patched.object).toMatchObject({ metadata: { labels: { other: expect.anything() } }, spec: { size: 2 } });
    interfere = other;
    const put = await send(server, "PUT", `${ROOT}/a`, { body: { ...patched.object, spec: { size: 3 } } });
    expect([put.status, put.object.reason]).toEqual([409, "Conflict"]);
    expect(versionOf(created)).not.toBe(versionOf(patched));
  });

  it("generate another name when the first is taken", async () => {
    const { server } = newServer({ random: { next: () => 0.5, bytes: (n) => new Uint8Array(n) } });
    const first = await send(server, "POST", ROOT, { body: widget("", {}, { name: undefined, generateName: "w-" }) });
    expect(first.object.metadata.name).toMatch(/^w-[a-z0-9]{5}$/);
    const second = await send(server, "POST", ROOT, { body: widget("", {}, { name: undefined, generateName: "w-" }) });
    expect(second.object.reason).toBe("AlreadyExists"); // no other name can come from this chance
  });

  it("warn of new finalizers that could clash", async () => {
    const { server } = newServer();
    const created = await send(server, "POST", ROOT, { body: widget("a", {}, { finalizers: ["plain", "example.com/f", "orphan"] }) });
    expect(created.headers.warning).toMatch(/^299 - "metadata.finalizers: \\"plain\\": prefer a domain-qualified [^\n]*"$/);
    expect((await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 1 } }))).headers.warning).toBeUndefined();
  });

  it("refuse what the schema refuses, with every field", async () => {
    const { server } = newServer();
    const bad = await send(server, "POST", ROOT, { body: widget("Bad_Name", { size: -1 }, { labels: { "bad key": "x" } }) });
    const { details } = bad.object as unknown as { details: { causes: { field: string }[] } };
    expect([bad.status, details.causes.map((c) => c.field).sort()]).toEqual([422, ["metadata.labels", "metadata.name", "spec.size"]]);
  });
});

describe("versions", () => {
  it("show one object in each, and stored in one", async () => {
    const { server } = newServer();
    await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    const other = await send(server, "GET", "/apis/example.com/v2/namespaces/n/widgets/a");
    expect(other.object).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 1 } });
    const changed = await send(server, "PATCH", "/apis/example.com/v2/namespaces/n/widgets/a", patch({ spec: { size: 2 } }));
    expect(changed.object.apiVersion).toBe("example.com/v2");
    expect(server.store.get({ resource: "example.com/widgets", namespace: "n", name: "a" })?.object.apiVersion).toBe("example.com/v1");
  });

  it("default on read what a newer schema says", async () => {
    const { server } = newServer();
    await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    const properties = {
      spec: { type: "object", properties: { size: { type: "integer" }, mode: { type: "string", default: "auto" } } },
    } as const;
    server.registry.change([{ ...base, schema: { type: "object", properties } }]);
    expect((await send(server, "GET", `${ROOT}/a`)).object.spec).toEqual({ size: 1, mode: "auto" });
  });
});

describe("lists", () => {
  it("page through one state, whatever happens meanwhile", async () => {
    const { server } = newServer();
    for (const name of ["a", "b", "c", "d", "e"]) await send(server, "POST", ROOT, { body: widget(name) });
    const names: (string | undefined)[] = [];
    let next: string | undefined = "";
    let left: number | undefined;
    while (next !== undefined) {
      const page: Answer = await send(server, "GET", ROOT, { query: `limit=2${next === "" ? "" : `&continue=${next}`}` });
      names.push(...(page.object.items ?? []).map((o) => o.metadata.name));
      const metadata = page.object.metadata as { continue?: string; remainingItemCount?: number };
      left = next === "" ? metadata.remainingItemCount : left;
      next = metadata.continue === "" ? undefined : metadata.continue;
      await send(server, "DELETE", `${ROOT}/d`);
      await send(server, "POST", ROOT, { body: widget("bb") });
    }
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    expect(left).toBe(3);
  });

  it.each([
    ["resourceVersion=999", 504, "Timeout"],
    ["resourceVersion=x", 400, "BadRequest"],
    ["continue=garbage", 400, "BadRequest"],
    ["limit=many", 400, "BadRequest"],
    ["resourceVersionMatch=Exact", 422, "Invalid"],
    ["fieldSelector=spec.size%3D1", 400, "BadRequest"],
    ["labelSelector=a+in+(b", 400, "BadRequest"],
  ])("refuse %s", async (query, status, reason) => {
    const { server } = newServer();
    const answer = await send(server, "GET", ROOT, { query });
    expect([answer.status, answer.object.reason]).toEqual([status, reason]);
  });

  it("say when a state is too old", async () => {
    const { createMemoryStore } = await import("../store/memory.ts");
    const { server } = newServer({ store: createMemoryStore({ historyMax: 2 }) });
    for (let i = 0; i < 9; i++) await send(server, "POST", ROOT, { body: widget(`w${i}`) });
    expect((await send(server, "GET", ROOT, { query: "resourceVersion=2&resourceVersionMatch=Exact" })).status).toBe(410);
    const seen = await openWatch(server, "resourceVersion=2");
    expect([seen.events, seen.ended]).toEqual([["ERROR 410"], true]);
  });
});

describe("watches", () => {
  it("lose nothing and repeat nothing when events come while they begin", async () => {
    const { server } = newServer();
    await send(server, "POST", ROOT, { body: widget("a") });
    const answer = await server.handle({ method: "GET", path: ROOT, query: "watch=true", headers: {} });
    await send(server, "POST", ROOT, { body: widget("b") }); // after the answer, before the subscription
    const seen = watch(answer);
    await send(server, "POST", ROOT, { body: widget("c") });
    expect(seen.events).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
  });

  it("see an object come and go with its labels, in the state that matched", async () => {
    const { server } = newServer();
    await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    const seen = await openWatch(server, "labelSelector=on%3Dyes&resourceVersion=1");
    const label = (on: string | null) => send(server, "PATCH", `${ROOT}/a`, patch({ metadata: { labels: { on } } }));
    await label("yes");
    await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 2 } }));
    await label("no");
    await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 3 } }));
    await label("yes");
    await send(server, "DELETE", `${ROOT}/a`);
    expect(seen.events).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"]);
    expect(seen.raw[2]?.object).toMatchObject({ metadata: { labels: { on: "yes" } } });
  });

  it.each(["resourceVersion=999", "resourceVersion=999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"])(
    "from the future end with an error: %s",
    async (query) => {
      const seen = await openWatch(newServer().server, query);
      expect([seen.events, seen.ended]).toEqual([["ERROR 504"], true]);
    },
  );

  it("encode an event once for all watchers of a form", async () => {
    const { server } = newServer();
    const watchers = await Promise.all([
      openWatch(server, "resourceVersion=1"),
      openWatch(server, "resourceVersion=1"),
      openWatch(server, "resourceVersion=1", "/apis/example.com/v1/widgets"),
    ]);
    const inOther = await openWatch(server, "resourceVersion=1", "/apis/example.com/v2/widgets");
    await send(server, "POST", ROOT, { body: widget("a") });
    expect(watchers[1]?.bytes[0]).toBe(watchers[0]?.bytes[0]);
    expect(watchers[2]?.bytes[0]).toBe(watchers[0]?.bytes[0]);
    expect(inOther.raw[0]?.object).toMatchObject({ apiVersion: "example.com/v2" });
    expect(inOther.bytes[0]).not.toBe(watchers[0]?.bytes[0]);
  });

  it("end on time, with a bookmark before, and at the end of their kind", async () => {
    const { server, clock } = newServer();
    const timed = await openWatch(server, "timeoutSeconds=10&allowWatchBookmarks=true&resourceVersion=1");
    const orphaned = await openWatch(server, "", "/apis/example.com/v1/gadgets");
    await send(server, "POST", ROOT, { body: widget("a") });
    while (!timed.ended && clock.runNext());
    expect(timed.events).toEqual(["ADDED a", "BOOKMARK"]);
    expect(timed.raw[1]?.object).toMatchObject({ kind: "Widget", metadata: { resourceVersion: String(server.store.revision()) } });
    expect(clock.nowMs()).toBe(START_MS + 10_000);
    server.registry.change([], [gadget]);
    expect(orphaned.ended).toBe(true);
  });

  it("are cut off when their reader is too slow, and cost nothing after that", async () => {
    const { server } = newServer();
    const answer = await server.handle({ method: "GET", path: ROOT, query: "watch=true", headers: {} });
    if (answer.kind !== "watch") throw new Error("no watch");
    let events = 0;
    let ended = 0;
    answer.subscribe({ event: () => ++events < 2, end: () => void ended++ });
    for (const name of ["a", "b", "c"]) await send(server, "POST", ROOT, { body: widget(name) });
    expect([events, ended]).toEqual([2, 1]);
  });

  it("that fail do not fail the writer", async () => {
    const { server } = newServer();
    const answer = await server.handle({ method: "GET", path: ROOT, query: "watch=true", headers: {} });
    if (answer.kind !== "watch") throw new Error("no watch");
    let ended = false;
    answer.subscribe({
      event() {
        throw new Error("reader broke");
      },
      end() {
        ended = true;
      },
    });
    expect((await send(server, "POST", ROOT, { body: widget("a") })).status).toBe(201);
    expect(ended).toBe(true);
  });
});

describe("servers that share a store", () => {
  it("do not see each other's objects, but one revision", async () => {
    const { createMemoryStore } = await import("../store/memory.ts");
    const store = createMemoryStore();
    const one = newServer({ store }).server;
    const two = newServer({ store, keyPrefix: "w1|" }).server;
    const seen = await openWatch(two, "resourceVersion=1");
    const first = await send(one, "POST", ROOT, { body: widget("a") });
    const second = await send(two, "POST", ROOT, { body: widget("a") });
    expect(second.status).toBe(201);
    expect(Number(versionOf(second))).toBe(Number(versionOf(first)) + 1);
    expect(seen.events).toEqual(["ADDED a"]);
    expect((await send(two, "DELETE", `${ROOT}/a`)).status).toBe(200);
    expect((await send(one, "GET", `${ROOT}/a`)).status).toBe(200);
  });
});

describe("faults", () => {
  it("of the store are answered as errors, and reads go on", async () => {
    const { createMemoryStore } = await import("../store/memory.ts");
    const { StoreUnavailable } = await import("../store/store.ts");
    let full = false;
    const store = createMemoryStore({
      persist() {
        if (full) throw new StoreUnavailable("no space left on device");
      },
    });
    const { server } = newServer({ store });
    await send(server, "POST", ROOT, { body: widget("a", { size: 1 }) });
    full = true;
    expect(await send(server, "PATCH", `${ROOT}/a`, patch({ spec: { size: 2 } }))).toMatchObject({
      status: 500,
      object: { reason: "InternalError" },
    });
    expect((await send(server, "GET", `${ROOT}/a`)).object.spec).toMatchObject({ size: 1 });
  });

  it.each([
    ["GET", "/apis/example.com/v1/namespaces/n/gizmos", 404],
    ["GET", "/apis/example.com/v1/namespaces//widgets", 404],
    ["GET", `${ROOT}/a/unknown`, 404],
    ["GET", `${ROOT}/a%2Fb`, 404],
    ["GET", `${ROOT}/%zz`, 404],
    ["PUT", ROOT, 405],
    ["POST", `${ROOT}/a`, 405],
    ["POST", "/apis/example.com/v1/widgets", 405],
    ["DELETE", "/apis/example.com/v1/widgets", 405],
    ["HEAD", `${ROOT}/a`, 405],
    ["TRACE", ROOT, 405],
    ["GET", "/apis/example.com/v1/namespaces/n/gadgets", 404],
    ["GET", "/apis/example.com/v1/gadgets", 200],
    ["GET", "/nowhere", 404],
  ])("%s %s -> %d", async (method, path, status) => {
    expect((await newServer().server.handle({ method, path, query: "", headers: {} })).status).toBe(status);
  });
});
