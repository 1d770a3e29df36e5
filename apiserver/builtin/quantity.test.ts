import { describe, expect, it } from "@jest/globals";
import { canonicalQuantity } from "./quantity.ts";

describe("canonicalQuantity", () => {
  it.each<[string | number, string | undefined]>([
    ["1", "1"],
    [2, "2"],
    [0.5, "500m"],
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["1000", "1k"],
    ["1024", "1024"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["512Ki", "512Ki"],
    ["0.5Ki", "512"], // below 1024 the binary form ends
    ["100e3", "100e3"],
    ["1E", "1E"],
    ["1e3", "1e3"],
    ["0", "0"],
    ["0Mi", "0"],
    ["-1500m", "-1500m"],
    ["0.0000000001", "1n"], // rounded up
    [".5", "500m"],
    ["1.", "1"],
    ["", undefined],
    ["x", undefined],
    ["1 Gi", undefined],
    ["1gi", undefined],
    ["1e999999", undefined],
  ])("%j is %j", (value, text) => {
    expect(canonicalQuantity(value)).toBe(text);
  });
});
