// The control plane controller cut off after any one write: whatever was half done is completed, and nothing is done twice.
import { describe, expect, it, jest } from "@jest/globals";
import type { Store } from "../../apiserver/store/store.ts";
import { type ControlPlane, startControlPlane, uidsOf } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(240_000);

const CUT_KINDS = ["cluster.x-k8s.io/machines", "devmachines", "kubeadmconfigs", "kubeadmcontrolplanes", "secrets"];

interface Cuts {
  /** Lets the n-th commit of those kinds from now on happen, and its writer not learn of it. */
  after(n: number): void;
  /** Commits of those kinds since then. */
  count(): number;
}

function cutting(store: Store): Cuts {
  let [count, at] = [0, 0];
  const { commit } = store;
  (store as { commit: Store["commit"] }).commit = (writes) => {
    const revision = commit(writes);
    const counts = writes.some((w) => CUT_KINDS.some((kind) => w.key.resource.endsWith(kind)) && !w.key.resource.startsWith("workload|"));
    if (counts && ++count === at) throw new Error("cut: the connection broke after the write");
    return revision;
  };
  return {
    after: (n) => {
      [count, at] = [0, n];
    },
    count: () => count,
  };
}

const fileWith = (content: string): object => ({ spec: { kubeadmConfigSpec: { files: [{ path: "/etc/motd", content }] } } });

async function marksLeft(cp: ControlPlane): Promise<readonly string[]> {
  const keys = (await cp.machines()).flatMap((m) => Object.keys(m.metadata.annotations ?? {}));
  return keys.filter((key) => key.includes("in-place") || key.includes("pending-hooks"));
}

const infrastructure = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "DevMachine",
  plural: "devmachines",
  namespaced: true,
};

async function infrastructureNames(cp: ControlPlane): Promise<readonly string[]> {
  const { items } = await cp.client.list(infrastructure, { namespace: "default" });
  return items.map((o) => o.metadata.name ?? "").sort();
}
const machineNames = async (cp: ControlPlane): Promise<readonly string[]> => (await cp.machines()).map((m) => m.metadata.name ?? "").sort();

/** Lowest number of etcd members that ran until the control plane was settled. */
async function leastMembers(cp: ControlPlane): Promise<number> {
  let least = 9;
  await cp.virtual.until(
    "the rollout is over",
    async () => {
      const { members } = cp.virtual.world.clusters.open({ namespace: "default", name: "demo" }).read().etcd;
      least = Math.min(least, members.filter((m) => m.running && m.started).length);
      const { status, metadata } = await cp.kcp();
      const counts = [status?.upToDateReplicas, status?.replicas, status?.availableReplicas];
      return counts.every((n) => n === 3) && status?.observedGeneration === metadata.generation;
    },
    1_800_000,
  );
  return least;
}

describe("a rollout in place", () => {
  it("survives a cut after each of its writes", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const before = uidsOf(await cp.machines());
    const cuts = cutting(cp.virtual.store);
    let writes = 1;
    // Beyond these the same steps repeat for the other machines.
    for (let n = 1; n <= Math.min(writes, 42); n++) {
      const from = cp.mark();
      cuts.after(n);
      await cp.change(fileWith(`content ${n}`)).catch(() => undefined);
      await cp.settle();
      writes = Math.max(writes, cuts.count());
      expect([n, uidsOf(await cp.machines()), await marksLeft(cp)]).toEqual([n, before, []]);
      expect([n, cp.lines(/delete +machines\//, from)]).toEqual([n, []]);
    }
    expect(writes).toBeGreaterThan(30);
    cp.virtual.stop();
  });
});

describe("a new control plane", () => {
  it.each([8, 12, 14, 16, 18, 20, 24])("survives a cut after write %d, and has no leftovers", async (n) => {
    const cp = await startControlPlane({ seed: n, replicas: 1, maxSurge: 1 });
    cutting(cp.virtual.store).after(n);
    await cp.settle();
    const names = await machineNames(cp);
    expect([names.length, await infrastructureNames(cp)]).toEqual([1, names]);
    cp.virtual.stop();
  });
});

describe("a replacement", () => {
  it("survives a cut after its writes, with never more than one etcd member missing", async () => {
    const cp = await startControlPlane({ inPlace: false });
    await cp.settle();
    const cuts = cutting(cp.virtual.store);
    for (let n = 2; n <= 60; n += 9) {
      const before = await machineNames(cp);
      cuts.after(n);
      await cp.change(fileWith(`content ${n}`)).catch(() => undefined);
      expect([n, await leastMembers(cp)]).toEqual([n, 2]);
      await cp.settle();
      const names = await machineNames(cp);
      expect([n, names.filter((name) => before.includes(name)), await infrastructureNames(cp)]).toEqual([n, [], names]);
    }
    cp.virtual.stop();
  });
});
