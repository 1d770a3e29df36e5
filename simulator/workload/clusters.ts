// All simulated workload clusters of one process. Here: opening them on demand, how controllers reach them in process.
// Not here: one cluster (cluster.ts), sockets (../real/).
import { type ObjectKey, keyText } from "../../api/meta/resource.ts";
import type { Transport } from "../../api/meta/transport.ts";
import type { Dial } from "../../controllers/workload/seam.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Random } from "../../runtime/base/random.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { startKubelets } from "./kubelet.ts";
import { type SimulatedCluster, simulatedCluster } from "./cluster.ts";
import type { StateStore } from "./state.ts";

/** The API server of one workload cluster; objects under a key prefix of its own. */
export interface WorkloadApi {
  readonly handle: Transport;
  stop(): void;
}

/** Ports of workload clusters. In process they are numbers only; on sockets they are bound (../real/). */
export interface WorkloadFront {
  /** A free port for the cluster, or the one it had. @param wanted the port it had before, 0 = none */
  reserve(cluster: ObjectKey, wanted: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Called when the first API server of the cluster is up, and again after each later change of its machines. */
  open(cluster: SimulatedCluster): Promise<void>;
  /** Called when the last API server is gone. */
  close(cluster: ObjectKey): Promise<void>;
}

export interface ClustersParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly state: StateStore;
  readonly openApi: (cluster: ObjectKey) => WorkloadApi;
}

export interface SimulatedClusters {
  open(key: ObjectKey): SimulatedCluster;
  find(key: ObjectKey): SimulatedCluster | undefined;
  close(key: ObjectKey): void;
  stop(): void;
  readonly dial: Dial;
}

const KUBELET = { username: "system:node", groups: ["system:masters", "system:nodes", "system:authenticated"] };
const ADMIN = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

export function simulatedClusters(parts: ClustersParts): SimulatedClusters {
  const clusters = new Map<string, { readonly cluster: SimulatedCluster; readonly stop: () => void }>();
  const open = (key: ObjectKey): SimulatedCluster => {
    const known = clusters.get(keyText(key));
    if (known) return known.cluster;
    const api = parts.openApi(key);
    const client = transportClient({ transport: api.handle, user: KUBELET, fieldManager: "kubelet" });
    const cluster = simulatedCluster({ ...parts, key, api: api.handle, client });
    const stopKubelets = startKubelets({
      client,
      clock: parts.clock,
      log: parts.log,
      onGone: () => {
        if (cluster.running())
          cluster.ensureAddonPods().catch((e: unknown) => parts.log.warn("addons were not placed", { error: String(e) }));
      },
    });
    const stop = (): void => {
      stopKubelets();
      api.stop();
    };
    clusters.set(keyText(key), { cluster, stop });
    return cluster;
  };
  const find = (key: ObjectKey): SimulatedCluster | undefined => clusters.get(keyText(key))?.cluster;
  return {
    open,
    find,
    close(key) {
      clusters.get(keyText(key))?.stop();
      clusters.delete(keyText(key));
    },
    stop() {
      for (const { stop } of clusters.values()) stop();
      clusters.clear();
    },
    dial: async ({ cluster: key }) => {
      const cluster = find(key);
      if (!cluster) throw new Error(`connection refused: nothing listens for cluster ${keyText(key)}`);
      return {
        transport: (request) => cluster.endpoint({ ...request, user: ADMIN }),
        etcd: async (node) => cluster.etcd(node),
        apiServerCertificateExpiryMs: async (node) => cluster.certificateNotAfterMs(node),
        close() {},
      };
    },
  };
}

/** Ports without sockets: counted up from 20000, as in `DevCluster.spec.controlPlaneEndpoint` upstream. */
export function countedPorts(): WorkloadFront {
  const ports = new Map<string, number>();
  return {
    async reserve(cluster, wanted) {
      const port = wanted || ports.get(keyText(cluster)) || Math.max(19_999, ...ports.values()) + 1;
      ports.set(keyText(cluster), port);
      return { host: "127.0.0.1", port };
    },
    async open() {},
    async close(cluster) {
      ports.delete(keyText(cluster));
    },
  };
}
