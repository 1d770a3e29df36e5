// Tables of the small parts: patches, conditions, gates, metrics.
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "../api/meta/object.ts";
import { because, compareConditionTypes, firstHit, isFalse, isTrue, setConditions } from "./conditions.ts";
import { fixedGates } from "./feature-gates.ts";
import { compareVersions } from "./fold.ts";
import { createMetrics } from "./metrics.ts";
import { metricsText } from "./metrics-text.ts";
import { mergePatch } from "./patch.ts";

describe("merge patch by difference", () => {
  it.each([
    ["equal", { a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, undefined],
    ["changed and added", { a: 1 }, { a: 2, b: 3 }, { a: 2, b: 3 }],
    ["removed becomes null", { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ["undefined counts as absent", { a: 1, b: undefined }, { a: 1 }, undefined],
    ["nested", { a: { x: 1, y: 2 } }, { a: { x: 1, y: 3 } }, { a: { y: 3 } }],
    ["lists are replaced whole", { a: [1, 2] }, { a: [1] }, { a: [1] }],
    ["a map replaces a scalar whole", { a: 1 }, { a: { x: 1 } }, { a: { x: 1 } }],
    ["0, false and empty are values", { a: 1, b: true, c: "x" }, { a: 0, b: false, c: "" }, { a: 0, b: false, c: "" }],
  ])("%s", (_title, before, after, patch) => expect(mergePatch(before, after)).toEqual(patch));
});

describe("conditions", () => {
  const old: readonly Condition[] = [
    { type: "Ready", status: "False", reason: "NotReady", message: "a", lastTransitionTime: "t0", observedGeneration: 1 },
    { type: "Paused", status: "False", reason: "NotPaused", message: "", lastTransitionTime: "t0", observedGeneration: 1 },
  ];

  it("the first check that hits decides", () => {
    const checks = [(v: number) => v > 2 && because("Big", "too big"), (v: number) => v > 1 && because("Middling", "", "Unknown")];
    expect(firstHit("Small", checks, 3)).toEqual({ type: "Small", status: "False", reason: "Big", message: "too big" });
    expect(firstHit("Small", checks, 2)).toEqual({ type: "Small", status: "Unknown", reason: "Middling", message: "" });
    expect(firstHit("Small", checks, 1)).toBeUndefined();
  });

  it("the time moves with the status, not with reason or message", () => {
    const next = setConditions(old, [isFalse("Ready", "Other", "b"), isTrue("Paused")], "t1", 2);
    expect(next.map((c) => `${c.type} ${c.reason} ${c.lastTransitionTime} ${c.observedGeneration}`)).toEqual([
      "Ready Other t0 2",
      "Paused Paused t1 2",
    ]);
  });

  it("nothing new returns the same list", () => {
    expect(setConditions(old, [isFalse("Ready", "NotReady", "a")], "t1", 1)).toBe(old);
  });

  it("well-known types lead, unknown ones follow by name, Paused and Deleting are last", () => {
    const types = ["Deleting", "Zeta", "Ready", "Alpha", "Paused", "Available", "ScalingUp"];
    expect(types.sort(compareConditionTypes)).toEqual(["Available", "Ready", "ScalingUp", "Alpha", "Zeta", "Paused", "Deleting"]);
  });
});

describe("feature gates", () => {
  it("asking for an unknown gate is a fault, not off", () => {
    const gates = fixedGates({ RuntimeSDK: true, InPlaceUpdates: false });
    expect([gates.enabled("RuntimeSDK"), gates.enabled("InPlaceUpdates")]).toEqual([true, false]);
    expect(() => gates.enabled("Runtime")).toThrow("unknown feature gate Runtime; known are InPlaceUpdates, RuntimeSDK");
  });
});

describe("resource versions", () => {
  it.each([
    ["9", "10", -1],
    ["10", "10", 0],
    ["18446744073709551616", "18446744073709551615", 1],
    ["", "1", Number.NaN],
    ["abc", "1", Number.NaN],
  ])("%s and %s", (a, b, sign) => expect(Math.sign(compareVersions(a, b))).toBe(sign));
});

describe("metrics", () => {
  it("are written as Prometheus reads them", () => {
    const metrics = createMetrics();
    metrics.add({ name: "requests_total", help: "Requests", type: "counter" }, { code: "200", path: 'a"b' });
    metrics.add({ name: "requests_total", help: "Requests", type: "counter" }, { path: 'a"b', code: "200" });
    const seconds = { name: "duration_seconds", help: "Length", type: "histogram", buckets: [0.1, 1] } as const;
    for (const value of [0.1, 0.5, 3]) metrics.observe(seconds, {}, value);
    expect(metricsText(metrics).split("\n")).toEqual([
      "# HELP duration_seconds Length",
      "# TYPE duration_seconds histogram",
      'duration_seconds_bucket{le="0.1"} 1',
      'duration_seconds_bucket{le="1"} 2',
      'duration_seconds_bucket{le="+Inf"} 3',
      "duration_seconds_sum 3.6",
      "duration_seconds_count 3",
      "# HELP requests_total Requests",
      "# TYPE requests_total counter",
      'requests_total{code="200",path="a\\"b"} 2',
      "",
    ]);
  });
});
