// Dialling real workload clusters: HTTPS with the kubeconfig's credentials, etcd and certificates through port-forward.
// Not here: when connections are made (../clusters.ts).
import { KubeConfig } from "@kubernetes/client-node";
import { connectKubeConfig } from "../../../runtime/real/kube-config.ts";
import type { Dial } from "../seam.ts";
import { etcdOverStream } from "./etcd-gateway.ts";
import { forwardTo } from "./port-forward.ts";
import { servingCertificateExpiryMs } from "./serving-certificate.ts";

const NAMESPACE = "kube-system";
const ETCD_CLIENT_PORT = 2379;
const API_SERVER_NAME = "kube-apiserver";

export const dialKubeconfig: Dial = async ({ kubeconfig }) => {
  const connection = await connectKubeConfig({ text: kubeconfig });
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return {
    transport: connection.transport,
    async etcd(nodeName, credentials) {
      const pod = `etcd-${nodeName}`;
      const stream = await forwardTo(config, NAMESPACE, pod, ETCD_CLIENT_PORT);
      return etcdOverStream(stream, pod, credentials);
    },
    async apiServerCertificateExpiryMs(nodeName, port) {
      const stream = await forwardTo(config, NAMESPACE, `${API_SERVER_NAME}-${nodeName}`, port);
      return servingCertificateExpiryMs(stream, API_SERVER_NAME);
    },
    close: () => void connection.close(),
  };
};
