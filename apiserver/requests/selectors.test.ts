import { describe, expect, it } from "@jest/globals";
import { labelMatcher, parseFieldSelector, parseLabelSelector } from "./selectors.ts";

const object = (labels: Record<string, string>) => ({ apiVersion: "v1", kind: "X", metadata: { name: "x", labels } });

describe("labelMatcher", () => {
  it.each([
    ["", true],
    ["a=1", true],
    ["a==1", true],
    ["a=2", false],
    ["a!=1", false],
    ["z!=1", true], // an absent label is not equal
    ["a in (1, 2)", true],
    ["a in (2)", false],
    ["a notin (2)", true],
    ["z notin (2)", true],
    ["a", true],
    ["!a", false],
    ["!z", true],
    ["n>4", true],
    ["n<4", false],
    ["z>4", false],
    ["a=1,b", true],
    ["a=1,!b", false],
    ["e=", true],
    ["e in (,x)", true],
    ["example.com/k=v", true],
    [" a = 1 , b ", true],
  ])("%s -> %s", (selector, expected) => {
    expect(labelMatcher(selector)(object({ a: "1", b: "", n: "5", e: "", "example.com/k": "v" }))).toBe(expected);
  });

  it.each(["a in (1", "=x", "a=b c", "bad key=x", "a in 1", "a=1,", ",a", "a>x", "a in ()", "a in ()extra", "-a=1", "a=-"])(
    "refuses %s",
    (selector) => {
      expect(() => labelMatcher(selector)).toThrow();
    },
  );

  it("keeps the order of requirements", () => {
    expect(parseLabelSelector("b,a in (y,x)")).toEqual([
      { key: "b", operator: "exists", values: [] },
      { key: "a", operator: "in", values: ["y", "x"] },
    ]);
  });
});

describe("parseFieldSelector", () => {
  it.each([
    ["metadata.name=a", [{ field: "metadata.name", equal: true, value: "a" }]],
    [
      "a==b,c!=d",
      [
        { field: "a", equal: true, value: "b" },
        { field: "c", equal: false, value: "d" },
      ],
    ],
    ["a=x\\,y\\=z\\\\", [{ field: "a", equal: true, value: "x,y=z\\" }]],
    ["a=", [{ field: "a", equal: true, value: "" }]],
  ])("%s", (selector, terms) => {
    expect(parseFieldSelector(selector)).toEqual(terms);
  });

  it("refuses a term without an operator", () => {
    expect(() => parseFieldSelector("a,b=c")).toThrow(/can't understand 'a'/);
  });
});
