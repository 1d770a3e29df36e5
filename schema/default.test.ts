import { describe, expect, it } from "@jest/globals";
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";
import { frozen } from "./equal.ts";

const object = (properties: Record<string, JsonSchema>, rest: JsonSchema = {}): JsonSchema => ({ type: "object", properties, ...rest });
const shape = (schema: JsonSchema, value: unknown): [unknown, string[]] => {
  const unknown: string[] = [];
  const result = compileSchema(schema, { root: "value" }).defaultAndPrune(frozen(value), { onUnknown: (path) => unknown.push(path) });
  return [result, unknown];
};

const DEFAULTS = object({
  mode: { type: "string", default: "auto" },
  sub: object({ x: { type: "string", default: "dx" }, deep: object({ y: { type: "boolean", default: true } }, { default: {} }) }),
  list: { type: "array", items: object({ k: { type: "string" }, v: { type: "string", default: "dv" } }) },
  map: { type: "object", additionalProperties: object({ n: { type: "integer", default: 3 } }) },
});

describe("defaults", () => {
  const rows: [why: string, value: unknown, result: unknown][] = [
    ["at the top, not below what is absent", {}, { mode: "auto" }],
    ["below objects that exist", { mode: "m", sub: {} }, { mode: "m", sub: { x: "dx", deep: { y: true } } }],
    ["in list entries", { mode: "m", list: [{ k: "a" }, { v: "c" }] }, { mode: "m", list: [{ k: "a", v: "dv" }, { v: "c" }] }],
    ["in map entries", { mode: "m", map: { a: {} } }, { mode: "m", map: { a: { n: 3 } } }],
    ["for null", { mode: null, sub: null }, { mode: "auto" }],
    ["not in what has another type", { mode: 5, sub: "x", list: {} }, { mode: 5, sub: "x", list: {} }],
  ];
  it.each(rows)("%s", (_, value, result) => expect(shape(DEFAULTS, value)[0]).toEqual(result));

  it("keeps other nulls when told to, but for defaults", () => {
    const compiled = compileSchema(DEFAULTS, { root: "value" });
    expect(compiled.defaultAndPrune({ mode: null, sub: null }, { keepNulls: true })).toEqual({ mode: "auto", sub: null });
  });

  it("keeps null where it is allowed, and in lists", () => {
    const schema = object({ n: { type: "string", nullable: true, default: "x" }, l: { type: "array", items: { type: "string" } } });
    expect(shape(schema, { n: null, l: [null] })[0]).toEqual({ n: null, l: [null] });
  });
});

describe("unknown fields", () => {
  const schema = object({
    a: { type: "string" },
    keep: object({ strict: object({ x: { type: "string" } }) }, { "x-kubernetes-preserve-unknown-fields": true }),
    list: { type: "array", items: object({ n: { type: "string" } }) },
    any: { "x-kubernetes-preserve-unknown-fields": true },
    free: { type: "object", additionalProperties: true },
    nested: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: object({}) } },
  });
  const rows: [why: string, value: unknown, result: unknown, unknown: string[]][] = [
    ["are dropped and named", { a: "1", b: 2, list: [{ n: "x", m: 1 }] }, { a: "1", list: [{ n: "x" }] }, ["b", "list[0].m"]],
    [
      "stay below a field that keeps them",
      { keep: { any: [1, { a: null }], strict: { x: "1", y: 2 } } },
      { keep: { any: [1, { a: null }], strict: { x: "1" } } },
      ["keep.strict.y"],
    ],
    ["stay in values without a type", { any: { x: [1, { y: 1 }] } }, { any: { x: [1, { y: 1 }] } }, []],
    [
      "go below entries of a map of anything, and below scalars",
      { free: { x: 1, y: { z: null }, l: [{ q: 1 }] }, a: { b: 1 } },
      { free: { x: 1, y: {}, l: [{}] }, a: {} },
      ["free.y.z", "free.l[0].q", "a.b"],
    ],
    [
      "embedded objects keep what every object has",
      { nested: { apiVersion: "v1", kind: "K", metadata: { name: "n", odd: 1 }, spec: { q: 1 }, more: 2 } },
      { nested: { apiVersion: "v1", kind: "K", metadata: { name: "n" }, spec: {} } },
      ["nested.metadata.odd", "nested.spec.q", "nested.more"],
    ],
  ];
  it.each(rows)("%s", (_, value, result, unknown) => expect(shape(schema, value)).toEqual([result, unknown]));

  it("keeps metadata of a whole object, without what metadata never has", () => {
    const compiled = compileSchema(object({ spec: object({}) }));
    const value = { apiVersion: "a/v1", kind: "K", metadata: { name: "n", labels: { a: "b" }, odd: 1 }, spec: { x: 1 }, extra: 2 };
    expect(compiled.defaultAndPrune(value)).toEqual({
      apiVersion: "a/v1",
      kind: "K",
      metadata: { name: "n", labels: { a: "b" } },
      spec: {},
    });
    expect(compiled.defaultAndPrune(value, { prune: false })).toEqual(value);
  });

  it("drops a field named like a prototype without touching the prototype", () => {
    const value: unknown = JSON.parse('{"a":"1","__proto__":{"polluted":true}}');
    const [result] = shape(schema, value);
    expect(Object.keys(result as object)).toEqual(["a"]);
    expect((result as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("gives back the same object when nothing changes", () => {
    const value = { a: "1", keep: { x: 1 }, list: [{ n: "x" }] };
    expect(shape(schema, value)[0]).toBe(value);
  });
});
