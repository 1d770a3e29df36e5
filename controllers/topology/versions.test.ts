import { describe, expect, it } from "@jest/globals";
import { type Answers, decideVersions, type PoolFacts, type VersionFacts } from "./versions.ts";

const pool = (name: string, version?: string, change: Partial<PoolFacts> = {}): PoolFacts => ({
  name,
  ...(version ? { version } : {}),
  upgrading: false,
  defers: false,
  holds: false,
  ...change,
});
const facts = (change: Partial<VersionFacts> = {}): VersionFacts => ({
  target: "v2",
  controlPlane: { version: "v1", provisioning: false, upgrading: false },
  pools: [],
  plan: { controlPlane: ["v2"], workers: [] },
  pendingHooks: [],
  gateAnnotations: [],
  asksHooks: false,
  concurrency: 1,
  ...change,
});
const at = (version: string, change: object = {}) => ({ version, provisioning: false, upgrading: false, ...change });
const noAnswers: Answers = new Map();
const blocks = { blocked: true, message: "not now", retryAfterSeconds: 5 } as const;
const free = { blocked: false } as const;

function show(f: VersionFacts, answers: Answers = noAnswers): string {
  const d = decideVersions(f, answers);
  if (d.do === "ask") return `ask ${d.hook} ${Object.values(d.fields).join("->")}`;
  const flags = ["provisioning", "upgrading", "starting", "pending", "waitingForWorkers"] as const;
  const controlPlane = [d.controlPlane.version, ...flags.filter((x) => d.controlPlane[x])].join(" ");
  const poolFlags = ["upgrading", "pending", "deferred", "pendingCreate"] as const;
  const pools = [...d.pools].map(([name, p]) => [name, p.version, ...poolFlags.filter((x) => p[x])].join(" "));
  const marks = [...d.mark.map((m) => `+${m}`), ...d.unmark.map((m) => `-${m}`)];
  return [controlPlane, ...pools, ...marks, ...d.blocking.map((b) => `blocked by ${b.hook}`)].join("; ");
}

describe("the control plane", () => {
  const rows: readonly (readonly [string, Partial<VersionFacts>, string])[] = [
    ["is made at the topology's version", { controlPlane: undefined }, "v2"],
    ["starts an upgrade", {}, "v2 starting"],
    ["waits while it is provisioning", { controlPlane: at("v1", { provisioning: true }) }, "v1 provisioning pending"],
    ["waits for the step before", { controlPlane: at("v1", { upgrading: true }) }, "v1 upgrading pending"],
    ["rests at the version", { controlPlane: at("v2"), plan: { controlPlane: [], workers: [] } }, "v2"],
    [
      "waits for workers that have to be at its version",
      { controlPlane: at("v1"), plan: { controlPlane: ["v2"], workers: ["v1", "v2"] }, pools: [pool("a", "v0")] },
      "v1 pending waitingForWorkers; a v1 upgrading",
    ],
    [
      "waits for workers that upgrade",
      { pools: [pool("a", "v1", { upgrading: true })], plan: { controlPlane: ["v2"], workers: ["v2"] } },
      "v1 pending; a v1 upgrading pending",
    ],
    ["goes to the next version of the plan only", { target: "v3", plan: { controlPlane: ["v2", "v3"], workers: [] } }, "v2 starting"],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(show(facts(change))).toBe(expected));

  it("needs a plan", () => {
    expect(() => decideVersions(facts({ plan: { controlPlane: [], workers: [] } }), noAnswers)).toThrow(/no upgrade plan from v1 to v2/);
  });
});

describe("hooks", () => {
  const hooks = { asksHooks: true } as const;
  const plan = { controlPlane: ["v2"], workers: ["v2"] };
  const rows: readonly (readonly [string, Partial<VersionFacts>, Answers, string])[] = [
    ["asked first, once per upgrade", hooks, noAnswers, "ask BeforeClusterUpgrade v1->v2"],
    ["blocked", hooks, new Map([["BeforeClusterUpgrade", blocks]]), "v1 pending; blocked by BeforeClusterUpgrade"],
    [
      "an annotation blocks without a call",
      { ...hooks, gateAnnotations: ["before-upgrade.hook.cluster.cluster.x-k8s.io/x"] },
      noAnswers,
      "v1 pending; blocked by BeforeClusterUpgrade",
    ],
    ["then the step is asked for", hooks, new Map([["BeforeClusterUpgrade", free]]), "ask BeforeControlPlaneUpgrade v1->v2"],
    [
      "an upgrade under way does not ask again",
      { ...hooks, pendingHooks: ["AfterClusterUpgrade"] },
      noAnswers,
      "ask BeforeControlPlaneUpgrade v1->v2",
    ],
    [
      "free: marks for what comes after, also for workers of this step",
      { ...hooks, plan, pools: [pool("a", "v1")] },
      new Map([
        ["BeforeClusterUpgrade", free],
        ["BeforeControlPlaneUpgrade", free],
      ] as const),
      "v2 starting; a v1 pending; +AfterClusterUpgrade; +AfterControlPlaneUpgrade; +BeforeWorkersUpgrade; +AfterWorkersUpgrade",
    ],
    [
      "after the control plane",
      { ...hooks, controlPlane: at("v2"), pendingHooks: ["AfterControlPlaneUpgrade"] },
      noAnswers,
      "ask AfterControlPlaneUpgrade v2",
    ],
    [
      "blocks the workers",
      {
        ...hooks,
        controlPlane: at("v2"),
        plan: { controlPlane: [], workers: ["v2"] },
        pools: [pool("a", "v1")],
        pendingHooks: ["AfterControlPlaneUpgrade"],
      },
      new Map([["AfterControlPlaneUpgrade", blocks]]),
      "v2; a v1 pending; blocked by AfterControlPlaneUpgrade",
    ],
    [
      "free: its mark goes, workers begin",
      {
        ...hooks,
        controlPlane: at("v2"),
        plan: { controlPlane: [], workers: ["v2"] },
        pools: [pool("a", "v1")],
        pendingHooks: ["AfterControlPlaneUpgrade"],
      },
      new Map([["AfterControlPlaneUpgrade", free]]),
      "v2 waitingForWorkers; a v2 upgrading; -AfterControlPlaneUpgrade",
    ],
    [
      "after the workers",
      {
        ...hooks,
        controlPlane: at("v2"),
        plan: { controlPlane: [], workers: [] },
        pools: [pool("a", "v2")],
        pendingHooks: ["AfterWorkersUpgrade"],
      },
      noAnswers,
      "ask AfterWorkersUpgrade v2",
    ],
    [
      "a hook without its mark is not called",
      { ...hooks, controlPlane: at("v2"), plan: { controlPlane: [], workers: [] } },
      noAnswers,
      "v2",
    ],
  ];
  it.each(rows)("%s", (_what, change, answers, expected) => expect(show(facts(change), answers)).toBe(expected));
});

describe("workers", () => {
  const done = { controlPlane: at("v2"), plan: { controlPlane: [], workers: ["v2"] } };
  const rows: readonly (readonly [string, Partial<VersionFacts>, string])[] = [
    ["one after the other", { ...done, pools: [pool("a", "v1"), pool("b", "v1")] }, "a v2 upgrading; b v1 pending"],
    [
      "as many at once as allowed",
      { ...done, concurrency: 2, pools: [pool("a", "v1"), pool("b", "v1"), pool("c", "v1")] },
      "a v2 upgrading; b v2 upgrading; c v1 pending",
    ],
    [
      "hold stops it and those after",
      { ...done, pools: [pool("a", "v1"), pool("b", "v1", { holds: true }), pool("c", "v1")] },
      "a v2 upgrading; b v1 pending deferred; c v1 pending deferred",
    ],
    [
      "defer stops only one",
      { ...done, pools: [pool("a", "v1", { defers: true }), pool("b", "v1")] },
      "a v1 pending deferred; b v2 upgrading",
    ],
    ["hold at the version already", { ...done, pools: [pool("a", "v2", { holds: true }), pool("b", "v1")] }, "a v2; b v1 pending deferred"],
    ["a new one is made at the version", { ...done, plan: { controlPlane: [], workers: [] }, pools: [pool("a")] }, "a v2"],
    ["but not while the control plane moves", { controlPlane: at("v1", { upgrading: true }), pools: [pool("a")] }, "a v2 pendingCreate"],
    [
      "a step that is not theirs",
      { target: "v3", controlPlane: at("v2"), plan: { controlPlane: ["v3"], workers: ["v3"] }, pools: [pool("a", "v1")] },
      "a v1 pending",
    ],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(show(facts(change)).split("; ").slice(1).join("; ")).toBe(expected));
});
