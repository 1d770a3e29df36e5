import { describe, expect, it } from "@jest/globals";
import { compilePattern } from "./re2.ts";

describe("RE2 patterns", () => {
  const rows: [pattern: string, good: string[], bad: string[]][] = [
    ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", ["a-b"], ["-a", "A"]],
    ["^\\[[0-9]+-[0-9]+\\]$", ["[1-2]"], ["1-2"]],
    ["^[\\w.-]+$", ["a.b-c_"], ["a b"]],
    ["\\Ax\\z", ["x"], ["x\n", "ax"]],
    ["(?i)^abc$", ["aBc"], ["abd"]],
    ["^(a(?i)b|c)d$", ["aBd", "Cd"], ["aBD", "Abd"]],
    ["(?P<year>\\d{4})", ["2026"], ["20"]],
    ["^\\Qa.b\\E$", ["a.b"], ["axb"]],
    ["^[[:alpha:]_]+$", ["ab_"], ["a1"]],
    ["^[^\\s/]+$", ["a"], ["a b", "a/b"]],
    ["^\\p{Greek}\\pL$", ["αb"], ["bα"]],
    ["^a{2,3}$", ["aa"], ["a"]],
    ["^{a}$", ["{a}"], ["a"]],
    ["^[]a-]+$", ["]-a"], ["b"]],
    ["^\\x41\\x{1F600}$", ["A😀"], ["B"]],
    ["^(?:\\/[a-z]+)\\_\\-$", ["/ab_-"], ["ab"]],
    ["^a.c$", ["abc", "a😀c"], ["a\nc", "ac"]],
  ];
  it.each(rows)("%s", (pattern, good, bad) => {
    const regexp = compilePattern(pattern);
    for (const text of good) expect([text, regexp.test(text)]).toEqual([text, true]);
    for (const text of bad) expect([text, regexp.test(text)]).toEqual([text, false]);
  });

  it.each(["a(", "a)", "[a", "(?=x)", "(?<!x)", "\\1", "a{1001}", "\\", "*a", "\\y", "[z-a]"])("refuses %s", (pattern) => {
    expect(() => compilePattern(pattern)).toThrow();
  });
});
