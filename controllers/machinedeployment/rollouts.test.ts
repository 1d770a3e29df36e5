// Whole rollouts by the real planners of MachineDeployments and MachineSets: each row is what the MachineDeployment saw and wrote in one step.
// Columns: step | current/available of the MachineDeployment | desired/current/available of each set | what the sets and machines did then.
// Source of the figures: spec/controllers/machinedeployment.md section 12, inplace-workers.md section 9.
import { describe, expect, it } from "@jest/globals";
import { type MachineView, type MoveTarget, machinesToTrigger, planReplicas, type SetView as MachineSetView } from "../machineset/plan.ts";
import { planRollingUpdate } from "./plan.ts";
import type { RolloutPlan, SetPlan } from "./plan-view.ts";
import { planOnDelete } from "./plan-on-delete.ts";

interface FakeMachine {
  name: string;
  updating: boolean;
  pending: boolean;
  hook: boolean;
}

interface FakeSet {
  name: string;
  replicas: number;
  machines: FakeMachine[];
  current: number;
  available: number;
  moveTo?: string;
  receiveFrom: readonly string[];
  acknowledged: readonly string[];
  createDisabled: boolean;
}

interface Story {
  readonly replicas: number;
  readonly surge: number;
  readonly unavailable: number;
  readonly mode: "replace" | "in-place" | "on-delete";
  /** Numbers of the machines of each set that exists when the story starts; the last set is to be created unless `lastIsNew`. */
  readonly sets: readonly (readonly number[])[];
  readonly lastIsNew?: boolean;
  /** Machines a user deletes at the end of a step. */
  readonly userDeletes?: Readonly<Record<number, number>>;
}

const machineName = (n: number): string => `m${String(n).padStart(2, "0")}`;
const spoken = (names: readonly string[]): string => names.map((n) => `m${Number(n.slice(1))}`).join(",");
const count = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

interface Figures {
  readonly replicas: number;
  readonly current: number;
  readonly available: number;
}

function play(story: Story): readonly string[] {
  const sets: FakeSet[] = story.sets.map((numbers, i) => newSet(`ms${i + 1}`, numbers));
  if (!story.lastIsNew) sets.push(newSet(`ms${sets.length + 1}`, []));
  const rows: string[] = [];
  let next = Math.max(0, ...story.sets.flat()) + 1;
  for (let step = 1; step <= 40; step++) {
    const seen = `${total(sets, "current")}/${total(sets, "available")}`;
    const before: readonly Figures[] = sets.map(({ replicas, current, available }) => ({ replicas, current, available }));
    const acts = [...planStep(story, sets, before), ...machineStep(story, step, sets, () => machineName(next++))];
    const made = step === 1 && !story.lastIsNew ? sets.length - 1 : -1;
    const columns = sets.map((set, i) => column(set, before[i] as Figures, i === made));
    rows.push([step, seen, ...columns, acts.join("; ") || "-"].join(" | "));
    const complete = sets.at(-1)?.available === story.replicas && total(sets, "current") === story.replicas;
    if (complete && acts.length === 0) return rows;
  }
  return [...rows, "did not end"];
}

function planStep(story: Story, sets: FakeSet[], before: readonly Figures[]): readonly string[] {
  const fresh = freshMoves(sets.at(-1) as FakeSet);
  const plan = planOf(story, sets);
  applyPlan(sets, plan, story);
  const acts = fresh.length > 0 ? [`(plan: ack ${spoken(fresh)})`] : [];
  if (plan.surgePutOff > 0 && story.mode === "in-place") acts.push(surgeText(plan, before.at(-1)?.replicas ?? 0, fresh.length));
  return acts;
}

function machineStep(story: Story, step: number, sets: FakeSet[], nextName: () => string): readonly string[] {
  const waiting = sets.flatMap((set) => set.machines).filter((m) => m.hook);
  const acts = sets.map((set) => act(set, sets, nextName, story.replicas)).filter((text) => text !== "");
  for (const machine of waiting) Object.assign(machine, { hook: false, updating: false });
  if (waiting.length > 0) acts.push(`${spoken(waiting.map((m) => m.name).sort())} finish updating`);
  for (const set of sets) refresh(set);
  const deleted = story.userDeletes?.[step];
  if (deleted === undefined) return acts;
  for (const set of sets) set.machines = set.machines.filter((m) => m.name !== machineName(deleted));
  return [...acts, `user deletes m${deleted}`];
}

const column = (set: FakeSet, old: Figures, made: boolean): string =>
  `${made || old.replicas === set.replicas ? "" : `${old.replicas}→`}${set.replicas}/${old.current}/${old.available}`;

const newSet = (name: string, numbers: readonly number[]): FakeSet => ({
  name,
  replicas: numbers.length,
  machines: numbers.map((n) => ({ name: machineName(n), updating: false, pending: false, hook: false })),
  current: numbers.length,
  available: numbers.length,
  receiveFrom: [],
  acknowledged: [],
  createDisabled: false,
});

const total = (sets: readonly FakeSet[], key: "current" | "available"): number => sets.reduce((sum, set) => sum + set[key], 0);
const freshMoves = (set: FakeSet): string[] =>
  set.machines.filter((m) => m.pending && !set.acknowledged.includes(m.name)).map((m) => m.name);

function planOf(story: Story, sets: readonly FakeSet[]): RolloutPlan {
  const view = sets.map((set, i) => ({
    name: set.name,
    createdMs: i,
    replicas: set.replicas,
    current: set.current,
    available: set.available,
    upToDate: set.available,
    inPlaceEligible: true,
  }));
  const newest = sets.at(-1) as FakeSet;
  const common = { replicas: story.replicas, newSet: view.at(-1) as (typeof view)[0], oldSets: view.slice(0, -1) };
  if (story.mode === "on-delete") return planOnDelete(common);
  const machines = sets.flatMap((set) => set.machines);
  const plan = planRollingUpdate({
    ...common,
    limits: { maxSurge: story.surge, maxUnavailable: Math.min(story.unavailable, story.replicas) },
    inPlace: {
      pendingMoves: newest.machines.filter((m) => m.pending).map((m) => m.name),
      acknowledged: newest.acknowledged,
      someUpdating: machines.some((m) => m.updating || m.hook),
      answers: new Map(view.map((set) => [set.name, { covered: story.mode === "in-place", reasons: [] }])),
    },
  });
  if (plan.do === "ask") throw new Error("all answers were given");
  return plan;
}

function surgeText(plan: RolloutPlan, before: number, counted: number): string {
  return plan.newSet.replicas === before + counted + 1 && counted === 0 && plan.newSet.replicas === 1
    ? "(plan: 1 surge let through)"
    : `(plan: ${plan.surgePutOff} surge put off)`;
}

function applyPlan(sets: FakeSet[], plan: RolloutPlan, story: Story): void {
  const write = (written: SetPlan, old: boolean): void => {
    const set = sets.find((s) => s.name === written.name) as FakeSet;
    set.replicas = written.replicas;
    set.moveTo = written.moveTo;
    set.receiveFrom = written.receiveFrom ?? [];
    set.acknowledged = written.acknowledged ?? [];
    set.createDisabled = old && story.mode === "on-delete";
  };
  write(plan.newSet, false);
  for (const set of plan.oldSets) write(set, true);
}

function act(set: FakeSet, sets: readonly FakeSet[], nextName: () => string, wanted: number): string {
  const views = set.machines.map(viewOf);
  const plan = planReplicas(setViewOf(set, sets, wanted), views, 0);
  for (const name of machinesToTrigger(
    { receiving: set.receiveFrom.length > 0 },
    views,
    set.acknowledged,
    plan,
    set.moveTo !== undefined,
  )) {
    Object.assign(set.machines.find((m) => m.name === name) as FakeMachine, { pending: false, hook: true });
  }
  if (plan.do === "create") {
    const names = Array.from({ length: plan.count }, nextName);
    set.machines.push(...names.map((name) => ({ name, updating: false, pending: false, hook: false })));
    return `${set.name}: created ${spoken(names)}`;
  }
  if (plan.do !== "remove") return "";
  const texts: string[] = [];
  const target = sets.find((s) => s.name === set.moveTo);
  for (const name of plan.move) {
    const machine = set.machines.find((m) => m.name === name) as FakeMachine;
    target?.machines.push(Object.assign(machine, { updating: true, pending: true }));
  }
  if (plan.move.length > 0) texts.push(`${set.name}: ${spoken([...plan.move].sort())} → ${set.moveTo}`);
  if (plan.delete.length > 0) texts.push(`${set.name}: deleted ${spoken([...plan.delete].sort())}`);
  set.machines = set.machines.filter((m) => !plan.move.includes(m.name) && !plan.delete.includes(m.name));
  return texts.join("; ");
}

const viewOf = (m: FakeMachine): MachineView => ({
  name: m.name,
  deleting: false,
  deleteFirst: false,
  updating: m.updating || m.hook,
  updateFailing: false,
  finishing: false,
  pendingMove: m.pending,
  hookPending: m.hook,
  hasNode: true,
  unhealthy: false,
  toRemediate: false,
});

function setViewOf(set: FakeSet, sets: readonly FakeSet[], wanted: number): MachineSetView {
  const target = sets.find((s) => s.name === set.moveTo);
  const newest = sets.at(-1) as FakeSet;
  const moveTo: MoveTarget | undefined = target && {
    name: target.name,
    accepts: target.receiveFrom.includes(set.name),
    room: wanted - newest.replicas - freshMoves(newest).length,
  };
  return {
    name: set.name,
    replicas: set.replicas,
    order: "Random",
    createDisabled: set.createDisabled,
    receiving: set.receiveFrom.length > 0,
    strays: 0,
    ...(moveTo ? { moveTo } : {}),
  };
}

function refresh(set: FakeSet): void {
  set.current = set.machines.length;
  set.available = set.machines.filter((m) => !m.updating && !m.hook).length;
}

const rowsOf = (text: string): string[] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.trim());

function story(name: string, given: Story, expected: string): void {
  it(name, () => {
    expect(play(given)).toEqual(rowsOf(expected));
  });
}

describe("replace", () => {
  story(
    "W1: 3 replicas, surge 1, unavailable 0",
    { replicas: 3, surge: 1, unavailable: 0, mode: "replace", sets: [[1, 2, 3]] },
    `1 | 3/3 | 3/3/3 | 1/0/0 | ms2: created m4
     2 | 4/4 | 3→2/3/3 | 1/1/1 | ms1: deleted m1
     3 | 3/3 | 2/2/2 | 1→2/1/1 | ms2: created m5
     4 | 4/4 | 2→1/2/2 | 2/2/2 | ms1: deleted m2
     5 | 3/3 | 1/1/1 | 2→3/2/2 | ms2: created m6
     6 | 4/4 | 1→0/1/1 | 3/3/3 | ms1: deleted m3
     7 | 3/3 | 0/0/0 | 3/3/3 | -`,
  );
  story(
    "W2: 3 replicas, surge 0, unavailable 1",
    { replicas: 3, surge: 0, unavailable: 1, mode: "replace", sets: [[1, 2, 3]] },
    `1 | 3/3 | 3→2/3/3 | 0/0/0 | ms1: deleted m1
     2 | 2/2 | 2/2/2 | 0→1/0/0 | ms2: created m4
     3 | 3/3 | 2→1/2/2 | 1/1/1 | ms1: deleted m2
     4 | 2/2 | 1/1/1 | 1→2/1/1 | ms2: created m5
     5 | 3/3 | 1→0/1/1 | 2/2/2 | ms1: deleted m3
     6 | 2/2 | 0/0/0 | 2→3/2/2 | ms2: created m6
     7 | 3/3 | 0/0/0 | 3/3/3 | -`,
  );
  story(
    "W3: 6 replicas, surge 3, unavailable 1",
    { replicas: 6, surge: 3, unavailable: 1, mode: "replace", sets: [count(1, 6)] },
    `1 | 6/6 | 6→5/6/6 | 3/0/0 | ms1: deleted m1; ms2: created m7,m8,m9
     2 | 8/8 | 5→2/5/5 | 3→4/3/3 | ms1: deleted m2,m3,m4; ms2: created m10
     3 | 6/6 | 2→1/2/2 | 4→6/4/4 | ms1: deleted m5; ms2: created m11,m12
     4 | 7/7 | 1→0/1/1 | 6/6/6 | ms1: deleted m6
     5 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W4: 6 replicas, surge 1, unavailable 3",
    { replicas: 6, surge: 1, unavailable: 3, mode: "replace", sets: [count(1, 6)] },
    `1 | 6/6 | 6→3/6/6 | 1/0/0 | ms1: deleted m1,m2,m3; ms2: created m7
     2 | 4/4 | 3→2/3/3 | 1→4/1/1 | ms1: deleted m4; ms2: created m8,m9,m10
     3 | 6/6 | 2→0/2/2 | 4→5/4/4 | ms1: deleted m5,m6; ms2: created m11
     4 | 5/5 | 0/0/0 | 5→6/5/5 | ms2: created m12
     5 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W5: 6 replicas, all at once",
    { replicas: 6, surge: 0, unavailable: 10, mode: "replace", sets: [count(1, 6)] },
    `1 | 6/6 | 6→0/6/6 | 0/0/0 | ms1: deleted m1,m2,m3,m4,m5,m6
     2 | 0/0 | 0/0/0 | 0→6/0/0 | ms2: created m7,m8,m9,m10,m11,m12
     3 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W6: 6 replicas, a surge beyond them is of no use",
    { replicas: 6, surge: 10, unavailable: 0, mode: "replace", sets: [count(1, 6)] },
    `1 | 6/6 | 6/6/6 | 6/0/0 | ms2: created m7,m8,m9,m10,m11,m12
     2 | 12/12 | 6→0/6/6 | 6/6/6 | ms1: deleted m1,m2,m3,m4,m5,m6
     3 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W7: a third template in mid-rollout, oldest set first",
    { replicas: 6, surge: 3, unavailable: 1, mode: "replace", sets: [count(4, 6), count(7, 9)] },
    `1 | 6/6 | 3→2/3/3 | 3/3/3 | 3/0/0 | ms1: deleted m4; ms3: created m10,m11,m12
     2 | 8/8 | 2→0/2/2 | 3→2/3/3 | 3→4/3/3 | ms1: deleted m5,m6; ms2: deleted m7; ms3: created m13
     3 | 6/6 | 0/0/0 | 2→1/2/2 | 4→6/4/4 | ms2: deleted m8; ms3: created m14,m15
     4 | 7/7 | 0/0/0 | 1→0/1/1 | 6/6/6 | ms2: deleted m9
     5 | 6/6 | 0/0/0 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W8: 6 to 12 replicas in mid-rollout",
    { replicas: 12, surge: 3, unavailable: 1, mode: "replace", sets: [count(4, 6), count(7, 9)], lastIsNew: true },
    `1 | 6/6 | 3/3/3 | 3→12/3/3 | ms2: created m10,m11,m12,m13,m14,m15,m16,m17,m18
     2 | 15/15 | 3→0/3/3 | 12/12/12 | ms1: deleted m4,m5,m6
     3 | 12/12 | 0/0/0 | 12/12/12 | -`,
  );
  story(
    "W9: 12 to 6 replicas in mid-rollout",
    { replicas: 6, surge: 3, unavailable: 1, mode: "replace", sets: [count(4, 12), count(13, 15)], lastIsNew: true },
    `1 | 12/12 | 9→2/9/9 | 3/3/3 | ms1: deleted m4,m5,m6,m7,m8,m9,m10
     2 | 5/5 | 2/2/2 | 3→6/3/3 | ms2: created m16,m17,m18
     3 | 8/8 | 2→0/2/2 | 6/6/6 | ms1: deleted m11,m12
     4 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
});

describe("OnDelete", () => {
  story(
    "W10: 3 replicas",
    { replicas: 3, surge: 0, unavailable: 0, mode: "on-delete", sets: [[1, 2, 3]], userDeletes: { 1: 1, 4: 2, 7: 3 } },
    `1 | 3/3 | 3/3/3 | 0/0/0 | user deletes m1
     2 | 3/3 | 3/3/3 | 0/0/0 | -
     3 | 2/2 | 3→2/2/2 | 0/0/0 | -
     4 | 2/2 | 2/2/2 | 0→1/0/0 | ms2: created m4; user deletes m2
     5 | 3/3 | 2/2/2 | 1/1/1 | -
     6 | 2/2 | 2→1/1/1 | 1/1/1 | -
     7 | 2/2 | 1/1/1 | 1→2/1/1 | ms2: created m5; user deletes m3
     8 | 3/3 | 1/1/1 | 2/2/2 | -
     9 | 2/2 | 1→0/0/0 | 2/2/2 | -
     10 | 2/2 | 0/0/0 | 2→3/2/2 | ms2: created m6
     11 | 3/3 | 0/0/0 | 3/3/3 | -`,
  );
  story(
    "W11: 12 to 6 replicas in mid-rollout",
    {
      replicas: 6,
      surge: 0,
      unavailable: 0,
      mode: "on-delete",
      sets: [count(4, 12), count(13, 15)],
      lastIsNew: true,
      userDeletes: { 1: 10, 4: 11, 7: 12 },
    },
    `1 | 12/12 | 9→3/9/9 | 3/3/3 | ms1: deleted m4,m5,m6,m7,m8,m9; user deletes m10
     2 | 6/6 | 3/3/3 | 3/3/3 | -
     3 | 5/5 | 3→2/2/2 | 3/3/3 | -
     4 | 5/5 | 2/2/2 | 3→4/3/3 | ms2: created m16; user deletes m11
     5 | 6/6 | 2/2/2 | 4/4/4 | -
     6 | 5/5 | 2→1/1/1 | 4/4/4 | -
     7 | 5/5 | 1/1/1 | 4→5/4/4 | ms2: created m17; user deletes m12
     8 | 6/6 | 1/1/1 | 5/5/5 | -
     9 | 5/5 | 1→0/0/0 | 5/5/5 | -
     10 | 5/5 | 0/0/0 | 5→6/5/5 | ms2: created m18
     11 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "W12: 6 to 9 replicas in mid-rollout, only the new set grows",
    {
      replicas: 9,
      surge: 0,
      unavailable: 0,
      mode: "on-delete",
      sets: [count(4, 6), count(7, 9)],
      lastIsNew: true,
      userDeletes: { 1: 4, 4: 5, 7: 6 },
    },
    `1 | 6/6 | 3/3/3 | 3→6/3/3 | ms2: created m10,m11,m12; user deletes m4
     2 | 9/9 | 3/3/3 | 6/6/6 | -
     3 | 8/8 | 3→2/2/2 | 6/6/6 | -
     4 | 8/8 | 2/2/2 | 6→7/6/6 | ms2: created m13; user deletes m5
     5 | 9/9 | 2/2/2 | 7/7/7 | -
     6 | 8/8 | 2→1/1/1 | 7/7/7 | -
     7 | 8/8 | 1/1/1 | 7→8/7/7 | ms2: created m14; user deletes m6
     8 | 9/9 | 1/1/1 | 8/8/8 | -
     9 | 8/8 | 1→0/0/0 | 8/8/8 | -
     10 | 8/8 | 0/0/0 | 8→9/8/8 | ms2: created m15
     11 | 9/9 | 0/0/0 | 9/9/9 | -`,
  );
});

describe("in place", () => {
  story(
    "I1: 3 replicas, surge 1, unavailable 0: one made, one deleted at the end, two updated",
    { replicas: 3, surge: 1, unavailable: 0, mode: "in-place", sets: [[1, 2, 3]] },
    `1 | 3/3 | 3/3/3 | 1/0/0 | ms2: created m4
     2 | 4/4 | 3→2/3/3 | 1/1/1 | ms1: m1 → ms2
     3 | 4/3 | 2/2/2 | 1→2/2/1 | (plan: ack m1)
     4 | 4/3 | 2/2/2 | 2/2/1 | m1 finish updating
     5 | 4/4 | 2→1/2/2 | 2/2/2 | ms1: m2 → ms2
     6 | 4/3 | 1/1/1 | 2→3/3/2 | (plan: ack m2)
     7 | 4/3 | 1/1/1 | 3/3/2 | m2 finish updating
     8 | 4/4 | 1→0/1/1 | 3/3/3 | ms1: deleted m3
     9 | 3/3 | 0/0/0 | 3/3/3 | -`,
  );
  story(
    "I2: 3 replicas, surge 0, unavailable 1: all updated",
    { replicas: 3, surge: 0, unavailable: 1, mode: "in-place", sets: [[1, 2, 3]] },
    `1 | 3/3 | 3→2/3/3 | 0/0/0 | ms1: m1 → ms2
     2 | 3/2 | 2/2/2 | 0→1/1/0 | (plan: ack m1)
     3 | 3/2 | 2/2/2 | 1/1/0 | m1 finish updating
     4 | 3/3 | 2→1/2/2 | 1/1/1 | ms1: m2 → ms2
     5 | 3/2 | 1/1/1 | 1→2/2/1 | (plan: ack m2)
     6 | 3/2 | 1/1/1 | 2/2/1 | m2 finish updating
     7 | 3/3 | 1→0/1/1 | 2/2/2 | ms1: m3 → ms2
     8 | 3/2 | 0/0/0 | 2→3/3/2 | (plan: ack m3)
     9 | 3/2 | 0/0/0 | 3/3/2 | m3 finish updating
     10 | 3/3 | 0/0/0 | 3/3/3 | -`,
  );
  story(
    "I3: 6 replicas, surge 3, unavailable 1: one at a time, no surge machine",
    { replicas: 6, surge: 3, unavailable: 1, mode: "in-place", sets: [count(1, 6)] },
    `1 | 6/6 | 6→5/6/6 | 0/0/0 | (plan: 3 surge put off); ms1: m1 → ms2
     2 | 6/5 | 5/5/5 | 0→1/1/0 | (plan: ack m1); (plan: 3 surge put off)
     3 | 6/5 | 5/5/5 | 1/1/0 | (plan: 3 surge put off); m1 finish updating
     4 | 6/6 | 5→4/5/5 | 1/1/1 | (plan: 3 surge put off); ms1: m2 → ms2
     5 | 6/5 | 4/4/4 | 1→2/2/1 | (plan: ack m2); (plan: 3 surge put off)
     6 | 6/5 | 4/4/4 | 2/2/1 | (plan: 3 surge put off); m2 finish updating
     7 | 6/6 | 4→3/4/4 | 2/2/2 | (plan: 3 surge put off); ms1: m3 → ms2
     8 | 6/5 | 3/3/3 | 2→3/3/2 | (plan: ack m3); (plan: 3 surge put off)
     9 | 6/5 | 3/3/3 | 3/3/2 | (plan: 3 surge put off); m3 finish updating
     10 | 6/6 | 3→2/3/3 | 3/3/3 | (plan: 3 surge put off); ms1: m4 → ms2
     11 | 6/5 | 2/2/2 | 3→4/4/3 | (plan: ack m4); (plan: 2 surge put off)
     12 | 6/5 | 2/2/2 | 4/4/3 | (plan: 2 surge put off); m4 finish updating
     13 | 6/6 | 2→1/2/2 | 4/4/4 | (plan: 2 surge put off); ms1: m5 → ms2
     14 | 6/5 | 1/1/1 | 4→5/5/4 | (plan: ack m5); (plan: 1 surge put off)
     15 | 6/5 | 1/1/1 | 5/5/4 | (plan: 1 surge put off); m5 finish updating
     16 | 6/6 | 1→0/1/1 | 5/5/5 | (plan: 1 surge put off); ms1: m6 → ms2
     17 | 6/5 | 0/0/0 | 5→6/6/5 | (plan: ack m6)
     18 | 6/5 | 0/0/0 | 6/6/5 | m6 finish updating
     19 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "I4: 6 replicas, surge 1, unavailable 3: two groups of three",
    { replicas: 6, surge: 1, unavailable: 3, mode: "in-place", sets: [count(1, 6)] },
    `1 | 6/6 | 6→3/6/6 | 0/0/0 | (plan: 1 surge put off); ms1: m1,m2,m3 → ms2
     2 | 6/3 | 3/3/3 | 0→3/3/0 | (plan: ack m1,m2,m3); (plan: 1 surge put off)
     3 | 6/3 | 3/3/3 | 3/3/0 | (plan: 1 surge put off); m1,m2,m3 finish updating
     4 | 6/6 | 3→0/3/3 | 3/3/3 | (plan: 1 surge put off); ms1: m4,m5,m6 → ms2
     5 | 6/3 | 0/0/0 | 3→6/6/3 | (plan: ack m4,m5,m6)
     6 | 6/3 | 0/0/0 | 6/6/3 | m4,m5,m6 finish updating
     7 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "I5: 6 replicas, all at once",
    { replicas: 6, surge: 0, unavailable: 10, mode: "in-place", sets: [count(1, 6)] },
    `1 | 6/6 | 6→0/6/6 | 0/0/0 | ms1: m1,m2,m3,m4,m5,m6 → ms2
     2 | 6/0 | 0/0/0 | 0→6/6/0 | (plan: ack m1,m2,m3,m4,m5,m6)
     3 | 6/0 | 0/0/0 | 6/6/0 | m1,m2,m3,m4,m5,m6 finish updating
     4 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "I6: 6 replicas, surge 10, unavailable 0: still one made",
    { replicas: 6, surge: 10, unavailable: 0, mode: "in-place", sets: [count(1, 6)] },
    `1 | 6/6 | 6/6/6 | 1/0/0 | (plan: 1 surge let through); ms2: created m7
     2 | 7/7 | 6→5/6/6 | 1/1/1 | (plan: 5 surge put off); ms1: m1 → ms2
     3 | 7/6 | 5/5/5 | 1→2/2/1 | (plan: ack m1); (plan: 4 surge put off)
     4 | 7/6 | 5/5/5 | 2/2/1 | (plan: 4 surge put off); m1 finish updating
     5 | 7/7 | 5→4/5/5 | 2/2/2 | (plan: 4 surge put off); ms1: m2 → ms2
     6 | 7/6 | 4/4/4 | 2→3/3/2 | (plan: ack m2); (plan: 3 surge put off)
     7 | 7/6 | 4/4/4 | 3/3/2 | (plan: 3 surge put off); m2 finish updating
     8 | 7/7 | 4→3/4/4 | 3/3/3 | (plan: 3 surge put off); ms1: m3 → ms2
     9 | 7/6 | 3/3/3 | 3→4/4/3 | (plan: ack m3); (plan: 2 surge put off)
     10 | 7/6 | 3/3/3 | 4/4/3 | (plan: 2 surge put off); m3 finish updating
     11 | 7/7 | 3→2/3/3 | 4/4/4 | (plan: 2 surge put off); ms1: m4 → ms2
     12 | 7/6 | 2/2/2 | 4→5/5/4 | (plan: ack m4); (plan: 1 surge put off)
     13 | 7/6 | 2/2/2 | 5/5/4 | (plan: 1 surge put off); m4 finish updating
     14 | 7/7 | 2→1/2/2 | 5/5/5 | (plan: 1 surge put off); ms1: m5 → ms2
     15 | 7/6 | 1/1/1 | 5→6/6/5 | (plan: ack m5)
     16 | 7/6 | 1/1/1 | 6/6/5 | m5 finish updating
     17 | 7/7 | 1→0/1/1 | 6/6/6 | ms1: deleted m6
     18 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "I7: a third template in mid-rollout: three machines are updated twice",
    { replicas: 6, surge: 3, unavailable: 1, mode: "in-place", sets: [count(4, 6), count(1, 3)] },
    `1 | 6/6 | 3→2/3/3 | 3/3/3 | 0/0/0 | (plan: 3 surge put off); ms1: m4 → ms3
     2 | 6/5 | 2/2/2 | 3/3/3 | 0→1/1/0 | (plan: ack m4); (plan: 3 surge put off)
     3 | 6/5 | 2/2/2 | 3/3/3 | 1/1/0 | (plan: 3 surge put off); m4 finish updating
     4 | 6/6 | 2→1/2/2 | 3/3/3 | 1/1/1 | (plan: 3 surge put off); ms1: m5 → ms3
     5 | 6/5 | 1/1/1 | 3/3/3 | 1→2/2/1 | (plan: ack m5); (plan: 3 surge put off)
     6 | 6/5 | 1/1/1 | 3/3/3 | 2/2/1 | (plan: 3 surge put off); m5 finish updating
     7 | 6/6 | 1→0/1/1 | 3/3/3 | 2/2/2 | (plan: 3 surge put off); ms1: m6 → ms3
     8 | 6/5 | 0/0/0 | 3/3/3 | 2→3/3/2 | (plan: ack m6); (plan: 3 surge put off)
     9 | 6/5 | 0/0/0 | 3/3/3 | 3/3/2 | (plan: 3 surge put off); m6 finish updating
     10 | 6/6 | 0/0/0 | 3→2/3/3 | 3/3/3 | (plan: 3 surge put off); ms2: m1 → ms3
     11 | 6/5 | 0/0/0 | 2/2/2 | 3→4/4/3 | (plan: ack m1); (plan: 2 surge put off)
     12 | 6/5 | 0/0/0 | 2/2/2 | 4/4/3 | (plan: 2 surge put off); m1 finish updating
     13 | 6/6 | 0/0/0 | 2→1/2/2 | 4/4/4 | (plan: 2 surge put off); ms2: m2 → ms3
     14 | 6/5 | 0/0/0 | 1/1/1 | 4→5/5/4 | (plan: ack m2); (plan: 1 surge put off)
     15 | 6/5 | 0/0/0 | 1/1/1 | 5/5/4 | (plan: 1 surge put off); m2 finish updating
     16 | 6/6 | 0/0/0 | 1→0/1/1 | 5/5/5 | (plan: 1 surge put off); ms2: m3 → ms3
     17 | 6/5 | 0/0/0 | 0/0/0 | 5→6/6/5 | (plan: ack m3)
     18 | 6/5 | 0/0/0 | 0/0/0 | 6/6/5 | m3 finish updating
     19 | 6/6 | 0/0/0 | 0/0/0 | 6/6/6 | -`,
  );
  story(
    "I8: 6 to 12 replicas in mid-rollout: what is missing is made at once, the rest moves",
    { replicas: 12, surge: 3, unavailable: 1, mode: "in-place", sets: [count(4, 6), count(1, 3)], lastIsNew: true },
    `1 | 6/6 | 3/3/3 | 3→9/3/3 | (plan: 3 surge put off); ms2: created m7,m8,m9,m10,m11,m12
     2 | 12/12 | 3→2/3/3 | 9/9/9 | (plan: 3 surge put off); ms1: m4 → ms2
     3 | 12/11 | 2/2/2 | 9→10/10/9 | (plan: ack m4); (plan: 2 surge put off)
     4 | 12/11 | 2/2/2 | 10/10/9 | (plan: 2 surge put off); m4 finish updating
     5 | 12/12 | 2→1/2/2 | 10/10/10 | (plan: 2 surge put off); ms1: m5 → ms2
     6 | 12/11 | 1/1/1 | 10→11/11/10 | (plan: ack m5); (plan: 1 surge put off)
     7 | 12/11 | 1/1/1 | 11/11/10 | (plan: 1 surge put off); m5 finish updating
     8 | 12/12 | 1→0/1/1 | 11/11/11 | (plan: 1 surge put off); ms1: m6 → ms2
     9 | 12/11 | 0/0/0 | 11→12/12/11 | (plan: ack m6)
     10 | 12/11 | 0/0/0 | 12/12/11 | m6 finish updating
     11 | 12/12 | 0/0/0 | 12/12/12 | -`,
  );
  story(
    "I9: 12 to 6 replicas in mid-rollout: as many move as are wanted, the rest goes at once and is never updated",
    { replicas: 6, surge: 3, unavailable: 1, mode: "in-place", sets: [count(4, 12), count(1, 3)], lastIsNew: true },
    `1 | 12/12 | 9→2/9/9 | 3/3/3 | ms1: m8,m9,m10 → ms2; ms1: deleted m4,m5,m6,m7
     2 | 8/5 | 2/2/2 | 3→6/6/3 | (plan: ack m8,m9,m10)
     3 | 8/5 | 2/2/2 | 6/6/3 | m8,m9,m10 finish updating
     4 | 8/8 | 2→0/2/2 | 6/6/6 | ms1: deleted m11,m12
     5 | 6/6 | 0/0/0 | 6/6/6 | -`,
  );
});
