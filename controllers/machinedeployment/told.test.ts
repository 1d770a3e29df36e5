import { describe, expect, it } from "@jest/globals";
import type { MachineSet } from "../../api/machineset.ts";
import { createToldMemory } from "./told.ts";

const set = (generation: number, replicas: number, observedGeneration: number): MachineSet =>
  ({ metadata: { uid: "u", generation }, spec: { replicas }, status: { observedGeneration } }) as MachineSet;

describe("what a set was told", () => {
  it("counts until its controller has seen something newer", () => {
    const told = createToldMemory();
    expect(told.most(set(1, 5, 0))).toBe(5);
    expect(told.most(set(2, 4, 0))).toBe(5);
    expect(told.most(set(2, 4, 1))).toBe(5);
    expect(told.most(set(3, 3, 2))).toBe(4);
    expect(told.most(set(3, 3, 3))).toBe(3);
  });

  it("of another set is something else", () => {
    const told = createToldMemory();
    told.most(set(1, 5, 0));
    expect(told.most({ ...set(2, 4, 0), metadata: { uid: "v", generation: 2 } })).toBe(4);
  });
});
