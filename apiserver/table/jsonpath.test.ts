import { describe, expect, it } from "@jest/globals";
import { compilePath } from "./jsonpath.ts";

const object = {
  spec: {
    replicas: 3,
    "odd.key": "x",
    list: [
      { name: "a", n: 1 },
      { name: "b", n: 2, on: true },
      { name: "c", n: 3 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Up", status: "False" },
    ],
  },
};

describe("compilePath", () => {
  it.each<[string, readonly unknown[]]>([
    [".spec.replicas", [3]],
    ["{.spec.replicas}", [3]],
    ["spec.replicas", [3]],
    ["$.spec.replicas", [3]],
    [".spec.absent", []],
    [".spec.absent.below", []],
    [".spec.list[0].name", ["a"]],
    [".spec.list[-1].name", ["c"]],
    [".spec.list[7].name", []],
    [".spec.list[*].name", ["a", "b", "c"]],
    [".spec.list[0:2].name", ["a", "b"]],
    [".spec.list[::2].name", ["a", "c"]],
    [".spec.list[0,2].n", [1, 3]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type=='Up')].status", ["False"]],
    [".spec.list[?(@.n >= 2)].name", ["b", "c"]],
    [".spec.list[?(@.on)].name", ["b"]],
    ["..n", [1, 2, 3]],
    [".spec.odd\\.key", ["x"]],
    [".spec['odd.key']", ["x"]],
    [".", [object]],
  ])("%s", (path, found) => {
    expect(compilePath(path)(object)).toEqual(found);
  });

  it.each([".spec.list[", ".spec..", ".spec.list[x y]", ".a[0]b"])("refuses %s", (path) => {
    expect(() => compilePath(path)).toThrow();
  });
});
