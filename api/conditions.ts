// Condition types and reasons, and the order in which conditions are listed.
// Not here: how conditions are written (controllers), what makes them true. Source: spec/api/common.md section 5 and the kinds' tables.

/** Types in listing order; every other type comes by name before Paused. */
const firstTypes = [
  "Available",
  "Ready",
  "UpToDate",
  "RemoteConnectionProbe",
  "BootstrapConfigReady",
  "InfrastructureReady",
  "ControlPlaneInitialized",
  "ControlPlaneAvailable",
  "WorkersAvailable",
  "CertificatesAvailable",
  "Initialized",
  "EtcdClusterHealthy",
  "ControlPlaneComponentsHealthy",
  "NodeHealthy",
  "NodeReady",
  "NodeKubeadmLabelsAndTaintsSet",
  "EtcdPodHealthy",
  "EtcdMemberHealthy",
  "APIServerPodHealthy",
  "ControllerManagerPodHealthy",
  "SchedulerPodHealthy",
  "HealthCheckSucceeded",
  "OwnerRemediated",
  "TopologyReconciled",
  "Updating",
  "RollingOut",
  "Remediating",
  "ScalingDown",
  "ScalingUp",
  "MachinesReady",
  "ControlPlaneMachinesReady",
  "WorkerMachinesReady",
  "MachinesUpToDate",
  "ControlPlaneMachinesUpToDate",
  "WorkerMachinesUpToDate",
] as const;
const lastTypes = ["Paused", "Deleting"] as const;

/** Types without a place of their own in the order. */
export const otherConditionTypes = [
  "DataSecretAvailable",
  "Discovered",
  "ExternallyRemediated",
  "RefVersionsUpToDate",
  "RemediationAllowed",
  "VariablesReady",
  "APIServerProvisioned",
  "EtcdProvisioned",
  "LoadBalancerAvailable",
  "NodeProvisioned",
  "VMProvisioned",
] as const;

export type ConditionType = (typeof firstTypes)[number] | (typeof lastTypes)[number] | (typeof otherConditionTypes)[number];

const OTHERS = firstTypes.length;
const rank: ReadonlyMap<string, number> = new Map<string, number>([
  ...firstTypes.map((type, i): [string, number] => [type, i]),
  ...lastTypes.map((type, i): [string, number] => [type, OTHERS + 1 + i]),
]);

/** For sorting conditions: negative when `a` is listed before `b`. */
export function compareConditionTypes(a: string, b: string): number {
  const difference = (rank.get(a) ?? OTHERS) - (rank.get(b) ?? OTHERS);
  if (difference !== 0) return difference;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Reasons that several kinds share. */
export const sharedReasons = [
  "Available",
  "NotAvailable",
  "AvailableUnknown",
  "Ready",
  "NotReady",
  "ReadyUnknown",
  "UpToDate",
  "NotUpToDate",
  "UpToDateUnknown",
  "RollingOut",
  "NotRollingOut",
  "RollingOutUnknown",
  "ScalingUp",
  "NotScalingUp",
  "ScalingUpUnknown",
  "ScalingDown",
  "NotScalingDown",
  "ScalingDownUnknown",
  "Remediating",
  "NotRemediating",
  "NoReplicas",
  "WaitingForReplicasSet",
  "WaitingForAvailableReplicasSet",
  "InvalidConditionReported",
  "InternalError",
  "ObjectDoesNotExist",
  "ObjectDeleted",
  "NotPaused",
  "Paused",
  "ConnectionDown",
  "NotDeleting",
  "Deleting",
  "DeletionCompleted",
  "InspectionFailed",
  "WaitingForClusterInfrastructureReady",
  "WaitingForControlPlaneInitialized",
  "WaitingForBootstrapData",
  "Provisioned",
  "NotProvisioned",
] as const;

export const machineReasons = [
  "WaitingForMinReadySeconds",
  "Updating",
  "InPlaceUpdating",
  "InPlaceUpdateFailed",
  "NotUpdating",
  "DataSecretProvided",
  "NodeReady",
  "NodeNotReady",
  "NodeReadyUnknown",
  "NodeDoesNotExist",
  "NodeDeleted",
  "NodeHealthy",
  "NodeNotHealthy",
  "NodeHealthyUnknown",
  "HealthCheckSucceeded",
  "UnhealthyNode",
  "UnhealthyMachine",
  "NodeStartupTimeout",
  "HasRemediateAnnotation",
  "WaitingForRemediation",
  "RemediationDeferred",
  "CannotBeRemediated",
  "MachineDeleting",
  "RemediationTemplateNotFound",
  "RemediationRequestCreationFailed",
  "WaitingForPreDrainHook",
  "DrainingNode",
  "WaitingForVolumeDetach",
  "WaitingForPreTerminateHook",
  "WaitingForInfrastructureDeletion",
  "WaitingForBootstrapDeletion",
  "DeletingNode",
] as const;

export const controlPlaneReasons = [
  "Initialized",
  "NotInitialized",
  "Healthy",
  "NotHealthy",
  "HealthUnknown",
  "Running",
  "Provisioning",
  "DoesNotExist",
  "Failed",
  "Set",
  "NotSet",
  "WaitingForWorkersDeletion",
  "WaitingForMachineDeletion",
] as const;

export const clusterReasons = [
  "NoWorkers",
  "ProbeSucceeded",
  "ProbeFailed",
  "WaitingForBeforeDeleteHook",
  "WaitingForControlPlaneDeletion",
  "ReconcileSucceeded",
  "ReconcileFailed",
  "ClusterCreating",
  "ClusterUpgrading",
  "MachineDeploymentsUpgradeDeferred",
  "MachinePoolsUpgradeDeferred",
  "ClusterClassNotReconciled",
] as const;

export const otherReasons = [
  "Discovered",
  "NotDiscovered",
  "RemediationAllowed",
  "TooManyUnhealthy",
  "VariablesReady",
  "VariableDiscoveryFailed",
  "RefVersionsUpToDate",
  "RefVersionsNotUpToDate",
  "WaitingForStartupTimeout",
  "WaitingForVMProvisioned",
  "WaitingForNodeProvisioned",
] as const;

export type ConditionReason =
  | (typeof sharedReasons)[number]
  | (typeof machineReasons)[number]
  | (typeof controlPlaneReasons)[number]
  | (typeof clusterReasons)[number]
  | (typeof otherReasons)[number];
