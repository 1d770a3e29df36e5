// The hook catalog: every hook with the types of its call. Not here: calling them (hooks/).
// Source: spec/runtime/hooks.md sections 1 and 2.
import type { DiscoveryRequest, DiscoveryResponse } from "./discovery.ts";
import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  UpdateMachineRequest,
  UpdateMachineResponse,
} from "./inplace.ts";
import type * as lifecycle from "./lifecycle.ts";
import type * as topology from "./topology.ts";

interface Call<Request, Response> {
  readonly request: Request;
  readonly response: Response;
}

export interface HookCatalog {
  readonly Discovery: Call<DiscoveryRequest, DiscoveryResponse>;
  readonly CanUpdateMachine: Call<CanUpdateMachineRequest, CanUpdateMachineResponse>;
  readonly CanUpdateMachineSet: Call<CanUpdateMachineSetRequest, CanUpdateMachineSetResponse>;
  readonly UpdateMachine: Call<UpdateMachineRequest, UpdateMachineResponse>;
  readonly GeneratePatches: Call<topology.GeneratePatchesRequest, topology.GeneratePatchesResponse>;
  readonly ValidateTopology: Call<topology.ValidateTopologyRequest, topology.ValidateTopologyResponse>;
  readonly DiscoverVariables: Call<topology.DiscoverVariablesRequest, topology.DiscoverVariablesResponse>;
  readonly GenerateUpgradePlan: Call<topology.GenerateUpgradePlanRequest, topology.GenerateUpgradePlanResponse>;
  readonly BeforeClusterCreate: Call<lifecycle.BeforeClusterCreateRequest, lifecycle.BeforeClusterCreateResponse>;
  readonly AfterControlPlaneInitialized: Call<
    lifecycle.AfterControlPlaneInitializedRequest,
    lifecycle.AfterControlPlaneInitializedResponse
  >;
  readonly BeforeClusterUpgrade: Call<lifecycle.BeforeClusterUpgradeRequest, lifecycle.BeforeClusterUpgradeResponse>;
  readonly BeforeControlPlaneUpgrade: Call<lifecycle.BeforeControlPlaneUpgradeRequest, lifecycle.BeforeControlPlaneUpgradeResponse>;
  readonly AfterControlPlaneUpgrade: Call<lifecycle.AfterControlPlaneUpgradeRequest, lifecycle.AfterControlPlaneUpgradeResponse>;
  readonly BeforeWorkersUpgrade: Call<lifecycle.BeforeWorkersUpgradeRequest, lifecycle.BeforeWorkersUpgradeResponse>;
  readonly AfterWorkersUpgrade: Call<lifecycle.AfterWorkersUpgradeRequest, lifecycle.AfterWorkersUpgradeResponse>;
  readonly AfterClusterUpgrade: Call<lifecycle.AfterClusterUpgradeRequest, lifecycle.AfterClusterUpgradeResponse>;
  readonly BeforeClusterDelete: Call<lifecycle.BeforeClusterDeleteRequest, lifecycle.BeforeClusterDeleteResponse>;
}

export type HookName = keyof HookCatalog;
export type HookRequestOf<H extends HookName> = HookCatalog[H]["request"];
export type HookResponseOf<H extends HookName> = HookCatalog[H]["response"];

export interface HookInfo {
  /** Whether answers carry retryAfterSeconds. */
  readonly retries: boolean;
  /** all: every matching handler is called and answers are merged. one: a handler named by the caller. */
  readonly calls: "all" | "one";
  /** Kind whose namespace an ExtensionConfig's selector is matched against; none for Discovery. */
  readonly on?: "Cluster" | "ClusterClass" | "Machine" | "MachineSet";
}

const lifecycleHook: HookInfo = { retries: true, calls: "all", on: "Cluster" };

export const hookCatalog: Readonly<Record<HookName, HookInfo>> = {
  Discovery: { retries: false, calls: "one" },
  CanUpdateMachine: { retries: false, calls: "one", on: "Machine" },
  CanUpdateMachineSet: { retries: false, calls: "one", on: "MachineSet" },
  UpdateMachine: { retries: true, calls: "all", on: "Machine" },
  GeneratePatches: { retries: false, calls: "one", on: "Cluster" },
  ValidateTopology: { retries: false, calls: "one", on: "Cluster" },
  DiscoverVariables: { retries: false, calls: "one", on: "ClusterClass" },
  GenerateUpgradePlan: { retries: false, calls: "one", on: "Cluster" },
  BeforeClusterCreate: lifecycleHook,
  AfterControlPlaneInitialized: { retries: false, calls: "all", on: "Cluster" },
  BeforeClusterUpgrade: lifecycleHook,
  BeforeControlPlaneUpgrade: lifecycleHook,
  AfterControlPlaneUpgrade: lifecycleHook,
  BeforeWorkersUpgrade: lifecycleHook,
  AfterWorkersUpgrade: lifecycleHook,
  AfterClusterUpgrade: lifecycleHook,
  BeforeClusterDelete: lifecycleHook,
};

export const hookNames = Object.keys(hookCatalog) as readonly HookName[];
export const isHookName = (name: string): name is HookName => Object.hasOwn(hookCatalog, name);
