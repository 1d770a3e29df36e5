import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import type { ApiObject } from "../object.ts";
import { createMemoryStore } from "./memory.ts";
import type { Change, Store, StoreKey } from "./store.ts";

const key = (namespace: string, name: string, resource = "things"): StoreKey => ({ resource, namespace, name });
const object =
  ({ namespace, name }: StoreKey, value: number) =>
  (revision: number): ApiObject => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { ...(namespace === "" ? {} : { namespace }), name, resourceVersion: String(revision) },
    value,
  });
const put = (store: Store, k: StoreKey, value = 0, expectedRevision?: number): number =>
  store.commit([{ key: k, expectedRevision, object: object(k, value) }]);
const names = (entries: readonly { readonly key: StoreKey }[] | undefined): readonly string[] | undefined =>
  entries?.map((e) => `${e.key.namespace}/${e.key.name}`);

describe("createMemoryStore", () => {
  it("sorts as etcd does: the slash after the namespace counts", () => {
    const store = createMemoryStore();
    for (const [namespace, name] of [
      ["b", "a"],
      ["a", "b"],
      ["a-b", "x"],
      ["a", "a.x"],
      ["a", "a-x"],
      ["a", "a0"],
    ] as const)
      put(store, key(namespace, name));
    expect(names(store.list("things"))).toEqual(["a-b/x", "a/a-x", "a/a.x", "a/a0", "a/b", "b/a"]);
    expect(names(store.list("things", "a"))).toEqual(["a/a-x", "a/a.x", "a/a0", "a/b"]);
    expect(names(store.list("others"))).toEqual([]);
  });

  it("has one revision over all resources and refuses stale writes whole", () => {
    const store = createMemoryStore();
    const a = key("n", "a");
    const first = put(store, a, 1, 0);
    expect(put(store, key("n", "x", "others"))).toBe(first + 1);
    expect(() => put(store, a, 2, 0)).toThrow(/stale/);
    expect(() => put(store, a, 2, first + 1)).toThrow(/stale/);
    expect(() =>
      store.commit([
        { key: key("n", "new"), object: object(key("n", "new"), 1) },
        { key: a, expectedRevision: 1 },
      ]),
    ).toThrow(/stale/);
    expect(store.get(key("n", "new"))).toBeUndefined();
    expect(store.revision()).toBe(first + 1);
    expect(put(store, a, 2, first)).toBe(first + 2);
  });

  it("freezes what it keeps", () => {
    const store = createMemoryStore();
    put(store, key("n", "a"));
    expect(Object.isFrozen(store.get(key("n", "a"))?.object.metadata)).toBe(true);
  });

  it("tells listeners every change in order, also those made while telling", () => {
    const store = createMemoryStore();
    const heard: string[] = [];
    const note = (who: string) => (change: Change) =>
      void heard.push(`${who} ${change.type} ${change.object.metadata.name}@${change.revision}`);
    store.onChange("things", undefined, (change) => {
      note("all")(change);
      if (change.object.metadata.name === "a") put(store, key("n", "b"));
    });
    store.onChange("things", "n", note("n"));
    store.onChange("things", "m", note("m"));
    put(store, key("n", "a"));
    store.commit([{ key: key("n", "a") }]);
    expect(heard).toEqual(
      ["n ADDED a@2", "all ADDED a@2", "n ADDED b@3", "all ADDED b@3", "n DELETED a@4", "all DELETED a@4", "n ADDED b@5"]
        .slice(0, 4)
        .concat(["n DELETED a@4", "all DELETED a@4", "n MODIFIED b@5", "all MODIFIED b@5"]),
    );
  });

  it("gives the deletion its own version", () => {
    const store = createMemoryStore();
    put(store, key("n", "a"), 7);
    store.commit([{ key: key("n", "a") }]);
    const [, deleted] = store.changesAfter("things", 1) ?? [];
    expect(deleted).toMatchObject({
      type: "DELETED",
      revision: 3,
      object: { value: 7, metadata: { resourceVersion: "3" } },
      previous: { metadata: { resourceVersion: "2" } },
    });
  });

  it("forgets history beyond its limit, whole revisions at a time, and says so", () => {
    const store = createMemoryStore({ historyMax: 4 });
    for (let i = 0; i < 20; i++) put(store, key("n", `n${i % 3}`), i);
    const oldest = store.oldestRevision("things");
    expect(store.changesAfter("things", oldest - 1)).toBeUndefined();
    const kept = store.changesAfter("things", oldest) ?? [];
    expect(kept[0]?.revision).toBe(oldest + 1);
    expect(kept.at(-1)?.revision).toBe(store.revision());
    expect(kept.length).toBeGreaterThanOrEqual(4);
    expect(kept.length).toBeLessThan(8);
    expect(store.listAt("things", oldest - 1)).toBeUndefined();
  });

  it("begins the history of a resource when it is first served", () => {
    const store = createMemoryStore();
    put(store, key("n", "a"));
    store.open("late");
    expect(store.changesAfter("late", 1)).toBeUndefined();
    expect(store.changesAfter("late", store.revision())).toEqual([]);
  });

  it("shows every earlier state as it was (property)", () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      namespace: fc.constantFrom("x", "y"),
      drop: fc.boolean(),
      value: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = createMemoryStore();
        const states = new Map([[store.revision(), [] as readonly unknown[]]]);
        const state = (entries: ReturnType<Store["listAt"]>): readonly unknown[] =>
          (entries ?? []).map((e) => [e.key, e.object, e.revision]);
        for (const { name, namespace, drop, value } of steps) {
          store.commit([drop ? { key: key(namespace, name) } : { key: key(namespace, name), object: object(key(namespace, name), value) }]);
          states.set(store.revision(), state(store.list("things")));
        }
        for (const [revision, expected] of states) expect(state(store.listAt("things", revision))).toEqual(expected);
      }),
    );
  });
});
