import { describe, expect, it } from "@jest/globals";
import { builtinTypes } from "../apiserver/builtin/index.ts";
import { createApiServer } from "../apiserver/server.ts";
import { silentLogger } from "./base/log.ts";
import { seededRandom } from "./base/random.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { createLeaderElection, Lease, leaseNameFor } from "./leader.ts";
import { transportClient } from "./transport-client.ts";

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

async function open() {
  const clock = new VirtualClock(1_700_000_000_000);
  const server = createApiServer({ clock, random: seededRandom(1), types: builtinTypes() });
  const cut = new Set<string>();
  const told: string[] = [];
  const startMs = clock.nowMs();
  const client = transportClient({ transport: server.handle });
  const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "ns" } });
  const replica = (identity: string) =>
    createLeaderElection({
      client: transportClient({
        transport: async (request) => {
          if (cut.has(identity)) throw new Error("no route to host");
          return server.handle(request);
        },
      }),
      clock,
      random: seededRandom(identity.length),
      log: silentLogger,
      namespace: "ns",
      leaseName: "lease",
      identity,
      onStarted: () => told.push(`${identity} leads`),
      onLost: () => told.push(`${identity} lost`),
    });
  /** Runs timers up to a time since the start. */
  const runTo = async (seconds: number): Promise<void> => {
    await turn();
    while ((clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= startMs + seconds * 1_000) {
      clock.runNext();
      await turn();
    }
  };
  const holder = async () => (await client.get(Lease, { namespace: "ns", name: "lease" })).spec;
  return { cut, told, replica, runTo, holder };
}

describe("leader election", () => {
  it("one leads; when it is cut off it stops before another takes over", async () => {
    const { cut, told, replica, runTo, holder } = await open();
    const [a, b] = [replica("a"), replica("bb")];
    a.start();
    await runTo(1);
    b.start();
    await runTo(20);
    expect(told).toEqual(["a leads"]);
    cut.add("a");
    await runTo(31.5);
    expect(told).toEqual(["a leads", "a lost"]);
    await runTo(45);
    expect(told).toEqual(["a leads", "a lost", "bb leads"]);
    expect([a.isLeader(), b.isLeader()]).toEqual([false, true]);
    expect(await holder()).toMatchObject({ holderIdentity: "bb", leaseTransitions: 1, leaseDurationSeconds: 15 });
  });

  it("a released lease is taken at the next try, without waiting for it to run out", async () => {
    const { told, replica, runTo } = await open();
    const [a, b] = [replica("a"), replica("bb")];
    a.start();
    await runTo(1);
    b.start();
    await runTo(6);
    await a.release();
    await runTo(12);
    expect(told).toEqual(["a leads", "bb leads"]);
  });

  it("programs with the same controllers share a lease, others do not", () => {
    expect(leaseNameFor(["machine", "cluster"])).toBe(leaseNameFor(["cluster", "machine"]));
    expect(leaseNameFor(["machine", "cluster"])).not.toBe(leaseNameFor(["machine"]));
  });
});
