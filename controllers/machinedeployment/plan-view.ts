// What the planners of a MachineDeployment look at, and what they answer with. Here: types, and how many machines a set may have.
// Source: spec/controllers/machinedeployment.md 6, inplace-workers.md 3.
import type { RolloutLimits } from "../rollout/numbers.ts";

/** A MachineSet as the planner sees it. Counters are 0 where the status has none. */
export interface SetView {
  readonly name: string;
  readonly createdMs: number;
  /** spec.replicas. */
  readonly replicas: number;
  /** status.replicas, .availableReplicas, .upToDateReplicas. */
  readonly current: number;
  readonly available: number;
  readonly upToDate: number;
  /** Stored: it makes no machines (disable-machine-create), because it takes machines back, or did. */
  readonly holding?: boolean;
  /** Its controller has seen its present spec, so its counters are those after the last hand-over. */
  readonly seen?: boolean;
  /** Its machines in the cache of Machines: one that has just come may not be in its counters, or one that left still in them. Absent = `current`. */
  readonly machines?: number;
  /** Replicas that it was told before and its controller may still act on; absent = `replicas`. */
  readonly told?: number;
}

/** Machines that a set has, or may come to have by what its controller was told. */
export const mayHave = (set: SetView): number => Math.max(set.replicas, set.told ?? 0, set.current, set.machines ?? 0);

export interface OldSetView extends SetView {
  /** False: never asked about, its machines are replaced. */
  readonly inPlaceEligible: boolean;
}

/** The new set, and what is left of a time when it was an old one. */
export interface NewSetView extends SetView {
  /** Stored move annotation: until now it handed machines over; some that it was told to hand over may still be there. */
  readonly wasSender?: boolean;
}

/** What an update extension said about one old set. */
export interface Coverage {
  readonly covered: boolean;
  /** Why not, one text per object that would still differ. */
  readonly reasons: readonly string[];
}

export interface InPlaceView {
  /** Names of machines that the new set controls and nobody has counted yet (pending-acknowledge-move). */
  readonly pendingMoves: readonly string[];
  /** Names in the new set's stored acknowledged-move annotation. */
  readonly acknowledged: readonly string[];
  /** Some machine of the MachineDeployment carries an in-place mark. */
  readonly someUpdating: boolean;
  /** Answers by name of the old set; a missing one is asked for. */
  readonly answers: ReadonlyMap<string, Coverage>;
  /** True: machines may be updated in place or left alone, never replaced by a rollout. */
  readonly required?: boolean;
}

export interface RolloutView {
  /** spec.replicas of the MachineDeployment. */
  readonly replicas: number;
  readonly limits: RolloutLimits;
  /** All zeros when it is still to be created. */
  readonly newSet: NewSetView;
  readonly oldSets: readonly OldSetView[];
  /** Machines of all sets as the cache of Machines knows them, deleting ones included. A machine on its way from set to set may be in the
   *  counters of neither; nothing is made in its place. */
  readonly machineCount?: number;
  /** Absent: in-place updates are off. */
  readonly inPlace?: InPlaceView;
}

/** What shall be written to one set. */
export interface SetPlan {
  readonly name: string;
  readonly replicas: number;
  /** Value of the move annotation; absent = the annotation goes away. The other two likewise. */
  readonly moveTo?: string;
  readonly receiveFrom?: readonly string[];
  readonly acknowledged?: readonly string[];
  /** The set makes no machines for now, whatever its replicas say. */
  readonly holdCreation?: boolean;
  /** Why replicas change; absent when they stay. */
  readonly because?: string;
}

export interface RolloutPlan {
  readonly do: "apply";
  readonly newSet: SetPlan;
  /** In the order in which they are written: oldest first. */
  readonly oldSets: readonly SetPlan[];
  /** Old sets whose machines are replaced although in-place updates are on, with the reasons. */
  readonly replaced: readonly { readonly set: string; readonly reasons: readonly string[] }[];
  /** Growth of the new set that waits until moves have been tried. */
  readonly surgePutOff: number;
  /** Set when nothing may be replaced and something cannot be updated in place. */
  readonly blocked?: readonly string[];
}

/** The plan needs answers first. @param newSetReplicas what the new set has once moved machines are counted; goes into the question */
export interface AskFirst {
  readonly do: "ask";
  readonly oldSets: readonly string[];
  readonly newSetReplicas: number;
}
