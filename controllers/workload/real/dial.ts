// Reaching a real workload cluster: its API by the kubeconfig Secret, etcd and certificates through port-forward.
// Here: opening and closing. Not here: when (../clusters.ts), port-forward (port-forward.ts), etcd's calls (etcd.ts).
// Source: spec/controllers/workload-cluster.md sections 1, 5, 6.
import { connect as connectTls } from "node:tls";
import { KubeConfig } from "@kubernetes/client-node";
import { connectKubeConfig } from "../../../runtime/real/kube-config.ts";
import type { Dial } from "../seam.ts";
import { etcdOverGateway } from "./etcd.ts";
import { forwardPort } from "./port-forward.ts";

const ETCD_PORT = 2379;
const CERTIFICATE_TIMEOUT_MS = 15_000;
const KUBE_SYSTEM = "kube-system";

export const dialKubeconfig: Dial = async ({ kubeconfig }) => {
  const connection = await connectKubeConfig({ text: kubeconfig });
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return {
    transport: connection.transport,
    etcd: async (node, credentials) => {
      const tunnel = await forwardPort(config, KUBE_SYSTEM, `etcd-${node}`, ETCD_PORT);
      return etcdOverGateway(tunnel, `etcd-${node}`, credentials);
    },
    apiServerCertificateExpiryMs: async (node, port) => {
      const tunnel = await forwardPort(config, KUBE_SYSTEM, `kube-apiserver-${node}`, port);
      try {
        return await notAfterMs(tunnel.port);
      } finally {
        tunnel.close();
      }
    },
    close: () => void connection.close(),
  };
};

/** What the API server shows in the handshake; not verified, only read. */
function notAfterMs(port: number): Promise<number> {
  return new Promise((done, failed) => {
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false, timeout: CERTIFICATE_TIMEOUT_MS }, () => {
      const { valid_to: validTo } = socket.getPeerCertificate();
      socket.destroy();
      if (validTo) done(Date.parse(validTo));
      else failed(new Error("the API server showed no certificate"));
    });
    socket.on("timeout", () => socket.destroy(new Error(`no handshake within ${CERTIFICATE_TIMEOUT_MS / 1000} s`)));
    socket.on("error", failed);
  });
}
