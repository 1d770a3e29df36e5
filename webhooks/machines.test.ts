// MachineDeployment, MachineSet, Machine, MachineHealthCheck: rule by rule, as their pages in spec/api number them.
import { describe } from "@jest/globals";
import { machineRules } from "./machine.ts";
import { machineDeploymentRules } from "./machinedeployment.ts";
import { machineHealthCheckRules } from "./machinehealthcheck.ts";
import { machineSetRules } from "./machineset.ts";
import type { Draft } from "./rule-set.ts";
import { type Changes, type DefaultRow, defaultTable, type Row, table } from "./table.testing.ts";

const infrastructureRef = { apiGroup: "a.b", kind: "Thing", name: "x" };
const machineSpec = { clusterName: "harbor", bootstrap: { dataSecretName: "s" }, infrastructureRef };
const object = (kind: string, spec: object): Draft => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind,
  metadata: { name: "m", namespace: "lab" },
  spec,
});
const workers = { clusterName: "harbor", selector: {}, template: { metadata: { labels: { a: "b" } }, spec: machineSpec } };
const taint = { key: "a", effect: "NoSchedule", propagation: "Always" };
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
const taints = { gates: ["MachineTaintPropagation"] } as const;
const preflight = { gates: ["MachineSetPreflightChecks"] } as const;
const SKIP = "machineset.cluster.x-k8s.io/skip-preflight-checks";
const skip = (value: string): Changes => ({ "/metadata/annotations": { [SKIP]: value } });

const limits = (min: string, max: string): Changes => ({
  "/metadata/annotations": {
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": min,
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": max,
  },
});

/** Rule T, at a path of taints. */
const taintRows = (pointer: string, field: string): readonly Row[] => [
  ["T gate", { [pointer]: [taint] }, `Forbidden ${field}`],
  ["T valid", { [pointer]: [{ ...taint, key: "example.com/a" }] }, "", taints],
  ...[
    "node.cluster.x-k8s.io/uninitialized",
    "node.cluster.x-k8s.io/outdated-revision",
    "node.kubernetes.io/not-ready",
    "node.cloudprovider.kubernetes.io/x",
    "node-role.kubernetes.io/master",
  ].map((key): Row => [`T ${key}`, { [pointer]: [taint, { ...taint, key }] }, `Invalid ${field}[1].key`, taints]),
  ["T out of service", { [pointer]: [{ ...taint, key: "node.kubernetes.io/out-of-service" }] }, "", taints],
  ["T key", { [pointer]: [{ ...taint, key: "a".repeat(64) }] }, `Invalid ${field}[0].key`, taints],
  ["T also without the gate", { [pointer]: [{ ...taint, key: "node.kubernetes.io/x" }] }, `Forbidden ${field}; Invalid ${field}[0].key`],
];

/** What a MachineDeployment and a MachineSet have in common. */
const sharedRows = (mismatch: string): readonly Row[] => [
  ["valid", {}, ""],
  ["bootstrap", { "/spec/template/spec/bootstrap": {} }, "Required spec.template.spec.bootstrap"],
  ["bootstrap by reference", { "/spec/template/spec/bootstrap": { configRef: infrastructureRef } }, ""],
  [
    "selector: operator",
    { "/spec/selector": { matchExpressions: [{ key: "a", operator: "Is", values: ["b"] }] } },
    "Invalid spec.selector",
  ],
  ["selector: In needs values", { "/spec/selector": { matchExpressions: [{ key: "a", operator: "In" }] } }, "Invalid spec.selector"],
  [
    "selector: Exists has none",
    { "/spec/selector": { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
    "Invalid spec.selector",
  ],
  ["selector: key", { "/spec/selector": { matchLabels: { "a b": "c" } } }, "Invalid spec.selector"],
  ["selector matches", { "/spec/selector": { matchLabels: { x: "y" } } }, `${mismatch} spec.template.metadata.labels`],
  [
    "selector: NotIn",
    { "/spec/selector": { matchExpressions: [{ key: "a", operator: "NotIn", values: ["b"] }] } },
    `${mismatch} spec.template.metadata.labels`,
  ],
  ["preflight checks", skip("Nothing"), `Invalid metadata.annotations.${SKIP}`, preflight],
  ["preflight checks, known", skip(" All , KubeadmVersionSkew"), "", preflight],
  ["preflight checks, empty", skip(""), "", preflight],
  ["preflight checks, gate off", skip("Nothing"), ""],
  ["clusterName stays", { "/spec/clusterName": "x", "/spec/template/spec/clusterName": "x" }, "Forbidden spec.clusterName", { old: {} }],
  ["clusterName of the template", { "/spec/template/spec/clusterName": "x" }, "Invalid spec.clusterName"],
  ["version", { "/spec/template/spec/version": "v1.2" }, "Invalid spec.template.spec.version"],
  ["naming: random", { "/spec/machineNaming": { template: "a-{{.random}}" } }, "Invalid spec.machineNaming.template"],
  ["naming: unknown", { "/spec/machineNaming": { template: "{{ .random }}{{ .x }}" } }, "Invalid spec.machineNaming.template"],
  ["naming: a name", { "/spec/machineNaming": { template: "_{{ .random }}" } }, "Invalid spec.machineNaming.template"],
  ["naming", { "/spec/machineNaming": { template: "{{ .cluster.name }}-{{ .machineSet.name }}-{{ .random }}" } }, ""],
  ...taintRows("/spec/template/spec/taints", "spec.template.spec.taints"),
  ["TW", { "/spec/template/spec/taints": [{ ...taint, key: CONTROL_PLANE }] }, "Invalid spec.template.spec.taints[0].key", taints],
  ["metadata: labels", { "/spec/template/metadata/labels/a": "-" }, "Invalid spec.template.metadata.labels"],
  ["metadata: annotations", { "/spec/template/metadata/annotations": { "a/b/c": "" } }, "Invalid spec.template.metadata.annotations"],
  [
    "metadata: annotations' size",
    { "/spec/template/metadata/annotations": { a: "x".repeat(262_144) } },
    "TooLong spec.template.metadata.annotations",
  ],
  ["autoscaler: not a number", limits("x", "3"), "403"],
  ["autoscaler: not asked", { ...limits("x", "3"), "/spec/replicas": 1 }, ""],
  ["decoding", { "/spec/replicas": "3" }, "400"],
  ["decoding: 32 bits", { "/spec/replicas": 2 ** 31 }, "400"],
  ["a deletion", { "/spec/template/spec/bootstrap": {} }, "", { verb: "DELETE" }],
];

const NAME = "cluster.x-k8s.io/cluster-name";
const sharedDefaults: readonly DefaultRow[] = [
  ["label", { "/metadata/labels": { [NAME]: "x" } }, { "/metadata/labels/cluster.x-k8s.io~1cluster-name": "harbor" }],
  ["replicas", {}, { "/spec/replicas": 1 }],
  ["replicas, 0", { "/spec/replicas": 0 }, { "/spec/replicas": 0 }],
  ["replicas, created", limits("2", "5"), { "/spec/replicas": 2 }],
  ["replicas, too few before", limits("2", "5"), { "/spec/replicas": 2 }, { old: { "/spec/replicas": 1 } }],
  ["replicas, too many before", limits("2", "5"), { "/spec/replicas": 5 }, { old: { "/spec/replicas": 9 } }],
  ["replicas, as before", limits("2", "5"), { "/spec/replicas": 4 }, { old: { "/spec/replicas": 4 } }],
  ["version", { "/spec/template/spec/version": "1.33.0" }, { "/spec/template/spec/version": "v1.33.0" }],
  ["version, empty", { "/spec/template/spec/version": "" }, { "/spec/template/spec/version": "" }],
];

describe("MachineDeployment", () => {
  const base = object("MachineDeployment", workers);
  const rolling = (maxSurge: unknown, maxUnavailable: unknown, type = "RollingUpdate"): Changes => ({
    "/spec/rollout": { strategy: { type, rollingUpdate: { maxSurge, maxUnavailable } } },
  });
  const R = "spec.rollout.strategy.rollingUpdate";
  table(machineDeploymentRules, base, [
    ...sharedRows("Forbidden"),
    ["1 name", { "/metadata/name": "m".repeat(64) }, "Invalid metadata.name; Invalid spec.selector; Invalid spec.template.metadata.labels"],
    ["8 both 0", rolling(0, 0), `Invalid ${R}`],
    ["8 both 0, OnDelete", rolling(0, 0, "OnDelete"), `Invalid ${R}`],
    ["8 0 and 0%", rolling("0%", 0), ""],
    ["8 numbers", rolling("5", "x%"), `Invalid ${R}.maxSurge; Invalid ${R}.maxUnavailable`],
    ["8 any sign", rolling("-5%", "+150%"), ""],
    ["9 maxInFlight", { "/spec/remediation": { maxInFlight: "1" } }, "Invalid spec.remediation.maxInFlight"],
  ]);
  const DEPLOYMENT = "cluster.x-k8s.io~1deployment-name";
  defaultTable(machineDeploymentRules, base, [
    ...sharedDefaults,
    ["3 and 4", {}, { "/spec/rollout": { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } } }],
    [
      "4 each alone",
      { "/spec/rollout": { strategy: { rollingUpdate: { maxUnavailable: "20%" } } } },
      { "/spec/rollout/strategy/rollingUpdate": { maxUnavailable: "20%", maxSurge: 1 } },
    ],
    ["4 not OnDelete", { "/spec/rollout": { strategy: { type: "OnDelete" } } }, { "/spec/rollout": { strategy: { type: "OnDelete" } } }],
    ["5", {}, { [`/spec/selector/matchLabels/${DEPLOYMENT}`]: "m", [`/spec/template/metadata/labels/${DEPLOYMENT}`]: "m" }],
    [
      "5 not beside another",
      { "/spec/selector": { matchLabels: { a: "b" } } },
      { "/spec/selector": { matchLabels: { a: "b", [NAME]: "harbor" } } },
    ],
    [
      "6",
      { "/spec/template/metadata/labels/cluster.x-k8s.io~1cluster-name": "x" },
      { "/spec/template/metadata/labels/cluster.x-k8s.io~1cluster-name": "harbor" },
    ],
  ]);
});

describe("MachineSet", () => {
  const base = object("MachineSet", workers);
  table(machineSetRules, base, sharedRows("Invalid"));
  defaultTable(machineSetRules, base, [
    ...sharedDefaults,
    [
      "3",
      {},
      {
        "/spec/selector": { matchLabels: { "cluster.x-k8s.io/set-name": "m" } },
        "/spec/template/metadata/labels": { a: "b", "cluster.x-k8s.io/set-name": "m" },
      },
    ],
    [
      "3 a long name",
      { "/metadata/name": "m".repeat(64) },
      { "/spec/selector/matchLabels": { "cluster.x-k8s.io/set-name": "hash_NiQWhQ_z" } },
    ],
  ]);
});

describe("Machine", () => {
  const base = object("Machine", machineSpec);
  table(machineRules, base, [
    ["valid", {}, ""],
    ["1 bootstrap", { "/spec/bootstrap": {} }, "Required spec.bootstrap"],
    ["1 of a pool", { "/spec/bootstrap": {}, "/metadata/labels": { "cluster.x-k8s.io/pool-name": "p" } }, ""],
    ["2 clusterName stays", { "/spec/clusterName": "x" }, "Forbidden spec.clusterName", { old: {} }],
    ["3 version", { "/spec/version": "v1.33.0.1" }, "Invalid spec.version"],
    ...taintRows("/spec/taints", "spec.taints"),
    ["5 TW", { "/spec/taints": [{ ...taint, key: CONTROL_PLANE }] }, "Invalid spec.taints[0].key", taints],
    [
      "5 not of the control plane",
      { "/spec/taints": [{ ...taint, key: CONTROL_PLANE }], "/metadata/labels": { "cluster.x-k8s.io/control-plane": "" } },
      "",
      taints,
    ],
    ["version and references may change", { "/spec/version": "v1.34.0", "/spec/infrastructureRef/name": "y" }, "", { old: {} }],
  ]);
  const timeout = "/spec/deletion/nodeDeletionTimeoutSeconds";
  defaultTable(machineRules, base, [
    ["1 label", {}, { "/metadata/labels": { [NAME]: "harbor" } }],
    ["2 version", { "/spec/version": "1.33.0" }, { "/spec/version": "v1.33.0" }],
    ["3 deletion", {}, { [timeout]: 10 }],
    ["3 for ever", { "/spec/deletion": { nodeDeletionTimeoutSeconds: 0 } }, { [timeout]: 0 }],
  ]);
});

describe("MachineHealthCheck", () => {
  const base = object("MachineHealthCheck", { clusterName: "harbor", selector: { matchLabels: { a: "b" } } });
  table(machineHealthCheckRules, base, [
    ["valid", {}, ""],
    ["1 selector", { "/spec/selector/matchLabels/a": "-" }, "Invalid spec.selector"],
    ["2 not empty", { "/spec/selector": {} }, "Required spec.selector"],
    ["3 another cluster", { "/spec/selector/matchLabels/cluster.x-k8s.io~1cluster-name": "x" }, "Invalid spec.selector"],
    ["3 this cluster", { "/spec/selector/matchLabels/cluster.x-k8s.io~1cluster-name": "harbor" }, ""],
    ["4 clusterName stays", { "/spec/clusterName": "x" }, "Forbidden spec.clusterName", { old: {} }],
    ["5 too short", { "/spec/checks": { nodeStartupTimeoutSeconds: 29 } }, "Invalid spec.checks.nodeStartupTimeoutSeconds"],
    ["5 none", { "/spec/checks": { nodeStartupTimeoutSeconds: 0 } }, ""],
    [
      "6 number",
      { "/spec/remediation": { triggerIf: { unhealthyLessThanOrEqualTo: "5" } } },
      "Invalid spec.remediation.triggerIf.unhealthyLessThanOrEqualTo",
    ],
  ]);
  defaultTable(machineHealthCheckRules, base, [
    ["1 label", {}, { "/metadata/labels": { [NAME]: "harbor" } }],
    ["2 timeout", {}, { "/spec/checks": { nodeStartupTimeoutSeconds: 600 } }],
  ]);
});
