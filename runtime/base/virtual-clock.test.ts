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
});
