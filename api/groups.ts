// API groups of the kinds in this folder.

export const clusterGroup = "cluster.x-k8s.io";
export const bootstrapGroup = "bootstrap.cluster.x-k8s.io";
export const controlPlaneGroup = "controlplane.cluster.x-k8s.io";
export const infrastructureGroup = "infrastructure.cluster.x-k8s.io";
export const runtimeGroup = "runtime.cluster.x-k8s.io";
export const hooksGroup = "hooks.runtime.cluster.x-k8s.io";
export const hooksVersion = "v1alpha1";
