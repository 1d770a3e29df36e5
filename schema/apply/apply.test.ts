import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { difference, equal, fieldSet, isEmpty } from "./field-set.ts";
import { apply, type ApplyConflict, compileTyped, parseFieldsV1, sameButTimes } from "./index.ts";
import { allFields, decodeManagers } from "./managers.ts";
import { ownedFields } from "./owned-fields.ts";
import { gadget, type Story, story } from "./story.testing.ts";

const spec = (fields: object) => ({ spec: fields });
const named = (...names: readonly string[]) => names.map((name) => ({ name }));

function conflictsOf(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    return (error as ApplyConflict).conflicts.map((c) => `${c.manager}: ${c.field}`);
  }
  return [];
}

describe("who owns what after applies", () => {
  const cases: readonly [string, Story, object, Readonly<Record<string, readonly string[]>>][] = [
    [
      "the applier owns what it names, and nothing the server sets",
      story().applies("one", { metadata: { labels: { a: "b" }, uid: "u" }, ...spec({ size: 1, nested: { a: "x" } }) }),
      { metadata: { labels: { a: "b" }, uid: "u" }, ...spec({ size: 1, nested: { a: "x" } }) },
      { one: [".metadata.labels.a", ".spec.nested.a", ".spec.size"] },
    ],
    [
      "the same value is shared",
      story()
        .applies("one", spec({ size: 1, color: "red" }))
        .applies("two", spec({ size: 1 })),
      spec({ size: 1, color: "red" }),
      { one: [".spec.color", ".spec.size"], two: [".spec.size"] },
    ],
    [
      "a shared field stays until the last owner lets go",
      story()
        .applies("one", spec({ size: 1, on: true }))
        .applies("two", spec({ size: 1 }))
        .applies("one", spec({ on: true })),
      spec({ size: 1, on: true }),
      { one: [".spec.on"], two: [".spec.size"] },
    ],
    [
      "what nobody applies any more goes",
      story()
        .applies("one", spec({ size: 1, nested: { a: "x", deep: { c: "y" } } }))
        .applies("one", spec({ size: 1 })),
      spec({ size: 1 }),
      { one: [".spec.size"] },
    ],
    [
      "a manager that applies nothing has no record",
      story()
        .applies("one", spec({ size: 1 }))
        .applies("two", spec({ color: "red" }))
        .applies("one", {}),
      spec({ color: "red" }),
      { two: [".spec.color"] },
    ],
    [
      "force takes the field from its owner",
      story()
        .applies("one", spec({ size: 1, color: "red" }))
        .forces("two", spec({ size: 2 })),
      spec({ size: 2, color: "red" }),
      { one: [".spec.color"], two: [".spec.size"] },
    ],
    [
      "an update takes fields without asking, and an applier that drops them leaves them",
      story()
        .applies("one", spec({ size: 1, color: "red" }))
        .patches("ed", spec({ color: "blue" }))
        .applies("one", spec({ size: 1 })),
      spec({ size: 1, color: "blue" }),
      { one: [".spec.size"], "ed*": [".spec.color"] },
    ],
    [
      "an emptied map that is still applied becomes null",
      story()
        .applies("one", spec({ size: 1, nested: { a: "x" } }))
        .applies("one", spec({ size: 1, nested: {} })),
      spec({ size: 1, nested: null }),
      { one: [".spec.nested", ".spec.size"] },
    ],
    [
      "an emptied list goes",
      story()
        .applies("one", spec({ size: 1, tags: ["a"] }))
        .applies("one", spec({ size: 1, tags: [] })),
      spec({ size: 1 }),
      { one: [".spec.size"] },
    ],
    [
      "a map that keeps nothing but an empty list goes, though it is still applied",
      story()
        .applies("one", spec({ size: 1, tags: [] }))
        .applies("one", spec({})),
      {},
      { one: [".spec"] },
    ],
    [
      "an empty list that took the place of null stays",
      story()
        .applies("one", spec({ size: 1, tags: null }))
        .applies("one", spec({ size: 1, tags: [] })),
      spec({ size: 1, tags: [] }),
      { one: [".spec.size"] },
    ],
    [
      "entries of lists of type map have owners of their own",
      story()
        .applies("one", spec({ items: [{ name: "a", value: "1" }] }))
        .applies("two", spec({ items: [{ name: "a", sub: { x: "1" } }] }))
        .applies("one", spec({ items: [] })),
      // The entry's own key is two's as well, so only the value goes.
      spec({ items: [{ name: "a", sub: { x: "1" } }] }),
      { two: ['.spec.items[name="a"]', '.spec.items[name="a"].name', '.spec.items[name="a"].sub.x'] },
    ],
    [
      "a key that is left out counts as its default",
      story()
        .applies("one", spec({ ports: [{ port: 80, note: "x" }] }))
        .applies("two", spec({ ports: [{ port: 80, protocol: "TCP" }] })),
      spec({ ports: [{ port: 80, note: "x", protocol: "TCP" }] }),
      {
        one: [
          '.spec.ports[port=80,protocol="TCP"]',
          '.spec.ports[port=80,protocol="TCP"].note',
          '.spec.ports[port=80,protocol="TCP"].port',
        ],
        two: [
          '.spec.ports[port=80,protocol="TCP"]',
          '.spec.ports[port=80,protocol="TCP"].port',
          '.spec.ports[port=80,protocol="TCP"].protocol',
        ],
      },
    ],
    [
      "sets are owned member by member, atomic lists and maps as a whole",
      story()
        .applies("one", spec({ tags: ["a", "b"], fixed: ["a"], atom: { p: "1" } }))
        .applies("two", spec({ tags: ["b", "c"] })),
      spec({ tags: ["a", "b", "c"], fixed: ["a"], atom: { p: "1" } }),
      {
        one: [".spec.atom", ".spec.fixed", '.spec.tags[="a"]', '.spec.tags[="b"]'],
        two: ['.spec.tags[="b"]', '.spec.tags[="c"]'],
      },
    ],
    [
      "entries of free maps are fields and members",
      story().applies("one", spec({ free: { k: { m: "1" } }, any: { a: { b: 1 }, l: [1, 2] }, mixed: "5%" })),
      spec({ free: { k: { m: "1" } }, any: { a: { b: 1 }, l: [1, 2] }, mixed: "5%" }),
      { one: [".spec.any.a", ".spec.any.a.b", ".spec.any.l", ".spec.free.k", ".spec.free.k.m", ".spec.mixed"] },
    ],
    [
      "an embedded object has metadata like any other",
      story().applies("one", spec({ embedded: { apiVersion: "v1", kind: "X", metadata: { finalizers: ["f/a"] }, more: { a: 1 } } })),
      spec({ embedded: { apiVersion: "v1", kind: "X", metadata: { finalizers: ["f/a"] }, more: { a: 1 } } }),
      {
        one: [
          ".spec.embedded.apiVersion",
          ".spec.embedded.kind",
          '.spec.embedded.metadata.finalizers[="f/a"]',
          ".spec.embedded.more",
          ".spec.embedded.more.a",
        ],
      },
    ],
    [
      "finalizers and owner references are owned one by one",
      story()
        .applies("one", { metadata: { finalizers: ["f/a"], ownerReferences: [{ apiVersion: "v1", kind: "K", name: "x", uid: "1" }] } })
        .applies("two", { metadata: { finalizers: ["f/b"], ownerReferences: [{ apiVersion: "v1", kind: "K", name: "y", uid: "2" }] } })
        .applies("one", {}),
      { metadata: { finalizers: ["f/b"], ownerReferences: [{ apiVersion: "v1", kind: "K", name: "y", uid: "2" }] } },
      { two: ['.metadata.finalizers[="f/b"]', '.metadata.ownerReferences[uid="2"]'] },
    ],
    [
      "the main path does not own status, nor does status own anything else",
      story()
        .applies("one", { ...spec({ size: 1 }), status: { phase: "A" } })
        .applies("one", { ...spec({ size: 1 }), status: { phase: "B" } }, { subresource: "status" }),
      { ...spec({ size: 1 }), status: { phase: "B" } },
      { one: [".spec.size"], "one/status": [".status.phase"] },
    ],
    [
      "the first apply meets a record of all that was there before",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", { metadata: { managedFields: [{}] } })
        .applies("one", spec({ size: 1 })),
      spec({ size: 1 }),
      { one: [".spec.size"], "before-first-apply*": [".spec", ".spec.size"] },
    ],
  ];
  it.each(cases)("%s", (_, told, object, owners) => {
    expect(told.object()).toEqual(object);
    expect(told.owners()).toEqual(owners);
  });
});

describe("conflicts", () => {
  const one = () => story().applies("one", spec({ size: 1, items: [{ name: "a", value: "1" }], tags: ["x"], fixed: ["p"] }));
  const cases: readonly [string, () => Story, object, readonly string[]][] = [
    ["another value", one, spec({ size: 2 }), ['"one": .spec.size']],
    ["the same value", one, spec({ size: 1 }), []],
    ["an entry of a list of type map", one, spec({ items: [{ name: "a", value: "2" }] }), ['"one": .spec.items[name="a"].value']],
    ["another entry", one, spec({ items: [{ name: "b", value: "2" }] }), []],
    ["another member of a set", one, spec({ tags: ["y"] }), []],
    ["an atomic list", one, spec({ fixed: ["p", "q"] }), ['"one": .spec.fixed']],
    [
      "values of several managers, updates named with their version",
      () => one().patches("ed", spec({ color: "red" })),
      spec({ size: 2, color: "blue" }),
      ['"ed" using example.com/v1: .spec.color', '"one": .spec.size'],
    ],
    [
      "an applier of another version",
      () =>
        story({ "example.com/v1": gadget, "example.com/v2": gadget }).applies("one", spec({ size: 1 }), { apiVersion: "example.com/v2" }),
      spec({ size: 2 }),
      ['"one": .spec.size'],
    ],
    [
      "nobody tracked: all that is there",
      () =>
        story()
          .creates("ed", spec({ size: 1 }))
          .patches("ed", { metadata: { managedFields: [{}] } }),
      spec({ size: 2 }),
      ['"before-first-apply" using example.com/v1: .spec.size'],
    ],
  ];
  it.each(cases)("%s", (_, start, fields, conflicts) => {
    expect(conflictsOf(() => start().applies("two", fields as Record<string, unknown>))).toEqual(conflicts);
  });

  it("says what happened in upstream's words", () => {
    const told = story().applies("one", spec({ size: 1, color: "red" }));
    expect(() => told.applies("two", spec({ size: 2 }))).toThrow('Apply failed with 1 conflict: conflict with "one": .spec.size');
    expect(() => told.applies("two", spec({ size: 2, color: "blue" }))).toThrow(
      'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.color\n- .spec.size',
    );
  });
});

describe("a schema that changed since", () => {
  const before: JsonSchema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
          map: { type: "object", properties: { a: { type: "string" } } },
        },
      },
    },
  };
  const after: JsonSchema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          tags: { type: "array", items: { type: "string" } },
          map: { type: "object", properties: { a: { type: "string" } }, "x-kubernetes-map-type": "atomic" },
        },
      },
    },
  };

  it("turns ownership of pieces into ownership of the whole that became atomic", () => {
    const old = story({ "example.com/v1": before })
      .applies("one", spec({ tags: ["a"], map: { a: "1" } }))
      .live();
    const typed = compileTyped(after);
    const common = { schemas: () => typed, apiVersion: "example.com/v1", live: old, nowMs: 0 };
    const config = { ...old, metadata: { name: "g" } };
    const applied = apply({ ...common, manager: "two", config });
    expect(applied.managedFields.map((e) => [e.manager, e.fieldsV1])).toEqual([
      ["two", { "f:spec": { "f:map": {}, "f:tags": {} } }],
      ["one", { "f:spec": { "f:map": {}, "f:tags": {} } }],
    ]);
    const other = { ...config, spec: { tags: ["b"] } };
    expect(conflictsOf(() => apply({ ...common, manager: "two", config: other }))).toEqual(['"one": .spec.tags']);
  });
});

describe("order of merged lists", () => {
  const cases: readonly [readonly string[], readonly string[], readonly string[]][] = [
    [
      ["m", "z"],
      ["b", "z", "a"],
      ["m", "b", "z", "a"],
    ],
    [["a", "b"], ["c"], ["a", "b", "c"]],
    [
      ["a", "b", "c"],
      ["c", "a"],
      ["b", "c", "a"],
    ],
    [["a", "b", "c"], ["b"], ["a", "b", "c"]],
    [
      ["a", "x", "b", "y"],
      ["b", "a"],
      ["x", "b", "y", "a"],
    ],
    [[], ["b", "a"], ["b", "a"]],
  ];
  it.each(cases)("%j, then another applies %j: %j", (before, applied, after) => {
    const set = story()
      .applies("one", spec({ tags: before }))
      .applies("two", spec({ tags: applied }));
    expect(set.object().spec).toEqual({ tags: after });
    const map = story()
      .applies("one", spec({ items: named(...before) }))
      .applies("two", spec({ items: named(...applied) }));
    expect(map.object().spec).toEqual({ items: named(...after) });
  });
});

describe("what does not fit the schema", () => {
  const cases: readonly [object, string][] = [
    [spec({ bogus: 1 }), ".spec.bogus: field not declared in schema"],
    [{ metadata: { bogus: 1 } }, ".metadata.bogus: field not declared in schema"],
    [spec({ size: "big" }), '.spec.size: expected numeric (int or float), got "big"'],
    [spec({ color: 1 }), ".spec.color: expected string, got 1"],
    [spec({ nested: [] }), ".spec.nested: expected map, got a list"],
    [spec({ tags: {} }), ".spec.tags: expected list, got an object"],
    [spec({ tags: ["a", "a"] }), '.spec.tags[="a"]: duplicate entries of a set'],
    [spec({ items: named("a", "a") }), '.spec.items[name="a"]: duplicate entries for key'],
    [spec({ items: [{ value: "x" }] }), '.spec.items[0]: an entry of a list of type map lacks the key field "name"'],
    [spec({ atom: { r: "1" } }), ".spec.atom.r: field not declared in schema"],
    [{ metadata: { managedFields: [] } }, "metadata.managedFields must be nil"],
  ];
  it.each(cases)("%j", (fields, message) => {
    expect(() => story().applies("one", fields as Record<string, unknown>)).toThrow(message);
  });
});

describe("times and no-ops", () => {
  it("gives the same object back when nothing changes", () => {
    const told = story().applies("one", spec({ size: 1, tags: ["a"], items: named("x") }));
    const before = told.live();
    told.later(60).applies("one", spec({ size: 1, tags: ["a"], items: named("x") }));
    expect(told.live()).toBe(before);
  });

  it("gives a time to appliers that changed a value only", () => {
    const told = story()
      .applies("one", spec({ size: 1 }))
      .later(5)
      .applies("two", spec({ size: 1 }))
      .later(5);
    const times = () => told.live().metadata.managedFields?.map((e) => `${e.manager} ${e.time?.slice(14, 19)}`);
    expect(times()).toEqual(["two undefined", "one 00:00"]);
    told.applies("two", spec({ size: 1, on: true }));
    expect(times()).toEqual(["one 00:00", "two 00:10"]);
  });

  it("moves the record of an applier to the version it last applied in", () => {
    const told = story({ "example.com/v1": gadget, "example.com/v2": gadget }).applies("one", spec({ size: 1 }));
    told.applies("one", spec({ size: 1 }), { apiVersion: "example.com/v2" });
    expect(told.live().metadata.managedFields?.map((e) => e.apiVersion)).toEqual(["example.com/v2"]);
  });

  it("tells a write that only renews times", () => {
    const told = story().applies("one", spec({ size: 1 }));
    const before = told.live();
    told
      .later(60)
      .applies("one", spec({ size: 2 }))
      .applies("one", spec({ size: 1 }));
    expect(told.live()).not.toEqual(before);
    expect(sameButTimes(before, told.live())).toBe(true);
    expect(sameButTimes(before, told.applies("two", spec({ size: 1 })).live())).toBe(false);
  });
});

describe("kubectl after its client-side apply", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const config = (fields: object) => ({ apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" }, spec: fields });
  const clientSide = () =>
    story().creates("kubectl-client-side-apply", {
      metadata: { annotations: { [annotation]: JSON.stringify(config({ size: 1, color: "red" })) } },
      ...spec({ size: 1, color: "red" }),
    });

  it("takes over what the annotation holds, and keeps the annotation true", () => {
    const told = clientSide().applies("kubectl", spec({ size: 2 }));
    expect(told.owners().kubectl).toEqual([".spec.size"]);
    expect(told.live().metadata.annotations?.[annotation]).toBe(`${JSON.stringify(config({ size: 2 }))}\n`);
  });

  it("conflicts over what somebody changed since, and under any other name", () => {
    const changed = () => clientSide().patches("ed", spec({ size: 5 }));
    expect(conflictsOf(() => changed().applies("kubectl", spec({ size: 2 })))).toEqual(['"ed" using example.com/v1: .spec.size']);
    expect(conflictsOf(() => clientSide().applies("me", spec({ size: 2 })))).toHaveLength(1);
  });
});

describe("properties", () => {
  const letter = fc.constantFrom("a", "b", "c");
  const optional = { requiredKeys: [] };
  const anySpec = fc.record(
    {
      size: fc.integer({ min: 0, max: 3 }),
      color: letter,
      nested: fc.record({ a: letter, b: letter, deep: fc.record({ c: letter, d: letter }, optional) }, optional),
      items: fc.uniqueArray(fc.record({ name: letter, value: letter }, { requiredKeys: ["name"] }), {
        selector: (i) => i.name,
        minLength: 1,
      }),
      tags: fc.uniqueArray(letter, { minLength: 1 }),
      fixed: fc.array(letter, { maxLength: 2 }),
      atom: fc.record({ p: letter, q: letter }, optional),
      free: fc.dictionary(letter, fc.record({ m: letter }, optional)),
      any: fc.dictionary(letter, fc.jsonValue({ maxDepth: 2 })),
    },
    optional,
  );
  const step = fc.record({ manager: fc.constantFrom("one", "two", "three"), fields: fc.record({ spec: anySpec }, optional) });

  it("an apply repeated at once changes nothing, and its manager owns all it named", () => {
    const typed = compileTyped(gadget);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const told = story();
        for (const { manager, fields } of steps) {
          told.later(1).forces(manager, fields);
          const after = told.live();
          told.later(1).forces(manager, fields);
          // Applied empty lists are left out here: they go when they were filled, and come with the next apply. Two more ways upstream lets a second apply differ: an emptied map turns to null, and an object without owners gets its first record.
          const settled = after.metadata.managedFields !== undefined && !JSON.stringify(after).includes("null");
          expect(!settled || told.live() === after || sameButTimes(told.live(), after)).toBe(true);
          const entry = told.live().metadata.managedFields?.find((e) => e.manager === manager);
          const owned = parseFieldsV1(entry?.fieldsV1 ?? {}) ?? fieldSet();
          expect(isEmpty(difference(ownedFields(typed, fields), owned))).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("a set to build on never changes what is owned", () => {
    const typed = compileTyped(gadget);
    fc.assert(
      fc.property(step, step, ({ fields: before }, { fields: after }) => {
        const like = ownedFields(typed, before);
        const owned = ownedFields(typed, after);
        expect(equal(ownedFields(typed, after, like), owned)).toBe(true);
        expect(ownedFields(typed, after, owned)).toBe(owned);
      }),
      { numRuns: 200 },
    );
  });

  it("every leaf of an object that was only applied has an owner", () => {
    const typed = compileTyped(gadget);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const told = story();
        for (const { manager, fields } of steps) told.forces(manager, fields);
        const managers = decodeManagers(told.live().metadata.managedFields) ?? [];
        const unowned = difference(ownedFields(typed, told.live()), allFields(managers, fieldSet()));
        expect(JSON.stringify(told.object()).includes("null") || isEmpty(unowned)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("meets any JSON with an answer or a named error", () => {
    const schemas = () => compileTyped(gadget);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("spec", "status", "__proto__", "constructor"), fc.jsonValue()), (fields) => {
        const config = { ...fields, apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" } };
        try {
          apply({ schemas, apiVersion: "example.com/v1", live: undefined, config, manager: "m", nowMs: 0 });
        } catch (error) {
          expect((error as { code?: string }).code).toBe("TypedValueError");
        }
      }),
      { numRuns: 200 },
    );
  });
});
