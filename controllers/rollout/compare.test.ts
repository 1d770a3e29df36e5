import { describe, expect, it } from "@jest/globals";
import { type CandidateSet, type ComparableSpec, chooseNewSet, dueForRollout, templateDifferences } from "./compare.ts";

const template = (change: ComparableSpec = {}): ComparableSpec => ({
  version: "v1.35.0",
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "infra" },
  bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "boot" } },
  ...change,
});

describe("templateDifferences", () => {
  const ref = (name: string) => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name });
  const rows: [string, ComparableSpec, readonly string[]][] = [
    ["nothing", {}, []],
    ["the version", { version: "v1.36.0" }, ["Version v1.35.0, v1.36.0 required"]],
    ["a new failure domain", { failureDomain: "b" }, ["Failure domain (none), b required"]],
    ["the infrastructure template", { infrastructureRef: ref("other") }, ["DevMachine is not up-to-date"]],
    [
      "the bootstrap template",
      { bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "b2" } } },
      ["KubeadmConfig is not up-to-date"],
    ],
    [
      "a secret instead of a template",
      { bootstrap: { dataSecretName: "s" } },
      ["KubeadmConfig is not up-to-date", "Bootstrap data secret (none), s required"],
    ],
  ];
  it.each(rows)("%s", (_what, change, expected) => {
    expect(templateDifferences(template(), template(change))).toEqual(expected);
  });

  it("does not look at what is pushed to the sets or names the cluster", () => {
    const pushed = { clusterName: "x", minReadySeconds: 5, providerID: "p", taints: [], deletion: { nodeDrainTimeoutSeconds: 4 } };
    expect(templateDifferences(template(), template(pushed as ComparableSpec))).toEqual([]);
  });
});

describe("chooseNewSet", () => {
  const set = (name: string, createdMs: number, replicas: number, version = "v1.35.0"): CandidateSet => ({
    name,
    createdMs,
    replicas,
    template: template({ version }),
  });
  const names = (choice: ReturnType<typeof chooseNewSet>) => ({
    new: choice.newSet?.name,
    old: choice.oldSets.map((o) => `${o.set.name}${o.inPlaceEligible ? "" : " (replace)"}`),
  });

  const rows: [string, CandidateSet[], number | undefined, { new: string | undefined; old: string[] }][] = [
    ["no set", [], undefined, { new: undefined, old: [] }],
    ["the equal one", [set("a", 1_000, 3, "v1.34.0"), set("b", 2_000, 0)], undefined, { new: "b", old: ["a"] }],
    ["the largest of two equal ones", [set("a", 1_000, 0), set("b", 2_000, 3)], undefined, { new: "b", old: ["a (replace)"] }],
    ["the oldest of two as large", [set("b", 2_000, 1), set("a", 1_000, 1)], undefined, { new: "a", old: ["b (replace)"] }],
    ["a date ahead changes nothing", [set("a", 1_000, 3)], 90_000, { new: "a", old: [] }],
    ["an equal set older than a due date is old", [set("a", 1_000, 3)], 30_000, { new: undefined, old: ["a (replace)"] }],
    ["one made after the due date is new", [set("a", 1_000, 3), set("b", 40_000, 0)], 30_000, { new: "b", old: ["a (replace)"] }],
    ["the same second counts as after", [set("a", 30_000, 3)], 30_900, { new: "a", old: [] }],
    [
      "a different set older than a due date is replaced",
      [set("a", 1_000, 3, "v1.34.0")],
      30_000,
      { new: undefined, old: ["a (replace)"] },
    ],
    ["a different set younger than it is asked about", [set("a", 45_000, 3, "v1.34.0")], 30_000, { new: undefined, old: ["a"] }],
  ];
  it.each(rows)("%s", (_what, sets, after, expected) => {
    expect(names(chooseNewSet(sets, template(), after, 60_000))).toEqual(expected);
  });

  it("a date is due once it lies before now", () => {
    expect(dueForRollout(60_000, 1_000, 60_000)).toBe(false);
    expect(dueForRollout(60_000, 1_000, 60_001)).toBe(true);
  });
});
