// Machines reached by a command: a template such as `ssh root@{address} --` goes in front of each command.
// Here: the seam NodeExec over child processes. Not here: what is run (../steps.ts). Source: spec/runtime/kubeadm-updater.md section 2.
import { spawn } from "node:child_process";
import { type CommandResult, HostUnreachable, type NodeExec } from "../host.ts";

/** Pulling images is the longest step. */
const COMMAND_TIMEOUT_MS = 15 * 60_000;
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
/** What ssh exits with when it could not connect. */
const SSH_UNREACHABLE = 255;

export interface CommandExecOptions {
  /** Words that come first; `{address}` in them is replaced. */
  readonly template: readonly string[];
  readonly address: string;
  /** Run on the machine to put kubeadm, kubelet and kubectl of `{version}` into `/opt/inplace/{version}/bin`. */
  readonly stageCommand: readonly string[];
}

/** One argument for a POSIX shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export function commandExec({ template, address, stageCommand }: CommandExecOptions): NodeExec {
  const prefix = template.map((word) => word.replaceAll("{address}", address));
  const run = async (command: readonly string[], stdin?: string): Promise<CommandResult> => {
    const result = await spawned([...prefix, command.map(quoted).join(" ")], stdin);
    if (result.code === SSH_UNREACHABLE)
      throw new HostUnreachable(`${address}: ${result.stderr.trim().split("\n").at(-1) ?? "no connection"}`);
    return result;
  };
  const must = async (command: readonly string[], stdin?: string): Promise<string> => {
    const result = await run(command, stdin);
    if (result.code !== 0) throw new Error(`${command[0]} on ${address} ended with ${result.code}`);
    return result.stdout;
  };
  return {
    run,
    async read(path) {
      const result = await run(["cat", path]);
      return result.code === 0 ? result.stdout : undefined;
    },
    async attributes(path) {
      const result = await run(["stat", "-c", "%U:%G 0%a", path]);
      const [owner = "", permissions = ""] = result.stdout.trim().split(" ");
      return result.code === 0 ? { owner, permissions } : undefined;
    },
    async write(path, content, { owner, permissions }) {
      const script =
        'set -e; mkdir -p "$(dirname "$1")"; cat > "$1.inplace-tmp"; chown "$2" "$1.inplace-tmp"; chmod "$3" "$1.inplace-tmp"; sync "$1.inplace-tmp"; mv -T "$1.inplace-tmp" "$1"';
      await must(["sh", "-c", script, "write", path, owner, permissions], content);
    },
    async stageBinaries(version) {
      await must(stageCommand.map((word) => word.replaceAll("{version}", version)));
    },
    bootId: async () => (await must(["cat", "/proc/sys/kernel/random/boot_id"])).trim(),
    close() {},
  };
}

function spawned([file = "", ...args]: readonly string[], stdin: string | undefined): Promise<CommandResult> {
  return new Promise((done, failed) => {
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
    const limit = setTimeout(() => child.kill("SIGKILL"), COMMAND_TIMEOUT_MS);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      if (stdout.length < OUTPUT_BYTES_MAX) stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < OUTPUT_BYTES_MAX) stderr += chunk;
    });
    child.on("error", (error) => {
      clearTimeout(limit);
      failed(new HostUnreachable(`${file} cannot be started: ${error.message}`));
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      done({ code: code ?? 1, stdout, stderr });
    });
    // A command that does not read its input closes it early.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin ?? "");
  });
}
