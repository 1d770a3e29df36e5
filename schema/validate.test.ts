import { describe, expect, it } from "@jest/globals";
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";

const errorsOf = (spec: JsonSchema, value: unknown, old?: unknown): string[] => {
  const compiled = compileSchema({ type: "object", properties: { spec } });
  const errors = compiled.validate({ spec: value }, old === undefined ? undefined : { spec: old });
  return errors.map((e) => `${e.field} ${e.reason.replace("FieldValue", "")}`).sort();
};

const object = (properties: Record<string, JsonSchema>, rest: JsonSchema = {}): JsonSchema => ({ type: "object", properties, ...rest });

describe("scalars", () => {
  const rows: [why: string, schema: JsonSchema, value: unknown, errors: string[]][] = [
    ["a fitting string", { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" }, "abc", []],
    ["the first broken bound of a text is told", { type: "string", minLength: 2, pattern: "^[a-z]+$" }, "A", ["spec Invalid"]],
    ["too long has its own reason", { type: "string", maxLength: 4 }, "abcde", ["spec TooLong"]],
    ["length counts characters, not units", { type: "string", maxLength: 2, minLength: 2 }, "😀😀", []],
    ["one character of two units is one", { type: "string", minLength: 2 }, "😀", ["spec Invalid"]],
    ["a wrong type is told once", { type: "string", minLength: 2 }, 5, ["spec TypeInvalid"]],
    ["an enum", { type: "string", enum: ["a", "b"] }, "c", ["spec NotSupported"]],
    ["an enum of objects", { type: "object", enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, []],
    [
      "a fraction in a whole number also fails its range, which names no field",
      { type: "integer" },
      1.5,
      ["<nil> Invalid", "spec TypeInvalid"],
    ],
    ["int32 beyond its range", { type: "integer", format: "int32" }, 4294967296, ["<nil> Invalid"]],
    ["int64 beyond its range", { type: "integer" }, 1e19, ["<nil> Invalid"]],
    ["a whole number is a number", { type: "number" }, 3, []],
    ["maximum", { type: "integer", maximum: 10 }, 11, ["spec Invalid"]],
    ["exclusive minimum", { type: "number", minimum: 0, exclusiveMinimum: true }, 0, ["spec Invalid"]],
    ["multiples", { type: "number", multipleOf: 0.5 }, 0.7, ["spec Invalid"]],
    ["multiples are not exact in binary", { type: "number", multipleOf: 0.1 }, 0.3, []],
    ["a whole number is divided by a whole number", { type: "number", multipleOf: 0.5 }, 0, ["spec Invalid"]],
    ["null is no string", { type: "string" }, null, ["spec TypeInvalid"]],
    ["null where it may be", { type: "string", nullable: true }, null, []],
    ["int or string: int", { "x-kubernetes-int-or-string": true, maximum: 5 }, 9, ["spec Invalid"]],
    ["int or string: string", { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%$", maximum: 5 }, "9%", []],
    ["int or string: neither", { "x-kubernetes-int-or-string": true }, 1.5, ["spec TypeInvalid"]],
    [
      "int or string as written by controller-gen",
      { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
      7,
      [],
    ],
  ];
  it.each(rows)("%s", (_, schema, value, errors) => expect(errorsOf(schema, value)).toEqual(errors));
});

describe("formats", () => {
  const rows: [format: string, good: string[], bad: string[]][] = [
    [
      "date-time",
      ["2020-01-01T00:00:00Z", "2020-02-29t23:59:59.123+02:00"],
      ["yesterday", "2020-01-01 00:00:00", "2021-02-29T00:00:00Z", "2020-01-01T24:00:00Z"],
    ],
    ["date", ["2020-02-03"], ["2020-13-45", "2020-2-3"]],
    ["ipv4", ["1.2.3.4"], ["1.2.3", "01.2.3.4", "::1"]],
    ["ipv6", ["::1", "fe80::1:2", "::ffff:1.2.3.4"], ["1.2.3.4", "::1::", "1:2:3:4:5:6:7"]],
    ["cidr", ["10.0.0.0/8", "fd00::/64"], ["10.0.0.0", "10.0.0.0/33"]],
    ["uri", ["http://x/y", "/a/b", "mailto:a@b.c", "https://[::1]:8443/"], ["", "x y", "nothing", "http://a b/", "http://[::1/"]],
    ["duration", ["1h30m", "500ms", "3 days"], ["soon", "1x", ""]],
    ["byte", ["aGk="], ["", "a", "a===", "*"]],
    ["uuid", ["0f8fad5b-d9cb-469f-a165-70867728950e"], ["0f8fad5b"]],
    ["mac", ["01:23:45:67:89:ab", "0123.4567.89ab"], ["01:23", "01:23-45:67:89:ab"]],
    ["email", ["a.b@c.d"], ["a", "@b", "a..b@c"]],
    ["isbn", ["0-306-40615-2", "978-0-306-40615-7"], ["0-306-40615-3"]],
    ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]],
    ["made-up", ["anything"], []],
  ];
  it.each(rows)("%s", (format, good, bad) => {
    for (const text of good) expect([text, errorsOf({ type: "string", format }, text)]).toEqual([text, []]);
    for (const text of bad) expect([text, errorsOf({ type: "string", format }, text)]).toEqual([text, ["spec TypeInvalid"]]);
  });
});

describe("objects and lists", () => {
  const keyedList: JsonSchema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: object({ k: { type: "string" }, v: { type: "string" } }, { required: ["k"] }),
  };
  const twoKeys: JsonSchema = { ...keyedList, "x-kubernetes-list-map-keys": ["k", "v"] };
  const set: JsonSchema = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } };
  const rows: [why: string, schema: JsonSchema, value: unknown, errors: string[]][] = [
    ["required", object({ a: { type: "string" } }, { required: ["a", "b"] }), { a: "x" }, ["spec.b Required"]],
    ["too few properties hide what is below", object({ a: { type: "string" } }, { minProperties: 2 }), { a: 1 }, ["spec Invalid"]],
    [
      "entries of maps are named like fields",
      { type: "object", additionalProperties: { type: "integer" } },
      { "a.b": "x" },
      ["spec.a.b TypeInvalid"],
    ],
    ["items are named by index", { type: "array", items: { type: "string" } }, ["a", 1], ["spec[1] TypeInvalid"]],
    ["too many items", { type: "array", maxItems: 1, items: { type: "string" } }, ["a", "b"], ["spec TooMany"]],
    ["a set", set, ["a", "b", "a"], ["spec[2] Duplicate"]],
    ["a keyed list", keyedList, [{ k: "x" }, { k: "x", v: "2" }], ["spec[1] Duplicate"]],
    [
      "two keys make one identity",
      twoKeys,
      [
        { k: "x", v: "1" },
        { k: "x", v: "2" },
        { v: "1", k: "x" },
      ],
      ["spec[2] Duplicate"],
    ],
    ["a missing key", keyedList, [{ v: "1" }], ["spec[0].k Required"]],
    ["a list that is none", set, "a", ["spec TypeInvalid"]],
    [
      "an embedded object names itself",
      object({}, { "x-kubernetes-embedded-resource": true }),
      { metadata: { labels: { a: "b c" } } },
      ["spec.apiVersion Required", "spec.kind Required", "spec.metadata.labels Invalid"],
    ],
  ];
  it.each(rows)("%s", (_, schema, value, errors) => expect(errorsOf(schema, value)).toEqual(errors));
});

describe("junctors", () => {
  const abc = object({ a: { type: "string" }, b: { type: "string" }, c: { type: "integer" } });
  const oneOf: JsonSchema = { ...abc, oneOf: [{ required: ["a"] }, { required: ["b"] }] };
  const rows: [why: string, schema: JsonSchema, value: unknown, errors: string[]][] = [
    ["one of", oneOf, { a: "1" }, []],
    ["both of", oneOf, { a: "1", b: "2" }, ["<nil> Invalid"]],
    ["none of: the first branch tells why", oneOf, { c: 1 }, ["<nil> Invalid", "spec.a Required"]],
    ["any of", { ...abc, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: "1", b: "2" }, []],
    ["any of none", { ...abc, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {}, ["<nil> Invalid", "spec.a Required"]],
    ["all of", { ...abc, allOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: "" }, ["<nil> Invalid", "spec.b Required"]],
    ["not", { ...abc, not: { required: ["a"] } }, { a: "" }, ["<nil> Invalid"]],
    [
      "the branch that got furthest tells why",
      { ...abc, oneOf: [{ required: ["b"] }, { properties: { a: { enum: ["x"] } }, required: ["c"] }] },
      { a: "x" },
      ["<nil> Invalid", "spec.c Required"],
    ],
  ];
  it.each(rows)("%s", (_, schema, value, errors) => expect(errorsOf(schema, value)).toEqual(errors));
});

describe("updates", () => {
  const short: JsonSchema = { type: "string", enum: ["s"] };
  const keyed: JsonSchema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: object({ k: { type: "string" }, v: short }),
  };
  const plain: JsonSchema = { type: "array", items: object({ v: short }) };
  const set: JsonSchema = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" };
  const rows: [why: string, schema: JsonSchema, old: unknown, value: unknown, errors: string[]][] = [
    ["an old value may stay", object({ a: short, b: { type: "string" } }), { a: "long" }, { a: "long", b: "new" }, []],
    ["a new one must fit", object({ a: short }), { a: "long" }, { a: "other" }, ["spec.a NotSupported"]],
    [
      "items of keyed lists may move",
      keyed,
      [{ k: "x", v: "long" }],
      [
        { k: "y", v: "s" },
        { k: "x", v: "long" },
      ],
      [],
    ],
    ["items of other lists are new each time", plain, [{ v: "long" }], [{ v: "long" }, { v: "s" }], ["spec[0].v NotSupported"]],
    ["but the whole list may stay", plain, [{ v: "long" }], [{ v: "long" }], []],
    ["an object counts as a whole", object({ a: {} }, { required: ["b"] }), { a: 1 }, { a: 2 }, ["spec.b Required"]],
    ["doubled members are excused by doubled members", set, ["q", "q"], ["q", "q", "r"], []],
    ["and by nothing else", set, ["q"], ["q", "q"], ["spec[1] Duplicate"]],
  ];
  it.each(rows)("%s", (_, schema, old, value, errors) => expect(errorsOf(schema, value, old)).toEqual(errors));

  it("looks at nothing that is the same reference", () => {
    const compiled = compileSchema(object({ spec: object({ a: short }) }));
    const spec = { a: "long" };
    expect(compiled.validate({ spec, metadata: { labels: { x: "1" } } }, { spec, metadata: {} })).toEqual([]);
  });
});
