// The command `theseus apiserver`: flags, files, one line `ready URL`, an orderly end. Here: reading the flags and running.
// Not here: the server (start.ts).
import { readFileSync, writeFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Logger } from "../../runtime/base/log.ts";
import { startApiServer, type RunningApiServer, type StartOptions } from "./start.ts";
import { parseTokenFile } from "./token-file.ts";

/** A flag that cannot be used: exit code 64, with a hint. Told by `code`. */
export class FlagError extends Error {
  readonly code = "FlagError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** Flags of `theseus apiserver`, with the text of their help. */
export const APISERVER_FLAGS = {
  "secure-port": { type: "string", default: "6443", help: "port; 0 takes any free one" },
  "bind-address": { type: "string", default: "127.0.0.1", help: "address to listen on" },
  "data-dir": { type: "string", help: "directory that keeps objects, CA and keys over restarts (owner-only)" },
  "token-auth-file": { type: "string", help: 'users by bearer token, a line each: token,user,uid,"group1,group2"' },
  "client-ca-file": { type: "string", help: "PEM of a further CA whose client certificates name users" },
  "tls-cert-file": { type: "string", help: "PEM of the serving certificate (with --tls-private-key-file)" },
  "tls-private-key-file": { type: "string", help: "PEM of its key" },
  "authorization-mode": { type: "string", default: "RBAC", help: "RBAC or AlwaysAllow" },
  "crd-dir": { type: "string", multiple: true, help: "directory of CustomResourceDefinitions to serve from the start (repeatable)" },
  "kubeconfig-out": { type: "string", help: "file to write a kubeconfig of an admin to (owner-only)" },
  "background-controllers": { type: "string", default: "true", help: "false: no garbage collection and no namespace clean-up, as envtest" },
} as const satisfies Record<string, { type: "string"; default?: string; multiple?: boolean; help: string }>;

type Flags = { readonly [K in keyof typeof APISERVER_FLAGS]?: string | readonly string[] };

/** Throws FlagError. */
export function parseApiServerFlags(args: readonly string[]): Flags {
  try {
    const options = APISERVER_FLAGS as ParseArgsConfig["options"];
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values as Flags;
  } catch (error) {
    throw new FlagError(
      (error as Error).message.split(". ")[0] ?? "",
      `known flags: ${Object.keys(APISERVER_FLAGS)
        .map((f) => `--${f}`)
        .join(", ")}`,
    );
  }
}

function readText(flag: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${path} of --${flag}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
}

const one = (flags: Flags, name: keyof Flags): string | undefined => {
  const value = flags[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

function portOf(flags: Flags): number {
  const text = one(flags, "secure-port") ?? "6443";
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new FlagError(`--secure-port is ${JSON.stringify(text)}`, "give a number from 0 (any free port) to 65535");
  return port;
}

function choice<const T extends string>(flags: Flags, name: keyof Flags, choices: readonly T[], fallback: NoInfer<T>): T {
  const text = one(flags, name) ?? fallback;
  if (!choices.includes(text as T)) throw new FlagError(`--${name} is ${JSON.stringify(text)}`, `give one of ${choices.join(", ")}`);
  return text as T;
}

function servingOf(flags: Flags): StartOptions["serving"] {
  const [certificate, key] = [one(flags, "tls-cert-file"), one(flags, "tls-private-key-file")];
  if ((certificate === undefined) !== (key === undefined)) {
    throw new FlagError("--tls-cert-file and --tls-private-key-file go together", "give both or neither");
  }
  if (certificate === undefined || key === undefined) return undefined;
  return { certificate: readText("tls-cert-file", certificate), key: readText("tls-private-key-file", key) };
}

/** Options of startApiServer from flags; reads the files they name. Throws FlagError, Error. */
export function startOptions(flags: Flags, log?: Logger): StartOptions {
  const tokenFile = one(flags, "token-auth-file");
  const clientCa = one(flags, "client-ca-file");
  const crdDirs = flags["crd-dir"];
  return {
    port: portOf(flags),
    bindAddress: one(flags, "bind-address"),
    dataDir: one(flags, "data-dir"),
    ...(tokenFile === undefined ? {} : { tokens: parseTokenFile(readText("token-auth-file", tokenFile)) }),
    ...(clientCa === undefined ? {} : { clientCa: readText("client-ca-file", clientCa) }),
    serving: servingOf(flags),
    authorizationMode: choice(flags, "authorization-mode", ["RBAC", "AlwaysAllow"], "RBAC"),
    crdDirs: Array.isArray(crdDirs) ? crdDirs : [],
    backgroundControllers: choice(flags, "background-controllers", ["true", "false"], "true") === "true",
    log,
  };
}

/** Starts the server, writes the kubeconfig, prints `ready URL`. The caller stops it. */
export async function serveApiServer(args: readonly string[], print: (line: string) => void, log?: Logger): Promise<RunningApiServer> {
  const flags = parseApiServerFlags(args);
  const running = await startApiServer(startOptions(flags, log));
  const out = one(flags, "kubeconfig-out");
  try {
    if (out !== undefined) writeFileSync(out, running.adminKubeconfig, { mode: 0o600 });
  } catch (error) {
    await running.stop();
    throw new Error(`cannot write ${out} of --kubeconfig-out: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
  print(`ready ${running.url}`);
  return running;
}
