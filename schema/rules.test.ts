import { describe, expect, it } from "@jest/globals";
import type { JsonSchema, ValidationRule } from "../api/meta/schema.ts";
import { compileSchema } from "./compile.ts";

const object = (properties: Record<string, JsonSchema>, rest: JsonSchema = {}): JsonSchema => ({ type: "object", properties, ...rest });
const text: JsonSchema = { type: "string" };
const whole: JsonSchema = { type: "integer" };

const errors = (schema: JsonSchema, value: unknown, old?: unknown) => compileSchema(schema, { root: "value" }).validate(value, old);
const holds = (schema: JsonSchema, rule: string, value: unknown, old?: unknown): boolean => {
  const found = errors({ ...schema, "x-kubernetes-validations": [{ rule }] }, value, old);
  for (const error of found) expect(error.message).toContain("failed rule");
  return found.length === 0;
};

const SPEC = object({
  s: text,
  i: whole,
  d: { type: "number" },
  b: { type: "boolean" },
  at: { type: "string", format: "date-time" },
  span: { type: "string", format: "duration" },
  data: { type: "string", format: "byte" },
  ios: { "x-kubernetes-int-or-string": true },
  list: { type: "array", items: whole },
  names: { type: "array", items: text, "x-kubernetes-list-type": "set" },
  keyed: {
    type: "array",
    items: object({ k: text, v: whole }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  },
  map: { type: "object", additionalProperties: text },
  sub: object({ x: text, "a.b": text, "a-b/c": text, namespace: text }),
  maybe: { type: "string", nullable: true },
});

describe("what rules can say", () => {
  const value = {
    s: "héllo 😀",
    i: 7,
    d: 2,
    b: true,
    at: "2026-08-21T10:30:05Z",
    span: "1h30m",
    data: "aGk=",
    ios: "50%",
    list: [1, 2, 3],
    names: ["b", "a"],
    keyed: [
      { k: "x", v: 1 },
      { k: "y", v: 2 },
    ],
    map: { "a/b": "1", c: "2" },
    sub: { x: "1", "a.b": "2", "a-b/c": "3", namespace: "4" },
    maybe: null,
  };
  const truths = [
    "has(self.s) && has(self.sub.x)",
    "size(self.s) == 7 && self.s.substring(1, 5) == 'éllo' && self.s.charAt(6) == '😀'",
    "self.s.indexOf('😀') == 6 && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b'",
    "'AbÇ'.lowerAscii() == 'abÇ' && 'aXbX'.replace('X', '-', 1) == 'a-bX' && ' x '.trim() == 'x'",
    "self.s.matches('^h.l+o') && '(?i)x' != '' && 'ABC'.matches('(?i)^abc$') && 'x1y22'.findAll('[0-9]+') == ['1', '22']",
    "'abc 123'.find('[0-9]+') == '123' && 'a1b2c3'.findAll('[0-9]', 2) == ['1', '2']",
    "self.i / 2 == 3 && self.i % 2 == 1 && self.d / 4.0 == 0.5 && double(self.i) > self.d && self.i > 2.5",
    "self.b ? self.i == 7 : false",
    "self.at > timestamp('2026-01-01T00:00:00Z') && self.at.getFullYear() == 2026 && self.at.getHours() == 10 && self.at.getHours('02:00') == 12",
    "self.span == duration('90m') && self.span.getMinutes() == 90 && string(self.span) == '5400s' && self.span + self.span > duration('2h')",
    "string(self.at) == '2026-08-21T10:30:05Z' && int(self.at) == 1787308205",
    "self.data == b'hi' && size(self.data) == 2",
    "type(self.ios) == string && self.ios.endsWith('%')",
    "self.list.sum() == 6 && self.list.min() == 1 && self.list.max() == 3 && self.list.isSorted() && self.list.indexOf(2) == 1",
    "self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x > 2) && self.list.existsOne(x, x > 2)",
    "self.list.map(x, x * 2) == [2, 4, 6] && self.list.filter(x, x > 1).size() == 2 && self.list.map(x, x > 1, x) == [2, 3]",
    "self.list.all(i, x, x == i + 1) && self.list.exists(i, x, i == 2 && x == 3) && self.list.transformList(i, x, i > 0, x * i) == [2, 6]",
    "self.map.transformMap(k, v, v + '!')['c'] == '2!' && self.map.all(k, v, size(v) == 1) && self.map.exists(k, k == 'c')",
    "self.keyed.transformMapEntry(i, e, {e.k: e.v})['y'] == 2",
    "self.names == ['a', 'b'] || self.names.all(n, n in ['a', 'b'])",
    "sets.contains(self.list, [1, 3]) && sets.intersects([9, 1], self.list) && sets.equivalent([1, 1, 2, 3], self.list)",
    "'a/b' in self.map && self.map['a/b'] == '1' && !('z' in self.map) && self.map.size() == 2",
    "self.sub.a__dot__b == '2' && self.sub.a__dash__b__slash__c == '3' && self.sub.__namespace__ == '4'",
    "self.keyed.exists_one(e, e.k == 'y' && e.v == 2) && self.keyed[0].k == 'x'",
    "!has(self.maybe) && has(self.keyed[0].v)",
    "self.at.getDate('01:00') == 21 && self.at.getDayOfYear() == 232 && self.at.getMonth() == 7",
    "self.keyed + self.keyed == self.keyed && self.keyed == [self.keyed[1], self.keyed[0]]",
    "self.names.join('-') == 'b-a' && [3, 1, 2].sort() == [1, 2, 3] && [1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2]",
    "[-3, 1].sortBy(e, -e) == [1, -3] && lists.range(3).reverse() == [2, 1, 0] && [1, 2, 3].slice(1, 2) == [2]",
    "self.?sub.?x.optMap(v, v + '!').orValue('') == '1!' && optional.ofNonZeroValue('') == optional.none()",
    "type(ip('::1')) == net.IP && sets.contains([{'a': 1}], [{'a': 1}]) && [[1], [2]].indexOf([2]) == 1",
    "duration('0') == duration('0s') && [duration('1s')].sum() == duration('1s')",
    "self.?sub.?x.orValue('none') == '1' && self.sub.?x.hasValue()",
    "quantity('1.5Gi').isGreaterThan(quantity('1500Mi')) && quantity('500m').add(quantity('0.5')).compareTo(quantity('1')) == 0",
    "isQuantity('1e3') && !isQuantity('much') && quantity('2k').asInteger() == 2000 && !quantity('1m').isInteger() && quantity('-1').sign() == -1",
    "ip('10.0.0.1').family() == 4 && !isIP('10.0.0.01') && ip('127.0.0.1').isLoopback() && ip.isCanonical('::1') && !ip.isCanonical('::01')",
    "cidr('10.0.0.0/8').containsIP('10.9.8.7') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
    "url('https://h:8443/p?a=1&a=2').getPort() == '8443' && url('https://[::1]:80/').getHostname() == '::1' && url('https://h/?a=1&a=2').getQuery()['a'] == ['1', '2']",
    "isURL('/abs') && !isURL('no') && semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.0.0-rc.1') && !isSemver('v1.0.0') && isSemver('v1.0', true)",
    "!format.dns1123Label().validate('a-b').hasValue() && format.named('dns1123Label').value().validate('A_b').hasValue()",
    "'%s is %d of %.2f'.format([dyn('x'), dyn(3), dyn(2.5)]) == 'x is 3 of 2.50'",
    `strings.quote("a b") == "\\"a b\\""`,
    "[1, 2].exists(x, x / 0 == 1 || x == 2)",
  ];
  it.each(truths)("%s", (rule) => expect(errors({ ...SPEC, "x-kubernetes-validations": [{ rule }] }, value)).toEqual([]));

  const lies = ["self.i == 8", "self.keyed.all(e, e.v > 1)", "has(self.map.zzz)", "self.s.matches('^l')", "self.names.size() > 2"];
  it.each(lies)("not: %s", (rule) => expect(holds(SPEC, rule, value)).toBe(false));
});

describe("old values", () => {
  it("rules about them run only when there are any", () => {
    const id = object({ id: { ...text, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] }, free: text });
    expect(errors(id, { id: "a" })).toEqual([]);
    expect(errors(id, { id: "b" }, {})).toEqual([]);
    expect(errors(id, { id: "a", free: "2" }, { id: "a" })).toEqual([]);
    expect(errors(id, { id: "b" }, { id: "a" }).map((e) => e.field)).toEqual(["id"]);
  });

  it("may be optional", () => {
    const rules: ValidationRule[] = [{ rule: "oldSelf.hasValue() || self == 'first'", optionalOldSelf: true }];
    const schema = object({ a: { ...text, "x-kubernetes-validations": rules } });
    expect(errors(schema, { a: "first" })).toEqual([]);
    expect(errors(schema, { a: "second" }, { a: "first" })).toEqual([]);
    expect(errors(schema, { a: "second" })).toHaveLength(1);
  });

  it("are found by key in keyed lists, whatever the order", () => {
    const items = object({ k: text, v: { ...whole, "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] } });
    const schema: JsonSchema = { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };
    const old = [
      { k: "a", v: 5 },
      { k: "b", v: 1 },
    ];
    expect(
      errors(
        schema,
        [
          { k: "b", v: 2 },
          { k: "c", v: 0 },
          { k: "a", v: 4 },
        ],
        old,
      ).map((e) => e.field),
    ).toEqual(["[2].v"]);
  });

  it("order does not matter where lists have none", () => {
    const list = { type: "array", items: text, "x-kubernetes-list-type": "set" } as const;
    const keyed: JsonSchema = {
      type: "array",
      items: object({ k: text }),
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    };
    const schema = object({ s: list, m: keyed, a: { type: "array", items: text } });
    expect(
      holds(
        schema,
        "self.s == oldSelf.s && self.m == oldSelf.m",
        { s: ["a", "b"], m: [{ k: "x" }, { k: "y" }] },
        { s: ["b", "a"], m: [{ k: "y" }, { k: "x" }] },
      ),
    ).toBe(true);
    expect(holds(schema, "self == oldSelf", { m: [{ k: "x" }, { k: "y" }] }, { m: [{ k: "y" }, { k: "x" }] })).toBe(true);
    expect(holds(schema, "self.a == oldSelf.a", { a: ["a", "b"] }, { a: ["b", "a"] })).toBe(false);
  });

  it("a value that broke a newer rule may stay, unless the rule looks back", () => {
    const spec = (rule: string) => object({ a: { ...text, "x-kubernetes-validations": [{ rule }] }, b: text });
    expect(errors(spec("self == 'new'"), { a: "old", b: "1" }, { a: "old" })).toEqual([]);
    expect(errors(spec("self != oldSelf"), { a: "old", b: "1" }, { a: "old" })).toHaveLength(1);
  });
});

describe("errors of rules", () => {
  const schema = (rule: ValidationRule): JsonSchema =>
    object({
      spec: object(
        { a: text, b: object({ c: text }), m: { type: "object", additionalProperties: text } },
        { "x-kubernetes-validations": [rule] },
      ),
    });
  const one = (rule: ValidationRule) => errors(schema(rule), { spec: { a: "x", b: {} } })[0];

  it("carry reason and field of the rule", () => {
    expect(one({ rule: "self.a != 'x'", reason: "FieldValueForbidden", fieldPath: ".a", message: "no x" })).toEqual({
      reason: "FieldValueForbidden",
      field: "spec.a",
      message: "Forbidden: no x",
    });
    expect(one({ rule: "has(self.b.c)", reason: "FieldValueRequired", fieldPath: ".b.c" })?.field).toBe("spec.b.c");
    expect(one({ rule: "false", fieldPath: ".m['k.l']" })?.field).toBe("spec.m[k.l]");
  });

  it("take their message from an expression, or from the text when that fails", () => {
    expect(one({ rule: "false", message: "plain", messageExpression: "'a is ' + self.a" })?.message).toContain("a is x");
    expect(one({ rule: "false", message: "plain", messageExpression: "self.b.c" })?.message).toContain("plain");
    expect(one({ rule: "false" })?.message).toContain("failed rule: false");
  });

  it("are told for a rule that cannot be evaluated", () => {
    expect(one({ rule: "self.b.c == 'x'" })?.reason).toBe("FieldValueInvalid");
  });

  it("are held back while the object does not have the right shape", () => {
    const found = errors(schema({ rule: "false" }), { spec: { a: 5 } });
    expect(found.map((e) => `${e.field} ${e.reason}`)).toEqual(["spec.a FieldValueTypeInvalid", "<nil> FieldValueInvalid"]);
  });

  it("end a rule that would run for ever", () => {
    const list: JsonSchema = { type: "array", items: whole };
    const rule = "self.all(a, self.all(b, self.all(c, self.all(d, self.all(e, a + b + c + d + e >= 0)))))";
    const found = errors(
      { ...list, "x-kubernetes-validations": [{ rule }] },
      Array.from({ length: 100 }, () => 1),
    );
    expect(found[0]?.message).toContain("cost budget");
  });
});
