// A port of a Pod as a port on loopback, through the API server. Here: a listener per tunnel. Source: the Kubernetes port-forward protocol.
import { createServer, type AddressInfo } from "node:net";
import { type KubeConfig, PortForward } from "@kubernetes/client-node";

export interface Tunnel {
  readonly port: number;
  close(): void;
}

/** Each connection to the tunnel's port becomes one stream to the Pod. */
export function forwardPort(config: KubeConfig, namespace: string, pod: string, port: number): Promise<Tunnel> {
  const forward = new PortForward(config);
  return new Promise((done, failed) => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      forward
        .portForward(namespace, pod, [port], socket, null, socket)
        .catch((error: unknown) => socket.destroy(error instanceof Error ? error : new Error(String(error))));
    });
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => done({ port: (server.address() as AddressInfo).port, close: () => server.close() }));
  });
}
