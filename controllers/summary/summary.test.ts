import { describe, expect, it } from "@jest/globals";
import type { Condition } from "../../api/meta/object.ts";
import { aggregate, summary } from "./summary.ts";

const condition = (type: string, status: Condition["status"], message = "", reason = "Some"): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const reasons = { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" };
const parts = [{ type: "Updating", negative: true }, { type: "NodeHealthy" }, { type: "HealthCheck", optional: true }];

describe("summary", () => {
  const rows: [string, Condition[], string][] = [
    ["all good", [condition("Updating", "False"), condition("NodeHealthy", "True")], "True Ready "],
    [
      "a good one has something to say",
      [condition("Updating", "False"), condition("NodeHealthy", "True", "soon full")],
      "True Ready * NodeHealthy: soon full",
    ],
    [
      "True is bad for a negative type",
      [condition("Updating", "True", "In-place update in progress"), condition("NodeHealthy", "True", "soon full")],
      "False NotReady * Updating: In-place update in progress",
    ],
    ["a missing one is unknown", [condition("Updating", "False")], "Unknown ReadyUnknown * NodeHealthy: Condition not yet reported"],
    [
      "an issue outweighs an unknown, both are told",
      [condition("Updating", "True", "going"), condition("NodeHealthy", "Unknown", "", "NoNode")],
      "False NotReady * Updating: going|* NodeHealthy: NoNode",
    ],
    [
      "an optional one counts when it is there",
      [condition("Updating", "False"), condition("NodeHealthy", "True"), condition("HealthCheck", "False", "* one\n* two")],
      "False NotReady * HealthCheck:|  * one|  * two",
    ],
  ];
  it.each(rows)("%s", (_what, conditions, expected) => {
    const got = summary("Ready", parts, conditions, reasons);
    expect(`${got.status} ${got.reason} ${got.message.replaceAll("\n", "|")}`).toBe(expected);
  });
});

it("folds a group that says the same", () => {
  const grouped = ["APIServer", "Scheduler", "Etcd"].map((type) => ({ type, group: "Control plane components" }));
  const say = (etcd: string) => [
    condition("APIServer", "Unknown", "no Node"),
    condition("Scheduler", "Unknown", "no Node"),
    condition("Etcd", "Unknown", etcd),
  ];
  expect(summary("Ready", grouped, say("no Node"), reasons).message).toBe("* Control plane components: no Node");
  expect(summary("Ready", grouped, say("lost"), reasons).message).toBe("* APIServer: no Node\n* Scheduler: no Node\n* Etcd: lost");
});

describe("aggregate", () => {
  const of = (names: string, c: Condition | undefined, isControlPlane = false) =>
    names.split(" ").map((name) => ({ name, condition: c, isControlPlane }));
  const old = condition("UpToDate", "False", "* KubeadmConfig is not up-to-date");
  const rows: [string, ReturnType<typeof of>, string][] = [
    ["all good", of("a b", condition("UpToDate", "True")), "True Ready "],
    ["equal texts share a line", of("b a", old), "False NotReady * Machines a, b:|  * KubeadmConfig is not up-to-date"],
    ["one machine", of("a", condition("UpToDate", "False", "gone")), "False NotReady * Machine a: gone"],
    [
      "three names, then a count",
      of("e d c b a", old),
      "False NotReady * Machines a, b, c, ... (2 more):|  * KubeadmConfig is not up-to-date",
    ],
    ["unknown alone", of("a", undefined), "Unknown ReadyUnknown * Machine a: Condition UpToDate not yet reported"],
    [
      "control plane first, then the larger group",
      [
        ...of("a b", condition("UpToDate", "False", "worse")),
        ...of("c", condition("UpToDate", "False", "bad")),
        ...of("z", condition("UpToDate", "Unknown", "lost"), true),
      ],
      "False NotReady * Machine z: lost|* Machines a, b: worse|* Machine c: bad",
    ],
    [
      "beyond three groups only counts",
      ["m1", "m2", "m3", "m4", "m5"].flatMap((n) => of(n, condition("UpToDate", "False", `text of ${n}`))),
      "False NotReady * Machine m1: text of m1|* Machine m2: text of m2|* Machine m3: text of m3|And 2 Machines with other issues",
    ],
  ];
  it.each(rows)("%s", (_what, sources, expected) => {
    const got = aggregate(sources, { type: "UpToDate", kind: "Machine", reasons });
    expect(`${got.status} ${got.reason} ${got.message.replaceAll("\n", "|")}`).toBe(expected);
  });

  it("a negative type keeps its own sense", () => {
    const got = aggregate(of("a", condition("RollingOut", "True", "2 of 3")), {
      type: "RollingOut",
      kind: "MachineDeployment",
      negative: true,
      reasons: { good: "NotRollingOut", bad: "RollingOut", unknown: "RollingOutUnknown" },
    });
    expect(got).toEqual({ type: "RollingOut", status: "True", reason: "RollingOut", message: "* MachineDeployment a: 2 of 3" });
  });
});
