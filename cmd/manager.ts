// `theseus manager`: the controllers against any Kubernetes API server. Here: flags, leader election, what is opened in which order.
// Not here: controllers, webhooks, simulated infrastructure. Source: design/architecture.md section 5.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { defaultFeatureGates } from "../api/feature-gates.ts";
import { createMemoryStore } from "../apiserver/store/memory.ts";
import { openFileStore } from "../apiserver/real/file-store.ts";
import { createControllers } from "../controllers/all.ts";
import { createWorkloadClusters, type WorkloadClustersControl } from "../controllers/workload/clusters.ts";
import { dialKubeconfig } from "../controllers/workload/real/dial.ts";
import { httpsHookTransport } from "../hooks/real/https-transport.ts";
import { cryptoRandom } from "../runtime/base/real/crypto-random.ts";
import { createNodePki } from "../runtime/base/real/node-pki.ts";
import { systemClock } from "../runtime/base/real/system-clock.ts";
import type { Client } from "../runtime/client.ts";
import { createLeaderElection, leaseNameFor } from "../runtime/leader.ts";
import { limitedTransport } from "../runtime/limited-transport.ts";
import { createManager, type Manager } from "../runtime/manager.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { startHealthServer } from "../runtime/real/health-server.ts";
import { connectKubeConfig } from "../runtime/real/kube-config.ts";
import { prometheusMetrics } from "../runtime/real/metrics.ts";
import { startWorkers } from "../runtime/real/worker-driver.ts";
import { transportClient } from "../runtime/transport-client.ts";
import { simulatedInfrastructure } from "../simulator/controllers.ts";
import { socketFront } from "../simulator/real/front.ts";
import { createSimulatedParts, reopenClusters, type SimulatedParts } from "../simulator/world.ts";
import { defaultVariables } from "../webhooks/cluster-variables.ts";
import { serveWebhooks } from "../webhooks/real/server.ts";
import type { Io } from "./io.ts";
import { CONTROLLER_FLAGS, type ControllerSettings, controllerSettings, gateHelp, SIMULATED_CONTROLLERS } from "./controller-flags.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";
import { Opened, untilStopped } from "./stopping.ts";
import { clientReader } from "./webhook-reader.ts";

const FLAGS: FlagTable = {
  kubeconfig: {
    type: "string",
    value: "FILE",
    help: "of the management cluster; unset: KUBECONFIG, ~/.kube/config, then the Pod's service account",
  },
  ...CONTROLLER_FLAGS,
  "leader-elect": { type: "boolean", help: "work only while holding a Lease, so that several replicas may run" },
  "leader-election-namespace": { type: "string", value: "NAME", help: "namespace of the Lease; unset: the Pod's, else default" },
  "webhook-port": { type: "string", value: "N", help: "serve the webhooks on this port; unset = none" },
  "webhook-cert-dir": { type: "string", value: "DIR", help: "folder with tls.crt and tls.key of the webhooks" },
  "kube-api-qps": { type: "string", value: "N", default: "0", help: "requests a second to the API server; 0 = no limit" },
  "data-dir": { type: "string", value: "DIR", help: "where simulated workload clusters are kept (controllers devcluster, devmachine)" },
};

export const help = `usage: theseus manager FLAGS

The controllers of Cluster API, against the API server of a kubeconfig. CRDs must be there: see \`theseus help install\`.

${flagHelp(FLAGS)}

  Feature gates:
${gateHelp(defaultFeatureGates)}`;

const POD_NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
const HOST = "127.0.0.1";

export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("manager", FLAGS, args);
  const settings = controllerSettings(flags, false);
  const opened = new Opened(io.error);
  const lost = new AbortController();
  try {
    await start(flags, settings, opened, () => lost.abort());
    await Promise.race([untilStopped(io.stop), untilStopped(lost.signal)]);
    return lost.signal.aborted ? 1 : 0;
  } finally {
    await opened.close();
  }
}

async function start(flags: Flags, settings: ControllerSettings, opened: Opened, onLost: () => void): Promise<void> {
  const connection = await connectKubeConfig({ file: flags.text("kubeconfig") });
  opened.add("connection", () => connection.close());
  const qps = flags.whole("kube-api-qps", 0, 100_000) ?? 0;
  const transport = qps === 0 ? connection.transport : limitedTransport(connection.transport, systemClock, qps);
  const client = transportClient({ transport, fieldManager: "manager", userAgent: "theseus-manager" });
  await client.raw("/version").catch((error: unknown) => {
    throw new Error(`the API server ${connection.server} cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  });
  const manager = await openManager(client, flags, settings, opened);
  await openWebhooks(client, flags, settings, opened);
  let leads = !flags.is("leader-elect");
  await openDiagnostics(settings, manager, opened, () => leads);
  const begin = (): void => {
    leads = true;
    const workers = startWorkers(manager, { concurrency: settings.concurrency, stopTimeoutMs: 20_000 });
    opened.add("controllers", async () => {
      if (!(await workers.stop())) settings.log.warn("some reconciles did not end in time");
    });
  };
  if (leads) begin();
  else elect(client, flags, settings, opened, begin, onLost);
}

function elect(
  client: Client,
  flags: Flags,
  { names, log }: ControllerSettings,
  opened: Opened,
  onStarted: () => void,
  onLost: () => void,
): void {
  const namespace =
    flags.text("leader-election-namespace") ??
    (existsSync(POD_NAMESPACE_FILE) ? readFileSync(POD_NAMESPACE_FILE, "utf8").trim() : "default");
  const election = createLeaderElection({
    client,
    clock: systemClock,
    random: cryptoRandom,
    log,
    namespace,
    leaseName: leaseNameFor(names),
    identity: `${hostname()}_${randomUUID()}`,
    onStarted,
    onLost,
  });
  // Added before the controllers are, so that the Lease is given up only after they have ended.
  opened.add("leader election", () => election.release());
  election.start();
}

const EXTENSIONS = "extensionconfig";
/** Controllers that call extensions. */
const CALLERS: readonly string[] = ["kubeadmcontrolplane", "machinedeployment", "machine"];

async function openManager(client: Client, flags: Flags, settings: ControllerSettings, opened: Opened): Promise<Manager> {
  const { gates, log, names } = settings;
  const pki = createNodePki({ clock: systemClock });
  const hooks = httpsHookTransport();
  opened.add("hook connections", () => hooks.close());
  const metrics = createMetrics();
  const common = { client, clock: systemClock, log, gates, metrics };
  const simulated = names.some((n) => (SIMULATED_CONTROLLERS as readonly string[]).includes(n))
    ? await openSimulated(client, flags, settings, opened)
    : undefined;
  const workloadClusters: WorkloadClustersControl = createWorkloadClusters({
    ...common,
    random: cryptoRandom,
    pki,
    management: client,
    dial: simulated?.clusters.dial ?? dialKubeconfig,
  });
  opened.add("workload clusters", () => workloadClusters.stop());
  const controllers = [
    ...createControllers({
      ...common,
      pki,
      workloadClusters,
      defaultVariables,
      hookTransport: hooks.transport,
      // Without discovery of its own this manager calls what another one, such as upstream's, has discovered.
      extensionConfigRole: names.includes(EXTENSIONS) ? "writer" : "reader",
      cache: () => manager.cache,
    }),
    ...(simulated ? simulatedInfrastructure(simulated) : []),
  ];
  const manager: Manager = createManager({
    ...common,
    random: cryptoRandom,
    controllers: controllers.filter((c) => names.includes(c.name) || (c.name === EXTENSIONS && names.some((n) => CALLERS.includes(n)))),
    pageSize: 500,
    watchTimeoutSeconds: 300,
    ...(settings.namespace ? { namespace: settings.namespace } : {}),
    ...(settings.watchFilter ? { watchFilter: settings.watchFilter } : {}),
  });
  return manager;
}

/** Workload clusters of simulated infrastructure live in this process, so one replica must name both of its controllers. */
async function openSimulated(client: Client, flags: Flags, { names, log }: ControllerSettings, opened: Opened): Promise<SimulatedParts> {
  const missing = SIMULATED_CONTROLLERS.filter((n) => !names.includes(n));
  if (missing.length > 0)
    throw new FlagError(
      `--controllers leaves out ${missing.join(", ")}`,
      `name ${SIMULATED_CONTROLLERS.join(" and ")} together: they share simulated clusters`,
    );
  const dataDir = flags.text("data-dir");
  const store = dataDir ? openFileStore({ directory: dataDir, log }) : createMemoryStore();
  opened.add("simulated clusters' store", () => store.close());
  const front = socketFront({ host: HOST, pki: createNodePki({ clock: systemClock }), log, management: client });
  opened.add("workload clusters' ports", () => front.stop());
  const parts = createSimulatedParts({ clock: systemClock, random: cryptoRandom, log, store, front });
  await reopenClusters(parts);
  opened.add("simulated clusters", () => parts.clusters.stop());
  return parts;
}

async function openWebhooks(client: Client, flags: Flags, { gates, log }: ControllerSettings, opened: Opened): Promise<void> {
  const port = flags.whole("webhook-port", 0, 65_535);
  if (port === undefined) return;
  const certDir = flags.text("webhook-cert-dir");
  if (!certDir) throw new FlagError("--webhook-port is given without --webhook-cert-dir", "name the folder with tls.crt and tls.key");
  const server = await serveWebhooks({
    port,
    certDir,
    gate: gates.enabled,
    clock: systemClock,
    reader: clientReader(client),
  });
  opened.add("webhooks", () => server.close());
  log.info("webhooks answer", { port: server.port });
}

async function openDiagnostics(settings: ControllerSettings, manager: Manager, opened: Opened, leads: () => boolean): Promise<void> {
  // A replica that waits for the Lease is ready: it serves webhooks.
  const ready = { caches: () => !leads() || manager.synced() || "caches are being filled" };
  for (const address of new Set([settings.healthAddress, settings.diagnosticsAddress])) {
    if (!address) continue;
    const server = await startHealthServer({ address, ready, metrics: prometheusMetrics(manager.metrics) });
    opened.add("diagnostics", () => server.close());
  }
}
