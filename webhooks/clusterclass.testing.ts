// A ClusterClass and a Cluster of it, for tests. Here: valid objects. Not here: the tests.
import type { Draft } from "./rule-set.ts";

const infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2";

const worker = (name: string) => ({
  class: name,
  bootstrap: { templateRef: { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2", kind: "KubeadmConfigTemplate", name: "boot" } },
  infrastructure: { templateRef: { apiVersion: infrastructure, kind: "DevMachineTemplate", name: "shape" } },
});

export const aClass: Draft = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "ClusterClass",
  metadata: { name: "fleet", namespace: "lab", generation: 2 },
  spec: {
    infrastructure: { templateRef: { apiVersion: infrastructure, kind: "DevClusterTemplate", name: "site" } },
    controlPlane: {
      templateRef: { apiVersion: "controlplane.cluster.x-k8s.io/v1beta2", kind: "KubeadmControlPlaneTemplate", name: "cp" },
      machineInfrastructure: { templateRef: { apiVersion: infrastructure, kind: "DevMachineTemplate", name: "cp-shape" } },
    },
    workers: { machineDeployments: [worker("general"), worker("edge")] },
  },
};

export const aCluster: Draft = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "harbor", namespace: "lab" },
  spec: {
    topology: {
      classRef: { name: "fleet" },
      version: "v1.33.4",
      workers: { machineDeployments: [{ class: "general", name: "a" }] },
    },
  },
};
