// DevCluster, DevMachine and their templates: rule by rule, as spec/api/devcluster.md and devmachine.md have them.
import { describe } from "@jest/globals";
import { devClusterRules, devClusterTemplateRules, devMachineRules, devMachineTemplateRules } from "./dev.ts";
import type { Draft } from "./rule-set.ts";
import { type Changes, changed, defaultTable, table } from "./table.testing.ts";

const object = (kind: string, spec?: object): Draft => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind,
  metadata: { name: "d", namespace: "lab" },
  ...(spec ? { spec } : {}),
});
const domains = (...names: readonly string[]) => ({ backend: { docker: { failureDomains: names.map((name) => ({ name })) } } });
const DOMAINS = "Invalid spec.backend.docker.failureDomains";

describe("DevCluster", () => {
  const base = object("DevCluster");
  table(devClusterRules, base, [
    ["valid", {}, ""],
    ["1 sorted", { "/spec": domains("a", "b") }, ""],
    ["1 not sorted", { "/spec": domains("b", "a") }, DOMAINS],
    ["1 by bytes", { "/spec": domains("a", "B") }, DOMAINS],
    ["the backend may change", { "/spec": { backend: { inMemory: {} } } }, "", { old: {} }],
  ]);
  defaultTable(devClusterRules, base, [
    ["1 and 2", {}, { "/spec": { backend: { docker: { loadBalancer: {} } }, controlPlaneEndpoint: { port: 6443 } } }],
    ["2 a port", { "/spec": { controlPlaneEndpoint: { host: "h", port: 1 } } }, { "/spec/controlPlaneEndpoint": { host: "h", port: 1 } }],
    ["2 domains", { "/spec": domains("a") }, { "/spec/backend/docker/failureDomains": [{ name: "a", controlPlane: false }] }],
    ["3 in memory", { "/spec": { backend: { inMemory: {} } } }, { "/spec": { backend: { inMemory: {} } } }],
  ]);
});

describe("DevClusterTemplate", () => {
  const base = object("DevClusterTemplate", { template: { spec: { backend: { inMemory: {} } } } });
  const SPEC = "Invalid spec.template.spec";
  const metadata: Changes = { "/spec/template/metadata": { labels: { a: "-" } } };
  table(
    devClusterTemplateRules,
    base,
    [
      ["valid", {}, ""],
      ["gate", {}, "403", { gates: [] }],
      ["gate, an update", {}, "", { gates: [], old: {} }],
      ["domains", { "/spec/template/spec": domains("b", "a") }, DOMAINS],
      ["metadata", metadata, "Invalid spec.template.metadata.labels"],
      ["immutable", { "/spec/template/spec/backend/inMemory": { x: 1 } }, SPEC, { old: {} }],
      ["metadata may change", metadata, "", { old: {} }],
      ["what defaults added is no change", { "/spec/template/spec": {} }, "", { old: { "/spec/template/spec": {} } }],
    ],
    { gates: ["ClusterTopology"] },
  );
});

describe("DevMachine", () => {
  const base = object("DevMachine");
  const image = (customImage: string): Changes => ({ "/spec": { backend: { docker: { customImage } } } });
  const vm = (startupDuration: string): Changes => ({ "/spec": { backend: { inMemory: { vm: { provisioning: { startupDuration } } } } } });
  table(devMachineRules, base, [
    ["valid", {}, ""],
    ["update: image", image("b"), "Forbidden spec.backend.docker.customImage", { old: image("a") }],
    ["update: another backend", { "/spec": { backend: { inMemory: {} } } }, "", { old: image("a") }],
    ...["1h30m5s", "500ms", "1.5s", "0", "-2m"].map((text) => [`duration ${text}`, vm(text), ""] as const),
    ...["5", "1d", "s", "1 s"].map((text) => [`duration ${text}`, vm(text), "400"] as const),
  ]);
  defaultTable(devMachineRules, base, [["backend", {}, { "/spec": { backend: { docker: {} } } }]]);
});

describe("DevMachineTemplate", () => {
  const base = object("DevMachineTemplate", { template: { spec: { backend: { inMemory: {} } } } });
  const other: Changes = { "/spec/template/spec/backend/inMemory": { x: 1 } };
  const dryRun: Changes = { "/metadata/annotations": { "topology.cluster.x-k8s.io/dry-run": "" } };
  table(devMachineTemplateRules, base, [
    ["valid", {}, ""],
    ["immutable", other, "Invalid spec.template.spec", { old: {} }],
    ["a topology's dry run", { ...other, ...dryRun }, "", { old: {}, dryRun: true }],
    ["only a dry run", { ...other, ...dryRun }, "Invalid spec.template.spec", { old: {} }],
    ["metadata", { "/spec/template/metadata": { annotations: { "a b": "" } } }, "Invalid spec.template.metadata.annotations"],
    ["duration", { "/spec/template/spec/backend/docker": { bootstrapTimeout: "5" } }, "400"],
  ]);
  defaultTable(devMachineTemplateRules, changed(base, { "/spec/template/spec": {} }), [
    ["backend", {}, { "/spec/template/spec": { backend: { docker: {} } } }],
  ]);
});
