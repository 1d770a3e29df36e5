// What the schemas refuse, rule by rule; the schema engine itself is tested in schema/.
import { describe, expect, it } from "@jest/globals";
import { compileSchema } from "../schema/compile.ts";
import { allKinds } from "./index.ts";

const compiled = new Map(allKinds.map((kind) => [kind.resource.kind, compileSchema(kind.schema)]));

function faults(kind: string, spec: object): readonly string[] {
  const schema = compiled.get(kind);
  if (!schema) throw new Error(`no kind ${kind}`);
  const unknown: string[] = [];
  const object = schema.defaultAndPrune(
    { apiVersion: "v", kind, metadata: { name: "a", namespace: "b" }, spec },
    { onUnknown: (path) => unknown.push(`${path} unknown`) },
  );
  return [...unknown, ...schema.validate(object).map((error) => error.field)].sort();
}

const args = (...pairs: readonly (readonly [string, string])[]) => ({
  joinConfiguration: { nodeRegistration: { kubeletExtraArgs: pairs.map(([name, value]) => ({ name, value })) } },
});
const partition = (fields: object) => ({ diskSetup: { partitions: [{ device: "/dev/vdb", ...fields }] } });
const partitionType = (type: string) => partition({ diskLayout: [{ percentage: 50, partitionType: type }] });
const check = (type: string) => ({
  clusterName: "c",
  selector: {},
  checks: { unhealthyMachineConditions: [{ type, status: "True", timeoutSeconds: 1 }] },
});
const PARTITION = "spec.diskSetup.partitions[0]";
const ARGS = "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs";
const CHECK = "spec.checks.unhealthyMachineConditions[0].type";

describe("rules in CEL", () => {
  it.each([
    ["KubeadmConfig", "arguments with two names", args(["v", "2"], ["w", "2"]), []],
    ["KubeadmConfig", "one argument twice", args(["v", "2"], ["v", "3"]), [ARGS]],
    ["KubeadmConfig", "layout alone", partition({ layout: false }), []],
    ["KubeadmConfig", "neither layout nor diskLayout", partition({}), [PARTITION]],
    ["KubeadmConfig", "layout and diskLayout", partition({ layout: true, diskLayout: [{ percentage: 1 }] }), [PARTITION]],
    ["KubeadmConfig", "partition by name", partitionType("LinuxRAID"), []],
    ["KubeadmConfig", "partition by GUID", partitionType("0FC63DAF-8483-4772-8e79-3d69d8477de4"), []],
    ["KubeadmConfig", "partition name in other case", partitionType("linux"), [`${PARTITION}.diskLayout[0].partitionType`]],
    ["KubeadmConfig", "GUID cut short", partitionType("0fc63daf-8483-4772-8e79-3d69d8477de"), [`${PARTITION}.diskLayout[0].partitionType`]],
    ["MachineHealthCheck", "condition Updating", check("Updating"), []],
    ["MachineHealthCheck", "condition Ready", check("Ready"), [CHECK]],
    ["MachineHealthCheck", "condition ExternallyRemediated", check("ExternallyRemediated"), [CHECK]],
  ])("%s: %s", (kind, _about, spec, expected) => expect(faults(kind, spec)).toEqual(expected));
});

describe("required fields, bounds, unknown fields", () => {
  it.each([
    ["DevMachine", {}, ["spec.backend"]],
    ["DevMachine", { backend: {} }, []],
    ["DevMachine", { backend: { inMemory: { vm: { provisioning: {} } } } }, ["spec.backend.inMemory.vm.provisioning.startupDuration"]],
    ["DevMachine", { backend: { inMemory: { disk: {} } } }, ["spec.backend.inMemory.disk unknown"]],
    ["KubeadmConfig", {}, ["spec"]],
    ["KubeadmConfig", { verbosity: 0 }, []],
    ["KubeadmConfig", { files: [{ path: "/a", content: "" }] }, ["spec.files[0].content"]],
    ["KubeadmConfigTemplate", {}, ["spec.template"]],
    ["KubeadmConfigTemplate", { template: {} }, ["spec.template"]],
    ["Cluster", {}, ["spec"]],
    ["Cluster", { paused: false }, []],
    ["ExtensionConfig", { clientConfig: {} }, ["spec.clientConfig"]],
  ])("%s %j", (kind, spec, expected) => expect(faults(kind, spec).filter((field) => field !== "<nil>")).toEqual(expected));
});
