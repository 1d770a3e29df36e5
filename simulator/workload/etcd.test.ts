import { describe, expect, it } from "@jest/globals";
import {
  addMember,
  ELECTION_DELAY_MS,
  elect,
  type EtcdState,
  etcdApi,
  hasQuorum,
  leaderOf,
  newEtcd,
  setRunning,
  startMember,
} from "./etcd.ts";

const joined = (count: number): EtcdState => {
  let s = elect(addMember(newEtcd("7"), "1", "n1"), 0);
  for (let i = 2; i <= count; i++) s = startMember(addMember(s, String(i), `n${i}`), String(i));
  return s;
};

function holderOf(state: EtcdState) {
  const holder = {
    state,
    now: 0,
    version: "3.6.4",
    read: () => holder.state,
    write: (next: EtcdState) => (holder.state = next),
    nowMs: () => holder.now,
  };
  return holder;
}

describe("simulated etcd", () => {
  it("elects the first member at once and keeps it while others join", () => {
    expect(leaderOf(joined(3))?.node).toBe("n1");
  });

  it("shows a joining member without a name, as a learner that does not count for the quorum", async () => {
    const holder = holderOf(addMember(joined(1), "2", "n2"));
    const { members } = await etcdApi(holder, "n1").memberList();
    expect(members.map((m) => [m.id, m.name, m.isLearner])).toEqual([
      ["1", "n1", false],
      ["2", "", true],
    ]);
    expect(hasQuorum(setRunning(holder.state, "2", false))).toBe(true);
  });

  it("elects a new leader only after the election delay", async () => {
    const holder = holderOf(setRunning(joined(3), "1", false));
    const n2 = etcdApi(holder, "n2");
    expect((await n2.status()).leader).toBe("0");
    await expect(n2.memberList()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    holder.now = ELECTION_DELAY_MS;
    expect((await n2.status()).leader).toBe("2");
  });

  it.each([
    ["unknown member", 3, "9", "NOT_FOUND"],
    ["quorum would be lost", 3, "2", "FAILED_PRECONDITION"],
  ])("refuses to remove: %s", async (_, count, id, code) => {
    const s = code === "FAILED_PRECONDITION" ? setRunning(joined(count), "3", false) : joined(count);
    await expect(etcdApi(holderOf(s), "n1").memberRemove(id)).rejects.toMatchObject({ code });
  });

  it("moves leadership only when the leader is asked, and only to a running voter", async () => {
    const holder = holderOf(joined(3));
    await expect(etcdApi(holder, "n2").moveLeader("3")).rejects.toThrow("not leader");
    await expect(etcdApi(holder, "n1").moveLeader("9")).rejects.toThrow("bad leader transferee");
    await etcdApi(holder, "n1").moveLeader("3");
    expect((await etcdApi(holder, "n2").status()).leader).toBe("3");
  });

  it("refuses connections to a removed member", async () => {
    const holder = holderOf(joined(3));
    await etcdApi(holder, "n1").memberRemove("2");
    await expect(etcdApi(holder, "n2").status()).rejects.toThrow("connection refused");
  });

  it("re-elects after the leader itself was removed", async () => {
    const holder = holderOf(joined(3));
    await etcdApi(holder, "n1").memberRemove("1");
    holder.now += ELECTION_DELAY_MS;
    expect((await etcdApi(holder, "n2").status()).leader).toBe("2");
  });
});
