import { describe, expect, it } from "@jest/globals";
import type { Condition } from "../../api/meta/object.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type MachineParts, machine, nowMs } from "./testing.ts";
import { settling, startingUp } from "./settle.ts";

const MINUTE_MS = 60_000;
const since = (type: string, status: Condition["status"], minutes: number): Condition => ({
  type,
  status,
  reason: "x",
  message: "",
  lastTransitionTime: timestamp(nowMs - minutes * MINUTE_MS),
});

describe("settling", () => {
  const rows: [string, MachineParts, number | undefined][] = [
    ["available", { extra: [since("Available", "True", 1)] }, undefined],
    ["just made, nothing is said yet", { ageMinutes: 1 }, 4],
    ["became unavailable a minute ago", { extra: [since("Available", "False", 1)] }, 4],
    ["unavailable for long: for another reason", { extra: [since("Available", "False", 6)] }, undefined],
    ["a long update has just ended", { extra: [since("Available", "False", 30), since("Updating", "False", 2)] }, 3],
    ["its update is over, but not closed", { extra: [since("Available", "True", 30), since("Updating", "True", 30)] }, 5],
  ];
  it.each(rows)("%s", (_what, parts, minutes) => {
    expect(settling([machine("m1", parts)], nowMs)?.requeueAfterMs).toBe(minutes === undefined ? undefined : minutes * MINUTE_MS);
  });
});

describe("startingUp", () => {
  const rows: [string, MachineParts, number | undefined][] = [
    ["made a minute ago, not available yet", { ageMinutes: 1 }, 4],
    ["made a minute ago and available", { ageMinutes: 1, extra: [since("Available", "True", 0)] }, undefined],
    ["old, and sick now", { ageMinutes: 6, extra: [since("Available", "False", 1)] }, undefined],
  ];
  it.each(rows)("%s", (_what, parts, minutes) => {
    expect(startingUp(machine("m1", parts), nowMs)?.requeueAfterMs).toBe(minutes === undefined ? undefined : minutes * MINUTE_MS);
  });
});
