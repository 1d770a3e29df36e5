import { describe, expect, it } from "@jest/globals";
import { createAskMemory } from "./ask.ts";

describe("memory of failed questions", () => {
  it("waits 1 s, 2 s, 4 s, up to 5 min, and gives the last failure meanwhile", async () => {
    const memory = createAskMemory();
    const calledAt: number[] = [];
    for (let second = 0; second <= 1_300; second++) {
      const call = async (): Promise<never> => {
        calledAt.push(second);
        throw new Error(`failed at ${second}`);
      };
      await expect(memory.call("pair", second * 1_000, call)).rejects.toThrow(`failed at ${calledAt.at(-1) ?? second}`);
    }
    expect(calledAt).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111]);
  });

  it("asks at once when what is asked about has changed, and begins anew after an answer", async () => {
    const memory = createAskMemory();
    const fails = async (): Promise<never> => {
      throw new Error("no");
    };
    await expect(memory.call("a", 0, fails)).rejects.toThrow("no");
    await expect(memory.call("a", 500, async () => "answer")).rejects.toThrow("no");
    expect(await memory.call("b", 500, async () => "answer")).toBe("answer");
    expect(await memory.call("a", 1_000, async () => "answer")).toBe("answer");
    await expect(memory.call("a", 1_000, fails)).rejects.toThrow("no");
    expect(await memory.call("a", 2_000, async () => "answer")).toBe("answer");
  });
});
