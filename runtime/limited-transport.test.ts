import { expect, it } from "@jest/globals";
import type { Transport } from "../api/meta/transport.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { limitedTransport } from "./limited-transport.ts";

it("lets a burst through, then the rate, in order", async () => {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const transport: Transport = async ({ path }) => {
    sent.push(`${path}@${clock.nowMs()}`);
    return { kind: "bytes", status: 200, headers: {}, bytes: new Uint8Array() };
  };
  const limited = limitedTransport(transport, clock, 2);
  const all = Array.from({ length: 7 }, (_, i) => limited({ method: "GET", path: `/${i}`, query: "", headers: {} }));
  for (;;) {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    if (!clock.runNext()) break;
  }
  await Promise.all(all);
  expect(sent).toEqual(["/0@0", "/1@0", "/2@0", "/3@0", "/4@500", "/5@1000", "/6@1500"]);
});
