import { describe, expect, it } from "@jest/globals";
import { seededRandom } from "../../runtime/base/random.ts";
import { fnv32a, labelValueOf, nameFromTemplate, withRandomSuffix } from "./names.ts";

describe("names", () => {
  it("hashes as FNV-1a does", () => {
    expect(fnv32a("")).toBe(2166136261);
    expect(fnv32a("a")).toBe(0xe40c292c);
    expect(fnv32a("foobar")).toBe(0xbf9cf968);
  });

  it("keeps a name that is a label value and hashes one that is not", () => {
    expect(labelValueOf("md-0-abcde")).toBe("md-0-abcde");
    expect(labelValueOf("a".repeat(64))).toMatch(/^hash_[A-Za-z0-9_-]{6}_z$/);
    expect(labelValueOf("foobar-")).toMatch(/^hash_[A-Za-z0-9_-]{6}_z$/);
    expect(labelValueOf("a".repeat(64))).not.toBe(labelValueOf("b".repeat(64)));
  });

  const data = { "machineSet.name": "md-0-xk2p9", "cluster.name": "demo" };
  const rows: [string, RegExp][] = [
    ["{{ .machineSet.name }}-{{ .random }}", /^md-0-xk2p9-[b-z2-9]{5}$/],
    ["{{.cluster.name}}.{{ .random }}", /^demo\.[b-z2-9]{5}$/],
    [`${"x".repeat(70)}-{{ .random }}`, /^x{58}[b-z2-9]{5}$/],
  ];
  it.each(rows)("%s", (template, expected) => {
    expect(nameFromTemplate(template, data, seededRandom(1))).toMatch(expected);
  });

  it.each([
    ["{{ .machineSet.name }}", "has no {{ .random }}"],
    ["{{ .machineset.name }}-{{ .random }}", "uses {{ .machineset.name }}; known are .cluster.name, .machineSet.name, .random"],
    ["{{ upper .random }}-{{ .random }}", "uses {{ upper .random }}"],
  ])("refuses %s", (template, message) => {
    expect(() => nameFromTemplate(template, data, seededRandom(1))).toThrow(message);
  });

  it("cuts a long base so that the suffix fits", () => {
    const name = withRandomSuffix("m".repeat(80), seededRandom(2));
    expect(name).toHaveLength(63);
    expect(withRandomSuffix("md-0", seededRandom(2))).toMatch(/^md-0-[b-z2-9]{5}$/);
  });
});
