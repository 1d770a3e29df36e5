// Patches of a ClusterClass: rule by rule, as spec/api/clusterclass.md section 5.2 numbers them.
import { describe } from "@jest/globals";
import { clusterClassRules } from "./clusterclass.ts";
import { aClass } from "./clusterclass.testing.ts";
import { changed, type Row, table } from "./table.testing.ts";

const infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2";
const set = { op: "add", path: "/spec/x", value: 1 };
const selector = {
  apiVersion: infrastructure,
  kind: "DevMachineTemplate",
  matchResources: { machineDeploymentClass: { names: ["general"] } },
};
const patch = (name: string) => ({ name, definitions: [{ selector, jsonPatches: [set] }] });
const base = changed(aClass, {
  "/spec/variables": [
    { name: "a", required: false, schema: { openAPIV3Schema: { type: "object", properties: { b: { type: "string" } } } } },
  ],
  "/spec/patches": [patch("p")],
});
const P = "spec.patches[0]";
const J = `${P}.definitions[0].jsonPatches[0]`;
const M = `${P}.definitions[0].selector.matchResources`;
const json = (rule: string, changes: object, wanted: string): Row => [
  rule,
  { "/spec/patches/0/definitions/0/jsonPatches/0": changed(set, changes as Record<string, unknown>) },
  wanted,
];
const from = (rule: string, valueFrom: object, wanted: string): Row => json(rule, { "/value": undefined, "/valueFrom": valueFrom }, wanted);
const match = (rule: string, matchResources: object, wanted: string, more: object = {}): Row => [
  rule,
  { "/spec/patches/0/definitions/0/selector": { ...selector, matchResources, ...more } },
  wanted,
];
const names = (...list: readonly string[]) => ({ machineDeploymentClass: { names: list } });
const controlPlane = { apiVersion: "controlplane.cluster.x-k8s.io/v1beta2", kind: "KubeadmControlPlaneTemplate" };
const external = { generatePatchesExtension: "g.e" };

describe("patches of a ClusterClass", () => {
  table(
    clusterClassRules,
    base,
    [
      ["valid", {}, ""],
      ["1 name", { "/spec/patches/0/name": "" }, `Required ${P}.name`],
      ["2 not inline", { "/spec/patches/0/name": "inline" }, `Required ${P}.name`],
      ["3 unique", { "/spec/patches": [patch("p"), patch("p")] }, "Invalid spec.patches[1].name"],
      ["4 enabledIf", { "/spec/patches/0/enabledIf": "{{ nothing }}" }, `Invalid ${P}.enabledIf`],
      ["4 enabledIf with a function", { "/spec/patches/0/enabledIf": '{{ eq (.a | default "x") "y" }}' }, ""],
      ["5 something to do", { "/spec/patches": [{ name: "p" }] }, `Required ${P}`],
      ["5 an empty list counts", { "/spec/patches": [{ name: "p", definitions: [] }] }, ""],
      ["6 not both", { "/spec/patches/0/external": external }, `Invalid ${P}`],
      ["7 gate", { "/spec/patches": [{ name: "p", external }] }, `Forbidden ${P}.external`, { gates: ["ClusterTopology"] }],
      ["7 an extension", { "/spec/patches": [{ name: "p", external: { discoverVariablesExtension: "d" } }] }, `Invalid ${P}.external`],
      json("8 op", { "/op": "move" }, `NotSupported ${J}.op`),
      json("9 path", { "/path": "/status" }, `Invalid ${J}.path`),
      json("9 path by its letters", { "/path": "/specs" }, ""),
      json("10 add first", { "/path": "/spec/x/0" }, ""),
      json("10 add last", { "/path": "/spec/x/-" }, ""),
      json("10 add between", { "/path": "/spec/x/1" }, `Invalid ${J}.path`),
      json("10 each part", { "/path": "/spec/2/x/1" }, `Invalid ${J}.path; Invalid ${J}.path`),
      json("10 replace", { "/op": "replace", "/path": "/spec/x/0" }, `Invalid ${J}.path`),
      json("10 remove", { "/op": "remove", "/path": "/spec/x/0" }, `Invalid ${J}.path`),
      json("11 a value", { "/value": undefined }, `Invalid ${J}`),
      json("11 null is none", { "/value": null }, `Invalid ${J}`),
      json("11 not both", { "/valueFrom": { variable: "a" } }, `Invalid ${J}`),
      json("11 not of remove", { "/op": "remove", "/value": undefined }, ""),
      from("13 a source", {}, `Invalid ${J}.valueFrom`),
      from("13 one source", { template: "x", variable: "a" }, `Invalid ${J}.valueFrom`),
      from("14 template", { template: "{{ .a" }, `Invalid ${J}.valueFrom.template`),
      from("14 a good template", { template: "{{ range $i, $x := .a }}{{ $i }}{{ end }}" }, ""),
      from("15 builtin", { variable: "builtin.cluster.topology.classRef.name" }, ""),
      from("15 no such builtin", { variable: "builtin.cluster.size" }, `Invalid ${J}.valueFrom.variable`),
      from("15 builtin alone", { variable: "builtin" }, `Invalid ${J}.valueFrom.variable`),
      from("16 a field", { variable: "a.b" }, ""),
      from("16 an item", { variable: "a[0]" }, ""),
      from("16 no such variable", { variable: "b.a" }, `Invalid ${J}.valueFrom.variable`),
      match("17 something", {}, `Invalid ${P}.definitions[0].selector`),
      match("17 false is nothing", { controlPlane: false, machineDeploymentClass: { names: [] } }, `Invalid ${P}.definitions[0].selector`),
      match("18 infrastructure", { infrastructureCluster: true }, `Invalid ${M}.infrastructureCluster`),
      match("18 matches", { infrastructureCluster: true }, "", { kind: "DevClusterTemplate" }),
      match("18 the very version", { infrastructureCluster: true }, `Invalid ${M}.infrastructureCluster`, {
        kind: "DevClusterTemplate",
        apiVersion: "infrastructure.cluster.x-k8s.io/v1",
      }),
      match("19 control plane", { controlPlane: true }, "", controlPlane),
      match("19 its machines", { controlPlane: true }, ""),
      match("19 neither", { controlPlane: true }, `Invalid ${M}.controlPlane`, { kind: "DevClusterTemplate" }),
      match("20 one star", names("*a*"), `Invalid ${M}.machineDeploymentClass.names[0]`),
      match("20 not between", names("ge*al"), `Invalid ${M}.machineDeploymentClass.names[0]`),
      match("20 a name", names("-*"), `Invalid ${M}.machineDeploymentClass.names[0]`),
      match("20 later ones are skipped", names("*a*", "nothing"), `Invalid ${M}.machineDeploymentClass.names[0]`),
      match("21 all", names("*"), ""),
      match("21 prefix", names("gen*"), ""),
      match("21 suffix", names("*ral"), ""),
      match(
        "21 none",
        names("general", "x*", "other"),
        `Invalid ${M}.machineDeploymentClass.names[1]; Invalid ${M}.machineDeploymentClass.names[2]`,
      ),
      match("21 bootstrap", names("general"), "", { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2", kind: "KubeadmConfigTemplate" }),
      match("21 other kinds", names("general"), `Invalid ${M}.machineDeploymentClass.names[0]`, { kind: "OtherTemplate" }),
      match("21 pools", { machinePoolClass: { names: ["x"] } }, `Invalid ${M}.machinePoolClass.names[0]`),
    ],
    { gates: ["ClusterTopology", "RuntimeSDK"] },
  );
});
