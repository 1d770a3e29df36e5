// ClusterClass: rule by rule, as spec/api/clusterclass.md section 5 numbers them. Not here: variables, patches (their own tests).
import { describe } from "@jest/globals";
import type { KubeObject } from "../api/meta/object.ts";
import { clusterClassRules } from "./clusterclass.ts";
import { changed, table } from "./table.testing.ts";
import { aCluster, aClass } from "./clusterclass.testing.ts";

const ON = { gates: ["ClusterTopology", "RuntimeSDK"] } as const;
const MD = "/spec/workers/machineDeployments/0";
const md = "spec.workers.machineDeployments";
const MAX = "/metadata/annotations/cluster.x-k8s.io~1cluster-api-autoscaler-node-group-max-size";
const taint = { key: "a", effect: "NoSchedule", propagation: "Always" };
const pool = {
  class: "p",
  bootstrap: { templateRef: { apiVersion: "a.b/v1", kind: "BootTemplate", name: "b" } },
  infrastructure: { templateRef: { apiVersion: "a.b/v1", kind: "PoolTemplate", name: "i" } },
};

describe("ClusterClass", () => {
  table(
    clusterClassRules,
    aClass,
    [
      ["valid", {}, ""],
      ["gate", {}, "403", { gates: [] }],
      ["1 name", { "/spec/infrastructure/templateRef/name": "" }, "Required spec.infrastructure.ref.name"],
      ["1 kind is a template", { "/spec/controlPlane/templateRef/kind": "Thing" }, "Invalid spec.controlPlane.ref.kind"],
      ["1 kind is more than the suffix", { "/spec/controlPlane/templateRef/kind": "Template" }, "Invalid spec.controlPlane.ref.kind"],
      ["1 apiVersion", { "/spec/infrastructure/templateRef/apiVersion": "" }, "Required spec.infrastructure.ref.apiVersion"],
      ["1 apiVersion parses", { "/spec/infrastructure/templateRef/apiVersion": "a/b/c" }, "Invalid spec.infrastructure.ref.apiVersion"],
      [
        "1 machines of the control plane",
        { "/spec/controlPlane/machineInfrastructure/templateRef/name": "" },
        "Required spec.controlPlane.machineInfrastructure.ref.name",
      ],
      ["1 workers' bootstrap", { [`${MD}/bootstrap/templateRef/name`]: "" }, `Required ${md}[0].template.bootstrap.ref.name`],
      ["1 workers' machines", { [`${MD}/infrastructure/templateRef/kind`]: "X" }, `Invalid ${md}[0].template.infrastructure.ref.kind`],
      [
        "1 pools",
        { "/spec/workers/machinePools": [{ ...pool, class: "x", bootstrap: {} }] },
        [
          "Invalid spec.workers.machinePools[0].template.bootstrap.ref.kind",
          "Required spec.workers.machinePools[0].template.bootstrap.ref.apiVersion",
          "Required spec.workers.machinePools[0].template.bootstrap.ref.name",
        ].join("; "),
      ],
      ["2 classes are unique", { [`${MD}/class`]: "edge" }, `Invalid ${md}[1].class`],
      ["2 pools too", { "/spec/workers/machinePools": [pool, pool] }, "Invalid spec.workers.machinePools[1].class"],
      ["2 a pool may share a name", { "/spec/workers/machinePools": [{ ...pool, class: "general" }] }, ""],
      [
        "3 both zero",
        { [`${MD}/rollout`]: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
        `Invalid ${md}[general].rollout.strategy.rollingUpdate`,
      ],
      [
        "3 numbers",
        { [`${MD}/rollout`]: { strategy: { rollingUpdate: { maxSurge: "5" } } } },
        `Invalid ${md}[general].rollout.strategy.rollingUpdate.maxSurge`,
      ],
      [
        "4 numbers",
        { "/spec/controlPlane/healthCheck": { checks: { nodeStartupTimeoutSeconds: 29 } } },
        "Invalid spec.controlPlane.healthCheck.checks.nodeStartupTimeoutSeconds",
      ],
      [
        "4 numbers of remediation",
        { "/spec/controlPlane/healthCheck": { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "5" } } } },
        "Invalid spec.controlPlane.healthCheck.remediation.triggerIf.unhealthyLessThanOrEqualTo",
      ],
      [
        "4 needs machines",
        {
          "/spec/controlPlane/healthCheck": { checks: { nodeStartupTimeoutSeconds: 0 } },
          "/spec/controlPlane/machineInfrastructure": undefined,
        },
        "Forbidden spec.controlPlane.healthCheck",
      ],
      [
        "5 numbers",
        { [`${MD}/healthCheck`]: { checks: { nodeStartupTimeoutSeconds: 1 }, remediation: { maxInFlight: "x" } } },
        `Invalid ${md}[general].healthCheck.checks.nodeStartupTimeoutSeconds; Invalid ${md}[general].healthCheck.remediation.maxInFlight`,
      ],
      ["6 infrastructure", { "/spec/infrastructure/naming": { template: "{{ .x }}" } }, "Invalid spec.infrastructure.naming.template"],
      ["6 control plane", { "/spec/controlPlane/naming": { template: "A-{{ .random }}" } }, "Invalid spec.controlPlane.naming.template"],
      ["6 workers", { [`${MD}/naming`]: { template: "{{ .machinePool.topologyName }}" } }, `Invalid ${md}[general].naming.template`],
      ["6 no random part is needed", { [`${MD}/naming`]: { template: "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}" } }, ""],
      ["7 control plane", { "/spec/controlPlane/taints": [taint] }, "Forbidden spec.controlPlane.taints"],
      ["7 workers", { [`${MD}/taints`]: [taint] }, `Forbidden ${md}[general].taints`],
      [
        "7 with the gate",
        { [`${MD}/taints`]: [{ ...taint, key: "node-role.kubernetes.io/master" }] },
        `Invalid ${md}[general].taints[0].key`,
        { gates: ["ClusterTopology", "MachineTaintPropagation"] },
      ],
      ["10 control plane", { "/spec/controlPlane/metadata": { labels: { a: "-" } } }, "Invalid spec.controlPlane.metadata.labels"],
      ["10 workers", { [`${MD}/metadata`]: { annotations: { "a b": "" } } }, `Invalid ${md}[general].template.metadata.annotations`],
      ["11 parses", { "/spec/kubernetesVersions": ["v1.33.0", "next"] }, "Invalid spec.kubernetesVersion[1]"],
      ["11 rises", { "/spec/kubernetesVersions": ["v1.33.1", "v1.33.0"] }, "Invalid spec.kubernetesVersion[1]"],
      ["11 no gap", { "/spec/kubernetesVersions": ["v1.33.0", "v1.35.0"] }, "Invalid spec.kubernetesVersion[1]"],
      [
        "11 both",
        { "/spec/kubernetesVersions": ["v1.33.0", "v1.31.0"] },
        "Invalid spec.kubernetesVersion[1]; Invalid spec.kubernetesVersion[1]",
      ],
      ["11 tolerant", { "/spec/kubernetesVersions": ["1.33", "v1.34.0-rc.1", "v1.34.0"] }, ""],
      ["11 build tags", { "/spec/kubernetesVersions": ["v1.33.0+a.2", "v1.33.0+a.1"] }, "Invalid spec.kubernetesVersion[1]"],
      ["11 tags without order", { "/spec/kubernetesVersions": ["v1.33.0+abc", "v1.33.0+abb"] }, ""],
    ],
    ON,
  );
});

describe("an update of a ClusterClass", () => {
  const other = (kind: string) => ({ apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind, name: "other" });
  table(
    clusterClassRules,
    aClass,
    [
      [
        "12 infrastructure's kind",
        { "/spec/infrastructure/templateRef": other("OtherTemplate") },
        "Forbidden spec.infrastructure.templateRef.kind",
      ],
      [
        "12 control plane's group",
        { "/spec/controlPlane/templateRef/apiVersion": "a.b/v1beta2" },
        "Forbidden spec.controlPlane.templateRef.apiVersion",
      ],
      [
        "12 versions and names may change",
        { "/spec/infrastructure/templateRef": { ...other("DevClusterTemplate"), apiVersion: "infrastructure.cluster.x-k8s.io/v1" } },
        "",
      ],
      [
        "12 machines taken away",
        { "/spec/controlPlane/machineInfrastructure": undefined },
        "Forbidden spec.controlPlane.machineInfrastructure.templateRef.apiVersion; Forbidden spec.controlPlane.machineInfrastructure.templateRef.kind",
      ],
      [
        "12 workers' kind",
        { [`${MD}/infrastructure/templateRef/kind`]: "OtherTemplate" },
        `Forbidden ${md}[0].infrastructure.templateRef.kind`,
      ],
      ["12 workers' bootstrap may change", { [`${MD}/bootstrap/templateRef`]: { apiVersion: "x.y/v1", kind: "ATemplate", name: "n" } }, ""],
      ["12 a new class", { [`${MD}/class`]: "new" }, ""],
    ],
    { ...ON, old: {} },
  );
});

describe("an update of a ClusterClass that is used", () => {
  const world: readonly KubeObject[] = [
    aCluster,
    // In another namespace; another class of the same name is none of it.
    changed(aCluster, {
      "/metadata/namespace": "far",
      "/metadata/name": "far",
      "/spec/topology/classRef/namespace": "lab",
      "/spec/topology/version": "v1.34.0",
    }),
    changed(aCluster, { "/metadata/namespace": "else", "/spec/topology/version": "v1.1.0" }),
  ];
  const needs = changed(aCluster, {
    "/spec/topology/controlPlane": { healthCheck: { enabled: true } },
    "/spec/topology/workers/machineDeployments/0/healthCheck": { enabled: true },
  });
  const check = { checks: { nodeStartupTimeoutSeconds: 60 } };
  const checked = { "/spec/controlPlane/healthCheck": check, [`${MD}/healthCheck`]: check };
  table(
    clusterClassRules,
    aClass,
    [
      ["13 versions in use stay", { "/spec/kubernetesVersions": ["v1.33.4"] }, "Forbidden spec.kubernetesVersions"],
      [
        "13 none for several",
        { "/spec/kubernetesVersions": ["v1.32.0"] },
        "Forbidden spec.kubernetesVersions; Forbidden spec.kubernetesVersions",
      ],
      ["13 literally", { "/spec/kubernetesVersions": ["v1.33.4", "1.34.0"] }, "Forbidden spec.kubernetesVersions"],
      ["13 all there", { "/spec/kubernetesVersions": ["v1.33.4", "v1.34.0"] }, ""],
      ["14 a class in use stays", { [`${MD}/class`]: "renamed" }, `Forbidden ${md}; Forbidden ${md}`],
      ["14 others may go", { "/spec/workers/machineDeployments/1/class": "renamed" }, ""],
      [
        "15 health checks in use stay",
        {},
        `Forbidden spec.controlPlane.healthCheck; Forbidden ${md}[general].healthCheck`,
        { old: checked, world: [needs] },
      ],
      ["15 not in use", {}, "", { old: checked }],
      [
        "16 autoscaler and replicas",
        { [`${MD}${MAX}`]: "3" },
        "Invalid spec.topology.workers.machineDeployments[a].replicas",
        { world: [changed(aCluster, { "/spec/topology/workers/machineDeployments/0/replicas": 2 })] },
      ],
    ],
    { ...ON, old: {}, world },
  );
  table(clusterClassRules, aClass, [
    ["deletion", {}, "403", { verb: "DELETE", world }],
    ["deletion of an unused one", {}, "", { verb: "DELETE", world: world.slice(2) }],
  ]);
});
