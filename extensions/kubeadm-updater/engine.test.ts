import { describe, expect, it } from "@jest/globals";
import { silentLogger } from "../../runtime/base/log.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { INSTANT, REALISTIC, simulatedHosts } from "../../simulator/host/exec.ts";
import { bootHost, type HostState, type Hosts } from "../../simulator/host/host.ts";
import type { SimulatedClusters } from "../../simulator/workload/clusters.ts";
import type { NodeFacts as ShownNode } from "../../simulator/workload/objects.ts";
import type { ClusterAccess } from "./cluster.ts";
import { type Answer, createEngine, microtasks } from "./engine.ts";
import type { NodeExec } from "./host.ts";
import { type Target, targetOf } from "./target.ts";

const CP = { "cluster.x-k8s.io/control-plane": "" };
const FILE = { path: "/etc/site/ntp.conf", content: "pool a.example\n" };

function world(options: { controlPlane?: boolean; timings?: typeof INSTANT; configVersion?: string } = {}) {
  const clock = new VirtualClock();
  const controlPlane = options.controlPlane ?? true;
  const states = new Map<string, HostState>();
  const hosts: Hosts = {
    get: ({ name }) => states.get(name),
    put: ({ name }, state) => void states.set(name, state),
    delete: ({ name }) => void states.delete(name),
    of: () => [],
  };
  const boot = {
    cluster: { namespace: "ns", name: "c" },
    providerId: "in-memory://m1",
    controlPlane,
    address: "10.0.0.1",
    bootId: "b1",
    version: "v1.34.0",
    nowMs: 0,
    bootstrap: { files: {}, commands: [] },
  };
  hosts.put({ namespace: "ns", name: "m1" }, { ...bootHost(boot), runningKubelet: "v1.34.0" });
  const shown: { node: ShownNode; images: string[] } = {
    node: { name: "m1", providerId: "in-memory://m1", version: "v1.34.0", controlPlane, address: "", bootId: "b1", ready: true },
    images: [],
  };
  const cluster = {
    reportNode: async (node: ShownNode) => {
      shown.node = node;
    },
    reportStaticPod: async (_c: string, _n: string, image: string) => void shown.images.push(image),
    renewCertificate() {},
  };
  let cordoned = false;
  const access: ClusterAccess = {
    nodeByProviderId: async (id) =>
      id === shown.node.providerId
        ? { name: "m1", ready: shown.node.ready, kubeletVersion: shown.node.version, unschedulable: cordoned }
        : undefined,
    kubeadmConfigVersion: async () => options.configVersion ?? "v1.35.0",
    apiServerVersions: async () => ["v1.35.0"],
    controlPlaneReady: async () => true,
    cordon: async (_node, on) => {
      cordoned = on;
    },
    evict: async () => 0,
  };
  const commands: string[] = [];
  const open = simulatedHosts({
    hosts,
    clusters: { find: () => cluster } as never as SimulatedClusters,
    clock,
    timings: options.timings ?? INSTANT,
  });
  // Counts every operation on the host; from `dieAt` on the process is dead: nothing it does reaches the host any more.
  const engineThatDies = (dieAt = Number.POSITIVE_INFINITY) => {
    let operations = 0;
    const guard =
      <A extends unknown[], R>(f: (...args: A) => Promise<R>, note?: (...args: A) => void) =>
      async (...args: A): Promise<R> => {
        if (++operations > dieAt) return new Promise<R>(() => {});
        note?.(...args);
        return f(...args);
      };
    return createEngine({
      log: silentLogger,
      patience: microtasks,
      openCluster: async () => access,
      openHost: async (target) => {
        const host = await open(target);
        return {
          ...host,
          run: guard(host.run, (command) => void commands.push(command.join(" "))),
          read: guard(host.read),
          write: guard(host.write),
          attributes: guard(host.attributes),
          stageBinaries: guard(host.stageBinaries),
          bootId: guard(host.bootId),
        } satisfies NodeExec;
      },
    });
  };
  const target = (version: string, files: readonly object[] = [], args: readonly object[] = []): Target =>
    targetOf(
      {
        metadata: { namespace: "ns", name: "m1", ...(controlPlane ? { labels: CP } : {}) },
        spec: { clusterName: "c", version, providerID: "in-memory://m1" },
      },
      { spec: { files, joinConfiguration: { nodeRegistration: { kubeletExtraArgs: args } } } as never },
      {},
    );
  return { clock, commands, engineThatDies, target, shown, host: () => states.get("m1") as HostState };
}

const show = (a: Answer): string => (a.kind === "progress" ? `${a.message} (${a.seconds})` : `failure: ${a.message}`);
const acts = (commands: readonly string[]): readonly string[] =>
  commands.filter((c) => /^(systemctl (stop|restart)|kubeadm upgrade|mv|etcdctl)/.test(c));

describe("an update of one machine", () => {
  it("writes a file and touches nothing else", async () => {
    const w = world();
    expect(show(await w.engineThatDies().update(w.target("v1.34.0", [FILE])))).toBe("node at v1.34.0 (0)");
    expect(w.host().files[FILE.path]).toEqual({ content: FILE.content, owner: "root:root", permissions: "0644" });
    expect(acts(w.commands)).toEqual([]);
  });

  it.each([
    [
      true,
      [
        "etcdctl snapshot",
        "mv -T",
        "kubeadm upgrade",
        "kubeadm upgrade",
        "systemctl stop",
        "mv -T",
        "mv -T",
        "kubeadm upgrade",
        "systemctl restart",
      ],
    ],
    [false, ["mv -T", "kubeadm upgrade", "systemctl stop", "mv -T", "mv -T", "kubeadm upgrade", "systemctl restart"]],
  ])("moves to a new version, control plane: %s", async (controlPlane, wanted) => {
    const w = world({ controlPlane });
    expect(show(await w.engineThatDies().update(w.target("v1.35.0", [FILE])))).toBe("node at v1.35.0 (0)");
    expect(w.shown.node).toMatchObject({ version: "v1.35.0", ready: true });
    expect(acts(w.commands).map((c) => c.split(" ").slice(0, 2).join(" "))).toEqual(wanted);
    expect(w.shown.images.some((i) => i.endsWith("kube-apiserver:v1.35.0"))).toBe(controlPlane);
  });

  it("changes kubelet arguments with a restart, without a new binary", async () => {
    const w = world({ controlPlane: false });
    await w.engineThatDies().update(w.target("v1.34.0", [], [{ name: "v", value: "2" }]));
    expect(acts(w.commands)).toEqual(["systemctl stop kubelet", "systemctl restart kubelet"]);
    expect(w.host().files["/var/lib/kubelet/kubeadm-flags.env"]?.content).toBe('KUBELET_KUBEADM_ARGS="--v=2"\n');
  });

  it("asks one file of the host once it is done", async () => {
    const w = world();
    await w.engineThatDies().update(w.target("v1.35.0"));
    w.commands.length = 0;
    for (let i = 0; i < 100; i++) expect(show(await w.engineThatDies().update(w.target("v1.35.0")))).toBe("node at v1.35.0 (0)");
    expect(w.commands).toEqual([]);
  });

  it.each([
    ["two minors", "v1.36.0", {}, "failure: version step is not supported: at most one minor up, never down"],
    ["down", "v1.33.0", {}, "failure: version step is not supported: at most one minor up, never down"],
    [
      "before the control plane's configuration",
      "v1.35.0",
      { configVersion: "v1.34.0" },
      "waiting: kubeadm-config at the new version (15)",
    ],
    ["a worker ahead of the API servers", "v1.35.1", { controlPlane: false }, "waiting: API servers older than the kubelet would be (30)"],
  ])("does not begin: %s", async (_, version, options, wanted) => {
    const w = world(options);
    expect(show(await w.engineThatDies().update(w.target(version)))).toBe(wanted);
    expect(acts(w.commands)).toEqual([]);
  });

  it("tells its steps while time passes, and runs on between calls", async () => {
    const w = world({ timings: REALISTIC });
    const engine = w.engineThatDies();
    const told: string[] = [];
    for (let call = 0; call < 60; call++) {
      const answer = await engine.update(w.target("v1.35.0"));
      if (told.at(-1) !== show(answer)) told.push(show(answer));
      if (answer.kind === "failure" || answer.seconds === 0) break;
      const untilMs = w.clock.nowMs() + answer.seconds * 1_000;
      while ((w.clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= untilMs) {
        w.clock.runNext();
        await microtasks(Promise.resolve());
        for (let i = 0; i < 500; i++) await Promise.resolve();
      }
      if (w.clock.nowMs() < untilMs) {
        w.clock.after(untilMs - w.clock.nowMs(), () => {});
        w.clock.runNext();
      }
    }
    expect(told.at(-1)).toBe("node at v1.35.0 (0)");
    expect(told).toContain(
      "step 8 of 13: update static pods (15)".replace(
        "8 of 13",
        told.find((t) => t.includes("static pods"))?.match(/\d+ of \d+/)?.[0] ?? "?",
      ),
    );
    expect(w.clock.nowMs()).toBeGreaterThan(80_000);
  });
});

describe("a process that dies in mid-update", () => {
  const counting = async (controlPlane: boolean): Promise<number> => {
    for (let dieAt = 1; dieAt < 500; dieAt++) {
      const w = world({ controlPlane });
      const answer = await Promise.race([w.engineThatDies(dieAt).update(w.target("v1.35.0", [FILE])), later()]);
      if (answer !== "pending" && answer.kind === "progress" && answer.seconds === 0) return dieAt;
    }
    throw new Error("never done");
  };
  const later = async (): Promise<"pending"> => {
    for (let i = 0; i < 30_000; i++) await Promise.resolve();
    return "pending";
  };

  it.each([[true], [false]])("ends done from each point of death, with each effect once, control plane: %s", async (controlPlane) => {
    const operations = await counting(controlPlane);
    expect(operations).toBeGreaterThan(30);
    for (let dieAt = 1; dieAt < operations; dieAt++) {
      const w = world({ controlPlane });
      await Promise.race([w.engineThatDies(dieAt).update(w.target("v1.35.0", [FILE])), later()]);
      const after = w.engineThatDies();
      expect([dieAt, show(await after.update(w.target("v1.35.0", [FILE])))]).toEqual([dieAt, "node at v1.35.0 (0)"]);
      expect([dieAt, w.shown.node.ready, w.shown.node.version]).toEqual([dieAt, true, "v1.35.0"]);
      expect([dieAt, w.host().runningKubelet, w.host().files[FILE.path]?.content]).toEqual([dieAt, "v1.35.0", FILE.content]);
      expect([dieAt, w.commands.filter((c) => c === "systemctl restart kubelet").length]).toEqual([dieAt, 1]);
    }
  });
});
