// KubeadmControlPlane, its scale and its template: rule by rule, as spec/api/kubeadmcontrolplane.md sections 4 and 8 number them.
import { describe } from "@jest/globals";
import { kubeadmControlPlaneRules, kubeadmControlPlaneScaleRules, kubeadmControlPlaneTemplateRules } from "./kubeadmcontrolplane.ts";
import type { Draft } from "./rule-set.ts";
import { type Changes, changed, defaultTable, type Row, table } from "./table.testing.ts";

const infrastructureRef = { apiGroup: "a.b", kind: "Thing", name: "x" };
const base: Draft = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmControlPlane",
  metadata: { name: "cp", namespace: "lab" },
  ...{
    spec: {
      version: "v1.33.4",
      machineTemplate: { spec: { infrastructureRef } },
      kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag: "v1.12.1" } } },
    },
  },
};
const external = { endpoints: ["https://e"] };
const taint = { key: "a", effect: "NoSchedule", propagation: "Always" };

/** V8 to V12: rollout and certificates. @param at pointer of the spec, @param b its path */
const rolloutRows = (at: string, b: string): readonly Row[] => {
  const surge = (maxSurge: unknown, more: Changes = {}): Changes => ({
    [`${at}/rollout`]: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge } } },
    ...more,
  });
  const cluster = `${at}/kubeadmConfigSpec/clusterConfiguration`;
  const S = `${b}.rollout.strategy.rollingUpdate`;
  const validity = `Invalid ${b}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`;
  return [
    ["V10 2", surge(2), `Required ${S}.maxSurge`],
    ["V10 text 2", surge("2"), `Required ${S}.maxSurge`],
    ["V10 text 1", surge("1"), ""],
    ["V11 longer than the CA", surge(1, { [`${cluster}/certificateValidityPeriodDays`]: 3651 }), validity],
    [
      "V11 a CA of its own",
      surge(1, { [`${cluster}/certificateValidityPeriodDays`]: 101, [`${cluster}/caCertificateValidityPeriodDays`]: 100 }),
      validity,
    ],
    ["V11 as long", surge(1, { [`${cluster}/certificateValidityPeriodDays`]: 3650 }), ""],
    [
      "V12 expiry",
      { ...surge(1, { [`${cluster}/certificateValidityPeriodDays`]: 30 }), [`${at}/rollout/before`]: { certificatesExpiryDays: 30 } },
      `Invalid ${b}.rollout.before.certificatesExpiryDays`,
    ],
    [
      "V12 sooner",
      { ...surge(1, { [`${cluster}/certificateValidityPeriodDays`]: 30 }), [`${at}/rollout/before`]: { certificatesExpiryDays: 29 } },
      "",
    ],
  ];
};

/** V5, V6, V13 to V18. */
const partRows = (at: string, b: string): readonly Row[] => {
  const cluster = `${at}/kubeadmConfigSpec/clusterConfiguration`;
  const C = `${b}.kubeadmConfigSpec.clusterConfiguration`;
  const timeouts = (init: object, join: object): Changes => ({
    [`${at}/kubeadmConfigSpec/initConfiguration`]: { timeouts: init },
    [`${at}/kubeadmConfigSpec/joinConfiguration`]: { timeouts: join },
  });
  const T = "timeouts.controlPlaneComponentHealthCheckSeconds";
  return [
    ["V5 gate", { [`${at}/machineTemplate/spec/taints`]: [taint] }, `Forbidden ${b}.machineTemplate.spec.taints`],
    [
      "V5 not TW",
      { [`${at}/machineTemplate/spec/taints`]: [{ ...taint, key: "node-role.kubernetes.io/control-plane" }] },
      "",
      { gates: ["MachineTaintPropagation", "ClusterTopology"] },
    ],
    ["V6 metadata", { [`${at}/machineTemplate/metadata`]: { labels: { a: "-" } } }, `Invalid ${b}.machineTemplate.metadata.labels`],
    ["V13 random", { [`${at}/machineNaming`]: { template: "a" } }, `Invalid ${b}.machineNaming.template`],
    ["V13 name", { [`${at}/machineNaming`]: { template: "{{ .kubeadmControlPlane.name }}-{{ .random }}" } }, ""],
    ["V14 and V15", { [`${cluster}/dns`]: { imageTag: "v1:2" } }, `Forbidden ${C}.dns.imageTag; Invalid dns.imageTag`],
    ["V15 no version", { [`${cluster}/dns`]: { imageTag: "latest" } }, "Invalid dns.imageTag"],
    ["V15 build", { [`${cluster}/dns`]: { imageTag: "v1.12.1_x.2" } }, ""],
    ["V16 etcd", { [`${cluster}/etcd`]: { local: { imageTag: "3/5" } } }, `Forbidden ${C}.etcd.local.imageTag`],
    ["V17 one etcd", { [`${cluster}/etcd`]: { local: { dataDir: "/x" }, external } }, `Forbidden ${C}.etcd.local`],
    ["V18 files", { [`${at}/kubeadmConfigSpec/files`]: [{ path: "a" }, { path: "a" }] }, `Invalid ${b}.kubeadmConfigSpec.files[1].path`],
    [
      "V18 timeouts",
      timeouts({ controlPlaneComponentHealthCheckSeconds: 0 }, {}),
      `Invalid ${b}.kubeadmConfigSpec.initConfiguration.${T}; Invalid ${b}.kubeadmConfigSpec.joinConfiguration.${T}`,
    ],
    ["V18 equal timeouts", timeouts({ controlPlaneComponentHealthCheckSeconds: 5 }, { controlPlaneComponentHealthCheckSeconds: 5 }), ""],
  ];
};

describe("KubeadmControlPlane", () => {
  const R = "Forbidden spec.replicas";
  const S = "Required spec.rollout.strategy.rollingUpdate";
  const zero = { strategy: { rollingUpdate: { maxSurge: 0 } } };
  table(kubeadmControlPlaneRules, base, [
    ["valid", {}, ""],
    ["V2 and V3 for 0", { "/spec/replicas": 0 }, `${R}; ${R}`],
    ["V2 negative and odd", { "/spec/replicas": -1 }, R],
    ["V3 even", { "/spec/replicas": 2 }, R],
    ["V3 with external etcd", { "/spec/replicas": 2, "/spec/kubeadmConfigSpec/clusterConfiguration/etcd": { external } }, ""],
    [
      "V4 reference",
      { "/spec/machineTemplate/spec/infrastructureRef": { kind: "x" } },
      "Invalid spec.machineTemplate.infrastructure.apiGroup; Invalid spec.machineTemplate.infrastructure.name",
    ],
    ["V7 version", { "/spec/version": "v1.33" }, "Invalid spec.version"],
    ["V7 a missing one", { "/spec/version": undefined }, "Invalid spec.version"],
    ["V9 surge 0 of 1", { "/spec/rollout": zero }, S],
    ["V9 surge 0 of 3", { "/spec/rollout": zero, "/spec/replicas": 3 }, ""],
    ["V9 a percentage reads as 0", { "/spec/rollout": { strategy: { rollingUpdate: { maxSurge: "100%" } } } }, S],
    ...rolloutRows("/spec", "spec"),
    ...partRows("/spec", "spec"),
  ]);
  defaultTable(kubeadmControlPlaneRules, base, [
    ["1", {}, { "/spec/replicas": 1 }],
    ["2", { "/spec/version": "1.33.4" }, { "/spec/version": "v1.33.4" }],
    ["3 and 4", {}, { "/spec/rollout": { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } }],
    ["3 whatever was sent", { "/spec/rollout": { strategy: { type: "OnDelete" } } }, { "/spec/rollout/strategy/type": "RollingUpdate" }],
    ["no label", {}, { "/metadata/labels": undefined }],
  ]);
});

// Values for fields that are not texts, so that they decode.
const SAMPLES: Readonly<Record<string, unknown>> = {
  "remediation/maxRetry": 3,
  "rollout/after": "2030-01-01T00:00:00Z",
  "machineTemplate/metadata/labels": { a: "b" },
  "machineTemplate/spec/deletion": { nodeDrainTimeoutSeconds: 3 },
  "kubeadmConfigSpec/files": [{ path: "a" }],
  "kubeadmConfigSpec/users": [{ name: "a" }],
  "kubeadmConfigSpec/format": "cloud-config",
  "kubeadmConfigSpec/mounts": [["a"]],
  "kubeadmConfigSpec/verbosity": 3,
  "kubeadmConfigSpec/ntp/enabled": true,
  "kubeadmConfigSpec/diskSetup/partitions": [],
  "kubeadmConfigSpec/clusterConfiguration/apiServer/certSANs": ["a"],
  "kubeadmConfigSpec/initConfiguration/skipPhases": ["a"],
  "kubeadmConfigSpec/joinConfiguration/bootstrapTokens": ["a"],
  paused: true,
};

describe("an update of a KubeadmControlPlane", () => {
  const K = "/spec/kubeadmConfigSpec";
  const C = `${K}/clusterConfiguration`;
  const dns = "Forbidden spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag";
  const tag = (imageTag: string): Changes => ({ [`${C}/dns/imageTag`]: imageTag });
  const allowed = [
    "replicas",
    "remediation/maxRetry",
    "machineNaming/template",
    "rollout/after",
    "machineTemplate/metadata/labels",
    "machineTemplate/spec/deletion",
    "kubeadmConfigSpec/files",
    "kubeadmConfigSpec/users",
    "kubeadmConfigSpec/format",
    "kubeadmConfigSpec/mounts",
    "kubeadmConfigSpec/verbosity",
    "kubeadmConfigSpec/ntp/enabled",
    "kubeadmConfigSpec/diskSetup/partitions",
    "kubeadmConfigSpec/clusterConfiguration/imageRepository",
    "kubeadmConfigSpec/clusterConfiguration/encryptionAlgorithm",
    "kubeadmConfigSpec/clusterConfiguration/featureGates/x",
    "kubeadmConfigSpec/clusterConfiguration/apiServer/certSANs",
    "kubeadmConfigSpec/initConfiguration/skipPhases",
    "kubeadmConfigSpec/initConfiguration/nodeRegistration/name",
    "kubeadmConfigSpec/initConfiguration/patches/directory",
    "kubeadmConfigSpec/joinConfiguration/caCertPath",
    "kubeadmConfigSpec/joinConfiguration/discovery/tlsBootstrapToken",
  ];
  const forbidden = [
    "paused",
    "machineTemplate/x",
    "kubeadmConfigSpec/x",
    "kubeadmConfigSpec/clusterConfiguration/controlPlaneEndpoint",
    "kubeadmConfigSpec/clusterConfiguration/certificatesDir",
    "kubeadmConfigSpec/clusterConfiguration/caCertificateValidityPeriodDays",
    "kubeadmConfigSpec/initConfiguration/x",
    "kubeadmConfigSpec/joinConfiguration/patches/x",
    "kubeadmConfigSpec/joinConfiguration/bootstrapTokens",
  ];
  const odd = (path: string): unknown =>
    path === "replicas"
      ? 3
      : path.endsWith("template")
        ? "{{ .random }}"
        : path.endsWith("Days")
          ? 5
          : path.endsWith("x")
            ? true
            : undefined;
  table(
    kubeadmControlPlaneRules,
    base,
    [
      ...allowed.map((path): Row => [`U1 ${path} may`, { [`/spec/${path}`]: odd(path) ?? SAMPLES[path] ?? "x" }, ""]),
      ...forbidden.map(
        (path): Row => [
          `U1 ${path} may not`,
          { [`/spec/${path}`]: odd(path) ?? SAMPLES[path] ?? "x" },
          `Forbidden spec.${path.replaceAll("/", ".")}`,
        ],
      ),
      ["U1 a part taken away", { [C]: undefined }, "Forbidden spec.kubeadmConfigSpec.clusterConfiguration"],
      [
        "U1 several",
        { "/spec/paused": true, [`${C}/certificatesDir`]: "/x" },
        "Forbidden spec.kubeadmConfigSpec.clusterConfiguration.certificatesDir; Forbidden spec.paused",
      ],
      ["U2 an old version that cannot be read", {}, "InternalError spec.version", { old: { "/spec/version": "vx" } }],
      ["U3 one minor", { "/spec/version": "v1.34.0" }, ""],
      ["U3 two minors", { "/spec/version": "v1.35.0" }, "Forbidden spec.version"],
      ["U3 a major", { "/spec/version": "v2.0.0" }, "Forbidden spec.version"],
      ["U3 down", { "/spec/version": "v1.30.0" }, ""],
      ["U4 to external etcd", { [`${C}/etcd`]: { external } }, "Forbidden spec.kubeadmConfigSpec.clusterConfiguration.etcd.external"],
      ["U5 an old tag that is none", {}, "Invalid spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag", { old: tag("latest") }],
      ["U6 forward", tag("v1.12.2"), ""],
      ["U6 the same", tag("v1.12.1_x"), ""],
      ["U6 back", tag("v1.11.1"), dns],
      ["U6 unknown", tag("v1.99.0"), dns],
      ["U6 by hand", { ...tag("v1.99.0"), "/metadata/annotations": { "controlplane.cluster.x-k8s.io/skip-coredns": "" } }, ""],
    ],
    { old: {} },
  );
});

describe("scale of a KubeadmControlPlane", () => {
  const scale: Draft = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "cp", namespace: "lab" }, spec: { replicas: 3 } };
  const ofExternal = changed(base, { "/spec/kubeadmConfigSpec/clusterConfiguration/etcd": { external } });
  table(
    kubeadmControlPlaneScaleRules,
    scale,
    [
      ["odd", {}, ""],
      ["even", { "/spec/replicas": 4 }, "403"],
      ["even with external etcd", { "/spec/replicas": 4 }, "", { world: [ofExternal] }],
      ["none", { "/spec/replicas": 0 }, "403", { world: [ofExternal] }],
      ["unreadable", {}, "500", { world: [] }],
    ],
    { world: [base], old: {} },
  );
});

describe("KubeadmControlPlaneTemplate", () => {
  const template: Draft = {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlaneTemplate",
    metadata: { name: "t", namespace: "lab" },
    spec: { template: { spec: { kubeadmConfigSpec: { verbosity: 1 } } } },
  };
  const S = "/spec/template/spec";
  const gates = { gates: ["ClusterTopology"] } as const;
  table(
    kubeadmControlPlaneTemplateRules,
    template,
    [
      ["valid", {}, ""],
      ["gate", {}, "403", { gates: [] }],
      [
        "V8 type",
        { [`${S}/rollout`]: { strategy: { rollingUpdate: { maxSurge: 1 } } } },
        "Required spec.template.spec.rollout.strategy.type",
      ],
      ["V9 never", { [`${S}/rollout`]: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } } }, ""],
      ["V11 not without a strategy", { [`${S}/kubeadmConfigSpec/clusterConfiguration`]: { certificateValidityPeriodDays: 9999 } }, ""],
      ...rolloutRows(S, "spec.template.spec"),
      ...partRows(S, "spec.template.spec"),
      ["metadata", { "/spec/template/metadata": { labels: { a: "-" } } }, "Invalid spec.template.metadata.labels"],
    ],
    gates,
  );
  const strategy = (maxSurge: unknown): Changes => ({
    [`${S}/rollout`]: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge } } },
  });
  table(
    kubeadmControlPlaneTemplateRules,
    template,
    [
      ["immutable", { [`${S}/kubeadmConfigSpec/verbosity`]: 2 }, "Invalid spec.template.spec"],
      ["metadata may change", { "/spec/template/metadata": { labels: { a: "-" } } }, ""],
      ["an old default is no change", { [`${S}/kubeadmConfigSpec/format`]: "cloud-config" }, ""],
      ["another value is", { [`${S}/kubeadmConfigSpec/format`]: "ignition" }, "Invalid spec.template.spec"],
      ["an old default of the strategy", {}, "", { old: strategy(1) }],
      ["another strategy", {}, "Invalid spec.template.spec", { old: strategy(0) }],
    ],
    { ...gates, old: {} },
  );
});
