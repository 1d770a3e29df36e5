import { describe, expect, it } from "@jest/globals";
import { anyJson, int32, intOrString, list, listMap, must, object, oneOf, someOf, stringMap, text } from "../../api/shape.ts";
import { boundsText, referenceFiles, table, typeText } from "./reference.ts";

const named = object({ name: must(text(1, 9, "")) }, "");

describe("reference pages", () => {
  it.each([
    [text(1, 63, ""), "string", "length 1..63"],
    [text(0, 5, "", { pattern: "^a$" }), "string", "length <= 5; pattern `^a$`"],
    [int32("", { minimum: 0 }), "integer (int32)", "value >= 0"],
    [oneOf(["a", "b"], ""), "string", "one of `a`, `b`"],
    [list(text(1, 2, ""), { max: 3 }, ""), "list of string", "items <= 3; each: length 1..2"],
    [listMap(["name"], named, { min: 1, max: 9 }, ""), "list of object", "items 1..9; unique by `name`"],
    [someOf({}, ""), "object", "keys >= 1"],
    [stringMap(""), "map of string", ""],
    [anyJson(""), "any JSON", ""],
    [intOrString(""), "integer or string", ""],
  ])("schema %#: %s", (schema, type, bounds) => expect([typeText(schema), boundsText(schema)]).toEqual([type, bounds]));

  it("bars in cells are escaped", () => expect(table(["a"], [["x|y"]])).toBe("| a |\n|---|\n| x\\|y |\n"));

  it("there is one page per kind, and the index names each", () => {
    const files = referenceFiles();
    const index = files.find((f) => f.path === "docs/reference/README.md")?.text ?? "";
    const pages = files.map((f) => f.path.slice("docs/reference/".length)).filter((name) => name !== "README.md");
    expect(pages).toHaveLength(18);
    expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });
});
