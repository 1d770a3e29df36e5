// WorkloadClusters over a dialler: one connection per Cluster, its probes, its two caches.
// Here: doing what connection.ts decides. Not here: the decisions, sockets (real/).
import { secretResource } from "../../api/core/index.ts";
import { keyText, type ObjectKey } from "../../api/meta/resource.ts";
import { isUnauthorized } from "../../api/meta/status.ts";
import type { Cancel, Clock } from "../../runtime/base/clock.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { Random } from "../../runtime/base/random.ts";
import type { Client } from "../../runtime/client.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { type Effect, type Link, newLink, PROBE_LIMIT_MS, PROBE_PERIOD_MS, type Signal, step, SYNC_LIMIT_MS } from "./connection.ts";
import { type CredentialsSource, etcdCredentials, firstMember } from "./etcd.ts";
import {
  type ConnectionState,
  type Dial,
  type DialedCluster,
  NotConnected,
  neverConnected,
  type WorkloadCluster,
  type WorkloadClusters,
  type WorkloadEvent,
} from "./seam.ts";
import { textOf } from "./secrets.ts";
import { controlPlanePodsView, nodesView, watchControlPlanePods, watchNodes } from "./views.ts";

const API_SERVER_PORT = 6443;
/** A cluster that cannot be reached and that nobody asked for this long is forgotten. */
const UNASKED_MAX_MS = 600_000;

export const kubeconfigSecretName = (cluster: string): string => `${cluster}-kubeconfig`;

export interface WorkloadClustersOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly dial: Dial;
  readonly pki: Pki;
  /** Reads the Secrets with the kubeconfig and the etcd CA. */
  readonly management: Client;
  /** For writes to workload clusters. Default `manager`. */
  readonly fieldManager?: string;
}

export interface WorkloadClustersControl extends WorkloadClusters {
  /** Ends all connections and timers. */
  stop(): void;
}

interface Live {
  readonly cluster: WorkloadCluster;
  /** Both first lists have arrived. */
  readonly synced: Promise<unknown>;
  end(): void;
}

interface Entry {
  readonly key: ObjectKey;
  link: Link;
  /** Raised by each dial and drop, so that a late answer can tell that it is late. */
  epoch: number;
  live?: Live;
  endDial?: () => void;
  cancelRetry?: Cancel;
  cancelProbe?: Cancel;
  probing: boolean;
  /** When the connection was last asked for. */
  askedMs: number;
  readonly graceTold: Set<number>;
}

export function createWorkloadClusters(options: WorkloadClustersOptions): WorkloadClustersControl {
  const { clock } = options;
  const entries = new Map<string, Entry>();
  const listeners = new Set<(event: WorkloadEvent) => void>();
  const graces: number[] = [];
  const credentials = etcdCredentials(options.management, options.pki, clock);
  let stopped = false;

  const tell = (event: WorkloadEvent): void => {
    if (!stopped) for (const listener of [...listeners]) listener(event);
  };
  const entryOf = (key: ObjectKey): Entry => {
    const text = keyText(key);
    let entry = entries.get(text);
    if (!entry) {
      entry = { key, link: newLink, epoch: 0, probing: false, askedMs: clock.nowMs(), graceTold: new Set() };
      entries.set(text, entry);
    }
    return entry;
  };

  const signal = (entry: Entry, s: Signal): void => {
    if (stopped) return;
    const before = entry.link;
    const { link, effects } = step(before, s);
    entry.link = link;
    for (const effect of effects) run(entry, effect);
    if (before.connected && !link.connected) tell({ type: "disconnected", cluster: entry.key });
    if (!before.connected && link.connected) tell({ type: "connected", cluster: entry.key });
    tellGraces(entry);
  };

  const tellGraces = (entry: Entry): void => {
    const sinceMs = clock.nowMs() - entry.link.lastProbeSuccessMs;
    for (const graceMs of graces) {
      const over = entry.link.lastProbeSuccessMs > 0 && sinceMs > graceMs;
      if (!over) entry.graceTold.delete(graceMs);
      else if (!entry.graceTold.has(graceMs)) {
        entry.graceTold.add(graceMs);
        tell({ type: "probeFailing", cluster: entry.key, graceMs });
      }
    }
  };

  const run = (entry: Entry, effect: Effect): void => {
    switch (effect.do) {
      case "drop":
        end(entry);
        return;
      case "cancelRetry":
        entry.cancelRetry?.();
        return;
      case "retryAfter":
        entry.cancelRetry?.();
        entry.cancelRetry = clock.after(effect.delayMs, () => retry(entry));
        return;
      case "dial":
        void dial(entry);
    }
  };

  const retry = (entry: Entry): void => {
    if (clock.nowMs() - entry.askedMs > UNASKED_MAX_MS) forget(entry);
    else signal(entry, { type: "retryDue" });
  };

  const forget = (entry: Entry): void => {
    signal(entry, { type: "forget" });
    entries.delete(keyText(entry.key));
    credentials.forget(entry.key);
  };

  const end = (entry: Entry): void => {
    entry.epoch++;
    entry.cancelProbe?.();
    entry.cancelRetry?.();
    entry.endDial?.();
    entry.live?.end();
    entry.live = undefined;
    entry.endDial = undefined;
    entry.probing = false;
  };

  const dial = async (entry: Entry): Promise<void> => {
    const epoch = ++entry.epoch;
    const isLate = (): boolean => stopped || entry.epoch !== epoch;
    let live: Live | undefined;
    try {
      const kubeconfig = await readKubeconfig(options.management, entry.key);
      if (isLate()) return;
      const dialed = await options.dial({ cluster: entry.key, kubeconfig });
      if (isLate()) return dialed.close();
      const client = transportClient({ transport: dialed.transport, fieldManager: options.fieldManager ?? "manager" });
      entry.endDial = () => dialed.close();
      await withLimit(clock, PROBE_LIMIT_MS, "GET /", client.raw("/"));
      if (isLate()) return;
      // What the first lists bring is not told: `connected` runs every key of the cluster.
      live = openCluster(entry.key, dialed, client, options, credentials, (event) => {
        if (entry.live === live) tell(event);
      });
      entry.endDial = live.end;
      await withLimit(clock, SYNC_LIMIT_MS, "the first list of Nodes and Pods", live.synced);
      if (isLate()) return;
      entry.endDial = undefined;
      entry.live = live;
      entry.cancelProbe = clock.every(PROBE_PERIOD_MS, () => void probe(entry));
      signal(entry, { type: "dialled", atMs: clock.nowMs() });
    } catch (e) {
      if (isLate()) return;
      entry.endDial?.();
      entry.endDial = undefined;
      options.log.debug("no connection to workload cluster yet", { cluster: keyText(entry.key), cause: textOfError(e) });
      signal(entry, { type: "dialFailed", atMs: clock.nowMs() });
    }
  };

  const probe = async (entry: Entry): Promise<void> => {
    const { live, epoch } = entry;
    if (!live || entry.probing) return;
    entry.probing = true;
    let signalled: Signal;
    try {
      await withLimit(clock, PROBE_LIMIT_MS, "GET /", live.cluster.client.raw("/"));
      signalled = { type: "probeGood", atMs: clock.nowMs() };
    } catch (e) {
      signalled = { type: isUnauthorized(e) ? "unauthorized" : "probeBad", atMs: clock.nowMs() };
    }
    if (entry.epoch !== epoch) return;
    entry.probing = false;
    signal(entry, signalled);
  };

  const ask = (key: ObjectKey): Entry => {
    const entry = entryOf(key);
    entry.askedMs = clock.nowMs();
    signal(entry, { type: "connect" });
    return entry;
  };

  return {
    get(key) {
      const entry = ask(key);
      if (!entry.live) throw new NotConnected(key, reasonOf(entry.link));
      return entry.live.cluster;
    },
    connect: (key) => void ask(key),
    hint(key) {
      const entry = entries.get(keyText(key));
      if (entry) signal(entry, { type: "hint" });
    },
    forget(key) {
      const entry = entries.get(keyText(key));
      if (entry) forget(entry);
    },
    state: (key): ConnectionState => entries.get(keyText(key))?.link ?? neverConnected,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    probeGrace(graceMs) {
      if (!graces.includes(graceMs)) graces.push(graceMs);
    },
    stop() {
      stopped = true;
      for (const entry of entries.values()) end(entry);
      entries.clear();
      listeners.clear();
    },
  };
}

const reasonOf = (link: Link): string =>
  link.consecutiveFailures > 0 ? `${link.consecutiveFailures} attempts in a row failed` : "it is being connected";

async function readKubeconfig(management: Client, cluster: ObjectKey): Promise<string> {
  const secret = await management.get(secretResource, { namespace: cluster.namespace, name: kubeconfigSecretName(cluster.name) });
  const text = textOf(secret, "value");
  if (!text) throw new Error(`Secret ${kubeconfigSecretName(cluster.name)} has no kubeconfig under the key value`);
  return text;
}

function openCluster(
  key: ObjectKey,
  dialed: DialedCluster,
  client: Client,
  options: WorkloadClustersOptions,
  credentials: CredentialsSource,
  tell: (event: WorkloadEvent) => void,
): Live {
  const nodes = watchNodes(client, options, (change) =>
    tell({ type: "node", cluster: key, node: change.object, gone: change.type === "deleted" }),
  );
  const pods = watchControlPlanePods(client, options, (change) =>
    tell({ type: "controlPlanePod", cluster: key, pod: change.object, gone: change.type === "deleted" }),
  );
  return {
    cluster: {
      key,
      client,
      nodes: nodesView(nodes.store),
      controlPlanePods: controlPlanePodsView(pods.store),
      etcd: async (nodeNames, choice) => firstMember(dialed, nodeNames, await credentials.get(key, choice?.algorithm ?? "RSA-2048")),
      apiServerCertificateExpiryMs: (nodeName, port = API_SERVER_PORT) => dialed.apiServerCertificateExpiryMs(nodeName, port),
    },
    synced: Promise.all([nodes.synced, pods.synced]),
    end: () => {
      nodes.stop();
      pods.stop();
      dialed.close();
    },
  };
}

/** Rejects when `work` is not done in time; nothing waits without a limit. */
function withLimit<T>(clock: Clock, limitMs: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => reject(new Error(`${what} took longer than ${limitMs / 1000} s`)));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (e) => {
        cancel();
        reject(e);
      },
    );
  });
}

const textOfError = (e: unknown): string => (e instanceof Error ? e.message : String(e));
