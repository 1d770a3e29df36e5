// Commands on a simulated host: what the updater's steps run, with the effects they have on a real one.
// Here: the command table and how long commands take. Not here: the host's state (host.ts), the cluster it shows in (../workload).
// Source: spec/runtime/kubeadm-updater.md section 5.
import { keyText, type ObjectKey } from "../../api/meta/resource.ts";
import {
  type CommandResult,
  type FileAttributes,
  HostUnreachable,
  type NodeExec,
  type OpenHost,
} from "../../extensions/kubeadm-updater/host.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { SimulatedClusters } from "../workload/clusters.ts";
import { COMPONENTS, imageOf, type NodeFacts } from "../workload/objects.ts";
import type { HostState, Hosts } from "./host.ts";

export interface HostTimings {
  /** How long a command runs, milliseconds; 0 = ends in the same instant. */
  readonly commandMs: (command: readonly string[]) => number;
  /** From the start of a kubelet until its Node is Ready, milliseconds. */
  readonly nodeReadyMs: number;
}

export const INSTANT: HostTimings = { commandMs: () => 0, nodeReadyMs: 0 };

/** Figures of a small virtual machine with a warm image cache. */
export const REALISTIC: HostTimings = {
  commandMs: ([first = "", ...rest]) => {
    const line = [first.split("/").at(-1), ...rest].join(" ");
    if (line.startsWith("kubeadm config images pull")) return 20_000;
    if (line.startsWith("kubeadm upgrade node phase control-plane")) return 40_000;
    if (line.startsWith("etcdctl snapshot save")) return 5_000;
    if (line.startsWith("kubeadm upgrade node phase")) return 2_000;
    if (line.startsWith("stage-binaries")) return 10_000;
    if (line.startsWith("systemctl")) return 1_000;
    return 0;
  },
  nodeReadyMs: 10_000,
};

export interface SimulatedHostParts {
  readonly hosts: Hosts;
  readonly clusters: SimulatedClusters;
  readonly clock: Clock;
  readonly timings: HostTimings;
}

const ROOT: FileAttributes = { owner: "root:root", permissions: "0755" };
const OK: CommandResult = { code: 0, stdout: "", stderr: "" };
const NO: CommandResult = { code: 1, stdout: "", stderr: "" };
const said = (stdout: string): CommandResult => ({ ...OK, stdout: `${stdout}\n` });

const tagOf = (version: string): string => version.replace("+", "_");

interface Machine {
  read(): HostState;
  change(part: Partial<HostState>): void;
  readonly showNode: (ready: boolean) => Promise<void>;
  readonly showStaticPods: () => Promise<void>;
  readonly renewCertificate: () => void;
  /** Resolves at once; a Node that needs time to become Ready shows it later. */
  readonly showNodeReady: () => Promise<void>;
}

type Command = (args: readonly string[], machine: Machine) => CommandResult | Promise<CommandResult>;

const writeFile = (m: Machine, path: string, content: string, attributes: FileAttributes = ROOT): void =>
  m.change({ files: { ...m.read().files, [path]: { content, ...attributes } } });

function move(m: Machine, from: string, to: string, keep: boolean): CommandResult {
  const file = m.read().files[from];
  if (!file) return { ...NO, stderr: `cannot stat '${from}': No such file or directory` };
  const { [from]: _moved, ...others } = m.read().files;
  m.change({ files: { ...(keep ? m.read().files : others), [to]: file } });
  const binary = /^\/usr\/bin\/(kubeadm|kubelet|kubectl)$/.exec(to)?.[1];
  if (binary) m.change({ binaries: { ...m.read().binaries, [binary]: file.content } });
  return OK;
}

const upgradePhases: Readonly<Record<string, Command>> = {
  preflight: () => OK,
  "control-plane": async (_args, m) => {
    const { kubeadm } = m.read().binaries;
    m.change({ staticPods: Object.fromEntries(COMPONENTS.map((c) => [c, imageOf(c, kubeadm)])) });
    m.renewCertificate();
    await m.showStaticPods();
    return OK;
  },
  "kubelet-config": (_args, m) => {
    writeFile(m, "/var/lib/kubelet/config.yaml", `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`);
    return OK;
  },
};

const kubeadm: Command = (args, m) => {
  const line = args.join(" ");
  if (line.startsWith("version")) return said(m.read().binaries.kubeadm);
  if (line.startsWith("config images pull")) {
    const version = args.at(-1) ?? "";
    const images = COMPONENTS.map((c) => imageOf(c, tagOf(version)));
    m.change({ images: [...new Set([...m.read().images, ...images])].sort() });
    return OK;
  }
  const phase = line.startsWith("upgrade node phase ") ? upgradePhases[args[3] ?? ""] : undefined;
  return phase ? phase(args, m) : { ...NO, stderr: `unknown command ${line}` };
};

const systemctl: Command = async ([verb = ""], m) => {
  if (verb === "is-active") return m.read().runningKubelet === "" ? { code: 3, stdout: "inactive\n", stderr: "" } : said("active");
  if (verb === "stop") {
    m.change({ runningKubelet: "" });
    await m.showNode(false);
  }
  if (verb === "restart" || verb === "start") {
    m.change({ runningKubelet: m.read().binaries.kubelet });
    await m.showNodeReady();
  }
  return OK;
};

const test: Command = ([flag = "", path = ""], m) => {
  const { files } = m.read();
  const file = files[path];
  const there = flag === "-d" ? Object.keys(files).some((p) => p.startsWith(`${path}/`)) || file !== undefined : file !== undefined;
  return there && (flag !== "-s" || (file?.content ?? "") !== "") ? OK : NO;
};

const COMMANDS: Readonly<Record<string, Command>> = {
  kubeadm,
  systemctl,
  test,
  kubelet: (_args, m) => said(`Kubernetes ${m.read().binaries.kubelet}`),
  crictl: (_args, m) => said(JSON.stringify({ images: m.read().images.map((image) => ({ repoTags: [image] })) })),
  mkdir: () => OK,
  install: (args, m) => move(m, args.at(-2) ?? "", args.at(-1) ?? "", true),
  mv: (args, m) => move(m, args.at(-2) ?? "", args.at(-1) ?? "", false),
  cp: (args, m) => {
    writeFile(m, `${args.at(-1)}/kube-apiserver.yaml`, m.read().staticPods["kube-apiserver"] ?? "");
    return OK;
  },
  etcdctl: (args, m) => {
    writeFile(m, args.at(-1) ?? "", "snapshot", { owner: "root:root", permissions: "0600" });
    return OK;
  },
  grep: (args, m) => {
    const component = COMPONENTS.find((c) => args.at(-1)?.endsWith(`/${c}.yaml`));
    const image = component && m.read().staticPods[component];
    return image ? said(`    image: ${image}`) : NO;
  },
  sh: (_args) => OK,
};

/** A host whose commands take virtual time and change the simulated cluster. */
export function simulatedHosts(parts: SimulatedHostParts): OpenHost {
  const { hosts, clusters, clock, timings } = parts;
  const wait = (ms: number): Promise<void> | undefined => (ms > 0 ? new Promise((done) => clock.after(ms, done)) : undefined);

  return async ({ namespace, name, providerId }) => {
    const key: ObjectKey = { namespace, name: providerId.replace(/^in-memory:\/\//, "") };
    const known = hosts.get(key);
    if (!known || known.providerId !== providerId) throw new HostUnreachable(`no host ${providerId} for machine ${namespace}/${name}`);
    const machine = machineOf(key);
    const exec: NodeExec = {
      async run(command) {
        const [path = "", ...args] = command;
        const program = COMMANDS[path.split("/").at(-1) ?? ""];
        if (!program) return { code: 127, stdout: "", stderr: `${path}: command not found` };
        const pause = wait(timings.commandMs(command));
        if (pause) await pause;
        return program(args, machine);
      },
      read: async (path) => machine.read().files[path]?.content,
      attributes: async (path) => machine.read().files[path],
      write: async (path, content, { owner, permissions }) => writeFile(machine, path, content, { owner, permissions }),
      async stageBinaries(version) {
        const pause = wait(timings.commandMs(["stage-binaries", version]));
        if (pause) await pause;
        for (const binary of ["kubeadm", "kubelet", "kubectl"]) writeFile(machine, `/opt/inplace/${version}/bin/${binary}`, version);
      },
      bootId: async () => machine.read().bootId,
      close() {},
    };
    return exec;
  };

  function machineOf(key: ObjectKey): Machine {
    const read = (): HostState => {
      const state = hosts.get(key);
      if (!state) throw new HostUnreachable(`host ${keyText(key)} is gone`);
      return state;
    };
    const cluster = () => clusters.find(read().cluster);
    const showNode = async (ready: boolean): Promise<void> => {
      // The machine may have been deleted while its kubelet was starting.
      const host = hosts.get(key);
      if (host) await clusters.find(host.cluster)?.reportNode(nodeFacts(key, host, ready));
    };
    return {
      read,
      change: (part) => hosts.put(key, { ...read(), ...part }),
      showNode,
      showStaticPods: async () => {
        const { staticPods, address } = read();
        for (const component of COMPONENTS) {
          const image = staticPods[component];
          if (image) await cluster()?.reportStaticPod(component, key.name, image, true, address);
        }
      },
      renewCertificate: () => cluster()?.renewCertificate(key.name),
      showNodeReady: async () => {
        if (timings.nodeReadyMs === 0) return showNode(true);
        clock.after(timings.nodeReadyMs, () => void showNode(true));
      },
    };
  }
}

/** What the kubelet of a host reports; a stopped one keeps the last version it told. */
export const nodeFacts = (key: ObjectKey, host: HostState, ready: boolean): NodeFacts => ({
  name: key.name,
  providerId: host.providerId,
  version: host.runningKubelet || host.binaries.kubelet,
  controlPlane: host.controlPlane,
  address: host.address,
  bootId: host.bootId,
  ready: ready && host.runningKubelet !== "",
});
