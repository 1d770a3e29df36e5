import { describe, expect, it } from "@jest/globals";
import { isNodeLabel, type NodeMetadataInput, nodeMetadataPatch } from "./node-metadata.ts";
import { machine, node } from "./testing.ts";

const input = (change: Partial<NodeMetadataInput> = {}): NodeMetadataInput => ({
  machine: machine(),
  node: node(),
  interruptible: false,
  outdated: false,
  propagateTaints: false,
  labelPatterns: [],
  annotationPatterns: [],
  ...change,
});
interface PatchShape {
  metadata: { resourceVersion: string; labels?: Record<string, string | null>; annotations?: Record<string, string | null> };
  spec?: { taints: { key: string; value?: string; effect: string }[] | null };
}
const patchOf = (change: Partial<NodeMetadataInput>): PatchShape => nodeMetadataPatch(input(change)) as PatchShape;

/** What a Node says once a patch with this Machine has been stored. */
const settledNode = (from: Partial<NodeMetadataInput>) => {
  const patch = patchOf(from);
  return node({
    metadata: { annotations: patch.metadata.annotations, labels: patch.metadata.labels },
    spec: { taints: patch.spec?.taints ?? undefined },
  });
};

describe("labels that go to the Node", () => {
  const rows: [string, boolean][] = [
    ["node-role.kubernetes.io/worker", true],
    ["sub.node-role.kubernetes.io/worker", false],
    ["node-restriction.kubernetes.io/zone", true],
    ["a.node-restriction.kubernetes.io/zone", true],
    ["node.cluster.x-k8s.io/pool", true],
    ["gpu.node.cluster.x-k8s.io/pool", true],
    ["xnode.cluster.x-k8s.io/pool", false],
    ["cluster.x-k8s.io/cluster-name", false],
    ["example.com/site", false],
  ];
  it.each(rows)("%s: %s", (key, expected) => expect(isNodeLabel(key, [])).toBe(expected));
  it("and those of a configured pattern", () => expect(isNodeLabel("example.com/site", [/^example\.com\//])).toBe(true));
});

describe("nodeMetadataPatch", () => {
  it("says whose Node it is, bound to the Node's version", () => {
    const owned = machine({
      metadata: { ownerReferences: [{ apiVersion: "c/v1", kind: "MachineSet", name: "ms", uid: "x", controller: true }] },
    });
    expect(patchOf({ machine: owned })).toEqual({
      metadata: {
        resourceVersion: "7",
        annotations: {
          "cluster.x-k8s.io/annotations-from-machine": "",
          "cluster.x-k8s.io/cluster-name": "demo",
          "cluster.x-k8s.io/cluster-namespace": "ns",
          "cluster.x-k8s.io/labels-from-machine": "",
          "cluster.x-k8s.io/machine": "m1",
          "cluster.x-k8s.io/owner-kind": "MachineSet",
          "cluster.x-k8s.io/owner-name": "ms",
        },
      },
    });
  });

  it("writes nothing a second time", () => {
    const labelled = machine({ metadata: { labels: { "node.cluster.x-k8s.io/b": "1", "node-role.kubernetes.io/a": "" } } });
    expect(nodeMetadataPatch(input({ machine: labelled, node: settledNode({ machine: labelled }) }))).toBeUndefined();
  });

  it("takes away what came from the Machine and comes no more, and nothing else", () => {
    const before = settledNode({ machine: machine({ metadata: { labels: { "node.cluster.x-k8s.io/old": "1" } } }) });
    const strange = {
      ...before,
      metadata: { ...before.metadata, labels: { ...before.metadata.labels, "node.cluster.x-k8s.io/foreign": "x" } },
    };
    const patch = patchOf({ node: strange, machine: machine({ metadata: { labels: { "node.cluster.x-k8s.io/new": "2" } } }) });
    expect(patch.metadata.labels).toEqual({ "node.cluster.x-k8s.io/old": null, "node.cluster.x-k8s.io/new": "2" });
    expect(patch.metadata.annotations?.["cluster.x-k8s.io/labels-from-machine"]).toBe("node.cluster.x-k8s.io/new");
  });

  it("marks an interruptible Node, and forgets it again", () => {
    const marked = settledNode({ interruptible: true });
    expect(marked.metadata.labels).toEqual({ "cluster.x-k8s.io/interruptible": "" });
    expect(patchOf({ node: marked }).metadata.labels).toEqual({ "cluster.x-k8s.io/interruptible": null });
  });

  const uninitialized = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };
  const outdated = { key: "node.cluster.x-k8s.io/outdated-revision", effect: "PreferNoSchedule" };
  const other = { key: "example.com/a", effect: "NoSchedule" };
  const taint = (key: string, propagation: string, value?: string) => ({
    key,
    effect: "NoExecute",
    propagation,
    ...(value ? { value } : {}),
  });
  const tracked = (text: string) => ({ metadata: { annotations: { "cluster.x-k8s.io/taints-from-machine": text } } });
  const rows: [string, Partial<NodeMetadataInput>, object[] | null | undefined][] = [
    ["the uninitialized taint goes, others stay", { node: node({ spec: { taints: [uninitialized, other] } }) }, [other]],
    ["the last taint goes", { node: node({ spec: { taints: [uninitialized] } }) }, null],
    ["an outdated set", { outdated: true, node: node({ spec: { taints: [other] } }) }, [other, outdated]],
    ["after a move to the newest set", { node: node({ spec: { taints: [outdated, other] } }) }, [other]],
    ["the gate is off", { machine: machine({ spec: { taints: [taint("a", "Always")] } }) }, undefined],
    [
      "both kinds on first sight",
      { propagateTaints: true, machine: machine({ spec: { taints: [taint("a", "Always", "1"), taint("b", "OnInitialization")] } }) },
      [
        { key: "a", value: "1", effect: "NoExecute" },
        { key: "b", effect: "NoExecute" },
      ],
    ],
    [
      "later only Always is kept",
      {
        propagateTaints: true,
        node: node(tracked("a:NoExecute")),
        machine: machine({ spec: { taints: [taint("a", "Always"), taint("b", "OnInitialization")] } }),
      },
      [{ key: "a", effect: "NoExecute" }],
    ],
    [
      "one that is wanted no more goes",
      {
        propagateTaints: true,
        node: node({ ...tracked("a:NoExecute"), spec: { taints: [{ key: "a", effect: "NoExecute" }, other] } }),
        machine: machine(),
      },
      [other],
    ],
    [
      "a value is corrected",
      {
        propagateTaints: true,
        node: node({ ...tracked("a:NoExecute"), spec: { taints: [{ key: "a", value: "old", effect: "NoExecute" }] } }),
        machine: machine({ spec: { taints: [taint("a", "Always", "new")] } }),
      },
      [{ key: "a", value: "new", effect: "NoExecute" }],
    ],
  ];
  it.each(rows)("taints: %s", (_what, change, expected) => {
    expect(patchOf(change).spec?.taints).toEqual(expected);
  });

  it("tracks Always taints, sorted, also when there are none", () => {
    const key = "cluster.x-k8s.io/taints-from-machine";
    const two = machine({ spec: { taints: [taint("b", "Always"), taint("a", "Always"), taint("c", "OnInitialization")] } });
    expect(patchOf({ propagateTaints: true, machine: two }).metadata.annotations?.[key]).toBe("a:NoExecute,b:NoExecute");
    expect(patchOf({ propagateTaints: true }).metadata.annotations?.[key]).toBe("");
  });
});
