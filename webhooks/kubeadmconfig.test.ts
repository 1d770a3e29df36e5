// KubeadmConfig and its template: rule by rule, as spec/api/kubeadmconfig.md section 4 numbers them.
import { describe } from "@jest/globals";
import { kubeadmConfigRules, kubeadmConfigTemplateRules } from "./kubeadmconfig.ts";
import type { Draft } from "./rule-set.ts";
import { type Changes, defaultTable, type Row, table } from "./table.testing.ts";

const object = (kind: string, spec: object): Draft => ({
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind,
  metadata: { name: "k", namespace: "lab" },
  ...{ spec },
});
const IGNITION = { gates: ["KubeadmBootstrapFormatIgnition"] } as const;
const secret = (name: string, key: string) => ({ secret: { name, key } });

/** @param at pointer of the settings, @param b their path */
const rows = (at: string, b: string): readonly Row[] => {
  const spec = (fields: object): Changes => ({ [at]: fields });
  const ignition = (fields: object): Changes => spec({ format: "ignition", ...fields });
  return [
    ["valid", {}, ""],
    ["1 content once", spec({ files: [{ path: "a", content: "x", contentFrom: secret("n", "k") }] }), `Invalid ${b}.files[0]`],
    [
      "2 secret",
      spec({ files: [{ path: "a", contentFrom: secret("", "") }] }),
      `Required ${b}.files[0].contentFrom.secret.key; Required ${b}.files[0].contentFrom.secret.name`,
    ],
    ["3 path", spec({ files: [{ path: "a" }, { path: "b" }, { path: "a" }] }), `Invalid ${b}.files[2].path`],
    ["4 password once", spec({ users: [{ name: "u", passwd: "x", passwdFrom: secret("n", "k") }] }), `Invalid ${b}.users[0]`],
    ["5 secret", spec({ users: [{ name: "u", passwdFrom: secret("n", "") }] }), `Required ${b}.users[0].passwdFrom.secret.key`],
    ["6 gate", ignition({ ignition: {} }), `Forbidden ${b}.format; Forbidden ${b}.ignition`],
    ["6 then no more", ignition({ bootCommands: ["x"] }), `Forbidden ${b}.format`],
    ["7 settings of another format", spec({ format: "cloud-config", ignition: {} }), `Invalid ${b}.format`, IGNITION],
    ["8 valid", ignition({ ignition: {} }), "", IGNITION],
    ["8 inactive", ignition({ users: [{ name: "u", inactive: true }] }), `Forbidden ${b}.users[0].inactive`, IGNITION],
    [
      "8 gzip",
      ignition({
        files: [
          { path: "a", encoding: "gzip" },
          { path: "b", encoding: "gzip+base64" },
          { path: "c", encoding: "base64" },
        ],
      }),
      `Forbidden ${b}.files[0].encoding; Forbidden ${b}.files[1].encoding`,
      IGNITION,
    ],
    ["8 bootCommands", ignition({ bootCommands: ["x"] }), `Forbidden ${b}.bootCommands`, IGNITION],
    [
      "8 tables",
      ignition({ diskSetup: { partitions: [{ tableType: "mbr" }, { tableType: "gpt" }] } }),
      `Invalid ${b}.diskSetup.partitions[0].tableType`,
      IGNITION,
    ],
    [
      "8 file systems",
      ignition({ diskSetup: { filesystems: [{ replaceFS: "x", partition: "y" }] } }),
      `Forbidden ${b}.diskSetup.filesystems[0].partition; Forbidden ${b}.diskSetup.filesystems[0].replaceFS`,
      IGNITION,
    ],
    [
      "9 percentages",
      spec({ diskSetup: { partitions: [{ diskLayout: [{ percentage: 60 }, { percentage: 41 }] }] } }),
      `Invalid ${b}.diskSetup.partitions[0].diskLayout`,
    ],
    ["9 all of it", spec({ diskSetup: { partitions: [{ diskLayout: [{ percentage: 60 }, { percentage: 40 }] }] } }), ""],
    [
      "10 one way in",
      spec({ joinConfiguration: { discovery: { file: { kubeConfig: { user: { exec: {}, authProvider: {} } } } } } }),
      `Invalid ${b}.joinConfiguration.discovery.file.kubeconfig.user`,
    ],
    ["11 not here", spec({ initConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 5 } } }), ""],
  ];
};

describe("KubeadmConfig", () => {
  const base = object("KubeadmConfig", { verbosity: 1 });
  table(kubeadmConfigRules, base, rows("/spec", "spec"));
  table(
    kubeadmConfigRules,
    base,
    rows("/spec", "spec")
      .slice(0, 4)
      .map(([rule, changes, wanted]) => [`${rule}, on an update`, changes, wanted, { old: {} }]),
  );
});

describe("KubeadmConfigTemplate", () => {
  const base = object("KubeadmConfigTemplate", { template: { spec: { verbosity: 1 } } });
  table(kubeadmConfigTemplateRules, base, [
    ...rows("/spec/template/spec", "spec.template.spec"),
    ["metadata", { "/spec/template/metadata": { labels: { a: "-" } } }, "Invalid spec.template.metadata.labels"],
    ["may change", { "/spec/template/spec/verbosity": 2 }, "", { old: {} }],
  ]);
  const dryRun = { "/metadata/annotations": { "topology.cluster.x-k8s.io/dry-run": "" } };
  defaultTable(kubeadmConfigTemplateRules, base, [
    ["nothing", {}, { "/spec/template/spec": { verbosity: 1 } }],
    [
      "a topology's dry run",
      dryRun,
      {
        "/spec/template/spec/format": "cloud-config",
        "/spec/template/spec/joinConfiguration/nodeRegistration/imagePullPolicy": "IfNotPresent",
      },
      { dryRun: true },
    ],
    ["only a dry run", dryRun, { "/spec/template/spec/format": undefined }],
  ]);
});
