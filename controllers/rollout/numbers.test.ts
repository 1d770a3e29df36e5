import { describe, expect, it } from "@jest/globals";
import type { IntOrString } from "../../api/meta/object.ts";
import { resolveIntOrPercent, rolloutLimits } from "./numbers.ts";

describe("rolloutLimits", () => {
  const rows: [number, IntOrString | undefined, IntOrString | undefined, number, number, string][] = [
    [3, undefined, undefined, 1, 0, "defaults"],
    [4, "25%", "25%", 1, 1, "exact share"],
    [10, "25%", "25%", 3, 2, "surge rounds up, unavailable down"],
    [2, "10%", "10%", 1, 0, "surge is 1, so unavailable may stay 0"],
    [2, "0%", "10%", 0, 1, "both come out 0: one may be unavailable"],
    [3, 0, "0%", 0, 1, "the same with a number and a percentage"],
    [6, 0, 10, 0, 6, "not more than there are"],
    [0, 1, 1, 1, 0, "nothing wanted, nothing may be unavailable"],
    [3, "-50%", 1, 0, 1, "admission lets a negative percentage pass"],
  ];
  it.each(rows)("%d replicas, surge %s, unavailable %s => %d, %d (%s)", (replicas, maxSurge, maxUnavailable, surge, unavailable) => {
    expect(rolloutLimits(replicas, { maxSurge, maxUnavailable })).toEqual({ maxSurge: surge, maxUnavailable: unavailable });
  });

  it("says what to write instead of a text that is no percentage", () => {
    expect(() => resolveIntOrPercent("5", 10, "up")).toThrow('"5" is neither a number nor a percentage');
  });
});
