import { describe, expect, it } from "@jest/globals";
import type { LabelSelector } from "./object.ts";
import { matchesSelector } from "./selector.ts";

const needs = (operator: string, ...values: string[]): LabelSelector =>
  ({ matchExpressions: [{ key: "k", operator, values }] }) as unknown as LabelSelector;

describe("matchesSelector", () => {
  const rows: [string, LabelSelector, Record<string, string> | undefined, boolean][] = [
    ["empty: everything", {}, undefined, true],
    ["a pair", { matchLabels: { k: "a" } }, { k: "a" }, true],
    ["a pair, no labels", { matchLabels: { k: "a" } }, undefined, false],
    ["a pair holds, an expression does not", { matchLabels: { k: "a" }, ...needs("NotIn", "a") }, { k: "a" }, false],
    ["In", needs("In", "a", "b"), { k: "b" }, true],
    ["In without the label", needs("In", "a"), {}, false],
    ["NotIn without the label", needs("NotIn", "a"), {}, true],
    ["Exists", needs("Exists"), { k: "" }, true],
    ["Exists without the label", needs("Exists"), {}, false],
    ["DoesNotExist with the label", needs("DoesNotExist"), { k: "" }, false],
    ["an unknown operator: nothing", needs("Like", "a"), { k: "a" }, false],
    ["an unknown operator without the label: nothing", needs("Like", "a"), {}, false],
  ];
  it.each(rows)("%s", (_what, selector, labels, expected) => expect(matchesSelector(selector, labels)).toBe(expected));
});
