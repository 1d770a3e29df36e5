// A simulated etcd cluster: members, quorum, leadership, alarms.
// Here: the rules as functions over an immutable state. Not here: the Pods that stand for members (control-plane.ts), wire formats.
// Source: spec/controllers/workload-cluster.md section 5, dev-provider.md 3.3 and 5.
import type { EtcdApi, EtcdMember } from "../../controllers/workload/seam.ts";

export interface MemberState {
  /** Decimal text; exceeds 2^53. */
  readonly id: string;
  /** Name of the Node; the member shows it once it has started. */
  readonly node: string;
  readonly started: boolean;
  readonly learner: boolean;
  readonly running: boolean;
  readonly alarm?: "NOSPACE" | "CORRUPT";
}

export interface EtcdState {
  readonly clusterId: string;
  readonly members: readonly MemberState[];
  /** Absent while there is none. */
  readonly leader?: string;
  /** From when on a new leader can be elected, milliseconds since the epoch. */
  readonly electionAtMs?: number;
}

/** How long followers wait before they elect a new leader, milliseconds; etcd's default election timeout. */
export const ELECTION_DELAY_MS = 1_000;

/** A fault as etcd reports it; `code` is the gRPC code name. */
export class EtcdFault extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "EtcdFault";
    this.code = code;
  }
}

export const newEtcd = (clusterId: string): EtcdState => ({ clusterId, members: [] });

const voters = (s: EtcdState): readonly MemberState[] => s.members.filter((m) => !m.learner);
const canVote = (m: MemberState): boolean => m.running && m.started && !m.learner;

export function hasQuorum(s: EtcdState): boolean {
  const all = voters(s).length;
  return all > 0 && voters(s).filter(canVote).length >= Math.floor(all / 2) + 1;
}

export const leaderOf = (s: EtcdState): MemberState | undefined => s.members.find((m) => m.id === s.leader && canVote(m));

const replace = (s: EtcdState, id: string, change: Partial<MemberState>): EtcdState => ({
  ...s,
  members: s.members.map((m) => (m.id === id ? { ...m, ...change } : m)),
});

/** Brings leadership up to date: a lost leader is replaced after the election delay, while there is a quorum. */
export function elect(s: EtcdState, nowMs: number): EtcdState {
  if (leaderOf(s) && hasQuorum(s)) return s;
  if (!hasQuorum(s)) return s.leader === undefined && s.electionAtMs === undefined ? s : { clusterId: s.clusterId, members: s.members };
  const first = s.leader === undefined && s.electionAtMs === undefined && voters(s).length === 1;
  const atMs = first ? nowMs : (s.electionAtMs ?? nowMs + ELECTION_DELAY_MS);
  if (nowMs < atMs) return { clusterId: s.clusterId, members: s.members, electionAtMs: atMs };
  return { clusterId: s.clusterId, members: s.members, leader: s.members.find(canVote)?.id };
}

/** The first member starts the cluster; every other joins as a nameless learner and is promoted by `startMember`. */
export function addMember(s: EtcdState, id: string, node: string): EtcdState {
  const first = s.members.length === 0;
  return { ...s, members: [...s.members, { id, node, started: first, learner: !first, running: true }] };
}

export const startMember = (s: EtcdState, id: string): EtcdState => replace(s, id, { started: true, learner: false });

export const setRunning = (s: EtcdState, id: string, running: boolean): EtcdState => replace(s, id, { running });

function needQuorum(s: EtcdState): void {
  if (!hasQuorum(s) || !leaderOf(s)) throw new EtcdFault("UNAVAILABLE", "etcdserver: no leader");
}

/** @throws EtcdFault NOT_FOUND, FAILED_PRECONDITION when the members left that run would be no quorum, UNAVAILABLE */
export function removeMember(s: EtcdState, id: string): EtcdState {
  needQuorum(s);
  const gone = s.members.find((m) => m.id === id);
  if (!gone) throw new EtcdFault("NOT_FOUND", "etcdserver: member not found");
  const left: EtcdState = { ...s, members: s.members.filter((m) => m.id !== id) };
  if (!gone.learner && left.members.length > 0 && !hasQuorum(left)) {
    throw new EtcdFault("FAILED_PRECONDITION", "etcdserver: re-configuration failed due to not enough started members");
  }
  return left;
}

/** @param asked the member that got the call: only the leader can hand over */
export function moveLeader(s: EtcdState, asked: string, target: string): EtcdState {
  needQuorum(s);
  if (s.leader !== asked) throw new EtcdFault("FAILED_PRECONDITION", "etcdserver: not leader");
  const next = s.members.find((m) => m.id === target);
  if (!next || !canVote(next)) throw new EtcdFault("FAILED_PRECONDITION", "etcdserver: bad leader transferee");
  return { ...s, leader: target };
}

const shown = (m: MemberState): EtcdMember => ({
  id: m.id,
  name: m.started ? m.node : "",
  isLearner: m.learner,
  peerUrls: [`https://${m.node}:2380`],
  clientUrls: m.started ? [`https://${m.node}:2379`] : [],
});

export interface EtcdHolder {
  read(): EtcdState;
  write(next: EtcdState): void;
  nowMs(): number;
  version: string;
}

/** The client API of one member; calls to a member that was stopped or removed are refused connections. */
export function etcdApi(holder: EtcdHolder, node: string): EtcdApi {
  const current = (): EtcdState => {
    const state = holder.read();
    const next = elect(state, holder.nowMs());
    if (next !== state) holder.write(next);
    return next;
  };
  const me = (s: EtcdState): MemberState => {
    const member = s.members.find((m) => m.node === node);
    if (!member?.running) throw new EtcdFault("UNAVAILABLE", `connection refused: no etcd member runs on ${node}`);
    return member;
  };
  return {
    async status() {
      const s = current();
      const member = me(s);
      return { leader: leaderOf(s)?.id ?? "0", memberId: member.id, version: holder.version, isLearner: member.learner, errors: [] };
    },
    async memberList() {
      const s = current();
      me(s);
      needQuorum(s);
      return { clusterId: s.clusterId, members: s.members.map(shown) };
    },
    async memberRemove(id) {
      const s = current();
      me(s);
      holder.write(elect(removeMember(s, id), holder.nowMs()));
    },
    async moveLeader(targetId) {
      const s = current();
      holder.write(moveLeader(s, me(s).id, targetId));
    },
    async alarms() {
      const s = current();
      me(s);
      needQuorum(s);
      return s.members.flatMap((m) => (m.alarm ? [{ memberId: m.id, type: m.alarm }] : []));
    },
    close() {},
  };
}
