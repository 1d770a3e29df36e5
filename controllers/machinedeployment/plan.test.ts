import { describe, expect, it } from "@jest/globals";
import { rolloutLimits } from "../rollout/numbers.ts";
import { planRollingUpdate } from "./plan.ts";
import type { Coverage, InPlaceView, OldSetView, RolloutPlan, RolloutView } from "./plan-view.ts";
import { type PausedView, planPaused } from "./plan-paused.ts";

/** `d/c/a`, up to date = available. */
function set(name: string, figures: string, more: Partial<OldSetView> = {}): OldSetView {
  const [replicas = 0, current = 0, available = 0] = figures.split("/").map(Number);
  return { name, createdMs: 0, replicas, current, available, upToDate: available, inPlaceEligible: true, ...more };
}

function view(replicas: number, surge: string | number, unavailable: string | number, oldFigures: string, newFigures: string): RolloutView {
  return {
    replicas,
    limits: rolloutLimits(replicas, { maxSurge: surge, maxUnavailable: unavailable }),
    newSet: set("new", newFigures),
    oldSets: [set("old", oldFigures)],
  };
}

function planned(v: RolloutView): RolloutPlan {
  const plan = planRollingUpdate(v);
  if (plan.do === "ask") throw new Error("did not expect a question");
  return plan;
}
const figures = (plan: RolloutPlan): string => `new ${plan.newSet.replicas}, old ${plan.oldSets.map((s) => s.replicas).join(" ")}`;

describe("rolling update, one step", () => {
  const rows: [number, string | number, string | number, string, string, string, string][] = [
    [3, 1, 0, "3/3/2", "1/1/1", "new 1, old 2", "breaker: everything stands still because of the bad old machine"],
    [3, 1, 0, "3/3/0", "1/1/0", "new 1, old 3", "brake: the new set is not available, nothing old is taken"],
    [3, 0, 1, "2/2/0", "1/1/0", "new 1, old 2", "brake without surge"],
    [3, 1, 0, "3/2/2", "1/1/1", "new 1, old 2", "the third has no machine, availability is untouched"],
    [5, 0, 2, "5/5/3", "0/0/0", "new 0, old 4", "breaker: an empty new set counts as fully available"],
    [4, "25%", "25%", "4/4/4", "0/0/0", "new 1, old 3", "percentages"],
    [10, "25%", "25%", "10/10/10", "0/0/0", "new 3, old 8", "percentages round up and down"],
    [2, "10%", "10%", "2/2/2", "0/0/0", "new 1, old 2", "10% of 2: surge 1, unavailable 0"],
    [2, "0%", "10%", "2/2/2", "0/0/0", "new 0, old 1", "both come out 0"],
    [0, 1, 0, "3/3/3", "0/0/0", "new 0, old 0", "nothing wanted"],
    [3, 1, 0, "0/0/0", "5/5/5", "new 3, old 0", "a smaller MachineDeployment shrinks the new set at once"],
    [6, 1, 0, "2/2/2", "2/2/2", "new 5, old 2", "scale up in mid-rollout goes to the new set, up to replicas + surge"],
    [6, 1, 0, "2/2/2", "5/5/5", "new 5, old 1", "the old set goes down once seven are available"],
    [2, 1, 0, "2/2/2", "2/2/2", "new 2, old 0", "scale down in mid-rollout takes the old ones"],
  ];
  it.each(rows)("%d replicas, surge %s, unavailable %s: old %s new %s => %s (%s)", (replicas, surge, unavailable, old, fresh, expected) => {
    expect(figures(planned(view(replicas, surge, unavailable, old, fresh)))).toBe(expected);
  });

  it("makes nothing in place of a machine that is in the counters of no set", () => {
    const v = view(3, 0, 1, "1/1/1", "1/1/1");
    expect(figures(planned({ ...v, machineCount: 3 }))).toBe("new 1, old 1");
    expect(figures(planned({ ...v, machineCount: 2 }))).toBe("new 2, old 1");
  });

  it.each([
    ["in transit, and one that is still to be made", { machines: 2 }, { machines: 0 }, "new 1, old 1"],
    ["that its set may still make by what it was told before", { told: 2 }, {}, "new 1, old 1"],
    ["none", {}, {}, "new 2, old 1"],
  ])("counts machines set by set: %s", (_what, old, fresh, expected) => {
    const v = view(3, 0, 1, "1/1/1", "1/0/0");
    expect(
      figures(planned({ ...v, machineCount: 2, newSet: { ...v.newSet, ...fresh }, oldSets: [{ ...set("old", "1/1/1"), ...old }] })),
    ).toBe(expected);
  });

  it("says why replicas change, and nothing where they stay", () => {
    const plan = planned(view(3, 1, 0, "3/3/3", "0/0/0"));
    expect(plan.newSet.because).toBe("3 of at most 4 machines exist");
    expect(plan.oldSets[0]?.because).toBeUndefined();
  });
});

const yes: Coverage = { covered: true, reasons: [] };
const no: Coverage = { covered: false, reasons: ["DevMachineTemplate: spec.image differs"] };
const inPlace = (more: Partial<InPlaceView> = {}): InPlaceView => ({
  pendingMoves: [],
  acknowledged: [],
  someUpdating: false,
  answers: new Map(),
  ...more,
});

describe("in place, one step", () => {
  it("asks before anything is planned, only for old sets with machines that are eligible", () => {
    const v = { ...view(3, 0, 1, "3/3/3", "0/0/0"), inPlace: inPlace() };
    const oldSets = [set("b", "2/2/2"), set("a", "1/1/1"), set("empty", "0/0/0"), set("due", "1/1/1", { inPlaceEligible: false })];
    expect(planRollingUpdate({ ...v, oldSets })).toEqual({ do: "ask", oldSets: ["a", "b"], newSetReplicas: 0 });
  });

  it("asks nothing once the new set has all replicas", () => {
    const v = { ...view(3, 1, 0, "1/1/1", "3/3/3"), inPlace: inPlace() };
    expect(figures(planned(v))).toBe("new 3, old 0");
    expect(planned(v).oldSets[0]?.moveTo).toBeUndefined();
  });

  it("a no is an ordinary rollout that tells its reasons", () => {
    const plan = planned({ ...view(3, 0, 1, "3/3/3", "0/0/0"), inPlace: inPlace({ answers: new Map([["old", no]]) }) });
    expect(figures(plan)).toBe("new 0, old 2");
    expect(plan.oldSets[0]?.moveTo).toBeUndefined();
    expect(plan.replaced).toEqual([{ set: "old", reasons: no.reasons }]);
  });

  it("one old set may move while another is replaced", () => {
    const answers = new Map([
      ["a", yes],
      ["b", no],
    ]);
    const plan = planned({
      ...view(4, 0, 1, "0/0/0", "0/0/0"),
      oldSets: [set("a", "2/2/2"), set("b", "2/2/2")],
      inPlace: inPlace({ answers }),
    });
    expect(plan.newSet.receiveFrom).toEqual(["a"]);
    expect(plan.oldSets.map((s) => [s.name, s.replicas, s.moveTo])).toEqual([
      ["a", 1, "new"],
      ["b", 2, undefined],
    ]);
  });

  const moved = (pendingMoves: string[], acknowledged: string[], figuresOfNew: string) =>
    planned({
      ...view(3, 0, 1, "2/2/2", figuresOfNew),
      inPlace: inPlace({ pendingMoves, acknowledged, someUpdating: true, answers: new Map([["old", yes]]) }),
    }).newSet;

  it("counts a moved machine exactly once, whichever cache is behind", () => {
    expect(moved(["m1"], [], "0/0/0")).toMatchObject({ replicas: 1, acknowledged: ["m1"] });
    expect(moved(["m1"], [], "0/1/0")).toMatchObject({ replicas: 1, acknowledged: ["m1"] });
    expect(moved(["m1"], ["m1"], "1/1/0")).toMatchObject({ replicas: 1, acknowledged: ["m1"] });
    expect(moved([], ["m1"], "1/1/0").acknowledged).toBeUndefined();
    expect(moved(["m2", "m1"], ["m1"], "1/2/0")).toMatchObject({ replicas: 2, acknowledged: ["m1", "m2"] });
  });

  it("the write that counts the last machine also ends receiving", () => {
    const plan = planned({
      ...view(3, 0, 1, "0/0/0", "2/3/2"),
      inPlace: inPlace({ pendingMoves: ["m3"], someUpdating: true }),
    });
    expect(plan.newSet).toMatchObject({ replicas: 3, acknowledged: ["m3"] });
    expect(plan.newSet.receiveFrom).toBeUndefined();
  });

  const surge: [string, string, string, Partial<InPlaceView>, string][] = [
    ["nothing moves: one surge machine starts it", "3/3/3", "0/0/0", {}, "new 1, old 3"],
    ["a machine updates: no surge", "3/3/3", "0/0/0", { someUpdating: true }, "new 0, old 3"],
    ["the surge machine is not available: no second one", "3/3/3", "1/1/0", {}, "new 1, old 3"],
    ["a missing machine is made, surge or not", "2/2/2", "0/0/0", { someUpdating: true }, "new 1, old 2"],
  ];
  it.each(surge)("%s", (_what, old, fresh, more, expected) => {
    const v = view(3, 3, 0, old, fresh);
    expect(figures(planned({ ...v, inPlace: inPlace({ answers: new Map([["old", yes]]), ...more }) }))).toBe(expected);
  });

  it("I12: the breaker works with moves too", () => {
    const plan = planned({ ...view(3, 0, 1, "3/3/2", "0/0/0"), inPlace: inPlace({ answers: new Map([["old", yes]]) }) });
    expect(plan.oldSets[0]).toMatchObject({ replicas: 2, moveTo: "new" });
  });
});

describe("a change back in mid-move", () => {
  const back = (newFigures: string, more: Partial<RolloutView["newSet"]>, oldFigures = "0/0/0", pendingMoves: string[] = []) =>
    planned({
      ...view(3, 0, 1, oldFigures, newFigures),
      newSet: { ...set("new", newFigures), ...more },
      inPlace: inPlace({ pendingMoves, someUpdating: oldFigures !== "0/0/0", answers: new Map([["old", yes]]) }),
    });
  const rows: [string, string, Partial<RolloutView["newSet"]>, string, number, true | undefined][] = [
    ["machines that were not handed over stay, and none are made", "2/3/3", { wasSender: true }, "0/0/0", 3, true],
    ["until its controller has seen that", "3/3/3", { holding: true, seen: false }, "0/0/0", 3, true],
    ["then all is well", "3/3/3", { holding: true, seen: true }, "0/0/0", 3, undefined],
    ["its counter lags behind a machine that came", "2/2/2", { holding: true, seen: true, machines: 3 }, "0/1/0", 2, true],
    ["its counter still has a machine that went", "3/3/3", { holding: true, seen: true, machines: 2 }, "0/0/0", 3, true],
    ["one had been handed over after all: its place is not filled", "3/2/2", { holding: true, seen: true }, "0/1/0", 2, undefined],
    ["nothing was left to keep", "2/2/2", { wasSender: true }, "1/1/0", 2, undefined],
  ];
  it.each(rows)("%s", (_what, figuresOfNew, more, old, replicas, hold) => {
    const plan = back(figuresOfNew, more, old);
    expect([plan.newSet.replicas, plan.newSet.holdCreation]).toEqual([replicas, hold]);
  });

  it("the set that has a machine on its way back keeps its order to hand it over", () => {
    const plan = back("2/3/3", { wasSender: true }, "0/1/0");
    expect(plan.oldSets[0]).toMatchObject({ replicas: 0, moveTo: "new" });
    expect(plan.newSet.receiveFrom).toEqual(["old"]);
  });

  it("a machine that comes back meanwhile is counted once", () => {
    expect(back("3/3/2", { holding: true, seen: true }, "0/0/0", ["m1"]).newSet).toMatchObject({ replicas: 3, acknowledged: ["m1"] });
  });

  it("a machine that its counter does not show yet is counted when it is acknowledged", () => {
    const plan = back("2/2/2", { holding: true, seen: true, machines: 3 }, "0/0/0", ["m1"]);
    expect(plan.newSet).toMatchObject({ replicas: 3, acknowledged: ["m1"], holdCreation: true });
  });

  it("takes machines back that are in the cache of Machines only", () => {
    expect(back("1/1/1", { wasSender: true, machines: 2 }, "1/1/1").newSet).toMatchObject({ replicas: 2, holdCreation: true });
  });

  it("and back once more: the set does not fill places that it had for machines taken back", () => {
    const held = { ...set("old", "3/2/2"), holding: true, seen: true };
    const plan = planned({
      ...view(3, 0, 1, "0/0/0", "1/1/0"),
      oldSets: [held],
      inPlace: inPlace({ someUpdating: true, answers: new Map([["old", yes]]) }),
    });
    expect(plan.oldSets[0]).toMatchObject({ replicas: 2, moveTo: "new" });
    expect(plan.oldSets[0]?.holdCreation).toBeUndefined();
  });
});

describe("in place or stop", () => {
  const required = (answer: Coverage, unavailable: number, old = "3/3/3", fresh = "0/0/0", replicas = 3) =>
    planned({ ...view(replicas, 1, unavailable, old, fresh), inPlace: inPlace({ required: true, answers: new Map([["old", answer]]) }) });

  it("leaves everything as it is when a change is not covered", () => {
    const plan = required(no, 1);
    expect(figures(plan)).toBe("new 0, old 3");
    expect(plan.blocked).toEqual(["MachineSet old: DevMachineTemplate: spec.image differs"]);
    expect(plan.newSet.receiveFrom).toBeUndefined();
  });

  it("refuses settings that would replace the last machine", () => {
    expect(required(yes, 0).blocked?.[0]).toContain("set maxUnavailable to 1 or more");
    expect(required(yes, 1).blocked).toBeUndefined();
  });

  it("still scales", () => {
    expect(figures(required(no, 1, "3/3/3", "0/0/0", 5))).toBe("new 2, old 3");
    expect(figures(required(no, 1, "3/3/3", "0/0/0", 2))).toBe("new 0, old 2");
  });
});

describe("paused", () => {
  const paused = (more: Partial<PausedView>): PausedView => ({
    replicas: 3,
    limits: { maxSurge: 1, maxUnavailable: 0 },
    strategy: "RollingUpdate",
    oldSets: [],
    pendingMoves: new Map(),
    acknowledged: new Map(),
    current: 3,
    ...more,
  });
  const stored = { desiredReplicas: 3, maxReplicas: 4 };
  const result = (v: PausedView): string => {
    const plan = planPaused(v);
    return [plan.newSet, ...plan.oldSets]
      .map((s) => (s ? `${s.name} ${s.replicas}` : ""))
      .join(" ")
      .trim();
  };

  const rows: [string, Partial<PausedView>, string][] = [
    ["no set with the present template: the only one scales", { replicas: 4, oldSets: [{ ...set("a", "3/3/3"), ...stored }] }, "a 4"],
    [
      "all empty: the newest",
      {
        oldSets: [
          { ...set("a", "0/0/0"), createdMs: 1 },
          { ...set("b", "0/0/0"), createdMs: 2 },
        ],
      },
      "a 0 b 3",
    ],
    [
      "in mid-rollout and nothing asked for: nothing changes",
      { newSet: { ...set("new", "1/1/1"), ...stored }, oldSets: [{ ...set("a", "2/2/2"), ...stored }] },
      "new 1 a 2",
    ],
    [
      "scaled up in mid-rollout: shares by size",
      { replicas: 6, newSet: { ...set("new", "1/1/1"), ...stored }, oldSets: [{ ...set("a", "3/3/3"), ...stored }] },
      "new 2 a 5",
    ],
    [
      "scaled to 0: all sets",
      { replicas: 0, newSet: { ...set("new", "1/1/1"), ...stored }, oldSets: [{ ...set("a", "3/3/3"), ...stored }] },
      "new 0 a 0",
    ],
    [
      "the new set is complete: the others go",
      { newSet: { ...set("new", "3/3/3"), ...stored }, oldSets: [{ ...set("a", "1/1/1"), ...stored }] },
      "new 3 a 0",
    ],
    [
      "OnDelete does not share",
      { replicas: 6, strategy: "OnDelete", newSet: { ...set("new", "1/1/1"), ...stored }, oldSets: [{ ...set("a", "3/3/3"), ...stored }] },
      "new 1 a 3",
    ],
  ];
  it.each(rows)("%s", (_what, more, expected) => {
    expect(result(paused(more))).toBe(expected);
  });

  it("counts a machine that has arrived and makes none in its place", () => {
    const plan = planPaused(
      paused({
        newSet: { ...set("new", "0/1/0"), ...stored, receiveFrom: ["a"] },
        oldSets: [{ ...set("a", "2/2/2"), ...stored, moveTo: "new" }],
        pendingMoves: new Map([["new", ["m1"]]]),
      }),
    );
    expect(plan.newSet).toMatchObject({ replicas: 1, acknowledged: ["m1"], receiveFrom: ["a"] });
    expect(plan.oldSets[0]).toMatchObject({ replicas: 2, moveTo: "new" });
  });

  it("lets a move that was ordered happen instead of deleting the machine", () => {
    const plan = planPaused(
      paused({
        newSet: { ...set("new", "0/0/0"), ...stored, receiveFrom: ["a"] },
        oldSets: [{ ...set("a", "2/3/3"), ...stored, moveTo: "new" }],
      }),
    );
    expect(plan.oldSets[0]).toMatchObject({ replicas: 2, moveTo: "new" });
    expect(plan.newSet).toMatchObject({ replicas: 0, receiveFrom: ["a"] });
  });
});
