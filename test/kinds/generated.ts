// Objects that a kind's schema allows, by chance. Here: schema to fast-check arbitrary. Not here: what is asked of them (generated.test.ts).
import fc from "fast-check";
import type { KindDefinition } from "../../api/kind.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { compilePattern } from "../../schema/re2.ts";

type Any = fc.Arbitrary<unknown>;

const ITEMS_MAX = 3;
const TEXT_MAX = 40;
/** Deeper than this, only what must be there. */
const DEPTH_MAX = 4;

// Where a rule in CEL says more than the schema: by the end of the path.
const RULED: readonly (readonly [end: RegExp, make: (schema: JsonSchema, depth: number) => Any])[] = [
  [/unhealthyMachineConditions\[\]\.type$/, () => fc.constantFrom("NodeReady", "example.com/Odd")],
  [/diskLayout\[\]\.partitionType$/, () => fc.constantFrom("Linux", "LinuxRAID", "0FC63DAF-8483-4772-8E79-3D69D8477DE4")],
  [
    /diskSetup\.partitions\[\]$/,
    (schema, depth) => {
      const { layout: _layout, diskLayout: _diskLayout, ...properties } = schema.properties ?? {};
      const base = { ...schema, properties, required: (schema.required ?? []).filter((key) => key in properties) };
      return fc.tuple(anyOf(base, "", depth), fc.boolean()).map(([object, layout]) => ({ ...(object as object), layout }));
    },
  ],
];

function textOf(schema: JsonSchema): Any {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.format === "date-time") return fc.constantFrom("2026-01-31T10:00:00Z", "1999-12-31T23:59:59Z");
  if (schema.format === "byte") return fc.constantFrom("YQ==", "YWJj");
  const [min, max] = [schema.minLength ?? 0, Math.min(schema.maxLength ?? TEXT_MAX, TEXT_MAX)];
  if (schema.pattern === undefined) return fc.string({ minLength: min, maxLength: Math.max(min, max) });
  return fc.constantFrom(...matching(schema.pattern, min, Math.max(min, max)));
}

const POOL_SIZE = 60;
const pools = new Map<string, readonly string[]>();

/** Texts that match a pattern. Found once: looking anew for every field takes most of the time. */
function matching(pattern: string, min: number, max: number): readonly string[] {
  const key = `${min} ${max} ${pattern}`;
  const known = pools.get(key);
  if (known) return known;
  const found = fc.sample(fc.stringMatching(compilePattern(pattern)), { seed: 1, numRuns: POOL_SIZE * 4 });
  const pool = [...new Set(found.filter((text) => text.length >= min && text.length <= max))].slice(0, POOL_SIZE);
  pools.set(key, pool);
  return pool;
}

function listOf(schema: JsonSchema, path: string, depth: number): Any {
  const items = anyOf(schema.items ?? {}, `${path}[]`, depth + 1);
  const [minLength, maxLength] = [schema.minItems ?? 0, Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX)];
  const keys = schema["x-kubernetes-list-map-keys"];
  if (!keys && schema["x-kubernetes-list-type"] !== "set") return fc.array(items, { minLength, maxLength });
  // Arguments of kubeadm are told apart by name and value, and a rule wants each name once.
  const [first = ""] = keys ?? [];
  const selector = (item: unknown): unknown => (keys ? JSON.stringify((item as Record<string, unknown>)[first]) : item);
  return fc.uniqueArray(items, { minLength, maxLength, selector });
}

function objectOf(schema: JsonSchema, path: string, depth: number): Any {
  const required = schema.required ?? [];
  if (typeof schema.additionalProperties === "object") {
    const keys = fc.stringMatching(/^[a-z]{1,8}$/);
    const limits = {
      minKeys: schema.minProperties ?? 0,
      maxKeys: Math.min(schema.maxProperties ?? ITEMS_MAX, ITEMS_MAX),
      noNullPrototype: true,
    };
    return fc.dictionary(keys, anyOf(schema.additionalProperties, `${path}{}`, depth + 1), limits);
  }
  const names = Object.keys(schema.properties ?? {});
  const wanted = depth < DEPTH_MAX ? names : required.length > 0 ? required : names.slice(0, schema.minProperties ?? 0);
  const fields = Object.fromEntries(wanted.map((name) => [name, anyOf(schema.properties?.[name] ?? {}, `${path}.${name}`, depth + 1)]));
  const [only] = wanted;
  return fc
    .tuple(
      ...wanted.map((name) =>
        required.includes(name) || (only === name && wanted.length === 1 && (schema.minProperties ?? 0) > 0)
          ? (fields[name] as Any)
          : fc.option(fields[name] as Any, { nil: undefined, freq: depth < 2 ? 2 : 1 }),
      ),
    )
    .map((values) => Object.fromEntries(wanted.flatMap((name, i) => (values[i] === undefined ? [] : [[name, values[i]]]))))
    .filter((object) => Object.keys(object).length >= (schema.minProperties ?? 0));
}

export function anyOf(schema: JsonSchema, path: string, depth: number): Any {
  const ruled = RULED.find(([end]) => end.test(path));
  if (ruled) return ruled[1](schema, depth);
  if (schema["x-kubernetes-int-or-string"]) return fc.oneof(fc.integer({ min: -5, max: 100 }), fc.constantFrom("20%", "100%", "x"));
  if (schema["x-kubernetes-preserve-unknown-fields"] && !schema.properties)
    return fc.constantFrom<unknown>(1, "a", true, { a: 1 }, [1, "b"]);
  switch (schema.type) {
    case "string":
      return textOf(schema);
    case "integer":
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 - 1 });
    case "number":
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return listOf(schema, path, depth);
    case "object":
      return objectOf(schema, path, depth);
    default:
      return fc.constantFrom<unknown>(1, "a", { a: 1 });
  }
}

/** Objects of a kind, apart from their names. */
export function objectsOf(kind: KindDefinition): fc.Arbitrary<KubeObject> {
  const spec = anyOf(kind.schema.properties?.spec ?? {}, "spec", 0);
  const isNeeded = (kind.schema.required ?? []).includes("spec");
  return (isNeeded ? spec : fc.option(spec, { nil: undefined, freq: 9 })).map(
    (value) =>
      ({
        apiVersion: apiVersionOf(kind.resource),
        kind: kind.resource.kind,
        metadata: { name: "any", ...(kind.resource.namespaced ? { namespace: "lab" } : {}) },
        ...(value === undefined ? {} : { spec: value }),
      }) as KubeObject,
  );
}
