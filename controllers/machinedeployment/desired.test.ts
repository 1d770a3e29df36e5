import { describe, expect, it } from "@jest/globals";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import type { MachineSet } from "../../api/machineset.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { desiredSet, identityOf, newIdentity, newRevision } from "./desired.ts";

const REVISION = "machinedeployment.clusters.x-k8s.io/revision";
const HISTORY = "machinedeployment.clusters.x-k8s.io/revision-history";

const templateSpec = {
  clusterName: "demo",
  version: "v1.35.0",
  bootstrap: { dataSecretName: "s" },
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "i" },
};
const deployment: MachineDeployment = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDeployment",
  metadata: {
    name: "md",
    namespace: "ns",
    uid: "md-uid",
    annotations: { note: "hello", [REVISION]: "7", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
  },
  spec: {
    clusterName: "demo",
    replicas: 3,
    selector: { matchLabels: { pool: "a" } },
    template: { metadata: { labels: { pool: "a" } }, spec: { ...templateSpec, minReadySeconds: 4 } },
    deletion: { order: "Oldest" },
    rollout: { strategy: { type: "RollingUpdate" } },
  },
};

const stored = (name: string, annotations: Record<string, string> = {}, more: Partial<MachineSet["spec"]> = {}): MachineSet => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineSet",
  metadata: {
    name,
    namespace: "ns",
    uid: `${name}-uid`,
    annotations,
    labels: { "machine-template-hash": `1-${name}` },
    finalizers: ["f", "foreign"],
  },
  spec: { clusterName: "demo", replicas: 2, selector: {}, template: { spec: templateSpec }, ...more },
});

describe("revisions", () => {
  const rows: [string, [string, string?] | undefined, string[], { number?: string; history?: string }][] = [
    ["the first set", undefined, [], { number: "1" }],
    ["one above the highest", undefined, ["1", "4", "2"], { number: "5" }],
    ["an old one that is no number is skipped", undefined, ["x", "2"], { number: "3" }],
    ["never lower than it was", ["9"], ["4"], { number: "9" }],
    ["a rollback raises it and remembers", ["1"], ["2"], { number: "3", history: "1" }],
    ["and again", ["3", "1"], ["4"], { number: "5", history: "1,3" }],
  ];
  it.each(rows)("%s", (_what, own, old, expected) => {
    const newSet = own && stored("new", { [REVISION]: own[0], ...(own[1] === undefined ? {} : { [HISTORY]: own[1] }) });
    expect(
      newRevision(
        newSet,
        old.map((number, i) => stored(`old${i}`, { [REVISION]: number })),
      ),
    ).toEqual(expected);
  });

  it("says which annotation is broken", () => {
    expect(() => newRevision(stored("new", { [REVISION]: "two" }), [])).toThrow(`MachineSet new has the revision "two"`);
  });
});

describe("a set to be made", () => {
  const identity = newIdentity(deployment, seededRandom(1));
  const intent = desiredSet({
    deployment,
    identity,
    plan: { name: identity.name, replicas: 0, receiveFrom: ["b", "a"] },
    revision: { number: "2" },
    maxSurge: 1,
    old: false,
  });

  it("has the template, the hash everywhere, and the annotations of the deployment but not those about it", () => {
    const labels = { pool: "a", "cluster.x-k8s.io/cluster-name": "demo", "machine-template-hash": identity.hash };
    expect(identity.hash).toBe(`${identity.hash.split("-")[0]}-${identity.name.slice(-5)}`);
    expect(intent).toEqual({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: {
        name: identity.name,
        namespace: "ns",
        labels: { ...labels, "cluster.x-k8s.io/deployment-name": "md" },
        annotations: {
          note: "hello",
          "machinedeployment.clusters.x-k8s.io/desired-replicas": "3",
          "machinedeployment.clusters.x-k8s.io/max-replicas": "4",
          "cluster.x-k8s.io/disable-machine-create": "false",
          [REVISION]: "2",
          "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets": "a,b",
        },
        ownerReferences: [
          {
            apiVersion: "cluster.x-k8s.io/v1beta2",
            kind: "MachineDeployment",
            name: "md",
            uid: "md-uid",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        clusterName: "demo",
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { ...templateSpec, minReadySeconds: 4 },
        },
        deletion: { order: "Oldest" },
      },
    });
  });
});

describe("a set that exists", () => {
  const old = stored(
    "old",
    {},
    {
      template: {
        spec: {
          ...templateSpec,
          version: "v1.34.0",
          minReadySeconds: 1,
          taints: [{ key: "k", effect: "NoSchedule", propagation: "Always" }],
        },
      },
    },
  );
  const plan = { name: "old", replicas: 1, moveTo: "new" };

  it("keeps what rolls out and follows in what does not", () => {
    const intent = desiredSet({ deployment, identity: identityOf(old), existing: old, plan, revision: {}, maxSurge: 0, old: true });
    expect(intent.spec.template.spec).toEqual({ ...templateSpec, version: "v1.34.0", minReadySeconds: 4 });
    expect(intent.metadata).toMatchObject({ uid: "old-uid", finalizers: ["f", "foreign"] });
    expect(intent.metadata.annotations).toMatchObject({ "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset": "new" });
    expect(intent.metadata.annotations).not.toHaveProperty([REVISION]);
  });

  it("makes no machines under OnDelete", () => {
    const onDelete: MachineDeployment = { ...deployment, spec: { ...deployment.spec, rollout: { strategy: { type: "OnDelete" } } } };
    const annotation = (isOld: boolean): string | undefined =>
      desiredSet({ deployment: onDelete, identity: identityOf(old), existing: old, plan, revision: {}, maxSurge: 0, old: isOld }).metadata
        .annotations?.["cluster.x-k8s.io/disable-machine-create"];
    expect([annotation(true), annotation(false)]).toEqual(["true", "false"]);
  });

  it("without its hash label is an error that says so", () => {
    expect(() => identityOf({ ...old, metadata: { ...old.metadata, labels: {} } })).toThrow(
      "MachineSet old has no label machine-template-hash",
    );
  });
});
