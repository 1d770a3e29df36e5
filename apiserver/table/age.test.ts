import { describe, expect, it } from "@jest/globals";
import { age, humanDuration } from "./age.ts";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

describe("humanDuration", () => {
  it.each<[number, string]>([
    [-5, "<invalid>"],
    [0, "0s"],
    [119, "119s"],
    [2 * MINUTE, "2m"],
    [9 * MINUTE + 59, "9m59s"],
    [10 * MINUTE + 59, "10m"], // seconds end at ten minutes
    [3 * HOUR - 1, "179m"],
    [3 * HOUR, "3h"],
    [7 * HOUR + 59 * MINUTE, "7h59m"],
    [8 * HOUR + 30 * MINUTE, "8h"],
    [47 * HOUR, "47h"],
    [2 * DAY + HOUR, "2d1h"],
    [8 * DAY + HOUR, "8d"],
    [729 * DAY, "729d"],
    [2 * 365 * DAY + 3 * DAY, "2y3d"],
    [9 * 365 * DAY, "9y"],
  ])("%d seconds are %s", (seconds, text) => {
    expect(humanDuration(seconds)).toBe(text);
  });
});

it("an age without a time is unknown", () => {
  expect([age(undefined, 0), age(null, 0), age("yesterday", 0), age("1970-01-01T00:00:00Z", 5_000)]).toEqual([
    "<unknown>",
    "<unknown>",
    "<unknown>",
    "5s",
  ]);
});
