// `theseus` as a process and kubectl as a user has it. Here: starting, waiting, ending. Not here: what is tested.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const samples = (name: string): string => path.join(ROOT, "manifests/samples", name);

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** What it printed so far. */
  out(): string;
  error(): string;
  readonly ended: Promise<Ended>;
}

const nodeArguments = (args: readonly string[]): readonly string[] => [
  "--disable-warning=ExperimentalWarning",
  path.join(ROOT, "cmd/main.ts"),
  ...args,
];

export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, nodeArguments(args), {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, error] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    error += chunk;
  });
  const ended = new Promise<Ended>((done) => child.on("close", (code) => done({ code, out, error })));
  return { process: child, out: () => out, error: () => error, ended };
}

export const run = (args: readonly string[]): Promise<Ended> => start(args).ended;

/** @throws Error with what was printed, when the process ends or the limit passes first */
export async function untilReady(running: Running, limitMs = 60_000): Promise<string> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    const url = /^ready (\S+)$/m.exec(running.out())?.[1];
    if (url) return url;
    if (running.process.exitCode !== null || Date.now() > endMs) throw new Error(`not ready: ${running.out()}\n${running.error()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

export async function end(running: Running, signal: NodeJS.Signals = "SIGINT"): Promise<Ended> {
  if (running.process.exitCode === null) running.process.kill(signal);
  return running.ended;
}

/** kubectl with one kubeconfig. @throws Error with its message when it fails */
export function kubectlWith(kubeconfig: string): (...args: string[]) => string {
  return (...args) => {
    const done = spawnSync("kubectl", ["--kubeconfig", kubeconfig, ...args], {
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      timeout: 120_000,
    });
    if (done.status !== 0) throw new Error(`kubectl ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  };
}

export async function eventually(what: string, holds: () => boolean, limitMs = 90_000): Promise<void> {
  const endMs = Date.now() + limitMs;
  let last = "";
  for (;;) {
    try {
      if (holds()) return;
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > endMs) throw new Error(`not reached within ${limitMs / 1000} s: ${what} ${last}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** A folder that is gone after `use`. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "theseus-test-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
