// In-place hooks: may this machine be updated in place, and do it. Source: spec/runtime/hooks.md section 5.
import type { Machine } from "../machine.ts";
import type { MachineSet } from "../machineset.ts";
import type { KubeObject } from "../meta/object.ts";
import type { HookPatch, HookRequest, HookResponse, RetryResponse } from "./messages.ts";

/** An infrastructure or bootstrap object of any kind. Only metadata and spec are sent. */
export interface AnySpecObject extends KubeObject {
  readonly spec?: object;
}

export interface MachineObjects {
  readonly machine: Machine;
  readonly infrastructureMachine: AnySpecObject;
  readonly bootstrapConfig?: AnySpecObject;
}

export interface CanUpdateMachineRequest extends HookRequest {
  readonly current: MachineObjects;
  readonly desired: MachineObjects;
}

export interface CanUpdateMachineResponse extends HookResponse {
  readonly machinePatch?: HookPatch;
  readonly infrastructureMachinePatch?: HookPatch;
  readonly bootstrapConfigPatch?: HookPatch;
  /** Not yet in upstream's releases. Unset means true. */
  readonly affectsAvailability?: boolean;
}

export interface MachineSetObjects {
  readonly machineSet: MachineSet;
  readonly infrastructureMachineTemplate: AnySpecObject;
  readonly bootstrapConfigTemplate?: AnySpecObject;
}

export interface CanUpdateMachineSetRequest extends HookRequest {
  readonly current: MachineSetObjects;
  readonly desired: MachineSetObjects;
}

export interface CanUpdateMachineSetResponse extends HookResponse {
  readonly machineSetPatch?: HookPatch;
  readonly infrastructureMachineTemplatePatch?: HookPatch;
  readonly bootstrapConfigTemplatePatch?: HookPatch;
  /** Not yet in upstream's releases. Unset means true. */
  readonly affectsAvailability?: boolean;
}

export interface UpdateMachineRequest extends HookRequest {
  readonly desired: MachineObjects;
}

/** Success with 0: done. Success with more: working. Failure: tried again with back-off, for ever. */
export type UpdateMachineResponse = RetryResponse;
