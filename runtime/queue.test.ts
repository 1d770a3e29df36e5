import { describe, expect, it } from "@jest/globals";
import { randomInt, seededRandom } from "./base/random.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { backoffDelayMs, createWorkQueue } from "./queue.ts";

describe("back-off", () => {
  it.each([
    [1, 5],
    [2, 10],
    [10, 2_560],
    [18, 655_360],
    [19, 1_000_000],
    [500, 1_000_000],
  ])("after %i failures waits %i ms", (failures, delayMs) => {
    expect(backoffDelayMs(failures)).toBe(delayMs);
  });

  it("needs a failure", () => {
    expect(() => backoffDelayMs(0)).toThrow("back-off needs a failure");
  });
});

describe("work queue", () => {
  const open = () => {
    const clock = new VirtualClock();
    const queue = createWorkQueue({ clock });
    const drain = (): string[] => {
      const keys: string[] = [];
      while (queue.readyCount() > 0) keys.push(queue.takeAt(0));
      return keys;
    };
    return { clock, queue, drain };
  };

  it("gives each key once, in order, low lane last", () => {
    const { queue, drain } = open();
    for (const key of ["a", "b", "a"]) queue.add(key);
    queue.add("early", "low");
    queue.add("raised", "low");
    queue.add("raised");
    queue.add("c");
    expect(drain()).toEqual(["a", "b", "raised", "c", "early"]);
  });

  it("does not give a key that runs; gives it again when it was added meanwhile", () => {
    const { queue } = open();
    queue.add("a");
    queue.takeAt(0);
    queue.add("a");
    queue.add("a");
    expect(queue.readyCount()).toBe(0);
    queue.done("a");
    expect(queue.takeAt(0)).toBe("a");
    queue.done("a");
    expect(queue.readyCount()).toBe(0);
  });

  it("of two delays the earlier counts, and an add at once drops both", () => {
    const { clock, queue, drain } = open();
    queue.addAfter("a", 100);
    queue.addAfter("a", 50);
    queue.addAfter("a", 70);
    queue.addAfter("b", 60);
    queue.add("b");
    expect(drain()).toEqual(["b"]);
    expect(clock.runNext()).toBe(true);
    expect(clock.nowMs()).toBe(50);
    expect(drain()).toEqual(["a"]);
    expect(clock.runNext()).toBe(false);
  });

  it("doubles the delay of a failing key until forget", () => {
    const { queue } = open();
    const delays = [1, 2, 3].map(() => queue.addRateLimited("a"));
    queue.forget("a");
    expect([...delays, queue.addRateLimited("a")]).toEqual([5, 10, 20, 5]);
  });

  it("after stop nothing becomes ready", () => {
    const { clock, queue } = open();
    queue.addAfter("a", 10);
    queue.add("b");
    queue.stop();
    queue.add("c");
    expect(clock.runNext()).toBe(false);
    expect(queue.readyCount()).toBe(0);
  });

  it.each([1, 2, 3, 4, 5])("seed %i: loses no key, never gives a running one", (seed) => {
    const { clock, queue } = open();
    const random = seededRandom(seed);
    const owed = new Set<string>();
    const running = new Set<string>();
    const take = (): void => {
      if (queue.readyCount() === 0) return;
      const taken = queue.takeAt(randomInt(random, queue.readyCount()));
      expect(running.has(taken)).toBe(false);
      running.add(taken);
      owed.delete(taken);
    };
    const end = (): void => {
      const done = [...running][randomInt(random, running.size)];
      if (done === undefined) return;
      running.delete(done);
      queue.done(done);
    };
    const owing = (add: (key: string) => void) => (): void => {
      const key = `k${randomInt(random, 40)}`;
      add(key);
      owed.add(key);
    };
    const actions = [
      ...Array(5).fill(owing((key) => queue.add(key))),
      owing((key) => queue.add(key, "low")),
      ...Array(2).fill(owing((key) => queue.addAfter(key, randomInt(random, 50)))),
      ...Array(2).fill(owing((key) => queue.addRateLimited(key))),
      ...Array(5).fill(take),
      ...Array(4).fill(end),
      () => clock.runNext(),
    ];
    for (let i = 0; i < 5_000; i++) actions[randomInt(random, actions.length)]();
    for (const key of running) queue.done(key);
    while (queue.readyCount() > 0 || clock.runNext()) {
      while (queue.readyCount() > 0) {
        const key = queue.takeAt(0);
        owed.delete(key);
        queue.done(key);
      }
    }
    expect([...owed]).toEqual([]);
    expect([queue.delayedCount(), queue.runningCount()]).toEqual([0, 0]);
  });
});
