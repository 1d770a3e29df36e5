// Asking update extensions about one Machine. Here: the seam. Not here: registry, transport, patches and verdict (hooks/), a memory of
// failures (ask.ts). Source: spec/controllers/kubeadmcontrolplane-inplace.md sections 4 and 5, spec/runtime/hooks.md section 5.
import type { Machine } from "../../api/machine.ts";
import type { Unstructured } from "../contract/contract.ts";

/** A Machine with what it is made of; metadata and spec count, the rest is cut off before it is sent. */
export interface MachineWithObjects {
  readonly machine: Machine;
  readonly infrastructureMachine: Unstructured;
  /** Absent: the Machine refers to none. */
  readonly bootstrapConfig?: Unstructured;
}

export interface MachineQuestion {
  readonly current: MachineWithObjects;
  readonly desired: MachineWithObjects;
}

export interface MachineAnswer {
  /** The extension's patches turn current into desired. */
  readonly covered: boolean;
  /** Why not: per object the field paths that are left, or that no extension is registered. */
  readonly reasons: readonly string[];
}

/** Rejects when it cannot be decided (no answer, several extensions, a patch that does not apply): then nothing may be changed. Its message
 *  names the extension. */
export type CanUpdateMachine = (question: MachineQuestion) => Promise<MachineAnswer>;
