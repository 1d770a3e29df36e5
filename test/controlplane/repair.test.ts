// Machines that are sick, strays in etcd, Machines that others made, the end of a control plane. Real controllers, virtual time.
import { describe, expect, it, jest } from "@jest/globals";
import { secretResource } from "../../api/core/index.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { addMember } from "../../simulator/workload/etcd.ts";
import { type ControlPlane, NAMESPACE, startControlPlane, uidsOf } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(240_000);

const DEMO = { namespace: NAMESPACE, name: "demo" };

/** As a health check does. */
async function markUnhealthy(cp: ControlPlane, machine: Machine): Promise<void> {
  const at = new Date(cp.virtual.clock.nowMs()).toISOString().replace(/\.\d+/, "");
  const mark = (type: string, reason: string) => ({ type, status: "False", reason, message: "", lastTransitionTime: at });
  const kept = machine.status?.conditions ?? [];
  const conditions = [...kept, mark("HealthCheckSucceeded", "UnhealthyNode"), mark("OwnerRemediated", "WaitingForRemediation")];
  await cp.client.patch(machineResource, keyOf(machine), { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
}

const members = (cp: ControlPlane): readonly string[] =>
  cp.virtual.world.clusters
    .open(DEMO)
    .read()
    .etcd.members.map((m) => m.node)
    .sort();

describe("a machine that a health check has marked", () => {
  it("is deleted, its member leaves, its replacement remembers why it is there", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const [sick] = await cp.machines();
    if (!sick) throw new Error("there is a machine");
    const uid = sick.metadata.uid ?? "";
    await markUnhealthy(cp, sick);
    await cp.virtual.until("it is gone", async () => !uidsOf(await cp.machines()).includes(uid), 60_000);
    // All of it may happen within one instant of virtual time: the log has seen it.
    expect(cp.virtual.log.lines.some((l) => l.includes("KubeadmControlPlane cp ") && l.includes("Remediating=True/Remediating"))).toBe(
      true,
    );
    await cp.settle();
    const machines = await cp.machines();
    expect(uidsOf(machines)).not.toContain(sick.metadata.uid);
    expect(members(cp)).toEqual(machines.map((m) => m.metadata.name ?? "").sort());
    const [mark] = machines.flatMap((m) => m.metadata.annotations?.["controlplane.cluster.x-k8s.io/remediation-for"] ?? []);
    expect(JSON.parse(mark ?? "{}")).toMatchObject({ machine: sick.metadata.name, retryCount: 0 });
    const kcp = await cp.kcp();
    expect(kcp.metadata.annotations?.["controlplane.cluster.x-k8s.io/remediation-in-progress"]).toBeUndefined();
    expect(kcp.status?.lastRemediation).toMatchObject({ machine: sick.metadata.name });
    cp.virtual.stop();
  });

  it("waits, with the reason on it, while another machine is not healthy", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const [first, second] = await cp.machines();
    if (!first || !second) throw new Error("there are machines");
    const cluster = cp.virtual.world.clusters.open(DEMO);
    // The member of another machine stops: nothing may be taken away now.
    cp.virtual.world.state.put("clusters", DEMO, {
      ...cluster.read(),
      etcd: {
        ...cluster.read().etcd,
        members: cluster.read().etcd.members.map((m) => (m.node === second.metadata.name ? { ...m, alarm: "NOSPACE" } : m)),
      },
    });
    await markUnhealthy(cp, first);
    await cp.virtual.pass(60_000);
    const [now] = (await cp.machines()).filter((m) => m.metadata.uid === first.metadata.uid);
    expect(now?.metadata.deletionTimestamp).toBeUndefined();
    const told = now?.status?.conditions?.find((c) => c.type === "OwnerRemediated");
    expect([told?.reason, told?.message]).toEqual(["CannotBeRemediated", expect.stringContaining("quorum")]);
    cp.virtual.stop();
  });
});

describe("etcd", () => {
  it("a member that never started and belongs to no machine is removed", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const cluster = cp.virtual.world.clusters.open(DEMO);
    cp.virtual.world.state.put("clusters", DEMO, { ...cluster.read(), etcd: addMember(cluster.read().etcd, "4711", "gone") });
    expect(members(cp)).toContain("gone");
    await cp.change({ metadata: { annotations: { look: "again" } } });
    await cp.virtual.pass(5_000);
    expect(members(cp)).not.toContain("gone");
    expect(await cp.condition("EtcdClusterHealthy")).toBe("True/Healthy");
    cp.virtual.stop();
  });

  it("the leader hands over before its machine is deleted", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const { etcd } = cp.virtual.world.clusters.open(DEMO).read();
    const leader = etcd.members.find((m) => m.id === etcd.leader)?.node;
    const from = cp.mark();
    await cp.client.patch(
      machineResource,
      { namespace: NAMESPACE, name: leader ?? "" },
      { type: "merge", body: { metadata: { annotations: { "cluster.x-k8s.io/delete-machine": "" } } } },
    );
    await cp.change({ spec: { rollout: { after: "2026-01-01T00:00:30Z" } } });
    await cp.virtual.until("the first is deleted", () => cp.lines(/delete +machines\/cp-/, from).length > 0, 120_000);
    expect(cp.lines(/delete +machines\/cp-/, from)[0]).toContain(leader);
    const after = cp.virtual.world.clusters.open(DEMO).read().etcd;
    expect(after.members.find((m) => m.id === after.leader)?.node).not.toBe(leader);
    cp.virtual.stop();
  });
});

describe("numbers", () => {
  it("up to five and down to three, one machine at a time", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    await cp.change({ spec: { replicas: 5 } });
    await cp.settle();
    expect(members(cp)).toHaveLength(5);
    const from = cp.mark();
    await cp.change({ spec: { replicas: 3 } });
    await cp.settle();
    expect(members(cp)).toEqual((await cp.machines()).map((m) => m.metadata.name ?? "").sort());
    expect(cp.lines(/delete +machines\/cp-/, from)).toHaveLength(2);
    cp.virtual.stop();
  });
});

describe("a workload cluster that nobody can reach", () => {
  it("keeps what was known for a while, then says so, deletes and makes nothing, and comes back", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const setRunning = (running: boolean): void => {
      const state = cp.virtual.world.clusters.open(DEMO).read();
      const etcd = { ...state.etcd, members: state.etcd.members.map((m) => ({ ...m, running })) };
      cp.virtual.world.state.put("clusters", DEMO, { ...state, etcd });
    };
    setRunning(false);
    const from = cp.mark();
    await cp.change({ spec: { replicas: 5 } });
    await cp.virtual.pass(120_000);
    expect(await cp.condition("ControlPlaneComponentsHealthy")).toBe("True/Healthy");
    await cp.virtual.pass(300_000);
    expect(await cp.condition("ControlPlaneComponentsHealthy")).toMatch(/^Unknown\/ConnectionDown: Remote connection down/);
    expect(await cp.condition("Available")).toMatch(/^Unknown\/InspectionFailed: .*Remote connection down/);
    expect([(await cp.machines()).length, cp.lines(/delete /, from)]).toEqual([3, []]);
    setRunning(true);
    await cp.settle(120);
    expect(await cp.machines()).toHaveLength(5);
    cp.virtual.stop();
  });
});

describe("certificates", () => {
  it("one that is lost is told, and never made again", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const key = { namespace: NAMESPACE, name: "demo-sa" };
    await cp.client.delete(secretResource, key);
    await cp.virtual.pass(60_000);
    expect(await cp.condition("CertificatesAvailable")).toMatch(/^False\/NotAvailable: Missing certificates: sa\./);
    expect(await cp.condition("Available")).toMatch(/^False\/NotAvailable: .*certificates are not available/);
    await expect(cp.client.get(secretResource, key)).rejects.toThrow("not found");
    await cp.change({ spec: { replicas: 5 } });
    await cp.virtual.pass(60_000);
    expect(await cp.machines()).toHaveLength(3);
    expect(await cp.condition("ScalingUp")).toContain("waiting for the certificates of the cluster to be available");
    cp.virtual.stop();
  });
});

describe("machines that nobody controls", () => {
  it("are taken over as they are", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const [lost] = await cp.machines();
    if (!lost) throw new Error("there is a machine");
    await cp.client.patch(machineResource, keyOf(lost), { type: "merge", body: { metadata: { ownerReferences: null } } });
    await cp.virtual.pass(30_000);
    await cp.settle();
    const now = (await cp.machines()).find((m) => m.metadata.uid === lost.metadata.uid);
    expect(now?.metadata.ownerReferences?.map((o) => [o.kind, o.controller])).toEqual([["KubeadmControlPlane", true]]);
    cp.virtual.stop();
  });
});

describe("the end", () => {
  it("deletes all machines at once and then the finalizer", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const kcp = await cp.kcp();
    await cp.client.delete(kubeadmControlPlaneResource, keyOf(kcp));
    const isGone = async (): Promise<boolean> => {
      try {
        await cp.kcp();
        return false;
      } catch (e) {
        if (isNotFound(e)) return true;
        throw e;
      }
    };
    await cp.virtual.until("it is gone", isGone, 600_000);
    expect(await cp.machines()).toEqual([]);
    cp.virtual.stop();
  });
});

describe("paused", () => {
  it("writes nothing but the condition, and goes on afterwards", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    await cp.change({ metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } });
    await cp.virtual.pass(1_000);
    const from = cp.mark();
    await cp.change({ spec: { kubeadmConfigSpec: { files: [{ path: "/etc/motd", content: "one" }] } } });
    await cp.virtual.pass(600_000);
    expect(cp.lines(/Machine |hook +(can)?update/, from)).toEqual([]);
    expect(await cp.condition("Paused")).toMatch(/^True\/Paused/);
    await cp.change({ metadata: { annotations: { "cluster.x-k8s.io/paused": null } } });
    await cp.settle();
    expect(cp.lines(/hook +updatemachine/, from).length).toBeGreaterThanOrEqual(3);
    cp.virtual.stop();
  });
});
