// Cluster: rule by rule, as spec/api/cluster.md section 5 numbers them. Not here: variables (cluster-variables.test.ts).
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../api/meta/object.ts";
import { clusterRules } from "./cluster.ts";
import { aClass, aCluster } from "./clusterclass.testing.ts";
import { type Changes, changed, defaultTable, judge, type Row, table } from "./table.testing.ts";

const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevCluster", name: "x" };
const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "cp" };
const byHand = changed(aCluster, { "/spec": { infrastructureRef } });
const T = "spec.topology";
const MD = "/spec/topology/workers/machineDeployments/0";
const md = `${T}.workers.machineDeployments[a]`;
const taint = { key: "a", effect: "NoSchedule", propagation: "Always" };
const cidr = (block: string): Changes => ({ "/spec/clusterNetwork": { pods: { cidrBlocks: [block] } } });

describe("Cluster", () => {
  table(clusterRules, byHand, [
    ["valid", {}, ""],
    ["1 name's length", { "/metadata/name": "a".repeat(64) }, "Invalid metadata.name"],
    ["2 infrastructureRef stays", { "/spec": { controlPlaneRef } }, "Forbidden spec.infrastructureRef", { old: {} }],
    ["2 may change", { "/spec/infrastructureRef/name": "y" }, "", { old: {} }],
    ["3 something", { "/spec": { paused: true } }, "Forbidden spec"],
    ["4 controlPlaneRef stays", {}, "Forbidden spec.controlPlaneRef", { old: { "/spec/controlPlaneRef": controlPlaneRef } }],
    ["5 IPv4", cidr("10.0.0.0/8"), ""],
    ["5 IPv6", cidr("fd00::/108"), ""],
    ["5 IPv6, whole", cidr("1:2:3:4:5:6:7:8/128"), ""],
    ["5 no length", cidr("10.0.0.0"), "Invalid spec.clusterNetwork.pods.cidrBlocks[0]"],
    ["5 leading zero", cidr("10.01.0.0/8"), "Invalid spec.clusterNetwork.pods.cidrBlocks[0]"],
    ["5 too long", cidr("10.0.0.0/33"), "Invalid spec.clusterNetwork.pods.cidrBlocks[0]"],
    ["5 IPv6, too long", cidr("fd00::/129"), "Invalid spec.clusterNetwork.pods.cidrBlocks[0]"],
    [
      "5 services",
      { "/spec/clusterNetwork": { services: { cidrBlocks: ["10.0.0.0/8", "x/1"] } } },
      "Invalid spec.clusterNetwork.services.cidrBlocks[1]",
    ],
    ["7 topology stays", {}, "Forbidden spec.topology", { old: { "/spec": aCluster.spec } }],
    ["an empty topology is none", { "/spec/topology": {} }, ""],
    ["a deletion", { "/metadata/name": "a".repeat(64) }, "", { verb: "DELETE" }],
  ]);
});

const ready = { type: "VariablesReady", status: "True" };
const known = changed(aClass, { "/status": { observedGeneration: 2, conditions: [ready] } });
const gates = ["ClusterTopology"] as const;
const check = { checks: { nodeStartupTimeoutSeconds: 60 } };
const withClass = (changes: Changes): readonly KubeObject[] => [changed(known, changes)];

describe("the topology of a Cluster", () => {
  table(
    clusterRules,
    aCluster,
    [
      ["valid", {}, ""],
      [
        "T1 gate",
        { "/metadata/annotations/topology.cluster.x-k8s.io~1upgrade-concurrency": "x" },
        "Forbidden spec.topology",
        { gates: [] },
      ],
      ["T2 class, by the defaults", { "/spec/topology/classRef/name": "" }, "Required spec.topology.classRef.name"],
      ["T3 three numbers", { "/spec/topology/version": "v1.33" }, `Invalid ${T}.version`],
      ["T3 leading zeros", { "/spec/topology/version": "v1.033.0" }, `Invalid ${T}.version`],
      [
        "T4 control plane",
        { "/spec/topology/controlPlane": { metadata: { labels: { "a/b/c": "" } } } },
        `Invalid ${T}.controlPlane.metadata.labels`,
      ],
      ["T4 workers", { [`${MD}/metadata`]: { labels: { a: "x".repeat(64) } } }, `Invalid ${md}.metadata.labels`],
      [
        "T4 pools",
        { "/spec/topology/workers/machinePools": [{ class: "p", name: "q", metadata: { annotations: { "": "" } } }] },
        [
          `Invalid ${T}.workers.machinePools[0].class`,
          `Invalid ${T}.workers.machinePools[q].metadata.annotations`,
          `Invalid ${T}.workers.machinePools[q].metadata.annotations`,
        ].join("; "),
      ],
      [
        "T5 both zero",
        { [`${MD}/rollout`]: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
        `Invalid ${md}.rollout.strategy.rollingUpdate`,
      ],
      [
        "T6 gate",
        { [`${MD}/taints`]: [taint], "/spec/topology/controlPlane": { taints: [taint] } },
        `Forbidden ${T}.controlPlane.taints; Forbidden ${md}.taints`,
      ],
      [
        "T6 no rule TW here",
        { [`${MD}/taints`]: [{ ...taint, key: "node-role.kubernetes.io/control-plane" }] },
        "",
        { gates: ["ClusterTopology", "MachineTaintPropagation"] },
      ],
      ...["0", "-1", "x", "", "1.5"].map(
        (text): Row => [
          `T7 ${JSON.stringify(text)}`,
          { "/metadata/annotations": { "topology.cluster.x-k8s.io/upgrade-concurrency": text } },
          "Invalid metadata.annotations.topology.cluster.x-k8s.io/upgrade-concurrency",
        ],
      ),
      ["T7 a number", { "/metadata/annotations": { "topology.cluster.x-k8s.io/upgrade-concurrency": "12" } }, ""],
      ["T8 no class", { [`${MD}/class`]: "other" }, "", { world: [] }],
      ["T9 version of the class", {}, `Invalid ${T}.version`, { world: withClass({ "/spec/kubernetesVersions": ["v1.33.5"] }) }],
      ["T9 literally", { "/spec/topology/version": "1.33.4" }, "", { world: withClass({ "/spec/kubernetesVersions": ["v1.33.4"] }) }],
      ["T10 class of workers", { [`${MD}/class`]: "other" }, `Invalid ${T}.workers.machineDeployments[0].class`],
      [
        "T10 also when not reconciled",
        { [`${MD}/class`]: "other" },
        `Invalid ${T}.workers.machineDeployments[0].class`,
        { world: [aClass] },
      ],
      ["T11 names", { [`${MD}/name`]: "" }, `Required ${T}.workers.machineDeployments[0].name`],
      [
        "T11 unique",
        {
          "/spec/topology/workers/machineDeployments": [
            { class: "general", name: "a" },
            { class: "edge", name: "a" },
          ],
        },
        `Invalid ${T}.workers.machineDeployments[1].name`,
      ],
      [
        "T12 machines of the control plane",
        { "/spec/topology/controlPlane": { healthCheck: check } },
        `Forbidden ${T}.controlPlane.healthCheck`,
        { world: withClass({ "/spec/controlPlane/machineInfrastructure": undefined }) },
      ],
      [
        "T13 numbers",
        {
          [`${MD}/healthCheck`]: {
            checks: { nodeStartupTimeoutSeconds: 5 },
            remediation: { maxInFlight: "5", triggerIf: { unhealthyLessThanOrEqualTo: "a" } },
          },
        },
        [
          `Invalid ${md}.healthCheck.checks.nodeStartupTimeoutSeconds`,
          `Invalid ${md}.healthCheck.remediation.maxInFlight`,
          `Invalid ${md}.healthCheck.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
        ].join("; "),
      ],
      ["T13 needs the class", { [`${MD}/healthCheck`]: { checks: { nodeStartupTimeoutSeconds: 5 } } }, "", { world: [] }],
      [
        "T14 defined nowhere",
        { "/spec/topology/controlPlane": { healthCheck: { enabled: true } }, [`${MD}/healthCheck`]: { enabled: true } },
        `Forbidden ${T}.controlPlane.healthCheck.enable; Forbidden ${md}.healthCheck.enable`,
      ],
      [
        "T14 defined in the class",
        { [`${MD}/healthCheck`]: { enabled: true } },
        "",
        { world: withClass({ "/spec/workers/machineDeployments/0/healthCheck": check }) },
      ],
      ["T14 off", { [`${MD}/healthCheck`]: { enabled: false } }, ""],
      [
        "T15 own annotation",
        {
          [`${MD}/replicas`]: 0,
          [`${MD}/metadata`]: { annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1" } },
        },
        `Invalid ${md}.replicas`,
      ],
      [
        "T15 the class's",
        { [`${MD}/replicas`]: 3 },
        `Invalid ${md}.replicas`,
        {
          world: withClass({
            "/spec/workers/machineDeployments/0/metadata": {
              annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "1" },
            },
          }),
        },
      ],
      [
        "T15 both",
        {
          [`${MD}/replicas`]: 3,
          [`${MD}/metadata`]: { annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1" } },
        },
        `Invalid ${md}.replicas; Invalid ${md}.replicas`,
        {
          world: withClass({
            "/spec/workers/machineDeployments/0/metadata": {
              annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "1" },
            },
          }),
        },
      ],
      [
        "a class of another namespace",
        { "/spec/topology/classRef/namespace": "far", [`${MD}/class`]: "x" },
        `Invalid ${T}.workers.machineDeployments[0].class`,
        { world: withClass({ "/metadata/namespace": "far" }) },
      ],
    ],
    { gates, world: [known] },
  );
  defaultTable(
    clusterRules,
    aCluster,
    [
      ["1 prefix", { "/spec/topology/version": "1.33.4" }, { "/spec/topology/version": "v1.33.4" }],
      ["1 there already", {}, { "/spec/topology/version": "v1.33.4" }],
    ],
    { gates, world: [known] },
  );
  it("warns when the class is absent, and when it is not reconciled", () => {
    expect(judge(clusterRules, aCluster, {}, { gates, world: [] }).warnings).toEqual([expect.stringContaining("does not exist")]);
    expect(judge(clusterRules, aCluster, {}, { gates, world: [aClass] }).warnings).toEqual([expect.stringContaining("not reconciled")]);
    expect(judge(clusterRules, aCluster, {}, { gates, world: [known] }).warnings).toEqual([]);
  });
});

describe("an update of a topology", () => {
  const status = { version: "v1.33.4", versions: [{ version: "v1.33.4", replicas: 1 }] };
  const controlPlane: KubeObject = {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { name: "cp", namespace: "lab" },
    ...{ spec: { version: "v1.33.4" }, status },
  };
  const labels = { "cluster.x-k8s.io/cluster-name": "harbor", "topology.cluster.x-k8s.io/owned": "" };
  const workers: KubeObject = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: { name: "w", namespace: "lab", labels },
    ...{ spec: { selector: { matchLabels: { set: "w" } }, template: { spec: { version: "v1.33.4" } } } },
  };
  const machine: KubeObject = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name: "m", namespace: "lab", labels: { "cluster.x-k8s.io/cluster-name": "harbor", set: "w" } },
    ...{ spec: { version: "v1.33.4" }, status: { nodeInfo: { kubeletVersion: "v1.33.4" } } },
  };
  const base = changed(aCluster, { "/spec/controlPlaneRef": controlPlaneRef });
  const to = (version: string, more: Changes = {}): Changes => ({ "/spec/topology/version": version, ...more });
  const settled = [known, controlPlane, workers, machine];
  const within = (...others: readonly KubeObject[]) => ({ world: [known, ...others] });
  const unsafe = (name: string): Changes => ({ "/metadata/annotations": { [`unsafe.topology.cluster.x-k8s.io/${name}`]: "" } });
  const V = `Invalid ${T}.version`;
  const rebase = (changes: Changes) => ({ world: [...settled, changed(known, { "/metadata/name": "next", ...changes })] });
  const next = { "/spec/topology/classRef/name": "next" };
  table(
    clusterRules,
    base,
    [
      ["U1 class must be there", {}, `InternalError ${T}.class`, { world: [] }],
      ["U2 a topology is not added", {}, `Forbidden ${T}.class`, { old: { "/spec": { controlPlaneRef } } }],
      ["U2 but with the annotation", unsafe("disable-update-class-name-check"), "", { old: { "/spec": { controlPlaneRef } } }],
      ["U4 unchecked", to("v1.30.0", unsafe("disable-update-version-check")), ""],
      ["U5 the same", to("1.33.4"), "", within()],
      ["U6 down", to("v1.33.3"), V],
      ["U6 a pre-release of the same", to("v1.33.4-rc.1"), ""],
      ["U7 one minor", to("v1.34.9"), ""],
      ["U7 two minors", to("v1.35.0"), V],
      ["U7 a major", to("v2.0.0"), V],
      [
        "U7 not with versions in the class",
        to("v1.36.0"),
        "",
        { world: [changed(known, { "/spec/kubernetesVersions": ["v1.36.0"] }), controlPlane] },
      ],
      [
        "U7 not with an extension",
        to("v1.36.0"),
        "",
        { world: [changed(known, { "/spec/upgrade": { external: { generateUpgradePlanExtension: "x" } } }), controlPlane] },
      ],
      [
        "U8 hook",
        to("v1.33.5", { "/metadata/annotations": { "runtime.cluster.x-k8s.io/pending-hooks": "Other, AfterClusterUpgrade" } }),
        V,
      ],
      ["U8 other hooks", to("v1.33.5", { "/metadata/annotations": { "runtime.cluster.x-k8s.io/pending-hooks": "Other" } }), ""],
      ["U9 no control plane", to("v1.33.5"), V, within()],
      ["U9 control plane not told", to("v1.33.5"), V, within(changed(controlPlane, { "/spec/version": "v1.33.3" }))],
      ["U9 control plane being created", to("v1.33.5"), V, within(changed(controlPlane, { "/status": {} }))],
      ["U9 control plane behind", to("v1.33.5"), V, within(changed(controlPlane, { "/status/versions/0/version": "v1.33.3" }))],
      ["U9 without a list of versions", to("v1.33.5"), "", within(changed(controlPlane, { "/status/versions": undefined }))],
      [
        "U9 another build",
        to("v1.33.5"),
        V,
        {
          old: to("v1.33.4+b"),
          world: [known, changed(controlPlane, { "/spec/version": "v1.33.4+b", "/status/versions/0/version": "v1.33.4+a" })],
        },
      ],
      ["U9 workers behind", to("v1.33.5"), V, within(controlPlane, changed(workers, { "/spec/template/spec/version": "v1.33.3" }))],
      ["U9 a machine behind", to("v1.33.5"), V, within(controlPlane, workers, changed(machine, { "/spec/version": "v1.33.3" }))],
      [
        "U9 an in-place update not finished",
        to("v1.33.5"),
        V,
        within(controlPlane, workers, changed(machine, { "/status/nodeInfo/kubeletVersion": "v1.33.3" })),
      ],
      ["U9 a kubelet not heard of", to("v1.33.5"), "", within(controlPlane, workers, changed(machine, { "/status": {} }))],
      [
        "U9 machines of others",
        to("v1.33.5"),
        "",
        within(controlPlane, workers, changed(machine, { "/spec/version": "v1.33.3", "/metadata/labels/set": "x" })),
      ],
      [
        "U9 workers outside the topology",
        to("v1.33.5"),
        "",
        within(
          controlPlane,
          changed(workers, { "/spec/template/spec/version": "v1.1.1", "/metadata/labels/topology.cluster.x-k8s.io~1owned": undefined }),
        ),
      ],
      ["U10 the class left is gone", {}, `Forbidden ${T}.class`, { old: { "/spec/topology/classRef/name": "gone" } }],
      ["U11 compatible", next, "", rebase({ "/spec/infrastructure/templateRef/name": "n" })],
      [
        "U11 not compatible",
        next,
        "Forbidden spec.infrastructure.templateRef.kind",
        rebase({ "/spec/infrastructure/templateRef/kind": "XTemplate" }),
      ],
    ],
    { gates, world: settled, old: {} },
  );
  it("says that the version is not checked", () => {
    const { warnings } = judge(clusterRules, base, to("v1.30.0", unsafe("disable-update-version-check")), {
      gates,
      world: settled,
      old: {},
    });
    expect(warnings).toEqual([expect.stringContaining("not checked")]);
  });
});
