// House rules that no linter knows, as a test. Here: what the sources may not say or use. Source: docs/style, design/style.md section 3.
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";

const ROOT = path.dirname(path.dirname(new URL(import.meta.url).pathname));
const FOLDERS = [
  "api",
  "schema",
  "controllers",
  "webhooks",
  "runtime",
  "apiserver",
  "hooks",
  "extensions",
  "simulator",
  "cmd",
  "hack",
  "test",
];
/** Data with runners of their own, and what others wrote. */
const SKIPPED = new Set(["test/conformance/api", "test/clients"]);

function files(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder)).flatMap((name) => {
    const file = path.join(folder, name);
    if (SKIPPED.has(file)) return [];
    return statSync(path.join(ROOT, file)).isDirectory() ? files(file) : /\.(ts|mjs)$/.test(name) ? [file] : [];
  });
}

const sources = FOLDERS.flatMap(files).map((file) => ({ file, text: readFileSync(path.join(ROOT, file), "utf8") }));
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
const isEdge = (file: string): boolean => /^(cmd|hack|test)\/|\/real\/|\.test\.ts$/.test(file);
const found = (pattern: RegExp, select: (file: string) => boolean): readonly string[] =>
  sources
    .filter(({ file }) => select(file))
    .flatMap(({ file, text }) =>
      withoutComments(text)
        .split("\n")
        .flatMap((line) => (pattern.test(line) ? [`${file}: ${line.trim()}`] : [])),
    );

describe("the core is pure", () => {
  it.each<[string, RegExp]>([
    ["reads no wall clock", /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/],
    ["sets no timers", /\b(setTimeout|setInterval|setImmediate)\(/],
    ["takes no chance but the injected", /\bMath\.random\(|\bcrypto\.(getRandomValues|randomUUID)\(/],
    ["knows no process", /(?<![.\w])process\.(?!\w*:)|(?<![.\w])console\./],
  ])("%s outside real/, cmd/, hack/ and test/", (_, pattern) => expect(found(pattern, (file) => !isEdge(file))).toEqual([]));
});

describe("sources", () => {
  it("have no default exports, no enums and no suppressed type errors", () => {
    expect(
      found(
        /^export default|^\s*(export )?(const )?enum |@ts-ignore|@ts-expect-error|\bas any(?=\s*[)\];,.>]|\s*$)/,
        (file) => file !== "hack/tidy.test.ts",
      ),
    ).toEqual([]);
  });

  it("say in their first line what lives in them", () => {
    const silent = sources.filter(({ file, text }) => !/\.test\.ts$/.test(file) && !/^(#!.*\n)?(\/\/|\/\*)/.test(text));
    expect(silent.map((s) => s.file)).toEqual([]);
  });

  it("leave nothing to be done", () => {
    expect(
      sources
        .filter(({ file }) => file !== "hack/tidy.test.ts")
        .flatMap(({ file, text }) => (/\b(TODO|FIXME|XXX)\b/.test(text) ? [file] : [])),
    ).toEqual([]);
  });

  it("name no folder of a developer's machine", () => {
    expect(
      sources
        .filter(({ text }) => /\/(work|root)\/(main|shared)|\.\.\/shared\//.test(text))
        .map((s) => s.file)
        .filter((f) => f !== "hack/tidy.test.ts"),
    ).toEqual([]);
  });

  it("stay readable: no file over 600 lines that people write", () => {
    expect(
      sources.filter(({ file, text }) => !/generated|\.data\.|fields\.ts$/.test(file) && text.split("\n").length > 600).map((s) => s.file),
    ).toEqual([]);
  });
});
