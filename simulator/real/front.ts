// One loopback port per simulated workload cluster: kubectl and client-go reach it as they would a real one.
// Here: ports reserved before there is an API server, bound when it is up. Not here: the API (../../apiserver), who asks for ports (../provider).
// Source: design/architecture.md section 3; spec/controllers/dev-provider.md section 1.
import { createServer, type Server } from "node:net";
import { type Secret, secretResource } from "../../api/core/index.ts";
import { type ObjectKey, keyText } from "../../api/meta/resource.ts";
import { type Front, listen } from "../../apiserver/real/https-front.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { KeyPair, Pki } from "../../runtime/base/pki.ts";
import type { Client } from "../../runtime/client.ts";
import type { SimulatedCluster } from "../workload/cluster.ts";
import type { WorkloadFront } from "../workload/clusters.ts";

export interface SocketFrontParts {
  readonly host: string;
  readonly pki: Pki;
  readonly log: Logger;
  /** Reads the cluster's CA, which signs the serving certificate and the clients'. */
  readonly management: Client;
}

export interface SocketFront extends WorkloadFront {
  stop(): Promise<void>;
}

const YEAR_MS = 365 * 24 * 3_600_000;

interface Listener {
  readonly port: number;
  placeholder?: Server;
  front?: Front;
}

export function socketFront(parts: SocketFrontParts): SocketFront {
  const listeners = new Map<string, Listener>();

  const certificateAuthority = async ({ namespace, name }: ObjectKey): Promise<KeyPair> => {
    const secret = await parts.management.get<Secret>(secretResource, { namespace, name: `${name}-ca` });
    const text = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString("utf8");
    return { certificate: text("tls.crt"), key: text("tls.key") };
  };

  const bind = async (cluster: SimulatedCluster, listener: Listener): Promise<void> => {
    const ca = await certificateAuthority(cluster.key);
    const names = [parts.host, "localhost", "127.0.0.1", "kubernetes", "kubernetes.default.svc", cluster.key.name];
    const serving = parts.pki.issue(ca, {
      commonName: "kube-apiserver",
      names: [...new Set(names)],
      usages: ["server"],
      validForMs: YEAR_MS,
    });
    await closeServer(listener.placeholder);
    listener.placeholder = undefined;
    listener.front = await listen({
      handle: cluster.endpoint,
      host: parts.host,
      port: listener.port,
      certificate: serving.certificate,
      key: serving.key,
      clientCas: [ca.certificate],
      log: parts.log.with({ cluster: keyText(cluster.key) }),
    });
    parts.log.info("workload cluster answers", { cluster: keyText(cluster.key), port: listener.port });
  };

  const close = async (listener: Listener): Promise<void> => {
    await listener.front?.close();
    await closeServer(listener.placeholder);
    listener.front = undefined;
    listener.placeholder = undefined;
  };

  return {
    async reserve(cluster, wanted) {
      const known = listeners.get(keyText(cluster));
      if (known) return { host: parts.host, port: known.port };
      const placeholder = await holdPort(parts.host, wanted);
      const port = (placeholder.address() as { port: number }).port;
      listeners.set(keyText(cluster), { port, placeholder });
      return { host: parts.host, port };
    },
    async open(cluster) {
      const listener = listeners.get(keyText(cluster.key));
      if (listener && !listener.front) await bind(cluster, listener);
    },
    async close(cluster) {
      const listener = listeners.get(keyText(cluster));
      if (listener) await close(listener);
      listeners.delete(keyText(cluster));
    },
    async stop() {
      await Promise.all([...listeners.values()].map(close));
      listeners.clear();
    },
  };
}

/** Keeps a port for the cluster until its API server is there; whoever connects before is refused. */
function holdPort(host: string, wanted: number): Promise<Server> {
  return new Promise((held, failed) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      failed(
        error.code === "EADDRINUSE"
          ? new Error(`port ${wanted} of a workload cluster is taken: end the process that listens on ${host}:${wanted}`)
          : error,
      ),
    );
    server.listen(wanted, host, () => held(server));
  });
}

const closeServer = (server: Server | undefined): Promise<void> =>
  server ? new Promise((done) => server.close(() => done())) : Promise.resolve();
