import { describe, expect, it } from "@jest/globals";
import type { ClusterClassPatch, PatchDefinition } from "../../api/clusterclass-patches.ts";
import type { Json } from "../../api/meta/object.ts";
import { applyInline, type PatchItem, selects } from "./patches.ts";
import { mergedVariables, variableAt } from "./variables.ts";

const item = (change: Partial<PatchItem> = {}): PatchItem => ({
  uid: "u",
  holder: { apiVersion: "x/v1", kind: "Cluster", namespace: "ns", name: "c", fieldPath: "" },
  belongsTo: "machineDeployment",
  workersClass: "worker-large",
  template: { apiVersion: "b/v1", kind: "KT", metadata: {}, spec: { template: { spec: { list: ["a"], old: 1 } } } },
  ...change,
});
const definition = (matchResources: object, change: object = {}): PatchDefinition =>
  ({ selector: { apiVersion: "b/v1", kind: "KT", matchResources, ...change }, jsonPatches: [] }) as PatchDefinition;
const names = (...list: string[]) => ({ machineDeploymentClass: { names: list } });

describe("selectors", () => {
  const rows: readonly (readonly [string, PatchDefinition, Partial<PatchItem>, boolean])[] = [
    ["a class by name", definition(names("worker-large")), {}, true],
    ["another class", definition(names("worker")), {}, false],
    ["a start", definition(names("worker-*")), {}, true],
    ["an end", definition(names("x", "*-large")), {}, true],
    ["all", definition(names("*")), {}, true],
    ["another kind", definition(names("*"), { kind: "Other" }), {}, false],
    ["another version", definition(names("*"), { apiVersion: "b/v2" }), {}, false],
    ["the control plane is no MachineDeployment", definition(names("*")), { belongsTo: "controlPlane" }, false],
    ["the control plane", definition({ controlPlane: true }), { belongsTo: "controlPlane" }, true],
    ["the infrastructure cluster", definition({ infrastructureCluster: true }), { belongsTo: "infrastructureCluster" }, true],
    ["false means no", definition({ infrastructureCluster: false }), { belongsTo: "infrastructureCluster" }, false],
  ];
  it.each(rows)("%s", (_what, d, change, expected) => expect(selects(d, item(change))).toBe(expected));
});

describe("an inline patch", () => {
  const patched = (operations: readonly object[], variables: Record<string, Json>, enabledIf?: string): unknown => {
    const patch = {
      name: "p",
      enabledIf,
      definitions: [{ ...definition(names("*")), jsonPatches: operations }],
    } as unknown as ClusterClassPatch;
    const one = item();
    applyInline(patch, one, variables);
    return (one.template.spec as { template: { spec: unknown } }).template.spec;
  };
  const path = (p: string) => `/spec/template/spec/${p}`;
  const unchanged = { list: ["a"], old: 1 };
  const rows: readonly (readonly [string, readonly object[], Record<string, Json>, string | undefined, unknown])[] = [
    ["a value", [{ op: "add", path: path("x"), value: { y: 1 } }], {}, undefined, { ...unchanged, x: { y: 1 } }],
    [
      "a variable's part",
      [{ op: "add", path: path("x"), valueFrom: { variable: "v.list[1].a" } }],
      { v: { list: [0, { a: "z" }] } },
      undefined,
      { ...unchanged, x: "z" },
    ],
    [
      "a template read as YAML",
      [{ op: "add", path: path("x"), valueFrom: { template: "a: {{ .n }}\nb: [{{ .t | quote }}]" } }],
      { n: 3, t: "q" },
      undefined,
      { ...unchanged, x: { a: 3, b: ["q"] } },
    ],
    [
      "append, remove",
      [
        { op: "add", path: path("list/-"), value: "b" },
        { op: "remove", path: path("old") },
      ],
      {},
      undefined,
      { list: ["a", "b"] },
    ],
    ["off", [{ op: "remove", path: path("old") }], {}, "{{ if .on }}true{{ end }}", unchanged],
    ["anything but true is off", [{ op: "remove", path: path("old") }], { on: "yes" }, "{{ .on }}", unchanged],
    ["on", [{ op: "remove", path: path("old") }], { on: true }, "{{ .on }}", { list: ["a"] }],
  ];
  it.each(rows)("%s", (_what, operations, variables, enabledIf, expected) =>
    expect(patched(operations, variables, enabledIf)).toEqual(expected),
  );

  it("fails on a variable without a value and on a path that is not there", () => {
    expect(() => patched([{ op: "add", path: path("x"), valueFrom: { variable: "gone" } }], {})).toThrow(/variable gone has no value/);
    expect(() => patched([{ op: "replace", path: path("none/x"), value: 1 }], {})).toThrow(/missing/);
  });
});

it("lets overrides win and merges what is told", () => {
  const merged = mergedVariables(
    [
      { name: "a", value: 1 },
      { name: "builtin", value: { cluster: { name: "c" } } },
    ],
    [
      { name: "a", value: 2 },
      { name: "builtin", value: { machineDeployment: { class: "w" } } },
    ],
  );
  expect(merged).toEqual({ a: 2, builtin: { cluster: { name: "c" }, machineDeployment: { class: "w" } } });
  expect(variableAt(merged, "builtin.cluster.name")).toBe("c");
});
