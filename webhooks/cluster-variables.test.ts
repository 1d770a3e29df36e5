// Values of variables: rule by rule, as the second table of spec/api/cluster.md section 4 has them.
import { describe } from "@jest/globals";
import { clusterRules } from "./cluster.ts";
import { aClass, aCluster } from "./clusterclass.testing.ts";
import { changed, defaultTable, type Row, table } from "./table.testing.ts";

const V = "spec.topology.variables";
const definition = (name: string, openAPIV3Schema: object, required = false) => ({
  name,
  definitions: [{ from: "inline", required, schema: { openAPIV3Schema } }],
});
const known = changed(aClass, {
  "/status": {
    observedGeneration: 2,
    conditions: [{ type: "VariablesReady", status: "Unknown" }],
    variables: [
      definition("size", { type: "integer", minimum: 1, default: 3 }),
      definition("net", {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, mtu: { type: "integer", default: 1500 } },
      }),
      definition("region", { type: "string", enum: ["a", "b"] }),
      definition("fixed", { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", reason: "FieldValueForbidden" }] }),
      definition("span", {
        type: "object",
        properties: { low: { type: "integer" }, high: { type: "integer" } },
        "x-kubernetes-validations": [{ rule: "self.low <= self.high", fieldPath: ".low" }],
      }),
      definition("any", { "x-kubernetes-preserve-unknown-fields": true }),
    ],
  },
});
const usual = { gates: ["ClusterTopology"], world: [known] } as const;
const variable = (name: string, value: unknown) => ({ name, value });
const given = (rule: string, name: string, value: unknown, wanted: string): Row => [
  rule,
  { "/spec/topology/variables": [variable(name, value)] },
  wanted,
];
const overrides = (list: readonly object[]) => ({ "/spec/topology/workers/machineDeployments/0/variables": { overrides: list } });
const MD = "spec.topology.workers.machineDeployments[a].variables.overrides";

describe("values of variables", () => {
  table(
    clusterRules,
    aCluster,
    [
      // What keeps defaults from being made is told by both halves.
      ["set twice", { "/spec/topology/variables": [variable("size", 1), variable("size", 2)] }, `Invalid ${V}[size]; Invalid ${V}[size]`],
      given("no such variable", "other", 1, `Invalid ${V}[other]; Invalid ${V}[other]`),
      ["no definition", {}, `TypeInvalid ${V}; TypeInvalid ${V}`, { world: [changed(known, { "/status/variables/0/definitions": [] })] }],
      [
        "contradiction",
        {},
        `TypeInvalid ${V}; TypeInvalid ${V}`,
        { world: [changed(known, { "/status/variables/0/definitionsConflict": true })] },
      ],
      ["required", {}, `Required ${V}`, { world: [changed(known, { "/status/variables/1/definitions/0/required": true })] }],
      ["required, with a default", {}, "", { world: [changed(known, { "/status/variables/0/definitions/0/required": true })] }],
      given("type", "size", "x", `TypeInvalid ${V}[size].value`),
      given("bound", "size", 0, `Invalid ${V}[size].value`),
      given("enum", "region", "c", `NotSupported ${V}[region].value`),
      given("required field", "net", {}, `Required ${V}[net].value.name`),
      given("type below", "net", { name: 3 }, `TypeInvalid ${V}[net].value.name`),
      given("unknown field", "net", { name: "a", x: 1 }, `Invalid ${V}[net]`),
      given("unknown field of what keeps it", "any", { x: { y: 1 } }, ""),
      given("rule", "span", { low: 2, high: 1 }, `Invalid ${V}[span].value.low`),
      given("rule holds", "span", { low: 1, high: 1 }, ""),
      given("no rule where the type is wrong", "span", { low: "x", high: 1 }, `TypeInvalid ${V}[span].value.low`),
      given("null", "fixed", null, `TypeInvalid ${V}[fixed].value`),
      [
        "transition",
        { "/spec/topology/variables": [variable("fixed", "b")] },
        `Forbidden ${V}[fixed].value`,
        { old: { "/spec/topology/variables": [variable("fixed", "a")] } },
      ],
      ["transition without an old value", { "/spec/topology/variables": [variable("fixed", "b")] }, "", { old: {} }],
      [
        "nothing is excused for being as it was",
        { "/spec/topology/variables": [variable("span", { low: 2, high: 1 })] },
        `Invalid ${V}[span].value.low`,
        { old: { "/spec/topology/variables": [variable("span", { low: 2, high: 1 })] } },
      ],
      ["override", overrides([variable("size", 0)]), `Invalid ${MD}[size].value`],
      [
        "override of the control plane",
        { "/spec/topology/controlPlane": { variables: { overrides: [variable("region", "c")] } } },
        "NotSupported spec.topology.controlPlane.variables.overrides[region].value",
      ],
      ["override, no such variable", overrides([variable("other", 0)]), `Invalid ${MD}[other]; Invalid ${MD}[other]`],
      [
        "transition of an override",
        overrides([variable("fixed", "b")]),
        `Forbidden ${MD}[fixed].value`,
        { old: overrides([variable("fixed", "a")]) },
      ],
      [
        "a class that is not reconciled",
        { "/spec/topology/variables": [variable("other", 1)] },
        "",
        { world: [changed(known, { "/metadata/generation": 3 })] },
      ],
      [
        "a class whose variables are unknown",
        { "/spec/topology/variables": [variable("other", 1)] },
        "",
        { world: [changed(known, { "/status/conditions/0/status": "False" })] },
      ],
    ],
    usual,
  );
  const size = variable("size", 3);
  defaultTable(
    clusterRules,
    aCluster,
    [
      ["added, in the class's order", {}, { "/spec/topology/variables": [size] }],
      [
        "after those that are there",
        { "/spec/topology/variables": [variable("region", "a")] },
        { "/spec/topology/variables": [variable("region", "a"), size] },
      ],
      ["what is set stays", { "/spec/topology/variables": [variable("size", 5)] }, { "/spec/topology/variables": [variable("size", 5)] }],
      ["null gives way", { "/spec/topology/variables": [variable("size", null)] }, { "/spec/topology/variables": [size] }],
      ["a value left out gives way", { "/spec/topology/variables": [{ name: "size" }] }, { "/spec/topology/variables": [size] }],
      [
        "below",
        { "/spec/topology/variables": [size, variable("net", { name: "n" })] },
        { "/spec/topology/variables": [size, variable("net", { name: "n", mtu: 1500 })] },
      ],
      ["overrides get nothing new", overrides([variable("net", { name: "n" })]), overrides([variable("net", { name: "n", mtu: 1500 })])],
      ["nor do absent ones", {}, { "/spec/topology/workers/machineDeployments/0/variables": undefined }],
    ],
    usual,
  );
});
