// A server process for benchmarks: the built package, or the sources with a remark. Here: starting and ending it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const built = join(root, "dist/cmd/main.js");
const TOKEN = "bench";
const START_LIMIT_MS = 60_000;

export interface Running {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly pid: number;
  /** From spawn to its line `ready URL`, milliseconds. */
  readonly readyMs: number;
  /** Which code runs. */
  readonly what: string;
  stop(): Promise<void>;
}

/** With all CRDs of the repository. */
export async function startBuilt(): Promise<Running> {
  const hasBuilt = existsSync(built);
  const folder = mkdtempSync(join(tmpdir(), "theseus-bench-"));
  const tokens = join(folder, "tokens.csv");
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(tokens, `${TOKEN},bench,1,system:masters\n`);
  const flags = [
    "--secure-port=0",
    `--token-auth-file=${tokens}`,
    `--kubeconfig-out=${kubeconfig}`,
    `--crd-dir=${join(root, "manifests/crd")}`,
  ];
  const main = hasBuilt ? built : join(root, "cmd/main.ts");
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "apiserver", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    const limit = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk;
      const found = /^ready (\S+)$/m.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(limit);
      resolve(found);
    });
    child.once("exit", () => reject(new Error(`the server ended before it was ready: ${output}`)));
  });
  const readyMs = performance.now() - startedAt;
  const authority = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  return {
    url,
    ca: Buffer.from(authority, "base64").toString(),
    token: TOKEN,
    pid: child.pid ?? 0,
    readyMs,
    what: hasBuilt ? "the built package" : "the sources (run `npm run build` to measure the package)",
    stop: () =>
      new Promise((done) => {
        child.once("exit", () => {
          rmSync(folder, { recursive: true, force: true });
          done();
        });
        child.kill("SIGTERM");
      }),
  };
}
