import { describe, expect, it } from "@jest/globals";
import { customResourceDefinition } from "./crd.ts";
import { kindOf } from "./index.ts";

const crdOf = (kind: string) => {
  const definition = kindOf(kind);
  if (!definition) throw new Error(`no kind ${kind}`);
  return customResourceDefinition(definition);
};

describe("CRDs", () => {
  it.each([
    ["Machine", "cluster-api", { status: {} }],
    ["ExtensionConfig", "cluster-api", { status: {} }],
    ["KubeadmConfigTemplate", "bootstrap-kubeadm", undefined],
    [
      "KubeadmControlPlane",
      "control-plane-kubeadm",
      {
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" },
        status: {},
      },
    ],
    ["DevMachine", "infrastructure-docker", { status: {} }],
  ])("%s: labels of %s, its subresources", (kind, provider, subresources) => {
    const crd = crdOf(kind);
    expect(crd.metadata.labels).toEqual({ "cluster.x-k8s.io/provider": provider, "cluster.x-k8s.io/v1beta2": "v1beta2" });
    expect(crd.spec.versions).toHaveLength(1);
    expect(crd.spec.versions[0]).toMatchObject({ name: "v1beta2", served: true, storage: true });
    expect(crd.spec.versions[0]?.subresources).toEqual(subresources);
  });

  it("names and scope", () => {
    expect(crdOf("MachineDeployment").metadata.name).toBe("machinedeployments.cluster.x-k8s.io");
    expect(crdOf("MachineDeployment").spec.names).toEqual({
      kind: "MachineDeployment",
      listKind: "MachineDeploymentList",
      plural: "machinedeployments",
      singular: "machinedeployment",
      shortNames: ["md"],
      categories: ["cluster-api"],
    });
    expect(crdOf("ExtensionConfig").spec.scope).toBe("Cluster");
    expect(crdOf("DevCluster").spec.names.shortNames).toBeUndefined();
  });
});
