// Labels, annotations, finalizers, taints and field managers, named as upstream names them (first letter small).
// Here: constants only. Source: spec/api/common.md sections 9 to 11, spec/controllers, spec/runtime/hooks.md.

// Labels
export const clusterNameLabel = "cluster.x-k8s.io/cluster-name";
export const machineControlPlaneLabel = "cluster.x-k8s.io/control-plane";
export const machineControlPlaneNameLabel = "cluster.x-k8s.io/control-plane-name";
export const machineDeploymentNameLabel = "cluster.x-k8s.io/deployment-name";
export const machineSetNameLabel = "cluster.x-k8s.io/set-name";
export const machinePoolNameLabel = "cluster.x-k8s.io/pool-name";
/** On MachineSets of a MachineDeployment and their Machines; never changes for a MachineSet. */
export const machineDeploymentUniqueLabel = "machine-template-hash";
export const clusterTopologyOwnedLabel = "topology.cluster.x-k8s.io/owned";
export const clusterTopologyMachineDeploymentNameLabel = "topology.cluster.x-k8s.io/deployment-name";
export const clusterTopologyMachinePoolNameLabel = "topology.cluster.x-k8s.io/pool-name";
export const watchLabel = "cluster.x-k8s.io/watch-filter";
export const interruptibleLabel = "cluster.x-k8s.io/interruptible";
export const providerNameLabel = "cluster.x-k8s.io/provider";
export const podDrainLabel = "cluster.x-k8s.io/drain";
/** On CRDs: versions that follow this contract, joined by `_`. */
export const contractVersionLabel = "cluster.x-k8s.io/v1beta2";
export const olderContractVersionLabel = "cluster.x-k8s.io/v1beta1";
export const nodeRoleLabelPrefix = "node-role.kubernetes.io";
export const nodeRestrictionLabelDomain = "node-restriction.kubernetes.io";
export const managedNodeLabelDomain = "node.cluster.x-k8s.io";
export const managedNodeAnnotationDomain = "node.cluster.x-k8s.io";
export const nodeRoleControlPlaneLabel = "node-role.kubernetes.io/control-plane";

// Annotations of any object
export const pausedAnnotation = "cluster.x-k8s.io/paused";
export const templateClonedFromNameAnnotation = "cluster.x-k8s.io/cloned-from-name";
export const templateClonedFromGroupKindAnnotation = "cluster.x-k8s.io/cloned-from-groupkind";
export const managedByAnnotation = "cluster.x-k8s.io/managed-by";
export const replicasManagedByAnnotation = "cluster.x-k8s.io/replicas-managed-by";
export const conversionDataAnnotation = "cluster.x-k8s.io/conversion-data";
export const lastAppliedConfigAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
export const autoscalerMinSizeAnnotation = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
export const autoscalerMaxSizeAnnotation = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

// Annotations of Machines and MachineSets
export const deleteMachineAnnotation = "cluster.x-k8s.io/delete-machine";
export const machineSkipRemediationAnnotation = "cluster.x-k8s.io/skip-remediation";
export const remediateMachineAnnotation = "cluster.x-k8s.io/remediate-machine";
export const disableMachineCreateAnnotation = "cluster.x-k8s.io/disable-machine-create";
export const machineSetSkipPreflightChecksAnnotation = "machineset.cluster.x-k8s.io/skip-preflight-checks";
export const excludeNodeDrainingAnnotation = "machine.cluster.x-k8s.io/exclude-node-draining";
export const excludeWaitForNodeVolumeDetachAnnotation = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach";
export const machineCertificatesExpiryDateAnnotation = "machine.cluster.x-k8s.io/certificates-expiry";
export const preDrainDeleteHookAnnotationPrefix = "pre-drain.delete.hook.machine.cluster.x-k8s.io";
export const preTerminateDeleteHookAnnotationPrefix = "pre-terminate.delete.hook.machine.cluster.x-k8s.io";
export const preTerminateHookCleanupAnnotation = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";
export const revisionAnnotation = "machinedeployment.clusters.x-k8s.io/revision";
export const revisionHistoryAnnotation = "machinedeployment.clusters.x-k8s.io/revision-history";
export const desiredReplicasAnnotation = "machinedeployment.clusters.x-k8s.io/desired-replicas";
export const maxReplicasAnnotation = "machinedeployment.clusters.x-k8s.io/max-replicas";
export const inMemoryMachineBootstrappedAnnotation = "machine.inmemory.infrastructure.cluster.x-k8s.io/bootstrapped";
export const inMemoryClusterListenerAnnotation = "inmemorycluster.infrastructure.cluster.x-k8s.io/listener";

// In-place updates
/** On Machine, infrastructure machine and bootstrap object. Presence counts, not the value. */
export const updateInProgressAnnotation = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress";
/** On a Machine, from its move until its MachineDeployment has counted it. */
export const pendingAcknowledgeMoveAnnotation = "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move";
/** On an old MachineSet: name of the new one. */
export const machineSetMoveMachinesToMachineSetAnnotation = "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset";
/** On a new MachineSet: sorted names of old ones, separated by commas. */
export const machineSetReceiveMachinesFromMachineSetsAnnotation =
  "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets";
/** On a new MachineSet: sorted names of Machines, separated by commas. */
export const acknowledgedMoveAnnotation = "in-place-updates.internal.cluster.x-k8s.io/acknowledged-move";
/** On Machines and Clusters: sorted names of hooks still to be called, separated by commas. */
export const pendingHooksAnnotation = "runtime.cluster.x-k8s.io/pending-hooks";

// Runtime extensions
export const injectCAFromSecretAnnotation = "runtime.cluster.x-k8s.io/inject-ca-from-secret";
export const okToDeleteAnnotation = "runtime.cluster.x-k8s.io/ok-to-delete";

// Control planes
export const skipCoreDNSAnnotation = "controlplane.cluster.x-k8s.io/skip-coredns";
export const skipKubeProxyAnnotation = "controlplane.cluster.x-k8s.io/skip-kube-proxy";
export const remediationInProgressAnnotation = "controlplane.cluster.x-k8s.io/remediation-in-progress";
export const remediationForAnnotation = "controlplane.cluster.x-k8s.io/remediation-for";
/** Written by older releases only. */
export const kubeadmClusterConfigurationAnnotation = "controlplane.cluster.x-k8s.io/kubeadm-cluster-configuration";

// Topology
export const clusterTopologyHoldUpgradeSequenceAnnotation = "topology.cluster.x-k8s.io/hold-upgrade-sequence";
export const clusterTopologyDeferUpgradeAnnotation = "topology.cluster.x-k8s.io/defer-upgrade";
export const clusterTopologyUpgradeConcurrencyAnnotation = "topology.cluster.x-k8s.io/upgrade-concurrency";
export const topologyDryRunAnnotation = "topology.cluster.x-k8s.io/dry-run";
export const clusterTopologyUpgradeStepAnnotation = "topology.internal.cluster.x-k8s.io/upgrade-step";
export const clusterTopologyUnsafeUpdateClassNameAnnotation = "unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check";
export const clusterTopologyUnsafeUpdateVersionAnnotation = "unsafe.topology.cluster.x-k8s.io/disable-update-version-check";
export const beforeClusterUpgradeHookAnnotationPrefix = "before-upgrade.hook.cluster.cluster.x-k8s.io";

// Annotations of Nodes
export const clusterNameAnnotation = "cluster.x-k8s.io/cluster-name";
export const clusterNamespaceAnnotation = "cluster.x-k8s.io/cluster-namespace";
export const machineAnnotation = "cluster.x-k8s.io/machine";
export const ownerKindAnnotation = "cluster.x-k8s.io/owner-kind";
export const ownerNameAnnotation = "cluster.x-k8s.io/owner-name";
export const labelsFromMachineAnnotation = "cluster.x-k8s.io/labels-from-machine";
export const annotationsFromMachineAnnotation = "cluster.x-k8s.io/annotations-from-machine";
export const taintsFromMachineAnnotation = "cluster.x-k8s.io/taints-from-machine";

// Finalizers
export const clusterFinalizer = "cluster.cluster.x-k8s.io";
export const machineFinalizer = "machine.cluster.x-k8s.io";
export const machineSetFinalizer = "cluster.x-k8s.io/machineset";
export const machineSetTopologyFinalizer = "machineset.topology.cluster.x-k8s.io";
export const machineDeploymentFinalizer = "cluster.x-k8s.io/machinedeployment";
export const machineDeploymentTopologyFinalizer = "machinedeployment.topology.cluster.x-k8s.io";
export const kubeadmControlPlaneFinalizer = "kubeadm.controlplane.cluster.x-k8s.io";
export const devClusterFinalizer = "dockercluster.infrastructure.cluster.x-k8s.io";
export const devMachineFinalizer = "dockermachine.infrastructure.cluster.x-k8s.io";

// Taints
export const nodeOutdatedRevisionTaint = { key: "node.cluster.x-k8s.io/outdated-revision", effect: "PreferNoSchedule" } as const;
export const nodeUninitializedTaint = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" } as const;
export const controlPlaneTaint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" } as const;
export const outOfServiceTaintKey = "node.kubernetes.io/out-of-service";
export const unreachableTaintKey = "node.kubernetes.io/unreachable";

// Secrets
export const clusterSecretType = "cluster.x-k8s.io/secret";
export const bootstrapTokenSecretType = "bootstrap.kubernetes.io/token";

/** Names of templates end with this. */
export const templateSuffix = "Template";

/** Checks that machineSetSkipPreflightChecksAnnotation may list. */
export const machineSetPreflightChecks = [
  "All",
  "KubeadmVersionSkew",
  "KubernetesVersionSkew",
  "ControlPlaneIsStable",
  "ControlPlaneVersionSkew",
] as const;
export type MachineSetPreflightCheck = (typeof machineSetPreflightChecks)[number];

/** Who owns fields. `manager` is upstream's default for everything that is not server-side apply. */
export const fieldManagers = {
  default: "manager",
  machineDeployment: "capi-machinedeployment",
  machineSet: "capi-machineset",
  machineSetMetadata: "capi-machineset-metadata",
  kubeadmControlPlane: "capi-kubeadmcontrolplane",
  kubeadmControlPlaneMetadata: "capi-kubeadmcontrolplane-metadata",
  topology: "capi-topology",
  /** What a server names fields set before the first apply. */
  beforeFirstApply: "before-first-apply",
} as const;
