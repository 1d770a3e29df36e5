// Laws that hold for every schema and every value.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { Json } from "../api/meta/object.ts";
import type { JsonSchema } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";
import { canonical, frozen, sameValue } from "./equal.ts";

const NAMES = ["a", "b", "c"] as const;
const scalar: fc.Arbitrary<JsonSchema> = fc.constantFrom<JsonSchema>(
  { type: "string" },
  { type: "string", default: "d" },
  { type: "string", nullable: true, maxLength: 2 },
  { type: "integer", maximum: 3 },
  { type: "integer", default: 1 },
  { type: "boolean" },
  { "x-kubernetes-int-or-string": true },
  { "x-kubernetes-preserve-unknown-fields": true },
);

const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema; list: JsonSchema; map: JsonSchema }>((tie) => ({
  schema: fc.oneof({ maxDepth: 4 }, scalar, tie("object"), tie("list"), tie("map")),
  object: fc
    .tuple(fc.dictionary(fc.constantFrom(...NAMES), tie("schema")), fc.boolean(), fc.boolean(), fc.subarray([...NAMES]))
    .map(([properties, preserve, hasDefault, required]) => ({
      type: "object",
      properties,
      required,
      ...(preserve ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
      ...(hasDefault ? { default: {} } : {}),
    })),
  list: tie("schema").map((items) => ({ type: "array", items, maxItems: 3 })),
  map: tie("schema").map((additionalProperties) => ({ type: "object", additionalProperties })),
}));

const value: fc.Arbitrary<Json> = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json>(null, true, "x", "long", 1, 4, 1.5),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES, "odd", "__proto__"), tie("any")),
  ),
})).any;

describe("every schema, every value", () => {
  it("defaults and pruning settle at once", () => {
    fc.assert(
      fc.property(schema, value, (s, v) => {
        const compiled = compileSchema(s, { root: "value" });
        const once = compiled.defaultAndPrune(frozen(v));
        expect(compiled.defaultAndPrune(once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it("pruning adds nothing to what defaulting alone keeps", () => {
    fc.assert(
      fc.property(schema, value, (s, v) => {
        const compiled = compileSchema(s, { root: "value" });
        expect(compiled.defaultAndPrune(compiled.defaultAndPrune(v, { prune: false }))).toEqual(compiled.defaultAndPrune(v));
      }),
      { numRuns: 300 },
    );
  });

  it("validation never throws, and excuses whatever did not change", () => {
    fc.assert(
      fc.property(schema, value, value, (s, v, old) => {
        const compiled = compileSchema(s, { root: "value" });
        const copy: unknown = structuredClone(v);
        expect(compiled.validate(v, copy)).toEqual([]);
        compiled.validate(v, old);
        for (const error of compiled.validate(v)) expect(error.field).not.toBe("");
      }),
      { numRuns: 500 },
    );
  });

  it("equal values have equal canonical texts, others have others", () => {
    fc.assert(
      fc.property(value, value, (a, b) => expect(sameValue(a, b)).toBe(canonical(a) === canonical(b))),
      { numRuns: 300 },
    );
  });
});
