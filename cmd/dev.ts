// `theseus dev`: everything in one process, to try and to develop against. Here: flags, what is opened in which order, what is printed.
// Not here: the parts (apiserver/real, simulator, controllers). Source: design/architecture.md section 5.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { developmentFeatureGates } from "../api/feature-gates.ts";
import { functionPlugin } from "../apiserver/admission/index.ts";
import { APISERVER_FLAGS, startOptions } from "../apiserver/real/serve.ts";
import { type RunningApiServer, startApiServer } from "../apiserver/real/start.ts";
import { httpsHookTransport } from "../hooks/real/https-transport.ts";
import { serveExtension } from "../hooks/real/server.ts";
import { cryptoRandom } from "../runtime/base/real/crypto-random.ts";
import { createNodePki } from "../runtime/base/real/node-pki.ts";
import { systemClock } from "../runtime/base/real/system-clock.ts";
import { createManager, type Manager } from "../runtime/manager.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { startHealthServer } from "../runtime/real/health-server.ts";
import { prometheusMetrics } from "../runtime/real/metrics.ts";
import { startWorkers } from "../runtime/real/worker-driver.ts";
import { simulatedControllers, startExtension } from "../simulator/controllers.ts";
import { socketFront } from "../simulator/real/front.ts";
import { DEVELOPMENT_PACES, DEVELOPMENT_TIMINGS, withinReason } from "../simulator/real/pace.ts";
import { webhookFunctions } from "../simulator/webhook-functions.ts";
import { adminClient, createWorld, installKinds, reopenClusters, type World } from "../simulator/world.ts";
import type { Io } from "./io.ts";
import { CONTROLLER_FLAGS, type ControllerSettings, controllerSettings, gateHelp } from "./controller-flags.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";
import { Opened, untilStopped } from "./stopping.ts";
import { packageVersion } from "./version.ts";

const { "background-controllers": _background, ...SERVER_FLAGS } = APISERVER_FLAGS;

const FLAGS: FlagTable = {
  ...SERVER_FLAGS,
  "secure-port": { ...APISERVER_FLAGS["secure-port"], alias: "port", value: "N" },
  ...CONTROLLER_FLAGS,
  controllers: { type: "string", value: "LIST", default: "*,devcluster,devmachine", help: "which run: names, *, -NAME to leave one out" },
  updater: {
    type: "string",
    value: "true|false",
    default: "true",
    help: "register the kubeadm updater for all namespaces; false: bring an update extension of your own",
  },
};

export const help = `usage: theseus dev FLAGS

API server, controllers, simulated machines and the kubeadm updater in one process. Ctrl-C ends it and leaves nothing behind;
with --data-dir the next start goes on where this one was.

${flagHelp(FLAGS)}

  Feature gates:
${gateHelp(developmentFeatureGates)}`;

const YEAR_MS = 365 * 24 * 3_600_000;
const HOST = "127.0.0.1";

export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("dev", FLAGS, args);
  const settings = controllerSettings(flags, true);
  const opened = new Opened(io.error);
  try {
    await start(flags, settings, opened, io);
    await untilStopped(io.stop);
    return 0;
  } finally {
    await opened.close();
  }
}

async function start(flags: Flags, settings: ControllerSettings, opened: Opened, io: Io): Promise<void> {
  const api = await openServer(flags, settings, opened);
  const kubeconfig = writeKubeconfig(flags, api, opened);
  await installKinds(api.server);
  const world = openWorld(api, settings, opened);
  await reopenClusters(world);
  const extension = flags.choice("updater", ["true", "false"]) === "false" ? "none" : await openUpdater(world, api, opened);
  const manager = await openControllers(world, api, settings, opened);
  await openDiagnostics(settings, manager, opened);
  for (const line of greeting(api.url, kubeconfig, settings, extension)) io.out(line);
}

async function openServer(flags: Flags, { gates, log }: ControllerSettings, opened: Opened): Promise<RunningApiServer> {
  const values = Object.fromEntries(
    Object.keys(SERVER_FLAGS).map((name) => [name, name === "crd-dir" ? flags.texts(name) : flags.text(name)]),
  );
  const api = await startApiServer({
    ...startOptions(values, log),
    admission: (core) => [
      functionPlugin(
        core,
        webhookFunctions(gates.enabled, () => core),
      ),
    ],
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new FlagError(`port ${flags.text("secure-port")} is taken`, "choose another with --port, or --port=0 for any free one");
  });
  opened.add("API server", () => api.stop());
  return api;
}

function writeKubeconfig(flags: Flags, api: RunningApiServer, opened: Opened): string {
  const dataDir = flags.text("data-dir");
  let file = flags.text("kubeconfig-out") ?? (dataDir ? path.join(dataDir, "kubeconfig") : undefined);
  if (file === undefined) {
    const folder = mkdtempSync(path.join(tmpdir(), "theseus-"));
    opened.add("kubeconfig", () => rmSync(folder, { recursive: true, force: true }));
    file = path.join(folder, "kubeconfig");
  }
  try {
    writeFileSync(file, api.adminKubeconfig, { mode: 0o600 });
  } catch (error) {
    throw new Error(`the kubeconfig cannot be written to ${file}: ${(error as Error).message}; give another place with --kubeconfig-out`);
  }
  return path.resolve(file);
}

function openWorld(api: RunningApiServer, { log }: ControllerSettings, opened: Opened): World {
  const pki = createNodePki({ clock: systemClock });
  const world = createWorld({
    clock: systemClock,
    random: cryptoRandom,
    log,
    store: api.server.store,
    pki,
    server: api.server,
    front: (management) => {
      const front = socketFront({ host: HOST, pki, log, management });
      opened.add("workload clusters' ports", () => front.stop());
      return front;
    },
    timings: DEVELOPMENT_TIMINGS,
    paces: DEVELOPMENT_PACES,
    patience: withinReason,
  });
  opened.add("simulated clusters", () => world.stop());
  return world;
}

/** The updater as others would run it: HTTPS with a CA of its own, registered by an ExtensionConfig. */
async function openUpdater(world: World, api: RunningApiServer, opened: Opened): Promise<string> {
  const pki = createNodePki({ clock: systemClock });
  const ca = pki.createCa("theseus-updater", YEAR_MS, "ECDSA-P256");
  const { certificate, key } = pki.issue(ca, {
    commonName: "kubeadm-updater",
    names: [HOST, "localhost"],
    usages: ["server"],
    validForMs: YEAR_MS,
    algorithm: "ECDSA-P256",
  });
  const extension = await serveExtension(world.updater.extension, { port: 0, host: HOST, tls: { cert: certificate, key } });
  opened.add("updater", () => extension.close());
  await startExtension(adminClient(api.server, "theseus-install"), {
    url: extension.url,
    caBundle: Buffer.from(ca.certificate).toString("base64"),
  });
  return extension.url;
}

async function openControllers(world: World, api: RunningApiServer, settings: ControllerSettings, opened: Opened): Promise<Manager> {
  const { gates, log, names, concurrency } = settings;
  const hooks = httpsHookTransport();
  opened.add("hook connections", () => hooks.close());
  const metrics = createMetrics();
  const client = adminClient(api.server, "manager");
  const common = { client, clock: systemClock, log, gates, metrics };
  const all = simulatedControllers({
    ...common,
    world,
    pki: createNodePki({ clock: systemClock }),
    hookTransport: hooks.transport,
    cache: () => manager.cache,
  });
  const manager: Manager = createManager({
    ...common,
    random: cryptoRandom,
    controllers: all.filter((c) => names.includes(c.name)),
    ...(settings.namespace ? { namespace: settings.namespace } : {}),
    ...(settings.watchFilter ? { watchFilter: settings.watchFilter } : {}),
  });
  const workers = startWorkers(manager, { concurrency, stopTimeoutMs: 5_000 });
  opened.add("controllers", async () => {
    if (!(await workers.stop())) log.warn("some reconciles did not end in time");
  });
  return manager;
}

async function openDiagnostics(settings: ControllerSettings, manager: Manager, opened: Opened): Promise<void> {
  const ready = { caches: () => manager.synced() || "caches are being filled" };
  for (const address of new Set([settings.healthAddress, settings.diagnosticsAddress])) {
    if (!address) continue;
    const server = await startHealthServer({ address, ready, metrics: prometheusMetrics(manager.metrics) });
    opened.add("diagnostics", () => server.close());
  }
}

function greeting(url: string, kubeconfig: string, { gates }: ControllerSettings, extension: string): readonly string[] {
  const samples = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "manifests/samples/quickstart");
  const quickstart = path.relative(
    process.cwd(),
    existsSync(samples) ? samples : path.join(samples, "../../../../manifests/samples/quickstart"),
  );
  return [
    `theseus ${packageVersion()}: API server ${url}, updater ${extension}, InPlaceUpdates=${gates.enabled("InPlaceUpdates")}`,
    "Next, in another terminal:",
    "",
    `  export KUBECONFIG=${kubeconfig}`,
    `  kubectl apply -f ${quickstart}/`,
    "  kubectl wait --for=condition=Available --timeout=5m cluster/quickstart",
    "  kubectl get machines -w",
    "",
    `ready ${url}`,
  ];
}
