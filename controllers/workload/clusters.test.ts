import { describe, expect, it } from "@jest/globals";
import type { Node } from "../../api/core/index.ts";
import { StatusError } from "../../api/meta/status.ts";
import type { ApiResponse, Transport, WatchSink } from "../../api/meta/transport.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import type { Client } from "../../runtime/client.ts";
import { createWorkloadClusters } from "./clusters.ts";
import { dataOf } from "./secrets.ts";

const cluster = { namespace: "ns", name: "demo" };
const answer = (object: object): ApiResponse => ({ kind: "object", status: 200, headers: {}, object });
const node = (name: string, providerID: string, resourceVersion: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, resourceVersion },
  spec: { providerID },
});

/** Lets everything that is settled run on. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};

function world() {
  const clock = new VirtualClock(1_000_000);
  const state = { kubeconfig: false, up: false, refuse: false, sinks: new Map<string, WatchSink>(), dials: 0, closed: 0 };
  const transport: Transport = async (request) => {
    if (!state.up) throw new Error("connection refused");
    if (state.refuse) {
      return {
        kind: "object",
        status: 401,
        headers: {},
        object: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Unauthorized", code: 401 },
      };
    }
    if (request.path === "/") return answer({ paths: [] });
    if (request.query.includes("watch=")) {
      const subscribe = (sink: WatchSink) => {
        state.sinks.set(request.path, sink);
        return () => {};
      };
      return { kind: "watch", status: 200, headers: {}, subscribe };
    }
    const items = request.path.endsWith("/nodes") ? [node("n1", "p://1", "1")] : [];
    return answer({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "1" }, items });
  };
  const missing = new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 });
  const management = {
    get: async () => {
      if (!state.kubeconfig) throw missing;
      return { apiVersion: "v1", kind: "Secret", metadata: {}, data: dataOf({ value: "kubeconfig text" }) };
    },
  } as unknown as Client;
  const clusters = createWorkloadClusters({
    clock,
    random: seededRandom(1),
    log: silentLogger,
    pki: {} as Pki,
    management,
    dial: async ({ kubeconfig }) => {
      expect(kubeconfig).toBe("kubeconfig text");
      state.dials++;
      return {
        transport,
        etcd: () => Promise.reject(new Error("none")),
        apiServerCertificateExpiryMs: () => Promise.reject(new Error("none")),
        close: () => {
          state.closed++;
        },
      };
    },
  });
  const events: string[] = [];
  clusters.onEvent((e) => events.push(e.type === "node" ? `node ${e.node.metadata.name}${e.gone ? " gone" : ""}` : e.type));
  const pass = async (ms: number): Promise<void> => {
    const untilMs = clock.nowMs() + ms;
    clock.after(ms, () => {});
    while ((clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= untilMs) {
      clock.runNext();
      await settle();
    }
  };
  return { clock, state, clusters, events, pass };
}

describe("workload clusters", () => {
  it("connects as soon as a hint says that it could work, and shows Nodes", async () => {
    const { state, clusters, events, pass } = world();
    expect(() => clusters.get(cluster)).toThrow("no connection to workload cluster ns/demo: it is being connected");
    await pass(8_000);
    expect(() => clusters.get(cluster)).toThrow("attempts in a row failed");
    state.kubeconfig = true;
    state.up = true;
    clusters.hint(cluster);
    await settle();
    expect(events).toEqual(["connected"]);
    const live = clusters.get(cluster);
    expect(live.nodes.byProviderId("p://1").map((n) => n.metadata.name)).toEqual(["n1"]);
    state.sinks.get("/api/v1/nodes")?.event({ type: "ADDED", object: node("n2", "p://2", "2") }, () => new Uint8Array());
    expect(live.nodes.all().map((n) => n.metadata.name)).toEqual(["n1", "n2"]);
    expect(events).toEqual(["connected", "node n2"]);
  });

  it("drops a dead cluster after five probes, tells once that probes fail for longer than the grace, and comes back by itself", async () => {
    const { state, clusters, events, pass } = world();
    Object.assign(state, { kubeconfig: true, up: true });
    clusters.probeGrace(50_000);
    clusters.connect(cluster);
    await settle();
    state.up = false;
    await pass(50_000);
    expect(events).toEqual(["connected", "disconnected"]);
    expect(clusters.state(cluster)).toMatchObject({ connected: false, consecutiveFailures: 6 });
    await pass(60_000);
    expect(events).toEqual(["connected", "disconnected", "probeFailing"]);
    state.up = true;
    await pass(30_000);
    expect(events).toEqual(["connected", "disconnected", "probeFailing", "connected"]);
    expect(state.closed).toBe(state.dials - 1);
  });

  it("reads the kubeconfig again when the server refuses it", async () => {
    const { state, clusters, pass } = world();
    Object.assign(state, { kubeconfig: true, up: true });
    clusters.connect(cluster);
    await settle();
    state.refuse = true;
    await pass(10_000);
    expect(clusters.state(cluster).connected).toBe(false);
    state.refuse = false;
    await pass(2_000);
    expect(clusters.state(cluster).connected).toBe(true);
    expect(state.dials).toBeGreaterThan(1);
  });

  it("forgets a cluster that cannot be reached and that nobody asks for", async () => {
    const { state, clusters, clock, pass } = world();
    clusters.connect(cluster);
    await settle();
    await pass(700_000);
    expect(clock.nextDueMs()).toBeUndefined();
    expect(state.dials).toBe(0);
  });
});
