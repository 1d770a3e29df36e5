// What sets were told that their controller may not have seen yet: it may still make machines for more replicas than the set has now.
// Here: the memory of one process. A new process starts without it; sets tell by observedGeneration when nothing is open any more.
import type { MachineSet } from "../../api/machineset.ts";

export interface ToldMemory {
  /** Replicas that the set's controller may be acting on: the most of its present spec and of those after the last that it has seen. */
  most(set: MachineSet): number;
}

const SETS_MAX = 10_000;

export function createToldMemory(): ToldMemory {
  /** Replicas by generation, by uid of the set. */
  const told = new Map<string, Map<number, number>>();
  return {
    most: (set) => {
      const { uid = "", generation = 0 } = set.metadata;
      const { replicas = 0 } = set.spec;
      const seen = set.status?.observedGeneration ?? 0;
      const open = new Map([...(told.get(uid) ?? [])].filter(([g]) => g >= seen)).set(generation, replicas);
      told.delete(uid);
      told.set(uid, open);
      const oldest = told.keys().next().value;
      if (told.size > SETS_MAX && oldest !== undefined) told.delete(oldest);
      return Math.max(...open.values());
    },
  };
}
