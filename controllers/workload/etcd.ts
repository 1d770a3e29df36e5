// The first etcd member that answers, and the credentials to talk to it. Here: choice and certificate life.
// Not here: the wire (real/), membership decisions (the control plane controller). Source: spec/controllers/workload-cluster.md section 5.1.
import { secretResource } from "../../api/core/index.ts";
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { KeyAlgorithm, Pki } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";
import type { DialedCluster, EtcdClient, EtcdCredentials } from "./seam.ts";
import { textOf } from "./secrets.ts";

const CREDENTIALS_LIFE_MS = 24 * 3_600_000;
/** The certificate outlives its cache, so that a client made at the last moment can still work. */
const CERTIFICATE_LIFE_MS = 365 * 24 * 3_600_000;

class EtcdUnreachable extends Error {
  readonly code = "EtcdUnreachable";
  constructor(failures: readonly string[]) {
    super(failures.length === 0 ? "no etcd member to ask: no Node is given" : `no etcd member answers: ${failures.join("; ")}`);
    this.name = "EtcdUnreachable";
  }
}

/** Dials the Nodes' members in order; the first that answers Status wins. @throws EtcdUnreachable with all failures */
export async function firstMember(dialed: DialedCluster, nodeNames: readonly string[], credentials: EtcdCredentials): Promise<EtcdClient> {
  const failures: string[] = [];
  for (const nodeName of nodeNames) {
    try {
      const api = await dialed.etcd(nodeName, credentials);
      try {
        const status = await api.status();
        return { ...api, nodeName, leaderId: status.leader };
      } catch (e) {
        api.close();
        throw e;
      }
    } catch (e) {
      failures.push(`etcd-${nodeName}: ${e instanceof Error ? e.message : String(e)}`);
    }
  }
  throw new EtcdUnreachable(failures);
}

export interface CredentialsSource {
  /** @throws when the Secret `<cluster>-etcd` is missing */
  get(cluster: ObjectKey, algorithm: KeyAlgorithm): Promise<EtcdCredentials>;
  forget(cluster: ObjectKey): void;
}

/** Client certificates for etcd, kept 24 h; external etcd (Secret without a CA key) uses `<cluster>-apiserver-etcd-client`. */
export function etcdCredentials(management: Client, pki: Pki, clock: Clock): CredentialsSource {
  const kept = new Map<string, { readonly untilMs: number; readonly credentials: EtcdCredentials }>();
  const prefixOf = (cluster: ObjectKey): string => `${cluster.namespace}/${cluster.name}/`;
  const make = async (cluster: ObjectKey, algorithm: KeyAlgorithm): Promise<EtcdCredentials> => {
    const ca = await management.get(secretResource, { namespace: cluster.namespace, name: `${cluster.name}-etcd` });
    const certificate = textOf(ca, "tls.crt") ?? "";
    const key = textOf(ca, "tls.key") ?? "";
    if (key === "") {
      const own = await management.get(secretResource, { namespace: cluster.namespace, name: `${cluster.name}-apiserver-etcd-client` });
      return { ca: certificate, client: { certificate: textOf(own, "tls.crt") ?? "", key: textOf(own, "tls.key") ?? "" } };
    }
    const client = pki.issue(
      { certificate, key },
      { commonName: "cluster-api.x-k8s.io", usages: ["client"], validForMs: CERTIFICATE_LIFE_MS, algorithm },
    );
    return { ca: certificate, client };
  };
  return {
    async get(cluster, algorithm) {
      const key = `${prefixOf(cluster)}${algorithm}`;
      const found = kept.get(key);
      if (found && found.untilMs > clock.nowMs()) return found.credentials;
      const credentials = await make(cluster, algorithm);
      kept.set(key, { untilMs: clock.nowMs() + CREDENTIALS_LIFE_MS, credentials });
      return credentials;
    },
    forget(cluster) {
      for (const key of [...kept.keys()]) if (key.startsWith(prefixOf(cluster))) kept.delete(key);
    },
  };
}
