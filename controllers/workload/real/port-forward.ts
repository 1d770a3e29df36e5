// A byte stream to a port of a Pod, through the API server. Here: client-node's PortForward as one Duplex.
// Source: spec/controllers/workload-cluster.md section 5.1.
import { Duplex, PassThrough } from "node:stream";
import { type KubeConfig, PortForward } from "@kubernetes/client-node";

const OPEN_LIMIT_MS = 10_000;

/** @throws when the API server does not open the stream within 10 s */
export async function forwardTo(config: KubeConfig, namespace: string, pod: string, port: number): Promise<Duplex> {
  const [toPod, fromPod, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const opened = new PortForward(config, true).portForward(namespace, pod, [port], fromPod, errors, toPod, 0);
  const socket = await withLimit(opened, `port-forward to ${namespace}/${pod}:${port} was not opened within ${OPEN_LIMIT_MS / 1000} s`);
  const stream = new Duplex({
    read: () => void fromPod.resume(),
    write: (chunk, _encoding, done) => void toPod.write(chunk, done),
    final: (done) => {
      toPod.end();
      done();
    },
  });
  fromPod.on("data", (chunk: Buffer) => {
    if (!stream.push(chunk)) fromPod.pause();
  });
  fromPod.once("end", () => stream.push(null));
  errors.once("data", (text: Buffer) =>
    stream.destroy(new Error(`port-forward to ${namespace}/${pod}:${port} failed: ${text.toString("utf8").trim()}`)),
  );
  stream.once("close", () => {
    const webSocket = typeof socket === "function" ? socket() : socket;
    webSocket?.close();
  });
  return stream;
}

function withLimit<T>(work: Promise<T>, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(message)), OPEN_LIMIT_MS);
    work.then(resolve, reject).finally(() => clearTimeout(limit));
  });
}
