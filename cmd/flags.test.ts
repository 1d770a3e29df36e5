import { describe, expect, it } from "@jest/globals";
import { closest, flagHelp, type FlagTable, readFlags } from "./flags.ts";

const table: FlagTable = {
  "secure-port": { type: "string", default: "6443", alias: "port", value: "N", help: "port" },
  "log-format": { type: "string", help: "format" },
  "crd-dir": { type: "string", multiple: true, help: "folder" },
  "leader-elect": { type: "boolean", help: "one replica works" },
};
const read = (...args: string[]) => readFlags("dev", table, args);

describe("readFlags", () => {
  it("reads values, repeats, aliases and defaults", () => {
    const flags = read("--port=0", "--crd-dir", "a", "--crd-dir=b", "--leader-elect");
    expect([flags.whole("secure-port", 0, 65_535), flags.texts("crd-dir"), flags.is("leader-elect"), flags.text("log-format")]).toEqual([
      0,
      ["a", "b"],
      true,
      undefined,
    ]);
    expect(read().whole("secure-port", 0, 65_535)).toBe(6443);
  });

  it.each<[string, () => unknown, string, string]>([
    ["a mistyped flag", () => read("--prot=1"), "unknown flag --prot", "`theseus help dev` lists the flags"],
    ["a nearly right flag", () => read("--log-fromat=json"), "unknown flag --log-fromat", "did you mean --log-format?"],
    [
      "no number",
      () => read("--port=http").whole("secure-port", 0, 65_535),
      '--secure-port is "http"',
      "give a whole number from 0 to 65535",
    ],
    [
      "out of range",
      () => read("--port=70000").whole("secure-port", 0, 65_535),
      '--secure-port is "70000"',
      "give a whole number from 0 to 65535",
    ],
    ["no choice", () => read("--log-format=xml").choice("log-format", ["text", "json"]), '--log-format is "xml"', "give one of text, json"],
    ["a stray argument", () => read("now"), 'unexpected argument "now"', "`theseus help dev` shows how it is used"],
    ["a missing value", () => read("--log-format"), "Option '--log-format <value>' argument missing", "`theseus help dev` lists the flags"],
  ])("refuses %s with a hint", (_, run, message, hint) => {
    expect(run).toThrow(expect.objectContaining({ code: "FlagError", message, hint }));
  });
});

describe("closest", () => {
  it.each([
    ["apiservr", "apiserver"],
    ["mangaer", "manager"],
    ["zzz", undefined],
  ])("%s", (word, wanted) => expect(closest(word, ["apiserver", "manager", "dev"])).toBe(wanted));
});

it("lists each flag with its value, alias and default", () => {
  expect(flagHelp(table)).toContain("--secure-port=N, --port");
  expect(flagHelp(table)).toContain("(default 6443)");
});
