import { describe, expect, it } from "@jest/globals";
import type { Pod } from "../../api/core/index.ts";
import { type DrainView, drainMessage, isDrained, type MachineDrainRule, planDrain, podText, selects } from "./drain.ts";
import { cluster, machine, nowMs } from "./testing.ts";
import { claimsOf, type VolumeView, waitingVolumes } from "./volumes.ts";

function pod(name: string, change: { metadata?: object; phase?: string; spec?: object } = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "apps", ...change.metadata },
    spec: { containers: [], ...change.spec },
    status: { phase: change.phase ?? "Running" },
  } as Pod;
}
const ownedBy = (kind: string, name: string) => ({
  metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: "x", controller: true }] },
});
const labelled = (labels: Record<string, string>) => ({ metadata: { labels } });
const rule = (name: string, behavior: "Drain" | "Skip" | "WaitCompleted", order: number, spec: object): MachineDrainRule => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDrainRule",
  metadata: { name },
  spec: { drain: { behavior, order }, ...spec },
});
const drainView = (pods: readonly Pod[], change: Partial<DrainView> = {}): DrainView => ({
  machine: machine(),
  cluster,
  pods,
  rules: [],
  daemonSets: new Set(["apps/ds"]),
  namespaceLabels: new Map(),
  unreachable: false,
  nowMs,
  ...change,
});
const show = (view: DrainView): string => {
  const plan = planDrain(view);
  const part = (what: string, pods: readonly Pod[]) => (pods.length === 0 ? "" : ` ${what} ${pods.map((p) => p.metadata.name).join(",")}`);
  return (
    `${part("evict", plan.evict)}${part("waitFor", plan.waitFor)}${part("terminating", plan.terminating)}${part("later", plan.later)}`.trim() ||
    "nothing"
  );
};
const appA = { pods: [{ selector: { matchLabels: { app: "a" } } }] };
const goingSince = (seconds: number) => ({ metadata: { deletionTimestamp: new Date(nowMs - seconds * 1_000).toISOString() } });

describe("planDrain", () => {
  const rows: [string, DrainView, string][] = [
    ["an empty Node", drainView([]), "nothing"],
    ["plain Pods, by name", drainView([pod("b"), pod("a")]), "evict a,b"],
    ["a DaemonSet Pod stays", drainView([pod("d", ownedBy("DaemonSet", "ds"))]), "nothing"],
    ["unless its DaemonSet is gone", drainView([pod("d", ownedBy("DaemonSet", "other"))]), "evict d"],
    ["or it is finished", drainView([pod("d", { ...ownedBy("DaemonSet", "ds"), phase: "Failed" })]), "evict d"],
    ["a static Pod stays", drainView([pod("s", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } })]), "nothing"],
    ["one that is going is waited for", drainView([pod("t", goingSince(30))]), "terminating t"],
    [
      "not on a Node that does not answer",
      drainView([pod("t", goingSince(30)), pod("u", goingSince(0))], { unreachable: true }),
      "terminating u",
    ],
    ["label skip, case ignored", drainView([pod("k", labelled({ "cluster.x-k8s.io/drain": "Skip" }))]), "nothing"],
    [
      "label wait-completed",
      drainView([pod("w", labelled({ "cluster.x-k8s.io/drain": "wait-completed" })), pod("a")]),
      "evict a waitFor w",
    ],
    [
      "a finished one is not waited for",
      drainView([pod("w", { ...labelled({ "cluster.x-k8s.io/drain": "wait-completed" }), phase: "Succeeded" })]),
      "nothing",
    ],
    [
      "the lowest order goes first",
      drainView([pod("a", labelled({ app: "a" })), pod("b")], { rules: [rule("r", "Drain", -1, appA)] }),
      "evict a later b",
    ],
    [
      "the first matching rule by name counts",
      drainView([pod("a", labelled({ app: "a" }))], { rules: [rule("z", "Drain", 9, appA), rule("b", "Skip", 0, appA)] }),
      "nothing",
    ],
    [
      "a rule for other machines does not count",
      drainView([pod("a")], { rules: [rule("r", "Skip", 0, { machines: [{ selector: { matchLabels: { x: "y" } } }] })] }),
      "evict a",
    ],
    [
      "a rule by namespace",
      drainView([pod("a"), pod("b", { metadata: { namespace: "infra" } })], {
        namespaceLabels: new Map([["infra", { tier: "infra" }]]),
        rules: [rule("r", "Skip", 0, { pods: [{ namespaceSelector: { matchLabels: { tier: "infra" } } }] })],
      }),
      "evict a",
    ],
    [
      "label before rule",
      drainView([pod("a", labelled({ app: "a", "cluster.x-k8s.io/drain": "skip" }))], { rules: [rule("r", "Drain", 1, appA)] }),
      "nothing",
    ],
  ];
  it.each(rows)("%s", (_what, view, expected) => expect(show(view)).toBe(expected));
});

describe("selects", () => {
  const expression = (operator: "In" | "NotIn" | "Exists" | "DoesNotExist", values?: string[]) => ({
    matchExpressions: [{ key: "k", operator, values }],
  });
  const rows: [string, Parameters<typeof selects>[0], Record<string, string>, boolean][] = [
    ["absent: all", undefined, {}, true],
    ["In", expression("In", ["a"]), { k: "a" }, true],
    ["In, other value", expression("In", ["a"]), { k: "b" }, false],
    ["NotIn without the label", expression("NotIn", ["a"]), {}, true],
    ["Exists", expression("Exists"), {}, false],
    ["DoesNotExist", expression("DoesNotExist"), {}, true],
  ];
  it.each(rows)("%s", (_what, selector, labels, expected) => expect(selects(selector, labels)).toBe(expected));
});

it("tells what a drain waits for: three names per group", () => {
  const view = drainView([pod("t", goingSince(5)), pod("w", labelled({ "cluster.x-k8s.io/drain": "wait-completed" })), pod("a")], {});
  const plan = planDrain(view);
  const blocked = new Map([["budget", [pod("x1"), pod("x2"), pod("x3"), pod("x4")]]]);
  expect(drainMessage(plan, plan.evict, blocked, "2026-06-01T12:00:00Z").split("\n")).toEqual([
    "Drain not completed yet (started at 2026-06-01T12:00:00Z):",
    "* Pods apps/a, apps/t: deletionTimestamp set, but still not removed from the Node",
    "* Pods apps/x1, apps/x2, apps/x3, ... (1 more): budget",
    "* Pod apps/w: waiting for completion",
  ]);
  expect(isDrained(planDrain(drainView([])), [], new Map())).toBe(true);
  expect(isDrained(plan, [], new Map())).toBe(false);
  expect(podText(pod("a"))).toBe("apps/a");
});

describe("waitingVolumes", () => {
  const volume = (name: string, claim?: string, handle?: string) =>
    ({
      metadata: { name },
      spec: {
        ...(claim ? { claimRef: { namespace: "apps", name: claim } } : {}),
        ...(handle ? { csi: { driver: "d", volumeHandle: handle } } : {}),
      },
    }) as VolumeView["volumes"][number];
  const attachment = (persistentVolumeName?: string) =>
    ({
      metadata: { name: "va" },
      spec: { attacher: "d", nodeName: "m1", source: { persistentVolumeName } },
    }) as VolumeView["attachments"][number];
  const base: VolumeView = { attachedNames: [], attachments: [], volumes: [], skippedClaims: new Set() };
  const rows: [string, Partial<VolumeView>, string[]][] = [
    ["nothing attached", {}, []],
    [
      "a claim, found by its CSI name",
      { attachedNames: ["kubernetes.io/csi/d^h1"], volumes: [volume("pv1", "c1", "h1")] },
      ["PersistentVolumeClaim apps/c1"],
    ],
    [
      "the same by its attachment",
      { attachedNames: ["kubernetes.io/csi/d^h1"], attachments: [attachment("pv1")], volumes: [volume("pv1", "c1", "h1")] },
      ["PersistentVolumeClaim apps/c1"],
    ],
    [
      "a claim of a Pod that stays",
      { attachments: [attachment("pv1")], volumes: [volume("pv1", "c1")], skippedClaims: new Set(["apps/c1"]) },
      [],
    ],
    ["a volume without a claim", { attachments: [attachment("pv2")], volumes: [volume("pv2")] }, ["PersistentVolume pv2"]],
    ["a name nobody knows", { attachedNames: ["x"] }, ["volume x"]],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(waitingVolumes({ ...base, ...change })).toEqual(expected));
  it("refuses an attachment without a volume", () =>
    expect(() => waitingVolumes({ ...base, attachments: [attachment()] })).toThrow("names no PersistentVolume"));
  it("knows the claims of Pods", () => {
    const user = pod("a", {
      spec: {
        volumes: [
          { name: "v", persistentVolumeClaim: { claimName: "c1" } },
          { name: "e", emptyDir: {} },
        ],
      },
    });
    expect([...claimsOf([user])]).toEqual(["apps/c1"]);
  });
});
