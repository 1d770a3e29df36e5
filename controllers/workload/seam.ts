// WorkloadClusters: access of controllers to the clusters they manage. Here: the seam, its errors and events.
// Not here: when connections are made and dropped (clusters.ts), how a cluster is dialled (real/, simulator).
// Source: spec/controllers/workload-cluster.md.
import type { Node, Pod } from "../../api/core/index.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import { keyText } from "../../api/meta/resource.ts";
import type { Transport } from "../../api/meta/transport.ts";
import type { KeyAlgorithm, KeyPair } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";

/** No usable connection to a workload cluster; wait for the event, or for the next run. */
export class NotConnected extends Error {
  readonly code = "NotConnected";
  readonly cluster: ObjectKey;
  constructor(cluster: ObjectKey, cause: string) {
    super(`no connection to workload cluster ${keyText(cluster)}: ${cause}`);
    this.name = "NotConnected";
    this.cluster = cluster;
  }
}

export const isNotConnected = (e: unknown): e is NotConnected => (e as { code?: unknown } | undefined)?.code === "NotConnected";

/** State of the connection, for conditions and grace periods. Times in milliseconds since the epoch, 0 = never. */
export interface ConnectionState {
  readonly connected: boolean;
  readonly lastProbeMs: number;
  readonly lastProbeSuccessMs: number;
  readonly consecutiveFailures: number;
}

export const neverConnected: ConnectionState = { connected: false, lastProbeMs: 0, lastProbeSuccessMs: 0, consecutiveFailures: 0 };

/** Cached Nodes of one workload cluster, sorted by name. */
export interface NodesView {
  byName(name: string): Node | undefined;
  byProviderId(providerId: string): readonly Node[];
  /** Nodes with the label `node-role.kubernetes.io/control-plane`. */
  controlPlane(): readonly Node[];
  all(): readonly Node[];
}

/** Cached Pods in kube-system with tier=control-plane and a kubeadm component; any other Pod does not exist here. */
export interface ControlPlanePodsView {
  byName(name: string): Pod | undefined;
  all(): readonly Pod[];
}

/** Member ids are decimal texts: they exceed 2^53. */
export interface EtcdMember {
  readonly id: string;
  /** Empty until the member has started. */
  readonly name: string;
  readonly isLearner: boolean;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
}

export interface EtcdAlarm {
  readonly memberId: string;
  readonly type: "NOSPACE" | "CORRUPT";
}

export interface EtcdStatus {
  /** Id of the leader as this member sees it; "0" when it knows none. */
  readonly leader: string;
  readonly memberId: string;
  readonly version: string;
  readonly isLearner: boolean;
  readonly errors: readonly string[];
}

export interface EtcdMemberList {
  readonly clusterId: string;
  readonly members: readonly EtcdMember[];
}

/** One etcd member's client API. Each call fails with an Error whose `code` is a gRPC code name such as `NOT_FOUND` when etcd answered. */
export interface EtcdApi {
  status(): Promise<EtcdStatus>;
  memberList(): Promise<EtcdMemberList>;
  memberRemove(id: string): Promise<void>;
  moveLeader(targetId: string): Promise<void>;
  alarms(): Promise<readonly EtcdAlarm[]>;
  close(): void;
}

/** A member that answered Status when the client was made. */
export interface EtcdClient extends EtcdApi {
  readonly nodeName: string;
  readonly leaderId: string;
}

export interface EtcdCredentials {
  /** PEM of the etcd CA. */
  readonly ca: string;
  readonly client: KeyPair;
}

export interface WorkloadCluster {
  readonly key: ObjectKey;
  /** Live requests to the workload cluster. */
  readonly client: Client;
  readonly nodes: NodesView;
  readonly controlPlanePods: ControlPlanePodsView;
  /** The first member of these Nodes, in this order, that answers. Rejects with one error that names all failures. The caller closes it. */
  etcd(nodeNames: readonly string[], options?: { readonly algorithm?: KeyAlgorithm }): Promise<EtcdClient>;
  /** When the certificate that `kube-apiserver-<nodeName>` serves runs out, milliseconds since the epoch. @param port default 6443 */
  apiServerCertificateExpiryMs(nodeName: string, port?: number): Promise<number>;
}

export type WorkloadEvent =
  | { readonly type: "connected" | "disconnected"; readonly cluster: ObjectKey }
  /** Sent once when no probe has succeeded for this long; see `probeGrace`. */
  | { readonly type: "probeFailing"; readonly cluster: ObjectKey; readonly graceMs: number }
  /** A Node appeared, changed or went away; the object is the last one known. Resyncs without a change are not sent. */
  | { readonly type: "node"; readonly cluster: ObjectKey; readonly node: Node; readonly gone: boolean }
  | { readonly type: "controlPlanePod"; readonly cluster: ObjectKey; readonly pod: Pod; readonly gone: boolean };

export interface WorkloadClusters {
  /** Asks for a connection when there is none: ask only once the Cluster's infrastructure is provisioned. @throws NotConnected */
  get(cluster: ObjectKey): WorkloadCluster;
  /** Asks for a connection without needing it now. */
  connect(cluster: ObjectKey): void;
  /** A reason to try again now instead of when the wait is over: the kubeconfig was written, a control plane Machine changed. */
  hint(cluster: ObjectKey): void;
  /** The Cluster is gone. */
  forget(cluster: ObjectKey): void;
  state(cluster: ObjectKey): ConnectionState;
  /** Events come in the order they happened; a listener only enqueues. @returns a function that ends it */
  onEvent(listener: (event: WorkloadEvent) => void): () => void;
  /** Asks for one `probeFailing` event whenever the last good probe becomes older than `graceMs`. */
  probeGrace(graceMs: number): void;
}

/** What a dialled cluster offers; sockets in real/, direct calls in the simulator. */
export interface DialedCluster {
  readonly transport: Transport;
  /** Reaches the member in Pod `etcd-<nodeName>`; does not call Status itself. */
  etcd(nodeName: string, credentials: EtcdCredentials): Promise<EtcdApi>;
  apiServerCertificateExpiryMs(nodeName: string, port: number): Promise<number>;
  close(): void;
}

/** Makes a connection from the text of a kubeconfig. A wrong kubeconfig rejects; an absent server shows in the first request. */
export type Dial = (target: { readonly cluster: ObjectKey; readonly kubeconfig: string }) => Promise<DialedCluster>;
