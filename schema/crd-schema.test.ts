import { describe, expect, it } from "@jest/globals";
import type { JsonSchema } from "../api/meta/schema.ts";
import { validateCrdSchema } from "./crd-schema.ts";

const faults = (schema: unknown, statusSubresource = false): string[] =>
  validateCrdSchema(schema as JsonSchema, "S", { statusSubresource }).map((e) => `${e.field} ${e.reason.replace("FieldValue", "")}`);
const spec = (schema: unknown): unknown => ({ type: "object", properties: { spec: schema } });
const P = "S.properties[spec]";

describe("schemas of CRDs", () => {
  const item = { type: "object", properties: { k: { type: "string" } } };
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    ["a plain one", spec({ type: "object", properties: { a: { type: "string", default: "x" } } }), []],
    ["no type at the root", { properties: {} }, ["S.type Required"]],
    ["another type at the root", { type: "array", items: { type: "string" } }, ["S.type Invalid"]],
    ["no type of a field", spec({ properties: { a: { type: "string" } } }), [`${P}.type Required`]],
    ["an unknown type", spec({ type: "text" }), [`${P}.type NotSupported`]],
    ["a list without items", spec({ type: "array" }), [`${P}.items Required`]],
    ["a text as additionalProperties", spec({ type: "object", additionalProperties: "x" }), [`${P}.additionalProperties TypeInvalid`]],
    [
      "properties beside additionalProperties",
      spec({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      [`${P}.additionalProperties Forbidden`],
    ],
    ["unique items", spec({ type: "array", items: { type: "string" }, uniqueItems: true }), [`${P}.uniqueItems Forbidden`]],
    ["references", spec({ type: "object", $ref: "#/x" }), [`${P}.$ref Forbidden`]],
    ["nullable root", { type: "object", nullable: true }, ["S.nullable Forbidden"]],
    [
      "more of metadata than names",
      { type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
      ["S.properties[metadata] Forbidden"],
    ],
    [
      "names in metadata",
      { type: "object", properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 9 } } } } },
      [],
    ],
    ["int or string with a type", spec({ type: "string", "x-kubernetes-int-or-string": true }), []],
    [
      "a described metadata",
      { type: "object", properties: { metadata: { type: "object", description: "d" } } },
      ["S.properties[metadata] Forbidden"],
    ],
    ["a broken pattern", spec({ type: "string", pattern: "a(" }), [`${P}.pattern Invalid`]],
    [
      "preserve false",
      spec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
      [`${P}.x-kubernetes-preserve-unknown-fields Invalid`],
    ],
    ["map type of a string", spec({ type: "string", "x-kubernetes-map-type": "atomic" }), [`${P}.type Invalid`]],
    ["list type of an object", spec({ type: "object", "x-kubernetes-list-type": "set" }), [`${P}.type Invalid`]],
    [
      "an unknown list type",
      spec({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" }),
      [`${P}.x-kubernetes-list-type NotSupported`],
    ],
    [
      "a keyed list without keys",
      spec({ type: "array", items: item, "x-kubernetes-list-type": "map" }),
      [`${P}.x-kubernetes-list-map-keys Required`],
    ],
    [
      "keys without a keyed list",
      spec({ type: "array", items: item, "x-kubernetes-list-map-keys": ["k"] }),
      [`${P}.x-kubernetes-list-type Required`],
    ],
    [
      "a key that is no field",
      spec({ type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["z"] }),
      [`${P}.x-kubernetes-list-map-keys Invalid`],
    ],
    [
      "a key that may be absent",
      spec({ type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }),
      [`${P}.items.properties[k].default Required`],
    ],
    [
      "a set of objects that merge",
      spec({ type: "array", items: item, "x-kubernetes-list-type": "set" }),
      [`${P}.items.x-kubernetes-map-type Invalid`],
    ],
    ["embedded without fields", spec({ type: "object", "x-kubernetes-embedded-resource": true }), [`${P}.properties Required`]],
  ];
  it.each(rows)("%s", (_, schema, errors) => expect(faults(schema)).toEqual(errors));

  it("leaves less at the root beside a status subresource", () => {
    expect(faults({ type: "object", oneOf: [{}] }, true)).toEqual(["S Invalid"]);
    expect(faults({ type: "object", oneOf: [{}] })).toEqual([]);
  });
});

describe("junctors in CRDs", () => {
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    [
      "conditions",
      spec({ type: "object", properties: { a: { type: "string" } }, oneOf: [{ required: ["a"] }, { properties: { a: { enum: ["x"] } } }] }),
      [],
    ],
    ["a type inside", spec({ type: "object", anyOf: [{ type: "object" }] }), [`${P}.anyOf[0].type Forbidden`]],
    [
      "a default inside",
      spec({ type: "object", properties: { a: { type: "string" } }, not: { properties: { a: { default: "x" } } } }),
      [`${P}.not.properties[a].default Forbidden`],
    ],
    ["a field only inside", spec({ type: "object", allOf: [{ properties: { a: { minLength: 1 } } }] }), [`${P}.properties[a] Required`]],
    [
      "int-or-string as written by controller-gen",
      spec({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: "^x" }),
      [],
    ],
    [
      "int-or-string inside allOf",
      spec({ "x-kubernetes-int-or-string": true, allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^x" }] }),
      [],
    ],
  ];
  it.each(rows)("%s", (_, schema, errors) => expect(faults(schema)).toEqual(errors));
});

describe("defaults in CRDs", () => {
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    [
      "of another type",
      spec({ type: "object", properties: { a: { type: "string", default: 5 } } }),
      [`${P}.properties[a].default TypeInvalid`],
    ],
    [
      "that break a bound below",
      spec({ type: "object", properties: { n: { type: "integer", maximum: 3 } }, default: { n: 4 } }),
      [`${P}.default.n Invalid`],
    ],
    ["with unknown fields", spec({ type: "object", properties: { n: { type: "integer" } }, default: { m: 4 } }), [`${P}.default Invalid`]],
    [
      "that defaults below would complete",
      spec({ type: "object", properties: { n: { type: "integer", default: 1 } }, required: ["n"], default: {} }),
      [`${P}.default.n Required`],
    ],
    [
      "that break a rule",
      spec({ type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self > 1" }] }),
      [`${P}.default Invalid`],
    ],
  ];
  it.each(rows)("%s", (_, schema, errors) => expect(faults(schema)).toEqual(errors));
});

describe("metadata in CRDs", () => {
  const embedded = (metadata: object): unknown =>
    spec({ type: "object", "x-kubernetes-embedded-resource": true, properties: { metadata, spec: { type: "object" } } });
  const M = `${P}.properties[metadata]`;
  const names = { name: { type: "string" }, labels: { type: "object", additionalProperties: { type: "string" } } };
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    [
      "its own is not defaulted",
      { type: "object", properties: { metadata: { type: "object", default: { name: "x" } } } },
      ["S.properties[metadata].default Forbidden"],
    ],
    ["that of embedded objects may be", embedded({ type: "object", properties: { ...names, name: { type: "string", default: "x" } } }), []],
    [
      "when it is metadata",
      embedded({ type: "object", properties: { ...names, name: { type: "string", default: "a/b" } } }),
      [`${M}.properties[name].default Invalid`],
    ],
    [
      "but no entry of a map",
      embedded({ type: "object", properties: { labels: { type: "object", additionalProperties: { type: "string", default: "x" } } } }),
      [`${M}.properties[labels].additionalProperties.default Forbidden`],
    ],
    [
      "no further object lies in it",
      embedded({ type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
      [`${M}.x-kubernetes-embedded-resource Forbidden`],
    ],
    [
      "unknown fields of it are no fault of a default",
      spec({
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
        default: { apiVersion: "v1", kind: "K", metadata: { odd: 1 } },
      }),
      [],
    ],
  ];
  it.each(rows)("%s", (_, schema, errors) => expect(faults(schema)).toEqual(errors));
});

describe("rules in CRDs", () => {
  const R = `${P}.x-kubernetes-validations[0]`;
  const withRule = (rule: object, more: object = {}): unknown =>
    spec({ type: "object", properties: { a: { type: "string" }, n: { type: "integer" } }, "x-kubernetes-validations": [rule], ...more });
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    ["a good one", withRule({ rule: "has(self.a) && self.n > 1", messageExpression: "'n is ' + string(self.n)", fieldPath: ".n" }), []],
    ["empty", withRule({ rule: " " }), [`${R}.rule Required`]],
    ["does not parse", withRule({ rule: "self.a ==" }), [`${R}.rule Invalid`]],
    ["an unknown field", withRule({ rule: "self.zz == 1" }), [`${R}.rule Invalid`]],
    ["an unknown field inside has", withRule({ rule: "has(self.zz)" }), [`${R}.rule Invalid`]],
    ["types that do not fit", withRule({ rule: "self.a > self.n" }), [`${R}.rule Invalid`]],
    ["no bool", withRule({ rule: "self.n" }), [`${R}.rule Invalid`]],
    ["an unknown function", withRule({ rule: "self.a.frob()" }), [`${R}.rule Invalid`]],
    ["a broken pattern", withRule({ rule: "self.a.matches('(')" }), [`${R}.rule Invalid`]],
    ["a message that is no text", withRule({ rule: "true", messageExpression: "self.n" }), [`${R}.messageExpression Invalid`]],
    ["an unknown reason", withRule({ rule: "true", reason: "Because" }), [`${R}.reason NotSupported`]],
    ["a path of blanks", withRule({ rule: "true", fieldPath: " " }), [`${R}.fieldPath Invalid`, `${R}.fieldPath Invalid`]],
    ["a path with a quoted name", withRule({ rule: "true", fieldPath: "['n']" }), []],
    ["an index in a path", withRule({ rule: "true", fieldPath: ".n[0]" }), [`${R}.fieldPath Invalid`]],
    ["a look into an object by text", withRule({ rule: "self['n'] == 1" }), [`${R}.rule Invalid`]],
    ["null, which no field is", withRule({ rule: "self.a == null" }), [`${R}.rule Invalid`]],
    ["a broken literal", withRule({ rule: "duration('1x') > duration('1s')" }), [`${R}.rule Invalid`]],
    ["a path to nowhere", withRule({ rule: "true", fieldPath: ".zz" }), [`${R}.fieldPath Invalid`]],
    ["lines without a message", withRule({ rule: "true ||\n false" }), [`${R}.message Required`]],
    ["a message of two lines", withRule({ rule: "true", message: "a\nb" }), [`${R}.message Invalid`]],
    ["optional old value that is not used", withRule({ rule: "true", optionalOldSelf: true }), [`${R}.optionalOldSelf Invalid`]],
    [
      "kind and name at the root",
      {
        type: "object",
        properties: { spec: { type: "object" } },
        "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 9 && self.kind != ''" }],
      },
      [],
    ],
    [
      "labels at the root",
      { type: "object", properties: { spec: { type: "object" } }, "x-kubernetes-validations": [{ rule: "has(self.metadata.labels)" }] },
      ["S.x-kubernetes-validations[0].rule Invalid"],
    ],
    [
      "old values in a list without identity",
      spec({
        type: "array",
        maxItems: 5,
        items: { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
      }),
      [`${P}.items.x-kubernetes-validations[0].rule Invalid`],
    ],
  ];
  it.each(rows)("%s", (_, schema, errors) => expect(faults(schema)).toEqual(errors));
});

describe("the cost of rules in CRDs", () => {
  const list = (rule: string, items: JsonSchema, maxItems?: number): unknown =>
    spec({ type: "array", items, ...(maxItems === undefined ? {} : { maxItems }), "x-kubernetes-validations": [{ rule }] });
  const text: JsonSchema = { type: "string" };
  const short: JsonSchema = { type: "string", maxLength: 10 };
  const R = `${P}.x-kubernetes-validations[0].rule`;
  const rows: [why: string, schema: unknown, errors: string[]][] = [
    ["a look at each item is cheap", list("self.all(x, x < 5)", { type: "integer" }), []],
    ["a search in each text is not", list("self.all(x, x.contains('a string'))", text), [`${R} Forbidden`, "S Forbidden"]],
    ["unless both are bounded", list("self.all(x, x.contains('a string'))", short, 25), []],
    ["pairs of items need a bound", list("self.all(x, self.exists_one(y, x == y))", short), [`${R} Forbidden`, "S Forbidden"]],
    ["and a small one", list("self.all(x, self.exists_one(y, x == y))", short, 100), []],
    ["a prefix costs its own length", spec({ ...text, "x-kubernetes-validations": [{ rule: "self.startsWith('p-')" }] }), []],
    [
      "a pattern on one unbounded text is bearable",
      spec({ ...text, "x-kubernetes-validations": [{ rule: "self.matches('^[a-z]+$')" }] }),
      [],
    ],
    [
      "in a list without bound it is not",
      spec({ type: "array", items: { ...text, "x-kubernetes-validations": [{ rule: "self.matches('^[a-z]+$')" }] } }),
      [`${P}.items.x-kubernetes-validations[0].rule Forbidden`, "S Forbidden"],
    ],
    [
      "numbers in a list without bound may be compared",
      spec({
        type: "array",
        items: {
          type: "object",
          properties: { min: { type: "integer" }, max: { type: "integer" } },
          "x-kubernetes-validations": [{ rule: "self.min <= self.max" }],
        },
      }),
      [],
    ],
    [
      "a whole object is compared for nothing",
      spec({ type: "object", properties: { a: text }, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] }),
      [],
    ],
  ];
  it.each(rows)("%s", (_, schema, errors) => {
    expect([...new Set(faults(schema))].sort()).toEqual([...errors].sort());
  });
});
