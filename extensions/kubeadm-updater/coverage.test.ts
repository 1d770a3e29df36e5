import { describe, expect, it } from "@jest/globals";
import jsonPatch from "fast-json-patch";
import { cover, same } from "./coverage.ts";
import { bootstrapRules, infrastructureRules, machineRules, type RuleContext } from "./rules.ts";
import { parseVersion } from "./version.ts";

const context = (change: Partial<RuleContext> = {}): RuleContext => ({ controlPlane: true, settings: {}, ...change });
const SPEC = ["spec"];
const file = (path: string, content = "x", more: object = {}) => ({ path, content, ...more });

describe("bootstrap coverage", () => {
  it.each<[string, object, object, Partial<RuleContext>, readonly string[]]>([
    ["a new file", {}, { files: [file("/etc/a")] }, {}, []],
    ["new content", { files: [file("/etc/a")] }, { files: [file("/etc/a", "y")] }, {}, []],
    ["a file from a Secret", {}, { files: [{ path: "/etc/a", contentFrom: { secret: { name: "s", key: "k" } } }] }, {}, ["spec.files"]],
    ["a removed file", { files: [file("/etc/a"), file("/etc/b")] }, { files: [file("/etc/a")] }, {}, ["spec.files"]],
    ["a static pod manifest", {}, { files: [file("/etc/kubernetes/manifests/x.yaml")] }, {}, ["spec.files"]],
    ["commands", {}, { preKubeadmCommands: ["date"] }, {}, ["spec.preKubeadmCommands"]],
    ["commands with consent", {}, { preKubeadmCommands: ["date"] }, { settings: { rerunCommands: "true" } }, []],
    ["users", {}, { users: [{ name: "ops" }] }, {}, ["spec.users"]],
    ["API server arguments", {}, { clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value: "4" }] } } }, {}, []],
    [
      "API server arguments on a worker",
      {},
      { clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value: "4" }] } } },
      { controlPlane: false },
      ["spec.clusterConfiguration.apiServer.extraArgs"],
    ],
    [
      "data folder of etcd",
      {},
      { clusterConfiguration: { etcd: { local: { dataDir: "/d" } } } },
      {},
      ["spec.clusterConfiguration.etcd.local.dataDir"],
    ],
    ["kubelet arguments", {}, { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "v", value: "2" }] } } }, {}, []],
    [
      "node labels in kubelet arguments",
      {},
      { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "node-labels", value: "a=b" }] } } },
      {},
      ["spec.joinConfiguration.nodeRegistration.kubeletExtraArgs"],
    ],
    [
      "taints at registration",
      {},
      { joinConfiguration: { nodeRegistration: { taints: [{ key: "a", effect: "NoSchedule" }] } } },
      {},
      ["spec.joinConfiguration.nodeRegistration.taints"],
    ],
    ["an unknown field of a newer provider", {}, { shiny: true }, {}, ["spec.shiny"]],
    ["files and users: the file is still patched", {}, { files: [file("/etc/a")], users: [{ name: "ops" }] }, {}, ["spec.users"]],
  ])("%s", (_, current, desired, change, refused) => {
    const result = cover({ spec: current }, { spec: desired }, SPEC, bootstrapRules, context(change));
    expect(result.refused).toEqual(refused);
    const patched = jsonPatch.applyPatch(structuredClone({ spec: current }), structuredClone(result.patch) as never, true).newDocument;
    if (refused.length === 0) expect(same(patched, { spec: desired })).toBe(true);
  });

  it("removes parents that would stay behind empty, as a caller compares exactly", () => {
    const gate = { clusterConfiguration: { featureGates: { ControlPlaneKubeletLocalMode: true } } };
    const patchTo = (desired: object) => cover({ spec: gate }, { spec: desired }, SPEC, bootstrapRules, context()).patch;
    expect(patchTo({})).toEqual([{ op: "remove", path: "/spec/clusterConfiguration" }]);
    expect(patchTo({ clusterConfiguration: {} })).toEqual([{ op: "remove", path: "/spec/clusterConfiguration/featureGates" }]);
  });

  it("adds missing parents in one operation", () => {
    const { patch } = cover(
      { spec: {} },
      { spec: { joinConfiguration: { patches: { directory: "/p" } } } },
      SPEC,
      bootstrapRules,
      context(),
    );
    expect(patch).toEqual([{ op: "add", path: "/spec/joinConfiguration", value: { patches: { directory: "/p" } } }]);
  });
});

describe("version coverage", () => {
  it.each([
    ["v1.34.1", "v1.34.3", []],
    ["v1.34.1", "v1.35.0", []],
    ["v1.34.1", "v1.36.0", ["spec.version"]],
    ["v1.35.0", "v1.34.9", ["spec.version"]],
    ["v1.35.0", "nonsense", ["spec.version"]],
  ])("%s to %s", (from, to, refused) => {
    const versions = { currentVersion: parseVersion(from), desiredVersion: parseVersion(to) };
    const result = cover({ spec: { version: from } }, { spec: { version: to } }, SPEC, machineRules, context(versions), [
      "version",
      "failureDomain",
    ]);
    expect(result.refused).toEqual(refused);
  });

  it("never covers the failure domain, and does not look at fields that core propagates itself", () => {
    const current = { spec: { failureDomain: "a", taints: [] } };
    const desired = { spec: { failureDomain: "b", taints: [{ key: "x" }], providerID: "p" } };
    expect(cover(current, desired, SPEC, machineRules, context(), ["version", "failureDomain"]).refused).toEqual(["spec.failureDomain"]);
  });
});

describe("infrastructure coverage", () => {
  const versions = { currentVersion: parseVersion("v1.34.0"), desiredVersion: parseVersion("v1.35.0") };
  it.each<[string, object, object, Partial<RuleContext>, readonly string[]]>([
    [
      "an image that follows the version, with consent",
      { docker: { customImage: "a" } },
      { docker: { customImage: "b" } },
      { ...versions, settings: { allowImageDrift: "true" } },
      [],
    ],
    [
      "an image that follows the version",
      { docker: { customImage: "a" } },
      { docker: { customImage: "b" } },
      versions,
      ["spec.backend.docker.customImage"],
    ],
    [
      "an image on its own",
      { docker: { customImage: "a" } },
      { docker: { customImage: "b" } },
      { settings: { allowImageDrift: "true" } },
      ["spec.backend.docker.customImage"],
    ],
    [
      "start-up time of the simulated machine",
      { inMemory: {} },
      { inMemory: { vm: { provisioning: { startupDuration: "1s" } } } },
      {},
      ["spec.backend.inMemory.vm.provisioning.startupDuration"],
    ],
  ])("%s", (_, current, desired, change, refused) =>
    expect(
      cover({ spec: { backend: current } }, { spec: { backend: desired } }, SPEC, infrastructureRules, context(change)).refused,
    ).toEqual(refused),
  );
});
