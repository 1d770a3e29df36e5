// Everything that plays together: management API, controllers, simulated infrastructure, the updater behind the hooks.
// Here: wiring without sockets; the clock, chance, hook transport and ports are given. Used by simulations and by `theseus dev`.
// Not here: who runs the controllers (virtual.ts, cmd/), what a scenario does.
import { allKinds } from "../api/index.ts";
import { customResourceDefinition } from "../api/crd.ts";
import type { ObjectKey } from "../api/meta/resource.ts";
import type { Transport } from "../api/meta/transport.ts";
import { ensureCrds } from "../apiserver/crd/index.ts";
import type { ApiObject } from "../apiserver/object.ts";
import type { ApiServer } from "../apiserver/server.ts";
import type { Store } from "../apiserver/store/store.ts";
import { createWorkloadClusters, type WorkloadClustersControl } from "../controllers/workload/clusters.ts";
import { clusterAccess } from "../extensions/kubeadm-updater/cluster.ts";
import type { Paces } from "../extensions/kubeadm-updater/engine.ts";
import { type KubeadmUpdater, kubeadmUpdater } from "../extensions/kubeadm-updater/updater.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import type { Pki } from "../runtime/base/pki.ts";
import type { Random } from "../runtime/base/random.ts";
import type { Client } from "../runtime/client.ts";
import { transportClient } from "../runtime/transport-client.ts";
import { type HostTimings, nodeFacts, simulatedHosts } from "./host/exec.ts";
import { type Hosts, hostsIn } from "./host/host.ts";
import { openWorkloadApi } from "./servers.ts";
import { type SimulatedClusters, simulatedClusters, type WorkloadFront } from "./workload/clusters.ts";
import { type StateStore, storeState } from "./workload/state.ts";

export interface WorldParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly store: Store;
  readonly pki: Pki;
  readonly server: ApiServer;
  readonly front: (management: Client) => WorkloadFront;
  readonly timings: HostTimings;
  readonly paces?: Paces;
  readonly patience: (settled: Promise<void>) => Promise<void>;
  /** Stands in front of the API of each workload cluster; for logs and faults. */
  readonly watchWorkload?: (transport: Transport, cluster: ObjectKey) => Transport;
}

/** Simulated infrastructure: workload clusters, hosts, ports. */
export interface SimulatedParts {
  readonly state: StateStore;
  readonly clusters: SimulatedClusters;
  readonly hosts: Hosts;
  readonly front: WorkloadFront;
}

export interface World extends SimulatedParts {
  readonly management: Client;
  readonly workloadClusters: WorkloadClustersControl;
  readonly updater: KubeadmUpdater;
  stop(): void;
}

const ADMIN = { username: "theseus", groups: ["system:masters", "system:authenticated"] };

export const clientOf = (transport: Transport, fieldManager: string): Client => transportClient({ transport, user: ADMIN, fieldManager });

export const adminClient = (server: ApiServer, fieldManager: string): Client => clientOf(server.handle, fieldManager);

export interface SimulatedOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly store: Store;
  readonly front: WorkloadFront;
  readonly watchWorkload?: WorldParts["watchWorkload"];
}

export function createSimulatedParts({ clock, random, log, store, front, watchWorkload }: SimulatedOptions): SimulatedParts {
  const state = storeState(store);
  const open = openWorkloadApi({ clock, random, log, store });
  const openApi = (cluster: ObjectKey) => {
    const api = open(cluster);
    return watchWorkload ? { ...api, handle: watchWorkload(api.handle, cluster) } : api;
  };
  return { state, clusters: simulatedClusters({ clock, random, log, state, openApi }), hosts: hostsIn(state), front };
}

export function createWorld(parts: WorldParts): World {
  const { clock, random, log, pki, server } = parts;
  const management = adminClient(server, "manager");
  const simulated = createSimulatedParts({ ...parts, front: parts.front(management) });
  const { clusters, hosts } = simulated;
  const workloadClusters = createWorkloadClusters({ clock, random, log, dial: clusters.dial, pki, management });
  const updater = kubeadmUpdater({
    log,
    paces: parts.paces,
    patience: parts.patience,
    openHost: simulatedHosts({ hosts, clusters, clock, timings: parts.timings }),
    openCluster: async (key) => {
      const { transport } = await clusters.dial({ cluster: key, kubeconfig: "" });
      return clusterAccess(transportClient({ transport, fieldManager: "kubeadm-updater" }));
    },
  });
  return {
    ...simulated,
    management,
    workloadClusters,
    updater,
    stop() {
      workloadClusters.stop();
      clusters.stop();
    },
  };
}

/** Serves every kind of ours; definitions that are there are brought to this version. */
export const installKinds = (server: ApiServer): Promise<void> =>
  ensureCrds(
    server,
    allKinds.map((kind) => customResourceDefinition(kind) as unknown as ApiObject),
  );

/** Workload clusters as they were before the process ended; kubelets that were starting are up by now. */
export async function reopenClusters({ state, clusters, hosts }: SimulatedParts): Promise<void> {
  for (const { key } of state.list("clusters")) {
    const cluster = clusters.open(key);
    for (const { key: machine, value } of hosts.of(key))
      if (value.runningKubelet !== "") await cluster.reportNode(nodeFacts(machine, value, true));
  }
}
