import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { jsonPatch, mergePatch, type PatchError, strategicMergePatch } from "./index.ts";

const faultOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as PatchError).fault;
  }
  return "none";
};

describe("JSON patch", () => {
  const doc = { a: { b: 1, l: [1, 2, 3], n: null }, "x/y": { "t~": 1 } };
  const good: readonly [object[], object][] = [
    [[{ op: "add", path: "/a/c", value: 2 }], { ...doc, a: { ...doc.a, c: 2 } }],
    [[{ op: "add", path: "/a/l/-", value: 4 }], { ...doc, a: { ...doc.a, l: [1, 2, 3, 4] } }],
    [[{ op: "add", path: "/a/l/0", value: 0 }], { ...doc, a: { ...doc.a, l: [0, 1, 2, 3] } }],
    [[{ op: "replace", path: "/a/l/-1", value: 9 }], { ...doc, a: { ...doc.a, l: [1, 2, 9] } }],
    [[{ op: "remove", path: "/a/l" }], { ...doc, a: { b: 1, n: null } }],
    [[{ op: "copy", from: "/a/b", path: "/c" }], { ...doc, c: 1 }],
    [[{ op: "move", from: "/a/b", path: "/c" }], { ...doc, a: { l: [1, 2, 3], n: null }, c: 1 }],
    [[{ op: "replace", path: "/x~1y/t~0", value: 2 }], { ...doc, "x/y": { "t~": 2 } }],
    [[{ op: "test", path: "/a/l", value: [1, 2, 3] }], doc],
    [[{ op: "test", path: "/none", value: null }], doc],
    [[{ op: "replace", path: "", value: { z: 1 } }], { z: 1 }],
    [[{ op: "replace", path: "/none", value: 1 }], { ...doc, none: 1 }],
    [[{ op: "copy", from: "/none", path: "/c" }], { ...doc, c: null }],
    // What stands before the first slash is not looked at.
    [[{ op: "add", path: "q/z", value: 1 }], { ...doc, z: 1 }],
    [
      [{ op: "add", path: "/__proto__", value: { polluted: true } }],
      JSON.parse(`{"__proto__":{"polluted":true},${JSON.stringify(doc).slice(1)}`),
    ],
    [[], doc],
  ];
  it.each(good)("%j", (patch, result) => {
    expect(JSON.stringify(jsonPatch(doc, patch), null, 1).split("\n").sort()).toEqual(JSON.stringify(result, null, 1).split("\n").sort());
  });

  const bad: readonly [unknown, string][] = [
    [{}, "undecodable"],
    ["x", "undecodable"],
    [[1], "undecodable"],
    [[{ op: "test", path: "/a/b", value: 2 }], "unprocessable"],
    [[{ op: "test", path: "/none/x", value: null }], "unprocessable"],
    [[{ op: "remove", path: "/none" }], "unprocessable"],
    [[{ op: "remove", path: "/constructor" }], "unprocessable"],
    [[{ op: "replace", path: "/a/l/3", value: 1 }], "unprocessable"],
    [[{ op: "copy", from: "/a/l/3", path: "/c" }], "unprocessable"],
    [[{ op: "copy", from: "/none/x", path: "/c" }], "unprocessable"],
    [[{ op: "replace", path: "/none/x", value: 1 }], "unprocessable"],
    [[{ op: "add", path: "/a/l/4", value: 1 }], "unprocessable"],
    [[{ op: "add", path: "/a/l/x", value: 1 }], "unprocessable"],
    [[{ op: "add", path: "/a/b/x", value: 1 }], "unprocessable"],
    [[{ op: "add", path: "a", value: 1 }], "unprocessable"],
    [[{ op: "add", value: 1 }], "unprocessable"],
    [[{ op: "copy", path: "/c" }], "unprocessable"],
    [[{ op: "move", from: "/none", path: "/c" }], "unprocessable"],
    [[{ op: "boil", path: "/a" }], "unprocessable"],
    [Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a/b", value: 1 })), "tooLarge"],
  ];
  it.each(bad)("%j", (patch, fault) => expect(faultOf(() => jsonPatch(doc, patch))).toBe(fault));

  it("leaves what it does not touch as it is", () => {
    const after = jsonPatch(doc, [{ op: "add", path: "/c", value: 1 }]) as typeof doc;
    expect(after.a).toBe(doc.a);
    expect(doc).not.toHaveProperty("c");
  });

  it("meets any list of operations with an answer or a PatchError", () => {
    const pointer = fc.constantFrom("", "/", "/a", "/a/l/0", "/a/l/-", "/__proto__/x", "a", "/a/l/-9");
    const operation = fc.record(
      { op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"), path: pointer, from: pointer, value: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(operation), (patch) => {
        expect(["none", "unprocessable"]).toContain(faultOf(() => jsonPatch(doc, patch)));
      }),
      { numRuns: 500 },
    );
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("JSON merge patch", () => {
  // Examples of RFC 7386, appendix A, on objects.
  const cases: readonly [unknown, object, unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{}, { l: [{ a: null, b: 1 }] }, { l: [{ b: 1 }] }],
    [{ l: {} }, { l: [{ a: null, b: 1 }] }, { l: [{ a: null, b: 1 }] }],
  ];
  it.each(cases)("%j with %j gives %j", (object, patch, result) => expect(mergePatch(object, patch)).toEqual(result));

  it.each([[[]], ["x"], [null], [1]])("%j is no merge patch", (patch) => expect(faultOf(() => mergePatch({}, patch))).toBe("undecodable"));

  it("gives the object itself back when nothing changes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const cleaned = mergePatch({}, object);
        expect(mergePatch(cleaned, cleaned)).toBe(cleaned);
      }),
    );
  });
});

describe("strategic merge patch", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: {
      data: { type: "object", additionalProperties: { type: "string" } },
      spec: {
        type: "object",
        properties: {
          containers: {
            type: "array",
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
            items: {
              type: "object",
              properties: { args: { type: "array", items: { type: "string" } }, env: { type: "object", additionalProperties: {} } },
            },
          },
          strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys", properties: {} },
          whole: { type: "object", "x-kubernetes-patch-strategy": "replace", properties: {} },
          plain: { type: "array", items: { type: "string" } },
        },
      },
    },
  };
  const ab = {
    spec: {
      containers: [
        { name: "a", image: "1", args: ["x"] },
        { name: "b", image: "1" },
      ],
    },
  };
  const containers = (...list: readonly object[]) => ({ spec: { containers: list } });
  const names = (result: unknown): readonly string[] => (result as typeof ab).spec.containers.map((c) => c.name);

  const good: readonly [string, object, object, object][] = [
    [
      "entries merge by key",
      ab,
      containers({ name: "b", image: "2" }),
      containers(...ab.spec.containers.slice(0, 1), { name: "b", image: "2" }),
    ],
    [
      "lists without strategy are replaced",
      ab,
      containers({ name: "a", args: ["y"] }),
      containers({ name: "a", image: "1", args: ["y"] }, ab.spec.containers[1] ?? {}),
    ],
    ["delete an entry", ab, containers({ name: "a", $patch: "delete" }), containers({ name: "b", image: "1" })],
    ["replace all entries", ab, containers({ name: "c" }, { $patch: "replace" }), containers({ name: "c" })],
    ["null deletes", { data: { a: "1", b: "2" } }, { data: { a: null } }, { data: { b: "2" } }],
    ["replace a map", { data: { a: "1" } }, { data: { $patch: "replace", b: "2" } }, { data: { b: "2" } }],
    ["delete a map's content", { data: { a: "1" } }, { data: { $patch: "delete" } }, { data: {} }],
    [
      "retainKeys drops the rest",
      { spec: { strategy: { type: "R", r: 1 } } },
      { spec: { strategy: { $retainKeys: ["type"], type: "S" } } },
      { spec: { strategy: { type: "S" } } },
    ],
    ["replace strategy", { spec: { whole: { a: 1 } } }, { spec: { whole: { b: 1 } } }, { spec: { whole: { b: 1 } } }],
    [
      "finalizers merge, new ones first",
      { metadata: { finalizers: ["a"] } },
      { metadata: { finalizers: ["b", "a"] } },
      { metadata: { finalizers: ["b", "a"] } },
    ],
    [
      "scalars are taken out",
      { metadata: { finalizers: ["a", "b"] } },
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } },
      { metadata: { finalizers: ["b"] } },
    ],
    [
      "directives in new values are dropped",
      {},
      { spec: { strategy: { $retainKeys: ["a"], a: 1, b: null } } },
      { spec: { strategy: { a: 1 } } },
    ],
    [
      "directives in new entries do nothing",
      ab,
      containers({ name: "c", env: { $patch: "merge", x: "1" } }),
      containers({ name: "c", env: { x: "1" } }, ...ab.spec.containers),
    ],
    ["a directive for a map that is not there adds nothing", {}, { data: { $patch: "replace", a: "1" } }, {}],
    ["nothing", ab, {}, ab],
  ];
  it.each(good)("%s", (_, object, patch, result) => expect(strategicMergePatch(schema, object, patch)).toEqual(result));

  const orders: readonly [readonly string[], object, readonly string[]][] = [
    // Entries of the patch come first, unless the object says otherwise.
    [["a", "b"], { containers: [{ name: "c" }] }, ["c", "a", "b"]],
    [["a", "b"], { containers: [{ name: "b", image: "2" }] }, ["a", "b"]],
    [["a", "b"], { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] }, ["b", "a"]],
    [["a", "b"], { "$setElementOrder/containers": [{ name: "b" }, { name: "c" }], containers: [{ name: "c" }] }, ["a", "b", "c"]],
    [["a", "b", "c"], { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] }, ["b", "c", "a"]],
  ];
  it.each(orders)("from %j, patch %j: %j", (before, change, after) => {
    const object = { spec: { containers: before.map((name) => ({ name })) } };
    expect(names(strategicMergePatch(schema, object, { spec: change }))).toEqual(after);
  });

  const bad: readonly [unknown, string][] = [
    [[], "undecodable"],
    [{ data: { $patch: "explode" } }, "internal"],
    [containers({ image: "no key" }), "internal"],
    [containers({ name: "a", $patch: "explode" }), "internal"],
    [containers({ $patch: "delete" }), "internal"],
    [{ spec: { strategy: { $retainKeys: ["type"], other: 1 } } }, "undecodable"],
    [{ spec: { strategy: { $retainKeys: "type" } } }, "undecodable"],
    [{ spec: { "$setElementOrder/containers": "a" } }, "undecodable"],
    [{ spec: { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b" }] } }, "internal"],
    [{ spec: { "$setElementOrder/containers": [{ name: "a" }], containers: null } }, "internal"],
    [{ spec: { "$setElementOrder/plain": ["a"], plain: [] } }, "unprocessable"],
    [{ metadata: { "$deleteFromPrimitiveList/finalizers": "a" } }, "undecodable"],
  ];
  const full = { metadata: { finalizers: ["a"] }, data: { a: "1" }, spec: { ...ab.spec, strategy: { type: "R" } } };
  it.each(bad)("%j", (patch, fault) => expect(faultOf(() => strategicMergePatch(schema, full, patch))).toBe(fault));

  it("meets any JSON with an answer or a PatchError", () => {
    const key = fc.constantFrom("spec", "containers", "name", "$patch", "$retainKeys", "$setElementOrder/containers", "__proto__", "data");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, 1, "a", "delete", "replace"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(key, tie("tree")),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, (object, patch) => {
        expect(["none", "undecodable", "unprocessable", "internal"]).toContain(faultOf(() => strategicMergePatch(schema, object, patch)));
      }),
      { numRuns: 500 },
    );
  });
});
