import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  difference,
  EMPTY,
  equal,
  type FieldSet,
  fieldSet,
  forEachMember,
  has,
  intersection,
  isEmpty,
  leaves,
  recursiveDifference,
  union,
} from "./field-set.ts";
import { fieldsV1, parseFieldsV1 } from "./fields-v1.ts";
import { compareElements, pathText } from "./path-element.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"a"}', 'v:"x"', "v:2", "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 3 });
const anySet = fc.array(path, { maxLength: 8 }).map((paths) => fieldSet(...paths));

const members = (set: FieldSet): readonly string[] => {
  const found: string[] = [];
  forEachMember(set, (p) => found.push(p.join("/")));
  return found.sort();
};
const model = (a: FieldSet, b: FieldSet, keep: (inA: boolean, inB: boolean) => boolean): readonly string[] => {
  const [left, right] = [new Set(members(a)), new Set(members(b))];
  return [...new Set([...left, ...right])].filter((m) => keep(left.has(m), right.has(m))).sort();
};

describe("set operations are those of sets of paths", () => {
  const check = (act: (a: FieldSet, b: FieldSet) => void) => fc.assert(fc.property(anySet, anySet, act), { numRuns: 300 });

  it("union", () => check((a, b) => expect(members(union(a, b))).toEqual(model(a, b, (x, y) => x || y))));
  it("difference", () => check((a, b) => expect(members(difference(a, b))).toEqual(model(a, b, (x, y) => x && !y))));
  it("intersection", () => check((a, b) => expect(members(intersection(a, b))).toEqual(model(a, b, (x, y) => x && y))));
  it("recursive difference", () =>
    check((a, b) => {
      const gone = members(b);
      const left = members(a).filter((m) => !gone.some((g) => m === g || m.startsWith(`${g}/`)));
      expect(members(recursiveDifference(a, b))).toEqual(left);
    }));
  it("leaves", () =>
    check((a) => {
      const all = members(a);
      expect(members(leaves(a))).toEqual(all.filter((m) => !all.some((other) => other.startsWith(`${m}/`))));
    }));
  it("equal", () => check((a, b) => expect(equal(a, b)).toBe(members(a).join() === members(b).join())));
  it("has", () =>
    fc.assert(
      fc.property(anySet, path, (set, p) => expect(has(set, p)).toBe(members(set).includes(p.join("/")))),
      { numRuns: 300 },
    ));

  it("gives the first set itself when nothing changes", () =>
    check((a, b) => {
      const both = union(a, b);
      expect(union(both, a)).toBe(both);
      expect(difference(a, difference(b, a))).toBe(a);
    }));
});

describe("FieldsV1", () => {
  it("comes back as it went", () => {
    fc.assert(
      fc.property(anySet, (set) => expect(equal(parseFieldsV1(JSON.parse(JSON.stringify(fieldsV1(set)))) ?? EMPTY, set)).toBe(true)),
      { numRuns: 300 },
    );
  });

  it("is written in Kubernetes' order, with a dot for a member that has more below it", () => {
    const set = fieldSet(["v:10"], ["v:9"], ['k:{"port":443}'], ['k:{"port":80}', "f:x"], ["f:b", "f:c"], ["f:b"], ["f:a"]);
    expect(JSON.stringify(fieldsV1(set))).toBe(
      '{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\\"port\\":80}":{"f:x":{}},"k:{\\"port\\":443}":{},"v:9":{},"v:10":{}}',
    );
  });

  it("reads keys in any order and with blanks", () => {
    const set = parseFieldsV1({ 'k:{"port": 80, "name": "a"}': {} });
    expect(set && has(set, ['k:{"name":"a","port":80}'])).toBe(true);
  });

  const bad: readonly unknown[] = [null, [], "x", { "f:a": null }, { "k:nonsense": {} }, { "i:x": {} }, { nonsense: {} }, { "k:[]": {} }];
  it.each(bad)("%j is none", (fields) => expect(parseFieldsV1(fields)).toBeUndefined());

  it("passes over kinds of elements that nobody knows yet", () => {
    expect(members(parseFieldsV1({ "z:new": {}, "f:a": {} }) ?? EMPTY)).toEqual(["f:a"]);
  });

  it("refuses what is nested too deep to be walked", () => {
    const deep = Array.from({ length: 5000 }).reduce<object>((below) => ({ "f:a": below }), {});
    expect(parseFieldsV1(deep)).toBeUndefined();
  });
});

describe("path elements", () => {
  it("sort by kind, then by value", () => {
    const sorted = ["f:a", "f:b", 'k:{"n":1}', 'k:{"n":2}', 'k:{"n":"1"}', "v:9", "v:10", 'v:"a"', "v:true", "i:2", "i:10"];
    expect([...sorted].reverse().sort(compareElements)).toEqual(sorted);
  });

  it("show as kube-apiserver shows them", () => {
    expect(pathText(["f:spec", 'k:{"port":80,"protocol":"TCP"}', "f:tags", 'v:"x"', "i:3"])).toBe(
      '.spec[port=80,protocol="TCP"].tags[="x"][3]',
    );
  });

  it("an empty set has no members", () => expect(isEmpty(fieldSet())).toBe(true));
});
