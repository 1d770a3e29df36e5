import { expect, it } from "@jest/globals";
import type { ClusterClassVariable } from "../../api/clusterclass.ts";
import { mergedDefinitions } from "./class-variables.ts";

const variable = (name: string, schema: object, required = false) =>
  ({ name, required, schema: { openAPIV3Schema: schema } }) as ClusterClassVariable;
const merged = (...sources: (readonly [string, readonly ClusterClassVariable[]])[]) =>
  mergedDefinitions(sources.map(([from, variables]) => ({ from, variables })));

it("sorts by name and keeps the order of definitions", () => {
  const text = { type: "string" };
  const found = merged(["inline", [variable("b", text), variable("a", text)]], ["patch", [variable("b", text)]]);
  expect(found.map((v) => [v.name, v.definitions.map((d) => d.from), v.definitionsConflict])).toEqual([
    ["a", ["inline"], false],
    ["b", ["inline", "patch"], false],
  ]);
});

const rows: readonly (readonly [string, ClusterClassVariable, ClusterClassVariable, boolean])[] = [
  ["other types", variable("a", { type: "string" }), variable("a", { type: "integer" }), true],
  ["required or not", variable("a", { type: "string" }), variable("a", { type: "string" }, true), true],
  [
    "false that is written and false that is not",
    variable("a", { type: "array", uniqueItems: false }),
    variable("a", { type: "array" }),
    false,
  ],
  [
    "below",
    variable("a", { type: "object", properties: { x: { type: "string" } } }),
    variable("a", { type: "object", properties: { x: { type: "integer" } } }),
    true,
  ],
];
it.each(rows)("conflicts: %s", (_what, one, two, expected) => {
  expect(merged(["inline", [one]], ["p", [two]])[0]?.definitionsConflict).toBe(expected);
});
