import { describe, expect, it } from "@jest/globals";
import type { Cluster } from "../../api/cluster.ts";
import type { Node } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { remediateMachineAnnotation } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { inPlaceGraceAnnotation, inPlaceGraceMs } from "./grace.ts";
import { type HealthView, judge } from "./health.ts";
import { limitOf } from "./limits.ts";

const NOW_MS = Date.parse("2026-08-21T10:00:00Z");
/** `Type=Status secondsAgo`. */
const condition = (text: string): Condition => {
  const [, type = "", status = "", ago = "0"] = /^(\w+)=(\w+)(?: (\d+))?$/.exec(text) ?? [];
  return {
    type,
    status: status as Condition["status"],
    reason: "x",
    message: "",
    lastTransitionTime: timestamp(NOW_MS - Number(ago) * 1_000),
  };
};
const conditions = (...texts: string[]): Condition[] => texts.map(condition);

interface Facts {
  readonly machine?: string[];
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly ageSeconds?: number;
  readonly deleting?: boolean;
  readonly node?: string[] | "none" | "lost";
  readonly cluster?: string[];
  readonly startupSeconds?: number;
  readonly graceSeconds?: number;
}

const UP = ["ControlPlaneInitialized=True 3600", "InfrastructureReady=True 3600"];

function view({ node = ["Ready=True 60"], cluster = UP, ...f }: Facts): HealthView {
  return {
    nowMs: NOW_MS,
    inPlaceGraceMs: (f.graceSeconds ?? 0) * 1_000,
    machine: {
      metadata: {
        name: "m",
        creationTimestamp: timestamp(NOW_MS - (f.ageSeconds ?? 3_600) * 1_000),
        annotations: f.annotations,
        labels: f.labels,
        ...(f.deleting ? { deletionTimestamp: timestamp(NOW_MS) } : {}),
      },
      status: { conditions: conditions(...(f.machine ?? [])), ...(node === "none" ? {} : { nodeRef: { name: "n" } }) },
    } as unknown as Machine,
    cluster: { status: { conditions: conditions(...cluster) } } as unknown as Cluster,
    node:
      typeof node === "string"
        ? { state: node }
        : { state: "found", node: { status: { conditions: conditions(...node) } } as unknown as Node },
    checks: {
      ...(f.startupSeconds === undefined ? {} : { nodeStartupTimeoutSeconds: f.startupSeconds }),
      unhealthyNodeConditions: [
        { type: "Ready", status: "Unknown", timeoutSeconds: 300 },
        { type: "Ready", status: "False", timeoutSeconds: 300 },
      ],
      unhealthyMachineConditions: [{ type: "Updating", status: "True", timeoutSeconds: 600 }],
    },
  };
}

describe("health of one Machine", () => {
  const rows: [string, Facts, string][] = [
    ["all is well", {}, "healthy"],
    ["a Node condition for too long", { node: ["Ready=Unknown 301"] }, "UnhealthyNode"],
    ["exactly as long as allowed", { node: ["Ready=False 300"] }, "neither 1"],
    ["a Node condition on a countdown", { node: ["Ready=False 100"] }, "neither 201"],
    ["a Machine condition for too long", { machine: ["Updating=True 601"] }, "UnhealthyMachine"],
    ["both: the Machine's reason", { machine: ["Updating=True 601"], node: ["Ready=False 301"] }, "UnhealthyMachine"],
    ["a finding wins over a countdown", { machine: ["Updating=True 10"], node: ["Ready=False 301"] }, "UnhealthyNode"],
    ["the smallest countdown", { machine: ["Updating=True 10"], node: ["Ready=False 200"] }, "neither 101"],
    ["the Node was deleted", { node: "lost" }, "NodeDeleted"],
    ["the Node was deleted, in a grace", { node: "lost", machine: ["Updating=True 10"], graceSeconds: 900 }, "NodeDeleted"],
    ["no Node yet", { node: "none", ageSeconds: 100 }, "neither 501"],
    ["no Node for too long", { node: "none", ageSeconds: 601 }, "NodeStartupTimeout"],
    ["the clock starts with the infrastructure", { node: "none", machine: ["InfrastructureReady=True 50"] }, "neither 551"],
    [
      "the clock starts with the control plane",
      { node: "none", cluster: ["ControlPlaneInitialized=True 20", "InfrastructureReady=True"] },
      "neither 601",
    ],
    ["no start-up check", { node: "none", startupSeconds: 0 }, "neither"],
    ["being deleted", { deleting: true }, "neither"],
    ["before the control plane", { cluster: ["InfrastructureReady=True"], node: ["Ready=False 999"] }, "neither"],
    [
      "a control plane Machine before the control plane",
      { cluster: ["InfrastructureReady=True 3600"], node: "none", labels: { "cluster.x-k8s.io/control-plane": "" } },
      "NodeStartupTimeout",
    ],
    ["before the infrastructure", { cluster: ["ControlPlaneInitialized=True"], node: ["Ready=False 999"] }, "neither"],
    ["by annotation, even before that", { cluster: [], annotations: { [remediateMachineAnnotation]: "" } }, "HasRemediateAnnotation"],
    ["an update in place has no special rule", { machine: ["Updating=True 5"], node: ["Ready=False 301"] }, "UnhealthyNode"],
    ["unless there is a grace", { machine: ["Updating=True 5"], node: ["Ready=False 301"], graceSeconds: 900 }, "neither 896"],
    [
      "which lasts no longer than it says",
      { machine: ["Updating=True 901"], node: ["Ready=False 301"], graceSeconds: 900 },
      "UnhealthyMachine",
    ],
    ["and spares no other Machine", { machine: ["Updating=False 5"], node: ["Ready=False 301"], graceSeconds: 900 }, "UnhealthyNode"],
  ];
  it.each(rows)("%s", (_what, facts, expected) => {
    const health = judge(view(facts));
    const seconds = health.verdict === "neither" && health.checkAgainMs !== undefined ? ` ${health.checkAgainMs / 1_000}` : "";
    expect(health.verdict === "unhealthy" ? health.reason : `${health.verdict}${seconds}`).toBe(expected);
  });

  it("tells every finding in words", () => {
    expect(judge(view({ machine: ["Updating=True 601"], node: ["Ready=False 301"] }))).toMatchObject({
      message:
        "Health check failed:\n  * Condition Updating on Machine is reporting status True for more than 10m0s\n  * Condition Ready on Node is reporting status False for more than 5m0s",
    });
  });
});

describe("limits", () => {
  const rows: [number, number, object | undefined, boolean, number][] = [
    [3, 2, undefined, true, 2],
    [3, 2, { unhealthyLessThanOrEqualTo: "33%" }, false, 0],
    [5, 3, { unhealthyLessThanOrEqualTo: "40%" }, true, 0],
    [5, 2, { unhealthyInRange: "[1-2]" }, false, 0],
    [4, 4, { unhealthyInRange: "[1-2]" }, false, 0],
    [4, 3, { unhealthyInRange: "[1-2]", unhealthyLessThanOrEqualTo: 0 }, true, 1],
    [3, 1, { unhealthyLessThanOrEqualTo: 1 }, false, 0],
  ];
  it.each(rows)("%d Machines, %d healthy, %j: %s, %d left", (expected, healthy, triggerIf, allowed, left) => {
    const spec = { remediation: triggerIf ? { triggerIf } : undefined } as never;
    expect(limitOf({ spec }, expected, healthy)).toMatchObject({ allowed, left });
  });

  it("refuses a range that holds nothing", () => {
    const spec = { remediation: { triggerIf: { unhealthyInRange: "[3-1]" } } } as never;
    expect(() => limitOf({ spec }, 3, 3)).toThrow('unhealthyInRange is "[3-1]"');
  });
});

describe("grace", () => {
  const object = (value: string) => ({ apiVersion: "", kind: "", metadata: { annotations: { [inPlaceGraceAnnotation]: value } } });
  it.each([
    ["90s", 90],
    ["15m", 900],
    ["1h30m", 5_400],
  ])("%s", (text, seconds) => {
    expect(inPlaceGraceMs(object(text))).toBe(seconds * 1_000);
  });
  it.each(["", "15", "m", "-1m"])("refuses %j", (text) => {
    expect(() => inPlaceGraceMs(object(text))).toThrow(inPlaceGraceAnnotation);
  });
});
