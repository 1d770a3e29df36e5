// Hooks by name, so that `.on(CanUpdateMachine, ...)` is typed. Here: constants only.
export const CanUpdateMachine = "CanUpdateMachine" as const;
export const CanUpdateMachineSet = "CanUpdateMachineSet" as const;
export const UpdateMachine = "UpdateMachine" as const;
export const GeneratePatches = "GeneratePatches" as const;
export const ValidateTopology = "ValidateTopology" as const;
export const DiscoverVariables = "DiscoverVariables" as const;
export const GenerateUpgradePlan = "GenerateUpgradePlan" as const;
export const BeforeClusterCreate = "BeforeClusterCreate" as const;
export const AfterControlPlaneInitialized = "AfterControlPlaneInitialized" as const;
export const BeforeClusterUpgrade = "BeforeClusterUpgrade" as const;
export const BeforeControlPlaneUpgrade = "BeforeControlPlaneUpgrade" as const;
export const AfterControlPlaneUpgrade = "AfterControlPlaneUpgrade" as const;
export const BeforeWorkersUpgrade = "BeforeWorkersUpgrade" as const;
export const AfterWorkersUpgrade = "AfterWorkersUpgrade" as const;
export const AfterClusterUpgrade = "AfterClusterUpgrade" as const;
export const BeforeClusterDelete = "BeforeClusterDelete" as const;
