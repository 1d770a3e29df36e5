// etcd as far as envtest needs one: it answers on its health endpoints and tells the API server where objects are kept.
// Here: HTTP on the client URLs. Not here: keeping objects, which the API server does itself in the folder of --data-dir.
import { createServer, type Server } from "node:http";
import { helpText, type KnownFlags, readFlags } from "./flags.ts";

const FLAGS: KnownFlags = {
  used: {
    "listen-client-urls": "where to answer, comma-separated, plain HTTP (default http://127.0.0.1:2379)",
    "data-dir": "folder in which the API server keeps its objects (default: they are not kept)",
  },
  ignored: [
    "advertise-client-urls",
    "initial-advertise-peer-urls",
    "initial-cluster",
    "listen-metrics-urls",
    "listen-peer-urls",
    "log-level",
    "name",
    "quota-backend-bytes",
    "unsafe-no-fsync",
  ],
};
const VERSION = "3.6.0";
const json = (value: unknown): string => JSON.stringify(value);

function fail(message: string): never {
  process.stderr.write(`etcd: ${message}\n`);
  process.exit(1);
}

function listen(url: string, answers: ReadonlyMap<string, string>): Server {
  const { protocol, hostname, port } = URL.canParse(url) ? new URL(url) : fail(`${url} of --listen-client-urls is no URL`);
  if (protocol !== "http:") fail(`${url}: only plain HTTP is served; give an http:// URL`);
  const server = createServer((request, response) => {
    const answer = answers.get(request.url?.split("?")[0] ?? "");
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(answer ?? "404 page not found\n");
  });
  server.on("error", (error) => fail(`cannot listen on ${url}: ${error.message}`));
  return server.listen(Number(port || "80"), hostname.replace(/^\[|\]$/g, ""));
}

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  process.stdout.write(helpText("etcd", FLAGS));
  process.exit(0);
}
if (args.includes("--version")) {
  process.stdout.write(`etcd Version: ${VERSION}\n`);
  process.exit(0);
}
const { values, unknown } = readFlags(args, FLAGS);
for (const flag of unknown) process.stderr.write(`etcd: ${flag} has no effect here\n`);
const answers = new Map([
  ["/health", json({ health: "true", reason: "" })],
  ["/livez", "ok\n"],
  ["/readyz", "ok\n"],
  ["/version", json({ etcdserver: VERSION, etcdcluster: VERSION })],
  ["/data-dir", json({ dataDir: values.get("data-dir") ?? null })],
]);
const servers = (values.get("listen-client-urls") ?? "http://127.0.0.1:2379").split(",").map((url) => listen(url.trim(), answers));
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
}
