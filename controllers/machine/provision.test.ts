import { describe, expect, it } from "@jest/globals";
import type { OwnerReference } from "../../api/meta/object.ts";
import type { Unstructured } from "../contract/contract.ts";
import { adoptionPatch, mergeProvisioned, planBootstrap, planInfrastructure } from "./provision.ts";
import { machine, referenced, view } from "./testing.ts";
import type { MachineView } from "./view.ts";

const fresh = machine({
  spec: { providerID: undefined, bootstrap: { configRef: { apiGroup: "b.x", kind: "KubeadmConfig", name: "m1" } } },
  status: { initialization: undefined, nodeRef: undefined },
});
const gone = (kind: string) => ({ ...referenced(kind), object: undefined, missing: true });
const deleting = { metadata: { deletionTimestamp: "2026-06-01T12:00:00Z" } };

describe("planBootstrap", () => {
  const created = { initialization: { bootstrapDataSecretCreated: true } };
  const withStatus = (status: object) => referenced("KubeadmConfig", { status });
  const rows: [string, Partial<MachineView>, object][] = [
    [
      "the user gives the Secret",
      { bootstrap: undefined, machine: machine({ spec: { bootstrap: { dataSecretName: "own" } }, status: { initialization: undefined } }) },
      { status: created },
    ],
    ["the data is there", { machine: fresh }, { spec: { bootstrap: { dataSecretName: "m1" } }, status: created }],
    [
      "asked only once",
      { machine: machine({ status: { initialization: undefined } }), bootstrap: withStatus({ dataSecretName: "other" }) },
      { status: created },
    ],
    ["not yet", { machine: fresh, bootstrap: withStatus({ initialization: {} }) }, { status: {} }],
    [
      "the older contract",
      {
        machine: fresh,
        bootstrap: {
          ...withStatus({ ready: true, initialization: {} }),
          kind: { ...referenced("KubeadmConfig").kind, contract: "v1beta1" } as never,
        },
      },
      { spec: { bootstrap: { dataSecretName: "m1" } }, status: created },
    ],
    ["not there yet", { machine: fresh, bootstrap: gone("KubeadmConfig") }, { status: {}, requeueAfterMs: 30_000 }],
    ["not there any more", { machine: machine(deleting), bootstrap: gone("KubeadmConfig") }, { status: {} }],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(planBootstrap(view(change))).toEqual(expected));
  it("refuses data without a name", () => {
    expect(planBootstrap(view({ machine: fresh, bootstrap: withStatus({ dataSecretName: "" }) })).failure).toContain("names no Secret");
  });
});

describe("planInfrastructure", () => {
  it("copies id, addresses and domain", () => {
    const infrastructure = referenced("DevMachine", {
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], failureDomain: "fd1" },
      spec: { failureDomain: "wanted" },
    });
    expect(planInfrastructure(view({ machine: fresh, infrastructure }))).toEqual({
      spec: { providerID: "p://m1", failureDomain: "wanted" },
      status: {
        initialization: { infrastructureProvisioned: true },
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        failureDomain: "fd1",
      },
    });
  });
  const rows: [string, Partial<MachineView>, object][] = [
    ["not provisioned", { machine: fresh, infrastructure: referenced("DevMachine", { status: { initialization: {} } }) }, { status: {} }],
    [
      "no id yet",
      { machine: fresh, infrastructure: referenced("DevMachine", { spec: { providerID: undefined } }) },
      { status: {}, requeueAfterMs: 5_000 },
    ],
    ["not there yet", { machine: fresh, infrastructure: gone("DevMachine") }, { status: {}, requeueAfterMs: 30_000 }],
    ["it is going", { machine: fresh, infrastructure: referenced("DevMachine", deleting) }, { status: {} }],
    [
      "lost under a running Machine",
      { infrastructure: gone("DevMachine") },
      { status: {}, failure: "DevMachine m1 has been deleted after being provisioned" },
    ],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(planInfrastructure(view(change))).toEqual(expected));
  it("still copies when the provider takes its word back", () => {
    const infrastructure = referenced("DevMachine", { status: { initialization: { provisioned: false } } });
    expect(planInfrastructure(view({ infrastructure })).status.initialization?.infrastructureProvisioned).toBe(true);
  });
});

it("says nothing about initialization when neither object does", () => {
  const merged = mergeProvisioned({ status: {}, requeueAfterMs: 30_000 }, { status: {}, requeueAfterMs: 5_000 });
  expect("initialization" in merged.status).toBe(false);
  expect(merged.requeueAfterMs).toBe(5_000);
});

describe("adoptionPatch", () => {
  const me: OwnerReference = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    name: "m1",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  };
  const set: OwnerReference = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineSet", name: "ms", uid: "s1", controller: true };
  const object = (ownerReferences: OwnerReference[], label = "demo"): Unstructured => ({
    apiVersion: "i.x/v1",
    kind: "DevMachine",
    metadata: { name: "m1", resourceVersion: "5", ownerReferences, labels: { "cluster.x-k8s.io/cluster-name": label } },
  });
  const other: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "c1" };

  it("takes over from the set and keeps other owners", () => {
    expect(adoptionPatch(machine(), object([set, other]), ["MachineSet"])).toEqual({
      metadata: { resourceVersion: "5", labels: { "cluster.x-k8s.io/cluster-name": "demo" }, ownerReferences: [other, me] },
    });
  });
  it("does nothing when all is well", () => expect(adoptionPatch(machine(), object([me]), ["MachineSet"])).toBeUndefined());
  it("corrects the label", () => expect(adoptionPatch(machine(), object([me], "other"), [])).toBeDefined());
  it("takes the set away even when the Machine owns it already", () =>
    expect(adoptionPatch(machine(), object([me, set]), ["MachineSet"])).toBeDefined());
  it("does not steal", () => {
    const rival = { ...me, name: "m2", uid: "u2" };
    expect(() => adoptionPatch(machine(), object([rival]), ["MachineSet"])).toThrow("is controlled by Machine m2");
  });
});
