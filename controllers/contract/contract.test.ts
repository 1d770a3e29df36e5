import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Cache } from "../../runtime/cache.ts";
import { at, byKubernetesVersion, contractKind, isTrueAt, textAt } from "./contract.ts";

const crd = (labels: Record<string, string>): KubeObject & { spec: object } => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "devmachines.infra.x", labels },
  spec: { group: "infra.x", scope: "Namespaced", names: { kind: "DevMachine", plural: "devmachines" } },
});
const cacheWith = (...objects: KubeObject[]): Cache =>
  ({
    by: (index: { values(o: KubeObject): readonly string[] }, value: string) => objects.filter((o) => index.values(o).includes(value)),
  }) as unknown as Cache;
const ref = { apiGroup: "infra.x", kind: "DevMachine" };

describe("contractKind", () => {
  const rows: [string, Record<string, string>, string][] = [
    ["the version of the newer contract", { "cluster.x-k8s.io/v1beta2": "v1", "cluster.x-k8s.io/v1beta1": "v2" }, "v1 v1beta2"],
    ["the older contract", { "cluster.x-k8s.io/v1beta1": "v1beta1" }, "v1beta1 v1beta1"],
    ["the highest of several", { "cluster.x-k8s.io/v1beta2": "v1alpha1_v1beta2_v1beta1" }, "v1beta2 v1beta2"],
    ["ten is more than nine", { "cluster.x-k8s.io/v1beta2": "v9_v10_v11beta1" }, "v10 v1beta2"],
  ];
  it.each(rows)("%s", (_what, labels, expected) => {
    const { resource, contract } = contractKind(cacheWith(crd(labels)), ref);
    expect(`${resource.version} ${contract}`).toBe(expected);
    expect(resource).toMatchObject({ group: "infra.x", plural: "devmachines", namespaced: true });
  });

  it("says what to do when the CRD is missing or not labelled", () => {
    expect(() => contractKind(cacheWith(), ref)).toThrow("no CustomResourceDefinition for kind DevMachine in group infra.x");
    expect(() => contractKind(cacheWith(crd({})), ref)).toThrow("has no label cluster.x-k8s.io/v1beta2");
  });
});

it("orders versions as Kubernetes does", () => {
  const versions = ["v1alpha1", "foo", "v2", "v1beta2", "v10", "v1", "v2alpha1"];
  expect([...versions].sort(byKubernetesVersion)).toEqual(["v10", "v2", "v1", "v1beta2", "v2alpha1", "v1alpha1", "foo"]);
});

it("reads paths without stumbling over holes", () => {
  const object = { status: { initialization: { provisioned: true }, name: "" } };
  expect(isTrueAt(object, "status.initialization.provisioned")).toBe(true);
  expect(isTrueAt(object, "status.ready.deep")).toBe(false);
  expect(textAt(object, "status.name")).toBeUndefined();
  expect(at(object, "spec.x")).toBeUndefined();
});
