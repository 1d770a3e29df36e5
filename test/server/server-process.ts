// The API server as a process of its own, for tests of its strength. Here: starting, ending, requests. Not here: what is expected.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "../../apiserver/real/main.ts");
const TOKEN = "strength";
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const REQUEST_LIMIT_MS = 30_000;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  readonly ca: string;
  /** Rejects when the connection breaks or no answer comes within 30 s. */
  send(method: string, path: string, body?: object | string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends the signal and waits for the end. @returns exit code, or the name of the signal that ended it */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface StartOptions {
  readonly args?: readonly string[];
  /** Kept over starts; without it nothing is kept. */
  readonly dataDir?: string;
  /** Size that no file may exceed, in units of 1 KiB, set by the shell's ulimit. */
  readonly fileKiBMax?: number;
  /** The server's TMPDIR. */
  readonly temporary?: string;
}

/** The end of a child: exit code, or name of the signal. */
export const endOf = (child: ChildProcess): Promise<number | string> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode ?? child.signalCode ?? 1)
    : new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal ?? 1)));

/** Folders made here go at the end of each test. */
export function folders(): { make(): string; removeAll(): void } {
  const made: string[] = [];
  return {
    make() {
      const folder = mkdtempSync(join(tmpdir(), "theseus-strength-"));
      made.push(folder);
      return folder;
    },
    removeAll() {
      for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The process alone, as it starts; `folder` holds its token file and kubeconfig. */
export function spawnServer(folder: string, { args = [], dataDir, fileKiBMax, temporary }: StartOptions = {}): ChildProcess {
  const tokens = join(folder, "tokens.csv");
  writeFileSync(tokens, `${TOKEN},strength,1,system:masters\n`);
  const command = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    MAIN,
    "--secure-port=0",
    `--token-auth-file=${tokens}`,
    `--kubeconfig-out=${join(folder, "kubeconfig")}`,
    ...(dataDir === undefined ? [] : [`--data-dir=${dataDir}`]),
    ...args,
  ];
  const cache = process.env.NODE_COMPILE_CACHE ?? join(import.meta.dirname, "../../node_modules/.cache/theseus");
  const env = { ...process.env, NODE_OPTIONS: "", NODE_COMPILE_CACHE: cache, ...(temporary === undefined ? {} : { TMPDIR: temporary }) };
  if (fileKiBMax === undefined) return spawn(command[0] as string, command.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] });
  // bash counts in KiB; the signal of the limit is ignored so that writes fail, as on a full disk.
  const script = `trap '' XFSZ; ulimit -f ${fileKiBMax}; exec "$@"`;
  return spawn("bash", ["-c", script, "bash", ...command], { env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Resolves with the URL; rejects with what the server wrote when it ends before, or after a minute. */
export function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const limit = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the server was not ready within ${START_LIMIT_MS / 1000} s: ${output}`));
    }, START_LIMIT_MS);
    const hear = (chunk: Buffer): void => {
      output += chunk;
      const url = /^ready (\S+)$/m.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(limit);
      resolve(url);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => {
      clearTimeout(limit);
      reject(new Error(output.trim()));
    });
  });
}

export async function startServer(folder: string, options: StartOptions = {}): Promise<ServerProcess> {
  const child = spawnServer(folder, options);
  const url = await untilReady(child);
  const authority = /certificate-authority-data: (\S+)/.exec(readFileSync(join(folder, "kubeconfig"), "utf8"))?.[1] ?? "";
  const ca = Buffer.from(authority, "base64").toString();
  const agent = new https.Agent({ keepAlive: true, ca, maxSockets: 64 });
  return {
    url,
    ca,
    pid: child.pid ?? 0,
    send: (method, path, body, headers = {}) => send(agent, `${url}${path}`, method, body, headers),
    async end(signal) {
      agent.destroy();
      child.kill(signal);
      const limit = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      const end = await endOf(child);
      clearTimeout(limit);
      return end;
    },
  };
}

function send(
  agent: https.Agent,
  url: string,
  method: string,
  body: object | string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, ...headers };
    const request = https.request(url, { method, agent, headers: all, timeout: REQUEST_LIMIT_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
      response.on("aborted", () => reject(new Error("the answer broke off")));
    });
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    request.on("error", reject);
    request.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
}

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

export const configMap = (name: string, data: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

/** Data of each ConfigMap of `default` by name. */
export async function contents(server: ServerProcess): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const { status, text } = await server.send("GET", CONFIG_MAPS);
  if (status !== 200) throw new Error(`list answers ${status}: ${text}`);
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data?: Record<string, string> }[] };
  return new Map(items.filter((item) => item.metadata.name !== "kube-root-ca.crt").map((item) => [item.metadata.name, item.data ?? {}]));
}

/** Whether a process with that number is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Every file below a folder. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
