// A sample of fields whose bounds, keys and defaults are easy to get wrong.
import { describe, expect, it } from "@jest/globals";
import { kindOf } from "./index.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import type { JsonSchema } from "./meta/schema.ts";

function fieldOf(kind: string, path: string): JsonSchema {
  let schema: JsonSchema = kindOf(kind)?.schema ?? {};
  for (const step of path.replaceAll("[]", ".[]").split(".")) {
    const next = step === "[]" ? schema.items : schema.properties?.[step];
    if (!next) throw new Error(`${kind} has no ${path}`);
    schema = next;
  }
  return schema;
}

const facts = (s: JsonSchema): string =>
  [
    s["x-kubernetes-int-or-string"] ? "int-or-string" : (s.type ?? "any"),
    ...(s.format ? [s.format] : []),
    ...(s.minLength === undefined && s.maxLength === undefined ? [] : [`len ${s.minLength ?? 0}..${s.maxLength ?? ""}`]),
    ...(s.minimum === undefined && s.maximum === undefined ? [] : [`value ${s.minimum ?? ""}..${s.maximum ?? ""}`]),
    ...(s.minItems === undefined && s.maxItems === undefined ? [] : [`items ${s.minItems ?? 0}..${s.maxItems ?? ""}`]),
    ...(s.minProperties === undefined ? [] : [`props ${s.minProperties}..`]),
    ...(s.enum ? [s.enum.join("/")] : []),
    ...(s["x-kubernetes-list-type"] ? [[s["x-kubernetes-list-type"], ...(s["x-kubernetes-list-map-keys"] ?? [])].join(":")] : []),
    ...(s["x-kubernetes-map-type"] ? [`map ${s["x-kubernetes-map-type"]}`] : []),
    ...(s.default === undefined ? [] : [`default ${JSON.stringify(s.default)}`]),
    ...(s["x-kubernetes-validations"] ? ["CEL"] : []),
  ].join(" ");

describe("fields", () => {
  it.each(
    `
    Cluster                     | spec                                                   | object props 1..
    Cluster                     | spec.clusterNetwork.apiServerPort                      | integer int32 value 1..65535
    Cluster                     | spec.topology.workers.machineDeployments               | array items 1..2000 map:name
    Cluster                     | spec.topology.variables[].value                        | any
    Cluster                     | status.controlPlane.versions                           | array items 1..32 atomic
    ClusterClass                | spec.workers.machineDeployments                        | array items 1..100 map:class
    ClusterClass                | spec.patches[].definitions[].jsonPatches[].op          | string add/replace/remove
    MachineDeployment           | spec.replicas                                          | integer int32
    MachineDeployment           | spec.rollout.strategy.rollingUpdate.maxSurge           | int-or-string
    MachineDeployment           | spec.selector                                          | object map atomic
    MachineDeployment           | status.versions                                        | array items 1..100 map:version
    MachineSet                  | spec.deletion.order                                    | string Random/Newest/Oldest
    MachineSet                  | status.selector                                        | string len 1..4096
    Machine                     | spec.bootstrap.dataSecretName                          | string len 0..253
    Machine                     | spec.taints                                            | array items 1..64 map:key:effect
    Machine                     | spec.deletion                                          | object props 1..
    Machine                     | spec.deletion.nodeDeletionTimeoutSeconds               | integer int32 value 0..
    Machine                     | status.conditions                                      | array items 0..32 map:type
    Machine                     | status.addresses                                       | array items 0..256 atomic
    Machine                     | status.observedGeneration                              | integer int64 value 1..
    DevMachine                  | status.addresses                                       | array
    DevMachineTemplate          | status.capacity                                        | object
    MachineHealthCheck          | spec.checks.unhealthyMachineConditions[].type          | string len 1..316 CEL
    MachineHealthCheck          | spec.checks.unhealthyNodeConditions[].status           | string len 1..
    KubeadmConfig               | spec.mounts                                            | array items 1..100 atomic
    KubeadmConfig               | spec.mounts[]                                          | array items 1..100
    KubeadmConfig               | spec.clusterConfiguration.apiServer.extraArgs          | array items 1..100 map:name:value CEL
    KubeadmConfig               | spec.clusterConfiguration.apiServer.extraArgs[].value  | string len 0..1024
    KubeadmConfig               | spec.joinConfiguration.nodeRegistration.taints         | array items 0..100
    KubeadmConfig               | spec.joinConfiguration.discovery.file.kubeConfig.user  | object props 1..
    KubeadmConfig               | spec.joinConfiguration.controlPlane                    | object
    KubeadmConfig               | spec.diskSetup.partitions[]                            | object CEL
    KubeadmConfig               | spec.diskSetup.partitions[].diskLayout[].partitionType | string len 1..36 CEL
    KubeadmControlPlane         | spec.rollout.before.certificatesExpiryDays             | integer int32 value 7..
    KubeadmControlPlane         | spec.rollout.strategy.type                             | string RollingUpdate
    KubeadmControlPlaneTemplate | spec.template                                          | object props 1..
    ExtensionConfig             | spec.clientConfig.caBundle                             | string byte len 1..51200
    ExtensionConfig             | status.handlers                                        | array items 0..512 map:name
    DevCluster                  | spec.backend.docker.loadBalancer.customHAProxyConfigTemplateRef.name | string default ""
    `
      .trim()
      .split("\n")
      .map((row) => row.split("|").map((cell) => cell.trim())),
  )("%s %s", (kind, path, expected) => {
    expect(facts(fieldOf(kind as string, path as string))).toBe(expected);
  });

  it("the kubeadm configuration is one and the same wherever it appears", () => {
    const places = [
      fieldOf("KubeadmConfig", "spec"),
      fieldOf("KubeadmConfigTemplate", "spec.template.spec"),
      fieldOf("KubeadmControlPlane", "spec.kubeadmConfigSpec"),
      fieldOf("KubeadmControlPlaneTemplate", "spec.template.spec.kubeadmConfigSpec"),
    ];
    for (const place of places) expect(place).toEqual(kubeadmConfigSpec);
  });

  it("templates of control planes have no field that a class sets itself", () => {
    const spec = fieldOf("KubeadmControlPlaneTemplate", "spec.template.spec");
    expect(Object.keys(spec.properties ?? {}).sort()).toEqual([
      "kubeadmConfigSpec",
      "machineNaming",
      "machineTemplate",
      "remediation",
      "rollout",
    ]);
  });
});
