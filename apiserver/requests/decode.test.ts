import { describe, expect, it } from "@jest/globals";
import { parseYaml } from "./decode.ts";
import { parseJson } from "./json.ts";

describe("parseJson", () => {
  it.each([
    ['{"a":1,"a":2}', { a: 2 }, ["a"]],
    ['{"a":{"b":1,"b":2},"c":[{"d":1,"d":2}]}', { a: { b: 2 }, c: [{ d: 2 }] }, ["a.b", "c[0].d"]],
    ['{"a":":{\\"a\\":","b":"\\\\"}', { a: ':{"a":', b: "\\" }, []],
    ['{"a":[1,[2,{"x":null}]],"b":-1.5e3}', { a: [1, [2, { x: null }]], b: -1500 }, []],
  ])("%s", (text, value, duplicates) => {
    expect(parseJson(text, false)).toEqual({ value, duplicates });
  });

  it("merges a doubled object of a typed kind, replaces one of a custom resource", () => {
    const text = '{"data":{"k":"1"},"data":{"j":"2"}}';
    expect(parseJson(text, true)).toEqual({ value: { data: { k: "1", j: "2" } }, duplicates: ["data"] });
    expect(parseJson(text, false)).toEqual({ value: { data: { j: "2" } }, duplicates: ["data"] });
  });

  it("refuses nesting that would exhaust the stack", () => {
    expect(() => parseJson("[".repeat(100_000) + "]".repeat(100_000), false)).toThrow(/max depth/);
  });

  it.each([
    ["", '{"a":{"__proto__":{"x":1},"b":2}}', []],
    [" beside a doubled key", '{"a":{"__proto__":{"x":1},"b":1,"b":2}}', ["a.b"]],
    [" doubled", '{"a":{"__proto__":{"x":1},"__proto__":{"x":1},"b":2}}', ["a.__proto__"]],
    [" in escapes", '{"a":{"__\\u0070roto_\\u005F":{"x":1},"b":2}}', []],
    [" of a built-in", '{"a":{"constructor":{"prototype":{"x":1}},"b":2}}', []],
  ])("keys that would change a prototype are dropped or harmless%s", (_, text, duplicates) => {
    for (const mergeDuplicates of [true, false]) {
      const parsed = parseJson(text, mergeDuplicates);
      const polluted = Object.hasOwn(Object.prototype, "x");
      Reflect.deleteProperty(Object.prototype, "x");
      expect([mergeDuplicates, polluted, parsed.duplicates]).toEqual([mergeDuplicates, false, duplicates]);
      expect(Object.keys((parsed.value as { a: object }).a)).not.toContain("__proto__");
      expect(parsed.value).toMatchObject({ a: { b: 2 } });
    }
  });
});

describe("parseYaml", () => {
  it.each([
    ["a: y\nb: on\nc: 010\nd: 1_000\ne: ~\nf: '1'\n", { a: true, b: true, c: 8, d: 1000, e: null, f: "1" }],
    ["a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", { a: { b: 1 }, c: { b: 1 }, d: { b: 1, e: 2 } }],
    ["1: a\ntrue: b\n", { "1": "a", true: "b" }],
    ['{"a": [1, 2]}', { a: [1, 2] }],
    ["t: 2001-01-01T00:00:00Z\n", { t: "2001-01-01T00:00:00Z" }],
  ])("%j", (text, value) => {
    expect(parseYaml(text).value).toEqual(value);
  });

  it("tells doubled keys with their paths", () => {
    expect(parseYaml("a:\n  b: 1\n  b: 2\nl:\n- x: 1\n  x: 2\n")).toEqual({
      value: { a: { b: 2 }, l: [{ x: 2 }] },
      duplicates: ["a.b", "l[0].x"],
    });
  });

  it.each(["a: [", "\t a: b", "a: b: c"])("refuses %j", (text) => {
    expect(() => parseYaml(text)).toThrow();
  });

  it("refuses aliases that multiply", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e"].map((n, i) => `${n}: &${n} [${Array(10).fill(`*${"abcde"[i]}`).join(",")}]`).join("\n")}\n`;
    expect(() => parseYaml(bomb)).toThrow();
  });
});
