// Changes of a control plane: in place, with a surge machine, by replacement; what people read meanwhile. Real controllers, virtual time.
import { describe, expect, it, jest } from "@jest/globals";
import { configMapResource, daemonSetResource } from "../../api/core/index.ts";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { type ControlPlane, NAMESPACE, namesIn, startControlPlane, uidsOf } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(120_000);

const aFile = { spec: { kubeadmConfigSpec: { files: [{ path: "/etc/motd", content: "one" }] } } };
const deletedMachines = /delete +machines\/cp-/;

async function rollOut(cp: ControlPlane, change: object): Promise<{ readonly from: number; readonly kept: number }> {
  const before = uidsOf(await cp.machines());
  const from = cp.mark();
  await cp.change(change);
  await cp.settle();
  return { from, kept: uidsOf(await cp.machines()).filter((uid) => before.includes(uid)).length };
}

const declines = (answer: object): ((updater: HookTransport) => HookTransport) => {
  return (updater) => async (call) =>
    call.url.includes("/canupdatemachine/") ? { status: 200, body: { status: "Success", ...answer } } : updater(call);
};

describe("in place", () => {
  it("updates each machine once, one at a time, and deletes none", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const { from, kept } = await rollOut(cp, aFile);
    expect(kept).toBe(3);
    expect(cp.lines(deletedMachines, from)).toEqual([]);
    const steps = cp.lines(/canupdatemachine|\+annotation in-place|pending-hooks|updatemachine /, from).filter((l) => !/Cluster/.test(l));
    const names = namesIn(steps);
    expect(new Set(names).size).toBe(3);
    // All lines of a machine stand together: nothing of another one begins before it is done.
    expect(names.filter((name, i) => i === 0 || names[i - 1] !== name)).toHaveLength(3);
    cp.virtual.stop();
  });

  it("writes the mark, the infrastructure, the bootstrap object, the machine and the hook, in this order", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const { from } = await rollOut(cp, { spec: { version: "v1.35.0" } });
    const [name] = namesIn(cp.lines(/canupdatemachine/, from));
    const writes = cp
      .lines(new RegExp(`(manager|capi-kubeadmcontrolplane) +(merge|apply) +\\S+ ${name} `), from)
      .slice(0, 5)
      .map((line) => line.replace(/^ *\S+ +(\S+) +(\S+) +(\S+) .*?: (.*)$/, "$1 $2 $3: $4"));
    expect(writes).toEqual([
      "manager merge Machine: +annotation in-place/update-in-progress",
      expect.stringMatching(/^capi-kubeadmcontrolplane apply DevMachine: .*\+annotation in-place\/update-in-progress/),
      expect.stringMatching(/^capi-kubeadmcontrolplane apply KubeadmConfig: .*\+annotation in-place\/update-in-progress/),
      "capi-kubeadmcontrolplane apply Machine: spec.version=v1.35.0",
      "manager merge Machine: +annotation runtime/pending-hooks=UpdateMachine",
    ]);
    cp.virtual.stop();
  });

  it("an upgrade reaches kubeadm-config first and kube-proxy last", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const { from, kept } = await rollOut(cp, { spec: { version: "v1.35.0" } });
    expect(kept).toBe(3);
    const order = cp
      .lines(/ConfigMap kubeadm-config|DaemonSet kube-proxy|pending-hooks=UpdateMachine/, from)
      .map((line) => /ConfigMap|DaemonSet|hooks/.exec(line)?.[0]);
    expect(order).toEqual(["ConfigMap", "hooks", "hooks", "hooks", "DaemonSet"]);
    const { transport } = await cp.virtual.world.clusters.dial({ cluster: { namespace: NAMESPACE, name: "demo" }, kubeconfig: "" });
    const workload = transportClient({ transport });
    const config = await workload.get(configMapResource, { namespace: "kube-system", name: "kubeadm-config" });
    expect(config.data?.ClusterConfiguration).toContain("kubernetesVersion: v1.35.0");
    const proxy = await workload.get(daemonSetResource, { namespace: "kube-system", name: "kube-proxy" });
    expect(proxy.spec?.template.spec?.containers[0]?.image).toBe("registry.k8s.io/kube-proxy:v1.35.0");
    expect((await cp.kcp()).status?.versions).toEqual([{ version: "v1.35.0", replicas: 3 }]);
    cp.virtual.stop();
  });

  it("with maxSurge 1 one machine is made, one deleted, two are kept", async () => {
    const cp = await startControlPlane({ maxSurge: 1 });
    await cp.settle();
    const { from, kept } = await rollOut(cp, aFile);
    expect(kept).toBe(2);
    expect(cp.lines(deletedMachines, from)).toHaveLength(1);
    cp.virtual.stop();
  });
});

describe("replacement", () => {
  it("without the gate: all machines, one at a time, etcd never below two members", async () => {
    const cp = await startControlPlane({ inPlace: false });
    await cp.settle();
    const from = cp.mark();
    await cp.change(aFile);
    let least = 9;
    let most = 0;
    let available = 9;
    await cp.virtual.until(
      "the rollout is over",
      async () => {
        const machines = await cp.machines();
        const members = cp.virtual.world.clusters.open({ namespace: NAMESPACE, name: "demo" }).read().etcd.members;
        least = Math.min(least, members.filter((m) => m.running && m.started).length);
        most = Math.max(most, machines.length);
        available = Math.min(
          available,
          machines.filter((m) => m.status?.conditions?.some((c) => c.type === "Available" && c.status === "True")).length,
        );
        const { status, metadata } = await cp.kcp();
        return status?.upToDateReplicas === 3 && status.availableReplicas === 3 && status.observedGeneration === metadata.generation;
      },
      600_000,
    );
    expect([least, most, available]).toEqual([2, 3, 2]);
    expect(cp.lines(deletedMachines, from)).toHaveLength(3);
    const configs = await cp.client.list(kubeadmConfigResource, { namespace: NAMESPACE });
    expect(configs.items.every((c) => c.spec?.files?.[0]?.content === "one")).toBe(true);
    cp.virtual.stop();
  });

  it("is told, with the reason, before the first machine is deleted", async () => {
    const cp = await startControlPlane({ hooks: declines({ message: "not today" }) });
    await cp.settle();
    const from = cp.mark();
    await cp.change(aFile);
    await cp.virtual.until("a machine is deleted", () => cp.lines(deletedMachines, from).length === 1, 60_000);
    const told = cp.lines(/KubeadmControlPlane cp .*RollingOut=True|delete +machines\/cp-/, from);
    expect(told[0]).toContain("RollingOut=True");
    const text = await cp.condition("RollingOut");
    expect(text).toMatch(/Machine cp-\w{5} cannot be updated in place and is replaced: .*spec\.files/);
    await cp.settle();
    expect(cp.lines(deletedMachines, from)).toHaveLength(3);
    expect(await cp.condition("RollingOut")).toBe("False/NotRollingOut");
    cp.virtual.stop();
  });

  it("does not happen where in-place updates are required", async () => {
    const cp = await startControlPlane({ hooks: declines({}) });
    await cp.settle();
    const before = uidsOf(await cp.machines());
    await cp.change({ ...aFile, metadata: { annotations: { "rollout.theseus.x-k8s.io/policy": "RequireInPlace" } } });
    await cp.virtual.pass(3_600_000);
    expect(uidsOf(await cp.machines())).toEqual(before);
    expect(await cp.condition("RollingOut")).toMatch(/Blocked, nothing is replaced: Machine cp-\w{5}: .*spec\.files/);
    cp.virtual.stop();
  });
});

describe("an extension that cannot be asked", () => {
  it("stops the rollout with its name in the condition, deletes nothing, and is asked again by itself", async () => {
    let broken = true;
    const cp = await startControlPlane({
      hooks: (updater) => async (call) => {
        if (broken && call.url.includes("/canupdatemachine/")) throw new Error("connect ECONNREFUSED");
        return updater(call);
      },
    });
    await cp.settle();
    const from = cp.mark();
    await cp.change(aFile);
    await cp.virtual.pass(600_000);
    expect(await cp.condition("RollingOut")).toMatch(/Waiting: cannot decide .*kubeadm-updater.*ECONNREFUSED/);
    expect(cp.lines(deletedMachines, from)).toEqual([]);
    // 1 s, 2 s, 4 s ... between calls: ten minutes hold about nine.
    expect(cp.lines(/hook +canupdatemachine/, from).length).toBeLessThan(12);
    broken = false;
    await cp.settle();
    expect(cp.lines(deletedMachines, from)).toEqual([]);
    cp.virtual.stop();
  });
});

describe("a date", () => {
  it("spec.rollout.after replaces all machines when it comes, without any other event", async () => {
    const cp = await startControlPlane();
    await cp.settle();
    const from = cp.mark();
    await cp.change({ spec: { rollout: { after: "2026-01-01T02:00:00Z" } } });
    await cp.virtual.pass(3_600_000);
    expect(cp.lines(deletedMachines, from)).toEqual([]);
    await cp.virtual.until("it is over", async () => cp.lines(deletedMachines, from).length === 3, 2 * 3_600_000);
    await cp.settle();
    expect(cp.lines(/hook +(can)?update/, from)).toEqual([]);
    cp.virtual.stop();
  });
});
