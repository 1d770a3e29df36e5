// `theseus updater`: the kubeadm updater as an HTTPS extension. Here: flags, how machines and clusters are reached.
// Not here: what an update does (extensions/kubeadm-updater). Source: design/architecture.md section 5.
import { secretResource } from "../api/core/index.ts";
import { machineResource } from "../api/machine.ts";
import { clusterAccess } from "../extensions/kubeadm-updater/cluster.ts";
import { createEngine, type Engine } from "../extensions/kubeadm-updater/engine.ts";
import { createFakeEngine } from "../extensions/kubeadm-updater/fake.ts";
import { HostUnreachable } from "../extensions/kubeadm-updater/host.ts";
import { commandExec } from "../extensions/kubeadm-updater/real/command-exec.ts";
import { updaterExtension } from "../extensions/kubeadm-updater/updater.ts";
import { serveExtension } from "../hooks/real/server.ts";
import type { Logger } from "../runtime/base/log.ts";
import { cryptoRandom } from "../runtime/base/real/crypto-random.ts";
import { systemClock } from "../runtime/base/real/system-clock.ts";
import type { Client } from "../runtime/client.ts";
import { connectKubeConfig } from "../runtime/real/kube-config.ts";
import { createLogger } from "../runtime/real/logger.ts";
import { transportClient } from "../runtime/transport-client.ts";
import { withinReason } from "../simulator/real/pace.ts";
import type { Io } from "./io.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";
import { Opened, untilStopped } from "./stopping.ts";

const FLAGS: FlagTable = {
  port: { type: "string", value: "N", default: "9443", help: "port of the extension server; 0 takes any free one" },
  "bind-address": { type: "string", value: "ADDRESS", default: "0.0.0.0", help: "address to listen on" },
  "cert-dir": { type: "string", value: "DIR", help: "folder with tls.crt and tls.key" },
  "client-ca-file": { type: "string", value: "FILE", help: "PEM of a CA; callers must then show a certificate of it" },
  mode: {
    type: "string",
    value: "command|fake",
    default: "command",
    help: "command: change machines; fake: wait 15 to 19 seconds and change nothing",
  },
  kubeconfig: { type: "string", value: "FILE", help: "of the management cluster, to find machines and their clusters" },
  "exec-template": {
    type: "string",
    value: "WORDS",
    default: "ssh -o BatchMode=yes root@{address} --",
    help: "goes in front of each command on a machine",
  },
  "stage-command": {
    type: "string",
    value: "WORDS",
    default: "stage-kubernetes {version} /opt/inplace/{version}/bin",
    help: "run on a machine to put kubeadm, kubelet and kubectl of a version there",
  },
  v: { type: "string", value: "N", default: "0", help: "verbosity of logs; 4 and more for developers" },
  "log-format": { type: "string", value: "text|json", default: "text", help: "form of log lines" },
};

export const help = `usage: theseus updater FLAGS

The kubeadm updater: answers CanUpdateMachine, CanUpdateMachineSet and UpdateMachine. Register it with an ExtensionConfig.

${flagHelp(FLAGS)}`;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("updater", FLAGS, args);
  const log = createLogger({ format: flags.choice("log-format", ["text", "json"]) ?? "text", verbosity: flags.whole("v", 0, 10) ?? 0 });
  const certDir = flags.text("cert-dir");
  if (!certDir) throw new FlagError("--cert-dir is missing", "name the folder with tls.crt and tls.key: hooks are called over HTTPS only");
  const opened = new Opened(io.error);
  try {
    const engine = await openEngine(flags, log, opened);
    const server = await serveExtension(updaterExtension(engine), {
      port: flags.whole("port", 0, 65_535) ?? 9443,
      host: flags.text("bind-address"),
      certDir,
    });
    opened.add("extension", () => server.close());
    io.out(`ready ${server.url}`);
    await untilStopped(io.stop);
    return 0;
  } finally {
    await opened.close();
  }
}

async function openEngine(flags: Flags, log: Logger, opened: Opened): Promise<Engine> {
  if (flags.choice("mode", ["command", "fake"]) === "fake") return createFakeEngine(systemClock, cryptoRandom);
  const connection = await connectKubeConfig({ file: flags.text("kubeconfig") });
  opened.add("connection", () => connection.close());
  const management = transportClient({ transport: connection.transport, userAgent: "theseus-updater" });
  const words = (name: string): readonly string[] => (flags.text(name) ?? "").split(/\s+/).filter((w) => w !== "");
  return createEngine({
    log,
    patience: withinReason,
    openHost: async ({ namespace, name }) => {
      const machine = await management.get(machineResource, { namespace, name });
      const addresses = machine.status?.addresses ?? [];
      const address = (addresses.find((a) => a.type === "InternalIP") ?? addresses[0])?.address;
      if (!address) throw new HostUnreachable(`machine ${namespace}/${name} has no address in its status`);
      return commandExec({ template: words("exec-template"), address, stageCommand: words("stage-command") });
    },
    openCluster: async (cluster) => clusterAccess(await workloadClient(management, cluster)),
  });
}

async function workloadClient(
  management: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Client> {
  const secret = await management.get(secretResource, { namespace, name: `${name}-kubeconfig` });
  const { transport } = await connectKubeConfig({ text: Buffer.from(secret.data?.value ?? "", "base64").toString("utf8") });
  return transportClient({ transport, fieldManager: "kubeadm-updater", userAgent: "theseus-updater" });
}
