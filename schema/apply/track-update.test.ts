import { describe, expect, it } from "@jest/globals";
import type { ManagedFieldsEntry } from "../../api/meta/object.ts";
import { fieldsV1 } from "./fields-v1.ts";
import { fieldSet } from "./field-set.ts";
import { compileTyped, trackUpdate } from "./index.ts";
import { gadget, type Story, story } from "./story.testing.ts";

const spec = (fields: object) => ({ spec: fields });

describe("who owns what after updates", () => {
  const cases: readonly [string, Story, Readonly<Record<string, readonly string[]>>][] = [
    [
      "a create owns all there is, containers included",
      story().creates("ed", { metadata: { labels: { a: "1" }, finalizers: ["f/a"] }, ...spec({ size: 1, items: [{ name: "a" }] }) }),
      {
        "ed*": [
          ".metadata.finalizers",
          '.metadata.finalizers[="f/a"]',
          ".metadata.labels",
          ".metadata.labels.a",
          ".spec",
          ".spec.items",
          '.spec.items[name="a"]',
          '.spec.items[name="a"].name',
          ".spec.size",
        ],
      },
    ],
    [
      "updates of one manager share a record",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", spec({ color: "x" })),
      { "ed*": [".spec", ".spec.color", ".spec.size"] },
    ],
    [
      "a changed value changes hands, and an empty record goes",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("two", spec({ on: true }))
        .patches("ed", spec({ on: false })),
      { "ed*": [".spec", ".spec.on", ".spec.size"] },
    ],
    [
      "what an update removes is nobody's any more",
      story()
        .applies("one", spec({ size: 1, items: [{ name: "a", value: "v" }] }))
        .patches("ed", spec({ items: [] })),
      { one: [".spec.size"] },
    ],
    [
      "a map that turns into a list in a free field is one change",
      story()
        .applies("one", spec({ any: { a: { b: 1 } } }))
        .patches("ed", spec({ any: { a: [1] } })),
      { "ed*": [".spec.any.a"] },
    ],
    [
      "an entry that is stored twice counts as a whole, and as another thing than one that is there once",
      story()
        .applies("one", spec({ items: [{ name: "a", value: "v" }] }))
        .patches("ed", spec({ items: [{ name: "a", value: "v" }, { name: "a" }] })),
      { "ed*": ['.spec.items[name="a"]'] },
    ],
    [
      "the order of a set and of keyed entries is no change",
      story()
        .applies("one", spec({ tags: ["a", "b"] }))
        .patches("ed", spec({ tags: ["b", "a"] })),
      { one: ['.spec.tags[="a"]', '.spec.tags[="b"]'] },
    ],
    [
      "status is owned under its subresource",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", { status: { phase: "A" } }, { subresource: "status" }),
      { "ed*": [".spec", ".spec.size"], "ed*/status": [".status", ".status.phase"] },
    ],
    [
      "one empty entry clears all, and then nobody is tracked",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", { metadata: { managedFields: [{}] } })
        .patches("ed", spec({ size: 2 })),
      {},
    ],
    [
      "entries that make no sense count as not sent",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", { metadata: { managedFields: [{ manager: "x", operation: "Steal" }] } }),
      { "ed*": [".spec", ".spec.size"] },
    ],
    [
      "a client may rewrite the records",
      story()
        .creates("ed", spec({ size: 1 }))
        .patches("ed", {
          metadata: {
            managedFields: [
              {
                manager: "x",
                operation: "Apply",
                apiVersion: "example.com/v1",
                fieldsType: "FieldsV1",
                fieldsV1: { "f:spec": { "f:size": {} } },
              },
            ],
          },
        }),
      { x: [".spec.size"] },
    ],
  ];
  it.each(cases)("%s", (_, told, owners) => expect(told.owners()).toEqual(owners));

  it("keeps times of managers that changed nothing", () => {
    const told = story()
      .creates("ed", spec({ size: 1 }))
      .later(60);
    const before = told.live().metadata.managedFields;
    told.patches("ed", spec({ size: 1 }));
    expect(told.live().metadata.managedFields).toEqual(before);
  });
});

describe("records of managers that cannot be kept", () => {
  const typed = compileTyped(gadget);
  const entry = (manager: string, apiVersion: string, time: string, field: string): ManagedFieldsEntry => ({
    manager,
    operation: "Update",
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: fieldsV1(fieldSet(["f:spec", field])),
  });
  const update = (entries: readonly ManagedFieldsEntry[], served: readonly string[]) => {
    const live = { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g", managedFields: entries }, spec: { size: 1 } };
    const updated = { ...live, spec: { size: 2 } };
    return trackUpdate({
      schemas: (version) => (served.includes(version) ? typed : undefined),
      apiVersion: "example.com/v1",
      manager: "ed",
      nowMs: Date.parse("2026-08-21T10:00:00Z"),
      live,
      updated,
    });
  };

  it("drops those of versions that are not served", () => {
    const left = update([entry("a", "example.com/v0", "2020-01-01T00:00:00Z", "f:color")], ["example.com/v1"]);
    expect(left.map((e) => e.manager)).toEqual(["ed"]);
  });

  it("puts the oldest together beyond ten, per version", () => {
    const fields = ["color", "on", "nested", "items", "ports", "tags", "fixed", "atom", "free", "any", "mixed"];
    const entries = fields.map((field, i) => {
      const apiVersion = i === 1 ? "example.com/v2" : "example.com/v1";
      return entry(`m${String(i).padStart(2, "0")}`, apiVersion, `2020-01-01T00:00:${String(i).padStart(2, "0")}Z`, `f:${field}`);
    });
    const left = update(entries, ["example.com/v1", "example.com/v2"]);
    expect(left).toHaveLength(10);
    expect(left.map((e) => e.manager)).toEqual(["m01", "ancient-changes", "m04", "m05", "m06", "m07", "m08", "m09", "m10", "ed"]);
    expect(left[1]).toMatchObject({
      time: "2020-01-01T00:00:03Z",
      fieldsV1: { "f:spec": { "f:color": {}, "f:items": {}, "f:nested": {} } },
    });
  });

  it("leaves the records alone when the new values do not fit the schema", () => {
    const live = { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" }, spec: {} };
    const updated = { ...live, spec: { items: [{ value: "no key" }] } };
    const request = { schemas: () => typed, apiVersion: "example.com/v1", manager: "ed", nowMs: 0, live: undefined, updated };
    expect(trackUpdate(request)).toEqual([]);
  });
});
