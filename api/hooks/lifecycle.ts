// Lifecycle hooks of Clusters with a topology. Source: spec/runtime/hooks.md section 7.
import type { Cluster } from "../cluster.ts";
import type { HookRequest, HookResponse, RetryResponse } from "./messages.ts";
import type { UpgradeStep } from "./topology.ts";

interface ClusterRequest extends HookRequest {
  /** Without status. */
  readonly cluster: Cluster;
}
interface Steps {
  readonly controlPlaneUpgrades?: readonly UpgradeStep[];
  readonly workersUpgrades?: readonly UpgradeStep[];
}
interface FromTo {
  readonly fromKubernetesVersion: string;
  readonly toKubernetesVersion: string;
}
interface At {
  readonly kubernetesVersion: string;
}

export type BeforeClusterCreateRequest = ClusterRequest;
export type BeforeClusterCreateResponse = RetryResponse;
export type AfterControlPlaneInitializedRequest = ClusterRequest;
export type AfterControlPlaneInitializedResponse = HookResponse;
export interface BeforeClusterUpgradeRequest extends ClusterRequest, FromTo, Steps {}
export type BeforeClusterUpgradeResponse = RetryResponse;
export interface BeforeControlPlaneUpgradeRequest extends ClusterRequest, FromTo, Steps {}
export type BeforeControlPlaneUpgradeResponse = RetryResponse;
export interface AfterControlPlaneUpgradeRequest extends ClusterRequest, At, Steps {}
export type AfterControlPlaneUpgradeResponse = RetryResponse;
export interface BeforeWorkersUpgradeRequest extends ClusterRequest, FromTo, Steps {}
export type BeforeWorkersUpgradeResponse = RetryResponse;
export interface AfterWorkersUpgradeRequest extends ClusterRequest, At, Steps {}
export type AfterWorkersUpgradeResponse = RetryResponse;
export interface AfterClusterUpgradeRequest extends ClusterRequest, At {}
export type AfterClusterUpgradeResponse = RetryResponse;
export type BeforeClusterDeleteRequest = ClusterRequest;
export type BeforeClusterDeleteResponse = RetryResponse;
