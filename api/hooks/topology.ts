// Topology hooks: patches, validation, variables, upgrade plans. Source: spec/runtime/hooks.md sections 6 and 8.
import type { Cluster } from "../cluster.ts";
import type { ClusterClassVariable } from "../clusterclass.ts";
import type { ClusterVariable } from "../shared.ts";
import type { AnySpecObject } from "./inplace.ts";
import type { HookRequest, HookResponse, PatchType } from "./messages.ts";

/** The object that will refer to a template, and where. */
export interface HolderReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldPath: string;
}

export interface TopologyItem {
  readonly holderReference: HolderReference;
  readonly object: AnySpecObject;
  readonly variables?: readonly ClusterVariable[];
}

export interface GeneratePatchesRequest extends HookRequest {
  readonly variables?: readonly ClusterVariable[];
  readonly items: readonly (TopologyItem & {
    /** Ties answers to questions; new for each call. */
    readonly uid: string;
  })[];
}

export interface GeneratePatchesResponse extends HookResponse {
  readonly items?: readonly { readonly uid: string; readonly patchType: PatchType; readonly patch: string }[];
}

export interface ValidateTopologyRequest extends HookRequest {
  readonly variables?: readonly ClusterVariable[];
  readonly items: readonly TopologyItem[];
}
export type ValidateTopologyResponse = HookResponse;

export type DiscoverVariablesRequest = HookRequest;
export interface DiscoverVariablesResponse extends HookResponse {
  readonly variables?: readonly ClusterClassVariable[];
}

export interface UpgradeStep {
  readonly version: string;
}

export interface GenerateUpgradePlanRequest extends HookRequest {
  readonly cluster: Cluster;
  readonly fromControlPlaneKubernetesVersion: string;
  /** Lowest version of all workers; absent without workers. */
  readonly fromWorkersKubernetesVersion?: string;
  readonly toKubernetesVersion: string;
}
export interface GenerateUpgradePlanResponse extends HookResponse {
  readonly controlPlaneUpgrades?: readonly UpgradeStep[];
  readonly workersUpgrades?: readonly UpgradeStep[];
}
