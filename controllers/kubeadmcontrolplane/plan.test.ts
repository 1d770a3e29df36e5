// The worked examples of the specification, played through the real planners: each row is one decision.
// Source: spec/controllers/kubeadmcontrolplane.md section 11, kubeadmcontrolplane-inplace.md section 11.
import { describe, expect, it } from "@jest/globals";
import type { Machine } from "../../api/machine.ts";
import { domainForNew } from "./choose.ts";
import { nameOf } from "./machines.ts";
import { decideInPlace, nextStep } from "./plan.ts";
import { type Preflight, preflight } from "./preflight.ts";
import { cluster, controlPlane, machine } from "./testing.ts";

interface Story {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly inPlace: boolean;
  /** What the extension answers; default it covers everything. */
  readonly covered?: boolean;
  readonly failureDomains?: readonly string[];
  /** Domain per old Machine. */
  readonly domains?: readonly string[];
  readonly sick?: string;
  /** The control plane is made from nothing. */
  readonly fresh?: boolean;
}

interface Fake {
  readonly name: string;
  readonly domain?: string;
  upToDate: boolean;
  ready: boolean;
  sick: boolean;
}

const asMachine = (f: Fake): Machine =>
  machine(f.name, { node: f.ready, failureDomain: f.domain, conditions: f.sick ? { APIServerPodHealthy: "False" } : {} });

const kcpOf = (replicas: number) => ({
  ...controlPlane({ replicas }),
  status: {
    conditions: [{ type: "CertificatesAvailable", status: "True" as const, reason: "Available", message: "", lastTransitionTime: "" }],
  },
});

const oldMachines = ({ replicas, domains, sick, fresh }: Story): Fake[] =>
  Array.from({ length: fresh ? 0 : replicas }, (_, i) => ({
    name: `m${i + 1}`,
    domain: domains?.[i],
    upToDate: false,
    ready: true,
    sick: sick === `m${i + 1}`,
  }));

/** One step of the planners over the Machines there are, and its effects on them. */
function stepOf(
  story: Story,
  before: readonly Fake[],
  newName: string,
): { readonly log: readonly string[]; readonly machines: Fake[] } | undefined {
  const { replicas, maxSurge, inPlace, failureDomains = [] } = story;
  let machines = before.map((f) => ({ ...f }));
  const all = machines.map(asMachine);
  const outdated = all.filter((_m, i) => machines[i]?.upToDate === false);
  const upToDate = all.filter((m) => !outdated.includes(m));
  const log: string[] = [];
  const check = (scaleUp: boolean, excluding?: Machine): Preflight =>
    preflight({ kcp: kcpOf(replicas), cluster, machines: all, managedEtcd: true, scaleUp, excluding });
  /** What waits is ready the next time. */
  const attempt = (passes: Preflight, act: () => string): void => {
    log.push(passes.passes ? act() : `wait ${(passes.requeueAfterMs ?? 0) / 1000} s`);
    if (!passes.passes) machines = machines.map((f) => ({ ...f, ready: true }));
  };
  const create = (): string => {
    const domain = domainForNew(all, upToDate, failureDomains);
    machines = [...machines, { name: newName, domain, upToDate: true, ready: false, sick: false }];
    return `create ${newName}${domain ? ` in ${domain}` : ""}`;
  };
  const remove = (m: Machine): string => {
    machines = machines.filter((f) => f.name !== nameOf(m));
    return `delete ${nameOf(m)}`;
  };
  const tryInPlace = (m: Machine): void => {
    const given = { all: check(false), withoutIt: check(false, m), policy: "PreferInPlace" as const };
    let decision = decideInPlace(given);
    if (decision.do === "ask") {
      log.push(`ask ${nameOf(m)}`);
      decision = decideInPlace({ ...given, answer: { covered: story.covered ?? true, reasons: [".spec.x"] } });
    }
    if (decision.do === "replace") attempt(given.withoutIt, () => remove(m));
    else if (decision.do === "wait") attempt(decision.preflight, () => "-");
    else {
      log.push(`update ${nameOf(m)}`);
      machines = machines.map((f) => (f.name === nameOf(m) ? { ...f, upToDate: true } : f));
    }
  };
  const eligible = outdated.map(nameOf);
  const planned = nextStep({ machines: all, outdated, managedEtcd: true, failureDomains, replicas, maxSurge, inPlace, eligible });
  if (planned.do === "nothing") return undefined;
  if (planned.do === "init") log.push(create());
  if (planned.do === "scaleUp") attempt(check(true), create);
  if (planned.do === "scaleDown") attempt(check(false, planned.machine), () => remove(planned.machine));
  if (planned.do === "tryInPlace") tryInPlace(planned.machine);
  return { log, machines };
}

function play(story: Story): { readonly log: readonly string[]; readonly machines: readonly Fake[] } {
  let machines = oldMachines(story);
  let next = machines.length + 1;
  const log: string[] = [];
  for (let step = 0; step < 30; step++) {
    const done = stepOf(story, machines, `m${next}`);
    if (!done) return { log, machines };
    if (done.machines.some((f) => f.name === `m${next}`)) next++;
    machines = done.machines;
    log.push(...done.log);
  }
  return { log: [...log, "did not end"], machines };
}

const stories: [string, Story, string][] = [
  ["made from nothing", { replicas: 3, maxSurge: 1, inPlace: true, fresh: true }, "create m1, wait 15 s, create m2, wait 15 s, create m3"],
  [
    "replace, maxSurge 1",
    { replicas: 3, maxSurge: 1, inPlace: false },
    "create m4, wait 15 s, delete m1, create m5, wait 15 s, delete m2, create m6, wait 15 s, delete m3",
  ],
  [
    "replace, maxSurge 0",
    { replicas: 3, maxSurge: 0, inPlace: false },
    "delete m1, create m4, wait 15 s, delete m2, create m5, wait 15 s, delete m3, create m6",
  ],
  ["in place, maxSurge 0", { replicas: 3, maxSurge: 0, inPlace: true }, "ask m1, update m1, ask m2, update m2, ask m3, update m3"],
  [
    "in place, maxSurge 1: one create, one delete",
    { replicas: 3, maxSurge: 1, inPlace: true },
    "create m4, wait 15 s, ask m1, update m1, ask m2, update m2, delete m3",
  ],
  ["one replica is never updated in place", { replicas: 1, maxSurge: 1, inPlace: true }, "create m2, wait 15 s, delete m1"],
  [
    "an extension that covers part",
    { replicas: 3, maxSurge: 0, inPlace: true, covered: false },
    "ask m1, delete m1, create m4, wait 15 s, ask m2, delete m2, create m5, wait 15 s, ask m3, delete m3, create m6",
  ],
  [
    "a sick Machine goes first and is not asked about",
    { replicas: 3, maxSurge: 0, inPlace: true, sick: "m2" },
    "delete m2, create m4, wait 15 s, ask m1, update m1, ask m3, update m3",
  ],
  [
    "with domains the surge Machine's own domain gives the delete",
    { replicas: 3, maxSurge: 1, inPlace: true, failureDomains: ["a", "b", "c"], domains: ["a", "b", "c"] },
    "create m4 in a, wait 15 s, ask m2, update m2, ask m3, update m3, delete m1",
  ],
];

describe("rollouts", () => {
  it.each(stories)("%s", (_what, story, expected) => {
    expect(play(story).log.join(", ")).toBe(expected);
  });

  it.each([
    [3, 1, false, "a b c"],
    [3, 0, false, "a b c"],
    [3, 1, true, "a b c"],
    [5, 1, false, "a a b b c"],
  ])("%d replicas, maxSurge %d, in place %s spread over domains as %s", (replicas, maxSurge, inPlace, spread) => {
    const domains = ["a", "b", "c", "a", "b"];
    const { machines } = play({ replicas, maxSurge, inPlace, failureDomains: ["a", "b", "c"], domains });
    expect(
      machines
        .map((m) => m.domain)
        .sort()
        .join(" "),
    ).toBe(spread);
  });
});

describe("with in-place updates required", () => {
  const machines = [machine("m1"), machine("m2"), machine("m3")];
  const snapshot = {
    machines,
    outdated: machines,
    managedEtcd: true,
    failureDomains: [],
    replicas: 3,
    maxSurge: 1,
    inPlace: true,
    required: true,
  };
  it.each([
    ["no surge Machine is made", { eligible: ["m1", "m2", "m3"] }, "tryInPlace"],
    ["a Machine that must not be asked about stays", { eligible: [] }, "blocked"],
    ["without the gate nothing moves", { eligible: ["m1"], inPlace: false }, "blocked"],
    ["fewer replicas are still fewer", { eligible: [], outdated: machines.slice(0, 1), replicas: 2 }, "scaleDown"],
    ["a lost Machine is still made again", { eligible: [], machines: machines.slice(1), outdated: machines.slice(1) }, "scaleUp"],
  ])("%s", (_what, change, expected) => {
    expect(nextStep({ ...snapshot, ...change }).do).toBe(expected);
  });
  const passes: Preflight = { passes: true, flags: [], because: [] };
  const fails: Preflight = { passes: false, flags: [], because: ["Machine m1 is sick"] };
  it.each([
    ["an uncovered change", { all: passes, answer: { covered: false, reasons: ["x"] } }, { do: "blocked", reasons: ["x"] }],
    ["a sick Machine", { all: fails, withoutIt: passes }, { do: "blocked", reasons: ["Machine m1 is sick"] }],
  ])("%s deletes nothing", (_what, input, expected) => {
    expect(decideInPlace({ withoutIt: passes, policy: "RequireInPlace", ...input })).toEqual(expected);
  });
});
