import { describe, expect, it } from "@jest/globals";
import { type TestServer, testServer } from "../builtin/real/testing.ts";
import { EVENT_TTL_MS } from "./events.ts";
import { backgroundControllers } from "./index.ts";

const open = (): Promise<TestServer> => testServer({ background: backgroundControllers });
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Owner {
  readonly name: string;
  readonly uid: string;
  readonly block?: boolean;
}

/** Creates a config map. @returns its uid */
async function make(s: TestServer, name: string, owners: readonly Owner[] = [], finalizers: readonly string[] = []): Promise<string> {
  const ownerReferences = owners.map(({ name: owner, uid, block }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: owner,
    uid,
    ...(block ? { blockOwnerDeletion: true } : {}),
  }));
  const answer = await s.call("POST", CONFIG_MAPS, { metadata: { name, ownerReferences, finalizers } });
  expect(answer.status).toBe(201);
  return answer.body.metadata.uid;
}

async function names(s: TestServer): Promise<readonly string[]> {
  return (await s.call("GET", CONFIG_MAPS)).body.items.map((o: { metadata: { name: string } }) => o.metadata.name);
}

const remove = (s: TestServer, name: string, propagationPolicy?: string) =>
  s.call("DELETE", `${CONFIG_MAPS}/${name}`, propagationPolicy === undefined ? undefined : { propagationPolicy });

const patch = (s: TestServer, path: string, body: object) =>
  s.call("PATCH", path, body, { "content-type": "application/merge-patch+json" });

describe("garbage collection", () => {
  it("in the background takes dependents, and theirs, after the owner", async () => {
    const s = await open();
    const a = await make(s, "a");
    const b = await make(s, "b", [{ name: "a", uid: a }]);
    await make(s, "c", [{ name: "b", uid: b }]);
    await make(s, "other");
    await s.settle();
    expect(await names(s)).toEqual(["a", "b", "c", "other"]);
    await remove(s, "a", "Background");
    expect(await names(s)).toEqual(["b", "c", "other"]);
    await s.settle();
    expect(await names(s)).toEqual(["other"]);
  });

  it("in the foreground keeps the owner until what blocks it is gone", async () => {
    const s = await open();
    const a = await make(s, "a");
    await make(s, "b", [{ name: "a", uid: a, block: true }], ["example.com/hold"]);
    await make(s, "c", [{ name: "a", uid: a }]);
    await s.settle();
    await remove(s, "a", "Foreground");
    await s.settle();
    expect(await names(s)).toEqual(["a", "b"]);
    await patch(s, `${CONFIG_MAPS}/b`, { metadata: { finalizers: null } });
    await s.settle();
    expect(await names(s)).toEqual([]);
  });

  it("in the foreground does not wait for dependents that do not block", async () => {
    const s = await open();
    const a = await make(s, "a");
    await make(s, "b", [{ name: "a", uid: a }], ["example.com/hold"]);
    await s.settle();
    await remove(s, "a", "Foreground");
    await s.settle();
    expect(await names(s)).toEqual(["b"]);
  });

  it("orphans dependents when asked to", async () => {
    const s = await open();
    const a = await make(s, "a");
    await make(s, "b", [{ name: "a", uid: a }]);
    await s.settle();
    await remove(s, "a", "Orphan");
    await s.settle();
    expect(await names(s)).toEqual(["b"]);
    expect((await s.call("GET", `${CONFIG_MAPS}/b`)).body.metadata.ownerReferences).toBeUndefined();
  });

  it("takes an object whose owner never was, or is another of that name", async () => {
    const s = await open();
    await make(s, "a");
    await make(s, "b", [{ name: "a", uid: "wrong" }]);
    await make(s, "c", [{ name: "none", uid: "u" }]);
    await s.settle();
    expect(await names(s)).toEqual(["a"]);
  });

  it("keeps an object that one owner is left for, without the references that lead nowhere", async () => {
    const s = await open();
    const a = await make(s, "a");
    const b = await make(s, "b");
    await make(s, "c", [
      { name: "a", uid: a },
      { name: "b", uid: b },
    ]);
    await s.settle();
    await remove(s, "a");
    await s.settle();
    expect(await names(s)).toEqual(["b", "c"]);
    const { ownerReferences } = (await s.call("GET", `${CONFIG_MAPS}/c`)).body.metadata;
    expect(ownerReferences.map((o: Owner) => o.name)).toEqual(["b"]);
  });

  it("leaves an object alone whose owner is of a kind that is not served", async () => {
    const s = await open();
    await s.call("POST", CONFIG_MAPS, {
      metadata: { name: "x", ownerReferences: [{ apiVersion: "example.com/v1", kind: "None", name: "n", uid: "u" }] },
    });
    await s.settle();
    expect(await names(s)).toEqual(["x"]);
  });
});

describe("namespaces", () => {
  it("are emptied, then go", async () => {
    const s = await open();
    await s.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await s.call("POST", "/api/v1/namespaces/ns/configmaps", { metadata: { name: "a" } });
    await s.call("POST", "/apis/coordination.k8s.io/v1/namespaces/ns/leases", { metadata: { name: "b" } });
    await s.settle();
    expect((await s.call("DELETE", "/api/v1/namespaces/ns")).body.status.phase).toBe("Terminating");
    await s.settle();
    expect((await s.call("GET", "/api/v1/namespaces/ns")).status).toBe(404);
    expect((await s.call("GET", "/api/v1/namespaces/ns/configmaps")).body.items).toEqual([]);
  });

  it("say what they wait for", async () => {
    const s = await open();
    await s.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await s.call("POST", "/api/v1/namespaces/ns/configmaps", { metadata: { name: "a", finalizers: ["example.com/hold"] } });
    await s.call("DELETE", "/api/v1/namespaces/ns");
    await s.settle();
    const { conditions } = (await s.call("GET", "/api/v1/namespaces/ns")).body.status;
    const shown = conditions.map((c: { type: string; status: string; reason: string }) => `${c.type} ${c.status} ${c.reason}`);
    expect(shown).toContain("NamespaceContentRemaining True SomeResourcesRemain");
    expect(shown).toContain("NamespaceFinalizersRemaining True SomeFinalizersRemain");
    await patch(s, "/api/v1/namespaces/ns/configmaps/a", { metadata: { finalizers: null } });
    await s.settle();
    expect((await s.call("GET", "/api/v1/namespaces/ns")).status).toBe(404);
  });
});

describe("service accounts", () => {
  it("named default are made in each namespace, and again after a delete", async () => {
    const s = await open();
    const path = "/api/v1/namespaces/default/serviceaccounts/default";
    await s.settle();
    expect((await s.call("GET", path)).status).toBe(200);
    await s.call("DELETE", path);
    await s.settle();
    expect((await s.call("GET", path)).status).toBe(200);
  });
});

describe("events", () => {
  it("expire an hour after they were last written", async () => {
    const s = await open();
    const path = "/api/v1/namespaces/default/events";
    for (const name of ["old", "kept"]) await s.call("POST", path, { metadata: { name }, involvedObject: { namespace: "default" } });
    await s.settle(EVENT_TTL_MS / 2);
    s.clock.after(EVENT_TTL_MS / 2, () => {});
    await s.settle(EVENT_TTL_MS / 2);
    await patch(s, `${path}/kept`, { count: 2 });
    await s.settle(EVENT_TTL_MS * 0.6);
    const left = (await s.call("GET", path)).body.items.map((o: { metadata: { name: string } }) => o.metadata.name);
    expect(left).toEqual(["kept"]);
    await s.settle(EVENT_TTL_MS);
    expect((await s.call("GET", path)).body.items).toEqual([]);
  });
});
