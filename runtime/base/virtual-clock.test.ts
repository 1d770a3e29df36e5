import { describe, expect, it } from "@jest/globals";
import { VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  it("runs timers by due time, then by insertion", () => {
    const clock = new VirtualClock(1_000);
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name}@${clock.nowMs()}`);
    clock.after(20, note("late"));
    clock.after(10, note("first"));
    clock.after(10, note("second"));
    clock.after(5, note("never"))();
    while (clock.runNext());
    expect(ran).toEqual(["first@1010", "second@1010", "late@1020"]);
  });

  it("repeats until cancelled, also from inside its own task", () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    const cancel = clock.every(7, () => {
      ran.push(clock.nowMs());
      if (ran.length === 3) cancel();
    });
    while (clock.runNext());
    expect(ran).toEqual([7, 14, 21]);
  });

  it("keeps order with many timers set in random order", () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    for (let i = 0; i < 500; i++) clock.after((i * 7919) % 503, () => ran.push(clock.nowMs()));
    while (clock.runNext());
    expect(ran).toEqual([...ran].sort((a, b) => a - b));
    expect(ran).toHaveLength(500);
  });

  it("keeps what waits when thousands of others were cancelled", () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    const cancels: (() => void)[] = [];
    for (let i = 0; i < 5_000; i++) {
      const cancel = clock.after((i * 7919) % 5_003, () => ran.push(i));
      if (i % 100 !== 0) cancels.push(cancel);
    }
    for (const cancel of cancels) cancel();
    for (const cancel of cancels) cancel();
    while (clock.runNext());
    const dueOf = (i: number): number => (i * 7919) % 5_003;
    expect(ran).toEqual(Array.from({ length: 50 }, (_, i) => i * 100).sort((a, b) => dueOf(a) - dueOf(b)));
    expect(clock.nextDueMs()).toBeUndefined();
  });
});
