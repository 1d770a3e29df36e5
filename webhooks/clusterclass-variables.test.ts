// Variables of a ClusterClass: rule by rule, as spec/api/clusterclass.md section 5.1 numbers them.
import { describe } from "@jest/globals";
import { clusterClassRules } from "./clusterclass.ts";
import { aClass } from "./clusterclass.testing.ts";
import { changed, type Row, table } from "./table.testing.ts";

const V = "spec.variables[a]";
const S = `${V}.schema.openAPIV3Schema`;
const variable = (schema: object, more: object = {}) => ({ name: "a", required: false, schema: { openAPIV3Schema: schema }, ...more });
const base = changed(aClass, { "/spec/variables": [variable({ type: "string" })] });
/** A row about the schema of one variable. */
const of = (rule: string, schema: object, wanted: string): Row => [rule, { "/spec/variables": [variable(schema)] }, wanted];
const rules = (...list: readonly object[]) => ({ "x-kubernetes-validations": list });
const text = { type: "string", maxLength: 20 };
const wide = "self.all(x, self.all(y, self.all(z, x == y || y == z)))";

describe("variables of a ClusterClass", () => {
  table(
    clusterClassRules,
    base,
    [
      ["1 unique", { "/spec/variables": [variable({ type: "string" }), variable({ type: "integer" })] }, `Invalid ${V}.name`],
      ["2 not empty", { "/spec/variables/0/name": "" }, "Required spec.variables[].name"],
      ["2 not builtin", { "/spec/variables/0/name": "builtin" }, "Invalid spec.variables[builtin].name"],
      ["2 no dot", { "/spec/variables/0/name": "a.b" }, "Invalid spec.variables[a.b].name"],
      [
        "3 metadata",
        { "/spec/variables/0/deprecatedV1Beta1Metadata": { labels: { a: "-" } } },
        `Invalid ${V}.deprecatedV1Beta1Metadata.labels`,
      ],
      of("3 x-metadata", { type: "string", "x-metadata": { annotations: { "a b": "" } } }, `Invalid ${S}.x-metadata.annotations`),
      of(
        "3 x-metadata below",
        { type: "object", properties: { x: { type: "array", items: { type: "string", "x-metadata": { labels: { "-": "" } } } } } },
        `Invalid ${S}.properties[x].items.x-metadata.labels`,
      ),
      of("5 a type is needed", { properties: { x: { type: "string" } } }, `Required ${S}.type`),
      of("5 below too", { type: "object", properties: { x: {} } }, `Required ${S}.properties[x].type`),
      of("5 items", { type: "array" }, `Required ${S}.items`),
      of("5 integers or texts need no type", { "x-kubernetes-int-or-string": true }, ""),
      of("5 anything", { "x-kubernetes-preserve-unknown-fields": true }, ""),
      of("5 junctors have no types", { type: "string", anyOf: [{ type: "string" }] }, `Forbidden ${S}.anyOf[0].type`),
      of("5 junctors have words", { type: "string", anyOf: [{ pattern: "^a", description: "a" }] }, ""),
      of("5 fields of junctors", { type: "object", not: { properties: { x: { pattern: "a" } } } }, `Required ${S}.properties[x]`),
      of("5 pattern", { type: "string", pattern: "(" }, `Invalid ${S}.pattern`),
      of("5 pattern in a junctor", { type: "string", oneOf: [{ pattern: "(" }] }, `Invalid ${S}.oneOf[0].pattern`),
      of("5 stops", { type: "array", enum: [3] }, `Required ${S}.items`),
      of("6 default's type", { type: "integer", default: "x" }, `TypeInvalid ${S}.default`),
      of("6 default's bound", { type: "integer", maximum: 3, default: 5 }, `Invalid ${S}.default`),
      of("6 below", { type: "object", properties: { x: { type: "string", default: 1 } } }, `TypeInvalid ${S}.properties[x].default`),
      of("6 unknown fields", { type: "object", properties: { x: { type: "string" } }, default: { y: 1 } }, `Invalid ${S}.default`),
      of("6 rules", { ...text, ...rules({ rule: "self != 'a'" }), default: "a" }, `Invalid ${S}.default`),
      of("6 stops", { type: "integer", default: "x", example: "y" }, `TypeInvalid ${S}.default`),
      of("7 type", { type: "object", properties: { x: { type: "text", enum: [1] } } }, `NotSupported ${S}.properties[x].type`),
      of("8 example", { type: "string", example: 3 }, `TypeInvalid ${S}.example`),
      of("8 enum", { type: "string", enum: ["x", 3] }, `TypeInvalid ${S}.enum[1]`),
      of("8 null is skipped", { type: "string", enum: ["x", null] }, ""),
      of(
        "8 below",
        { type: "object", properties: { x: { type: "integer", maximum: 1, example: 2 } } },
        `Invalid ${S}.properties[x].example`,
      ),
      of(
        "9 fields or a map",
        { type: "object", properties: { x: { type: "string" } }, additionalProperties: { type: "string" } },
        `Forbidden ${S}`,
      ),
      of("10 values of a map", { type: "object", additionalProperties: { type: "text" } }, `NotSupported ${S}.additionalProperties.type`),
      of("11 rule", { type: "string", ...rules({ rule: " " }) }, `Required ${S}.x-kubernetes-validations[0].rule`),
      of("11 message", { ...text, ...rules({ rule: "true", message: " " }) }, `Invalid ${S}.x-kubernetes-validations[0].message`),
      of(
        "11 message's length",
        { ...text, ...rules({ rule: "true", message: "x".repeat(2049) }) },
        `Invalid ${S}.x-kubernetes-validations[0].message`,
      ),
      of(
        "11 message's lines",
        { ...text, ...rules({ rule: "true", message: "a\nb" }) },
        `Invalid ${S}.x-kubernetes-validations[0].message`,
      ),
      of(
        "11 lines need a message",
        { ...text, ...rules({ rule: "true\n" + "|| true" }) },
        `Required ${S}.x-kubernetes-validations[0].message`,
      ),
      of(
        "11 messageExpression",
        { ...text, ...rules({ rule: "true", messageExpression: " " }) },
        `Required ${S}.x-kubernetes-validations[0].messageExpression`,
      ),
      of("11 reason", { ...text, ...rules({ rule: "true", reason: "Odd" }) }, `NotSupported ${S}.x-kubernetes-validations[0].reason`),
      of(
        "11 fieldPath",
        { type: "object", properties: { x: { type: "string" } }, ...rules({ rule: "true", fieldPath: ".y" }) },
        `Invalid ${S}.x-kubernetes-validations[0].fieldPath`,
      ),
      of("12 compiles", { type: "integer", ...rules({ rule: "self + 1" }) }, `Invalid ${S}.x-kubernetes-validations[0].rule`),
      of(
        "12 unknown field",
        { type: "object", properties: { x: { type: "string" } }, ...rules({ rule: "self.y == 'a'" }) },
        `Invalid ${S}.x-kubernetes-validations[0].rule`,
      ),
      of(
        "12 message compiles",
        { ...text, ...rules({ rule: "true", messageExpression: "1" }) },
        `Invalid ${S}.x-kubernetes-validations[0].messageExpression`,
      ),
      of(
        "12 not where the schema is wrong",
        { type: "object", properties: { x: { type: "odd" } }, ...rules({ rule: "self.y" }) },
        `NotSupported ${S}.properties[x].type`,
      ),
      of(
        "12 but beside",
        { type: "object", properties: { x: { type: "odd" }, y: { type: "string", ...rules({ rule: "1" }) } } },
        `Invalid ${S}.properties[y].x-kubernetes-validations[0].rule; NotSupported ${S}.properties[x].type`,
      ),
      of(
        "12 no metadata of objects",
        { type: "object", properties: { x: { type: "string" } }, ...rules({ rule: "self.metadata.name == ''" }) },
        `Invalid ${S}.x-kubernetes-validations[0].rule`,
      ),
      of(
        "13 cost",
        { type: "array", items: { type: "string", maxLength: 9 }, maxItems: 1000, ...rules({ rule: wide }) },
        `Forbidden ${S}; Forbidden ${S}.x-kubernetes-validations[0].rule; Forbidden ${S}.x-kubernetes-validations[0].rule`,
      ),
      of("13 cheap enough", { type: "array", items: { type: "string", maxLength: 9 }, maxItems: 10, ...rules({ rule: wide }) }, ""),
      of(
        "14 oldSelf below items",
        { type: "array", maxItems: 3, items: { ...text, ...rules({ rule: "self == oldSelf" }) } },
        `Invalid ${S}.items.x-kubernetes-validations[0].rule`,
      ),
      of("14 oldSelf elsewhere", { ...text, ...rules({ rule: "self == oldSelf" }) }, ""),
      of("15 example", { ...text, ...rules({ rule: "self != 'a'" }), example: "a" }, `Invalid ${S}.example`),
      of(
        "15 enum, with reason",
        { ...text, ...rules({ rule: "self != 'a'", reason: "FieldValueForbidden" }), enum: ["b", "a"] },
        `Forbidden ${S}.enum[1]`,
      ),
      of("decoding", { type: "object", properties: { x: "string" } }, "400"),
      of("decoding of numbers", { type: "object", properties: { x: { type: "string", maxLength: "3" } } }, "400"),
      of("decoding of maps", { type: "object", additionalProperties: true }, "400"),
    ],
    { gates: ["ClusterTopology"] },
  );
});
