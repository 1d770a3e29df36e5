import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { drift, write } from "./files.ts";

const files = [
  { path: "a/one.yaml", text: "one\n" },
  { path: "a/two.yaml", text: "two\n" },
];

describe("generated files", () => {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "generate-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("all are missing at first, none differs after writing", () => {
    expect(drift(root, files)).toEqual(["a/one.yaml: missing", "a/two.yaml: missing"]);
    write(root, files);
    expect(drift(root, files)).toEqual([]);
  });

  it("a changed file and a left-over are told, and mended by writing", () => {
    write(root, files);
    writeFileSync(join(root, "a/one.yaml"), "other\n");
    writeFileSync(join(root, "a/old.yaml"), "old\n");
    expect(drift(root, files)).toEqual(["a/one.yaml: differs", "a/old.yaml: not generated any more"]);
    write(root, files);
    expect(drift(root, files)).toEqual([]);
    expect(readFileSync(join(root, "a/one.yaml"), "utf8")).toBe("one\n");
  });
});
