// The steps of an update, in order: when each is needed, how to see that it is done, what it does.
// Here: the table. Not here: running it (engine.ts). `kubeadm upgrade node` phases only, never `kubeadm upgrade apply`: the parts
// of the whole cluster belong to the control plane controller. Source: spec/runtime/kubeadm-updater.md section 5.
import type { ClusterAccess } from "./cluster.ts";
import { fileIsThere, wantedFile, writable } from "./files.ts";
import type { NodeExec } from "./host.ts";
import { hashOf, type Target } from "./target.ts";
import type { Journal } from "./journal.ts";
import { parseVersion } from "./version.ts";

export interface Needs {
  readonly version: boolean;
  readonly minor: boolean;
  readonly files: boolean;
  readonly staticPods: boolean;
  readonly kubelet: boolean;
  readonly commands: boolean;
}

export interface StepContext {
  readonly host: NodeExec;
  readonly cluster: ClusterAccess;
  readonly target: Target;
  /** Name of the Node. */
  readonly node: string;
  journal: Journal;
}

export interface Step {
  readonly id: string;
  /** Shown in conditions; from a closed list. */
  readonly name: string;
  /** How soon it is worth asking again. */
  readonly pace: "short" | "long";
  readonly needed: (needs: Needs, target: Target) => boolean;
  readonly isDone: (context: StepContext) => Promise<boolean>;
  readonly act: (context: StepContext) => Promise<void>;
  /** False = the act may have to be repeated until it is done (a drain waits for budgets). Default true. */
  readonly settles?: boolean;
}

/** A command that failed; the text of stderr stays in the log. */
export class CommandFailed extends Error {
  readonly code = "CommandFailed";
  readonly exitCode: number;
  readonly stderr: string;
  constructor(command: readonly string[], exitCode: number, stderr: string) {
    super(`${command.slice(0, 2).join(" ")} ended with ${exitCode}`);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

const KUBELET_FLAGS = "/var/lib/kubelet/kubeadm-flags.env";
const BACKUP = (version: string): string => `/opt/inplace/${version}/backup`;
const staged = (version: string, binary: string): string => `/opt/inplace/${version}/bin/${binary}`;

async function run(host: NodeExec, ...command: string[]): Promise<string> {
  const result = await host.run(command);
  if (result.code !== 0) throw new CommandFailed(command, result.code, result.stderr);
  return result.stdout.trim();
}

const succeeds = async (host: NodeExec, ...command: string[]): Promise<boolean> => (await host.run(command)).code === 0;
const output = async (host: NodeExec, ...command: string[]): Promise<string> => (await host.run(command)).stdout.trim();

export const kubeadmVersion = (host: NodeExec): Promise<string> => output(host, "kubeadm", "version", "-o", "short");
export const kubeletVersion = async (host: NodeExec): Promise<string> =>
  (await output(host, "kubelet", "--version")).replace(/^Kubernetes /, "");

const install = async (host: NodeExec, version: string, binary: string): Promise<void> => {
  await run(host, "install", "-m", "0755", staged(version, binary), `/usr/bin/${binary}.inplace`);
  await run(host, "mv", "-T", `/usr/bin/${binary}.inplace`, `/usr/bin/${binary}`);
};

const wantsDrain = (needs: Needs, target: Target): boolean => {
  const setting = target.settings.drain ?? (target.controlPlane ? "never" : "auto");
  return setting === "always" || (setting === "auto" && needs.minor);
};

const STAMP = "/var/lib/inplace-updater/commands";

export const STEPS: readonly Step[] = [
  {
    id: "stage-binaries",
    name: "stage binaries",
    pace: "short",
    needed: (n) => n.version,
    isDone: async ({ host, target }) =>
      (await Promise.all(["kubeadm", "kubelet", "kubectl"].map((b) => succeeds(host, "test", "-x", staged(target.version, b))))).every(
        Boolean,
      ),
    act: ({ host, target }) => host.stageBinaries(target.version),
  },
  {
    id: "pull-images",
    name: "pull images",
    pace: "long",
    needed: (n, t) => n.version && t.controlPlane,
    isDone: async ({ host, target }) =>
      (await output(host, "crictl", "images", "--output", "json")).includes(`kube-apiserver:${target.version.replace("+", "_")}`),
    act: async ({ host, target }) =>
      void (await run(host, staged(target.version, "kubeadm"), "config", "images", "pull", "--kubernetes-version", target.version)),
  },
  {
    id: "snapshot-etcd",
    name: "save an etcd snapshot",
    pace: "long",
    needed: (n, t) => n.version && t.controlPlane,
    isDone: ({ host, target }) => succeeds(host, "test", "-s", `${BACKUP(target.version)}/etcd-${target.hash}.db`),
    act: async ({ host, target }) => {
      await run(host, "mkdir", "-p", BACKUP(target.version));
      await run(host, "etcdctl", "snapshot", "save", `${BACKUP(target.version)}/etcd-${target.hash}.db`);
    },
  },
  {
    id: "drain",
    name: "drain the node",
    pace: "long",
    needed: wantsDrain,
    settles: false,
    isDone: async ({ cluster, target, node }) =>
      ((await cluster.nodeByProviderId(target.providerId))?.unschedulable ?? false) && (await cluster.evict(node)) === 0,
    act: ({ cluster, node }) => cluster.cordon(node, true),
  },
  {
    id: "switch-kubeadm",
    name: "switch kubeadm",
    pace: "short",
    needed: (n) => n.version,
    isDone: async ({ host, target }) => (await kubeadmVersion(host)) === target.version,
    act: ({ host, target }) => install(host, target.version, "kubeadm"),
  },
  {
    id: "preflight",
    name: "run kubeadm preflight",
    pace: "short",
    needed: (n) => n.version,
    // A check has no lasting effect to look for: the journal says that it passed.
    isDone: async ({ journal }) => journal.steps.some((s) => s.id === "preflight" && s.state === "done"),
    act: async ({ host }) => void (await run(host, "kubeadm", "upgrade", "node", "phase", "preflight")),
  },
  {
    id: "write-files",
    name: "write files",
    pace: "short",
    needed: (n) => n.files,
    isDone: async ({ host, target, journal }) => {
      for (const file of writable(target.files)) if (!(await fileIsThere(host, await wantedFile(host, journal, file)))) return false;
      return true;
    },
    act: async (context) => {
      const { host, target } = context;
      for (const file of writable(target.files)) {
        const wanted = await wantedFile(host, context.journal, file);
        if (await fileIsThere(host, wanted)) continue;
        if (context.journal.originals[file.path] === undefined) {
          const before = (await host.read(file.path)) ?? null;
          context.journal = { ...context.journal, originals: { ...context.journal.originals, [file.path]: before } };
        }
        await host.write(wanted.path, wanted.content, wanted);
      }
    },
  },
  {
    id: "back-up-manifests",
    name: "back up manifests",
    pace: "short",
    needed: (n, t) => t.controlPlane && (n.version || n.staticPods),
    isDone: ({ host, target }) => succeeds(host, "test", "-d", `${BACKUP(target.version)}/manifests-${target.hash}`),
    act: async ({ host, target }) => {
      await run(host, "mkdir", "-p", BACKUP(target.version));
      await run(host, "cp", "-a", "/etc/kubernetes/manifests", `${BACKUP(target.version)}/manifests-${target.hash}`);
    },
  },
  {
    id: "static-pods",
    name: "update static pods",
    pace: "long",
    needed: (n, t) => t.controlPlane && (n.version || n.staticPods),
    isDone: async ({ journal, target, cluster, node, host }) =>
      journal.staticPodInputs === target.staticPodInputs &&
      (await output(host, "grep", "-h", "image:", "/etc/kubernetes/manifests/kube-apiserver.yaml")).endsWith(
        `:${target.version.replace("+", "_")}`,
      ) &&
      (await cluster.controlPlaneReady(node)),
    act: async (context) => {
      const { host, target } = context;
      const patches = target.patchesDirectory ? ["--patches", target.patchesDirectory] : [];
      await run(
        host,
        "kubeadm",
        "upgrade",
        "node",
        "phase",
        "control-plane",
        "--etcd-upgrade=true",
        "--certificate-renewal=true",
        ...patches,
      );
      context.journal = { ...context.journal, staticPodInputs: target.staticPodInputs };
    },
  },
  {
    id: "stop-kubelet",
    name: "stop the kubelet",
    pace: "short",
    needed: (n) => n.version || n.kubelet,
    isDone: async ({ host, target, journal }) =>
      journal.steps.some((s) => s.id === "start-kubelet" && s.state !== "todo") ||
      !(await succeeds(host, "systemctl", "is-active", "kubelet")) ||
      (await kubeletIsCurrent(host, target)),
    act: async ({ host }) => void (await run(host, "systemctl", "stop", "kubelet")),
  },
  {
    id: "switch-kubelet",
    name: "switch kubelet and kubectl",
    pace: "short",
    needed: (n) => n.version,
    isDone: async ({ host, target }) => (await kubeletVersion(host)) === target.version,
    act: async ({ host, target }) => {
      await install(host, target.version, "kubectl");
      await install(host, target.version, "kubelet");
    },
  },
  {
    id: "kubelet-config",
    name: "update the kubelet configuration",
    pace: "short",
    needed: (n) => n.version,
    isDone: async ({ journal }) => journal.steps.some((s) => s.id === "kubelet-config" && s.state === "done"),
    act: async ({ host, target }) => {
      const patches = target.patchesDirectory ? ["--patches", target.patchesDirectory] : [];
      await run(host, "kubeadm", "upgrade", "node", "phase", "kubelet-config", ...patches);
    },
  },
  {
    id: "kubelet-flags",
    name: "write kubelet flags",
    pace: "short",
    needed: (n) => n.kubelet,
    isDone: async ({ host, target }) => (await host.read(KUBELET_FLAGS)) === target.kubeletFlags,
    act: ({ host, target }) => host.write(KUBELET_FLAGS, target.kubeletFlags, { owner: "root:root", permissions: "0644" }),
  },
  {
    id: "start-kubelet",
    name: "start the kubelet",
    pace: "short",
    needed: (n) => n.version || n.kubelet,
    settles: false,
    isDone: async ({ host, cluster, target }) => {
      if (!(await succeeds(host, "systemctl", "is-active", "kubelet"))) return false;
      const node = await cluster.nodeByProviderId(target.providerId);
      return node?.ready === true && node.kubeletVersion === target.version;
    },
    act: async ({ host }) => {
      // Started already: what is missing is a Ready Node, and another restart would only put that off.
      if (await succeeds(host, "systemctl", "is-active", "kubelet")) return;
      await run(host, "systemctl", "daemon-reload");
      await run(host, "systemctl", "restart", "kubelet");
    },
  },
  {
    id: "commands",
    name: "run commands",
    pace: "long",
    needed: (n) => n.commands,
    isDone: async ({ host, target }) => (await host.read(STAMP)) === hashOf(target.commands.join("\n")),
    act: async ({ host, target }) => {
      for (const command of target.commands) await run(host, "sh", "-c", command);
      await host.write(STAMP, hashOf(target.commands.join("\n")), { owner: "root:root", permissions: "0600" });
    },
  },
  {
    id: "uncordon",
    name: "uncordon the node",
    pace: "short",
    needed: wantsDrain,
    isDone: async ({ cluster, target }) => (await cluster.nodeByProviderId(target.providerId))?.unschedulable === false,
    act: ({ cluster, node }) => cluster.cordon(node, false),
  },
];

const kubeletIsCurrent = async (host: NodeExec, target: Target): Promise<boolean> =>
  (await kubeletVersion(host)) === target.version && (await host.read(KUBELET_FLAGS)) === target.kubeletFlags;

/** What of the target is not true yet, by looking at the host and its Node. Reads only.
 *  @param nodeVersion what the Node reports; a kubelet that was switched but not started again still reports the old one */
export async function observeNeeds(host: NodeExec, target: Target, journal: Journal | undefined, nodeVersion: string): Promise<Needs> {
  const [kubeadm, kubelet] = [await kubeadmVersion(host), await kubeletVersion(host)];
  let files = false;
  for (const file of writable(target.files)) files ||= !(await fileIsThere(host, await wantedFile(host, journal, file)));
  // A host nobody updated yet has the flags and static Pods that its first boot made from the same kind of inputs.
  const flags = await host.read(KUBELET_FLAGS);
  const noArguments = target.kubeletFlags === 'KUBELET_KUBEADM_ARGS=""\n';
  const [from, to] = [parseVersion(kubelet), parseVersion(target.version)];
  return {
    version: kubeadm !== target.version || kubelet !== target.version,
    minor: from?.minor !== to?.minor,
    files,
    staticPods:
      target.controlPlane &&
      journal?.staticPodInputs !== target.staticPodInputs &&
      !(journal === undefined && target.staticPodInputs === "{}"),
    kubelet:
      (flags !== target.kubeletFlags && !(flags === undefined && noArguments)) ||
      nodeVersion !== target.version ||
      !(await succeeds(host, "systemctl", "is-active", "kubelet")),
    commands: target.commands.length > 0 && (await host.read(STAMP)) !== hashOf(target.commands.join("\n")),
  };
}

export const planSteps = (needs: Needs, target: Target): readonly Step[] => STEPS.filter((s) => s.needed(needs, target));
