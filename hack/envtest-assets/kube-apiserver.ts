// kube-apiserver as envtest starts it. Here: its flags turned into options of our server. Not here: the server (apiserver/real/start.ts).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseTokenFile } from "../../apiserver/real/token-file.ts";
import { startApiServer, type StartOptions } from "../../apiserver/real/start.ts";
import { helpText, type KnownFlags, readFlags } from "./flags.ts";

const FLAGS: KnownFlags = {
  used: {
    "secure-port": "port (default 6443)",
    "bind-address": "address (default 127.0.0.1)",
    "cert-dir": "folder with apiserver.crt and apiserver.key",
    "tls-cert-file": "PEM of the serving certificate",
    "tls-private-key-file": "PEM of its key",
    "client-ca-file": "PEM of the CA whose client certificates name users",
    "token-auth-file": "users by bearer token",
    "authorization-mode": "RBAC (also within a list) or AlwaysAllow",
    "etcd-servers": "URL of the etcd beside this file; objects are kept in its --data-dir",
  },
  ignored: [
    "admission-control",
    "advertise-address",
    "allow-privileged",
    "api-audiences",
    "audit-log-path",
    "audit-policy-file",
    "disable-admission-plugins",
    "enable-admission-plugins",
    "enable-aggregator-routing",
    "endpoint-reconciler-type",
    "etcd-prefix",
    "event-ttl",
    "feature-gates",
    "max-mutating-requests-inflight",
    "max-requests-inflight",
    "profiling",
    "runtime-config",
    "service-account-extend-token-expiration",
    "service-account-issuer",
    "service-account-key-file",
    "service-account-signing-key-file",
    "service-cluster-ip-range",
    "service-node-port-range",
    "storage-backend",
    "tls-min-version",
    "v",
    "watch-cache",
  ],
};
const ETCD_LIMIT_MS = 5_000;

function fail(message: string): never {
  process.stderr.write(`kube-apiserver: ${message}\n`);
  process.exit(1);
}

function read(flag: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return fail(`cannot read ${path} of --${flag}: ${(error as Error).message}`);
  }
}

/** A certificate that is named, or the one that lies in --cert-dir; none = the server makes its own. */
function servingOf(values: ReadonlyMap<string, string>): StartOptions["serving"] {
  const inCertDir = (name: string): string | undefined => {
    const directory = values.get("cert-dir");
    const path = directory === undefined ? undefined : join(directory, name);
    return path !== undefined && existsSync(path) ? path : undefined;
  };
  const certificate = values.get("tls-cert-file") ?? inCertDir("apiserver.crt");
  const key = values.get("tls-private-key-file") ?? inCertDir("apiserver.key");
  if (certificate === undefined || key === undefined) return undefined;
  return { certificate: read("tls-cert-file", certificate), key: read("tls-private-key-file", key) };
}

function authorizationOf(text: string): StartOptions["authorizationMode"] {
  const modes = text.split(",");
  if (modes.includes("AlwaysAllow")) return "AlwaysAllow";
  return modes.includes("RBAC") ? "RBAC" : fail(`--authorization-mode=${text}: give RBAC or AlwaysAllow`);
}

/** The folder that etcd was given. A real etcd knows nothing of it: then objects are not kept. */
async function dataDirOf(etcdServers: string | undefined): Promise<string | undefined> {
  if (etcdServers === undefined || etcdServers === "") return undefined;
  const url = `${etcdServers.split(",")[0]}/data-dir`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ETCD_LIMIT_MS) });
    if (!answer.ok) return undefined;
    const { dataDir } = (await answer.json()) as { dataDir: string | null };
    return dataDir === null ? undefined : join(dataDir, "theseus");
  } catch (error) {
    return fail(`no etcd answers at ${url}: ${(error as Error).message}`);
  }
}

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  process.stdout.write(helpText("kube-apiserver", FLAGS));
  process.exit(0);
}
if (args.includes("--version")) {
  process.stdout.write("Kubernetes v1.36.3\n");
  process.exit(0);
}
const { values, unknown } = readFlags(args, FLAGS);
for (const flag of unknown) process.stderr.write(`kube-apiserver: ${flag} has no effect here\n`);
const clientCa = values.get("client-ca-file");
const tokenFile = values.get("token-auth-file");
try {
  const running = await startApiServer({
    port: Number(values.get("secure-port") ?? 6443),
    bindAddress: values.get("bind-address") ?? "127.0.0.1",
    dataDir: await dataDirOf(values.get("etcd-servers")),
    serving: servingOf(values),
    authorizationMode: authorizationOf(values.get("authorization-mode") ?? "RBAC"),
    // The controllers of kube-controller-manager do not run under envtest.
    backgroundControllers: false,
    ...(clientCa === undefined ? {} : { clientCa: read("client-ca-file", clientCa) }),
    ...(tokenFile === undefined ? {} : { tokens: parseTokenFile(read("token-auth-file", tokenFile)) }),
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      running.stop().then(
        () => process.exit(0),
        (error: Error) => fail(error.message),
      );
    });
  }
} catch (error) {
  fail((error as Error).message);
}
