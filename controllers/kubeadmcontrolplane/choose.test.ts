import { describe, expect, it } from "@jest/globals";
import type { Machine } from "../../api/machine.ts";
import { chooseMachine, domainForNew } from "./choose.ts";
import { nameOf } from "./machines.ts";
import { type MachineParts, machine } from "./testing.ts";

const wish = { annotations: { "cluster.x-k8s.io/delete-machine": "" } };
const sick = { conditions: { SchedulerPodHealthy: "False" as const } };
const unknown = { conditions: { SchedulerPodHealthy: "Unknown" as const } };
const at = (failureDomain: string): MachineParts => ({ failureDomain });

describe("chooseMachine", () => {
  type Row = [string, Readonly<Record<string, MachineParts>>, string, string, string];
  const rows: Row[] = [
    ["the oldest outdated", { m1: {}, m2: {}, m3: {} }, "m2 m3", "", "m2"],
    ["an outdated one that shall go", { m1: {}, m2: {}, m3: wish }, "m1 m2 m3", "", "m3"],
    ["an up-to-date one that shall go comes before outdated ones", { m1: {}, m2: {}, m3: wish }, "m1 m2", "", "m3"],
    ["a sick outdated one", { m1: {}, m2: sick, m3: {} }, "m1 m2 m3", "", "m2"],
    ["unknown is not sick", { m1: {}, m2: unknown, m3: {} }, "m1 m2 m3", "", "m1"],
    ["a sick up-to-date one does not count", { m1: {}, m2: sick }, "m1", "", "m1"],
    ["all when none is outdated", { m2: {}, m1: {} }, "", "", "m1"],
    ["the domain with most candidates", { m1: at("a"), m2: at("b"), m3: at("b") }, "m1 m2 m3", "a b", "m2"],
    ["then the domain with most Machines", { m1: at("a"), m2: at("b"), m3: at("b") }, "m1 m2", "a b", "m2"],
    ["then the first domain by name", { m2: at("a"), m1: at("b") }, "m1 m2", "a b", "m2"],
    ["one in a domain that is gone", { m1: at("a"), m2: at("x"), m3: at("a") }, "m1 m2 m3", "a", "m2"],
    ["nothing when there is none", {}, "", "", ""],
  ];
  it.each(rows)("%s", (_what, parts, outdatedNames, domains, expected) => {
    const machines = Object.entries(parts).map(([name, p]) => machine(name, p));
    const outdated = machines.filter((m) => outdatedNames.split(" ").includes(nameOf(m)));
    const failureDomains = domains.split(" ").filter((d) => d !== "");
    const chosen: Machine | undefined = chooseMachine({ machines, outdated, managedEtcd: true, failureDomains });
    expect(chosen ? nameOf(chosen) : "").toBe(expected);
  });
});

describe("domainForNew", () => {
  const machines = [machine("m1", at("a")), machine("m2", at("b")), machine("m3", at("b"))];
  it.each([
    ["no domains", [], [], undefined],
    ["fewest up to date", [machines[1]], ["a", "b"], "a"],
    ["then fewest of all", [], ["a", "b"], "a"],
    ["then by name", [], ["d", "c"], "c"],
  ])("%s", (_what, upToDate, domains, expected) => {
    expect(domainForNew(machines, upToDate as Machine[], domains)).toBe(expected);
  });
});
