import { describe, expect, it } from "@jest/globals";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { kindRows } from "./kinds.ts";
import { testServer } from "./real/testing.ts";
import { createTypeSet, type Field, type FieldType } from "./types.ts";

const types = createTypeSet();
const DEPTH_MAX = 9;
const BODIES = 25;

const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  s: ["", "a", "None", "NodePort", "ExternalName", "RollingUpdate", "10.0.0.1", "Always", "User", "Role", "IPv4"],
  b: [true, false],
  i: [0, 1, 80, -1],
  l: [0, 1, -5],
  d: [0, 1.5],
  t: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00"],
  m: ["2026-01-01T00:00:00.000001Z"],
  y: ["", "YQ=="],
  k: [0, 1, "25%", "http"],
  q: ["1", 2, "1Gi", "0.5"],
  o: [{}, { a: 1 }, "x", 1, true],
};

/** Bodies of the right types with fields that are absent, null or empty at random. @param seed the same seed, the same bodies */
function bodies(seed: number) {
  const random = seededRandom(seed);
  const oneOf = <T>(list: readonly T[]): T => list[randomInt(random, list.length)] as T;
  const chance = (ratio: number): boolean => random.next() < ratio;

  function value(type: FieldType, depth: number): unknown {
    if (type.is === "scalar") return oneOf(SAMPLES[type.code] ?? [null]);
    if (type.is === "list") return Array.from({ length: depth > DEPTH_MAX ? 0 : randomInt(random, 3) }, () => value(type.of, depth + 1));
    if (type.is === "map") return chance(0.5) ? {} : { a: value(type.of, depth + 1), "b c": value(type.of, depth + 1) };
    return struct(type.key, depth);
  }

  function struct(key: string, depth: number): Record<string, unknown> {
    if (depth > DEPTH_MAX) return {};
    const wanted = (f: Field): boolean => chance(f.required || f.name === "spec" ? 0.9 : 2 / (depth + 3));
    const made: Record<string, unknown> = {};
    for (const field of types.get(key).fields.values()) {
      if (depth === 0 && ["apiVersion", "kind", "metadata"].includes(field.name)) continue;
      if (wanted(field)) made[field.name] = chance(0.08) ? null : value(field.type, depth + 1);
    }
    return made;
  }
  return (key: string) => struct(key, 0);
}

describe("no body of the right types makes a fault, whatever is in it", () => {
  const rows = kindRows().filter((row) => !row.virtual);
  it.each(rows.map((row) => [`${row.group}/${row.kind}`, row] as const))("%s", async (_, row) => {
    const root = row.group === "" ? "/api/v1" : `/apis/${row.group}/${row.version}`;
    const path = `${root}${row.namespaced ? "/namespaces/default" : ""}/${row.plural}`;
    const next = bodies(row.plural.length);
    const s = await testServer();
    const faults: unknown[] = [];
    for (let i = 0; i < BODIES; i++) {
      const metadata = { name: `x${i}` };
      const [first, second, third] = [next(row.typeKey), next(row.typeKey), next(row.typeKey)];
      const answers = [
        await s.call("POST", path, { ...first, metadata }),
        await s.call("PUT", `${path}/x${i}`, { ...second, metadata }),
        await s.call("PATCH", `${path}/x${i}`, third, { "content-type": "application/merge-patch+json" }),
        ...(row.status ? [await s.call("PATCH", `${path}/x${i}/status`, third, { "content-type": "application/merge-patch+json" })] : []),
        await s.call("GET", path, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }),
        await s.call("DELETE", `${path}/x${i}`),
      ];
      for (const { status, body } of answers) if (status >= 500) faults.push({ first, second, third, body });
    }
    expect(faults).toEqual([]);
  });
});
