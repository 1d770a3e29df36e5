// The suite `conformance`: exchanges recorded from a kube-apiserver are replayed against `theseus apiserver`, then kubectl is tried on it.
// Here: starting, running both, one closing line. Not here: the cases and their runners (api/, data of their own).
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { countOf } from "../../hack/suites.ts";
import { end, start, untilReady, withFolder } from "../e2e/process.ts";

const DATA = path.join(path.dirname(fileURLToPath(import.meta.url)), "api");
// The two users that the cases speak as.
const TOKENS = `admintoken,admin,admin-uid,"system:masters"\nlowtoken,low-user,low-uid,"low-group"\n`;

interface Done {
  readonly passed: number;
  readonly failed: number;
}

/** Runs one of the runners to its end and passes its output on. One that counts nothing has failed once. */
async function counted(command: string, args: readonly string[]): Promise<Done> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
    // The counts of the parts must not read as that of the whole.
    process.stdout.write(String(chunk).replace(/^(\d+ passed, \d+ failed)$/gm, "  $1."));
  });
  const code = await new Promise<number>((done, failed) => {
    child.on("error", failed);
    child.on("close", (exit) => done(exit ?? 1));
  });
  const count = countOf(output) ?? { passed: 0, failed: 1 };
  return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

const filter = process.argv[2];

const total = await withFolder(async (folder): Promise<Done> => {
  const [tokens, kubeconfig] = [path.join(folder, "tokens.csv"), path.join(folder, "kubeconfig")];
  writeFileSync(tokens, TOKENS, { mode: 0o600 });
  const server = start([
    "apiserver",
    "--secure-port=0",
    `--token-auth-file=${tokens}`,
    `--kubeconfig-out=${kubeconfig}`,
    "--background-controllers=false",
  ]);
  try {
    const url = await untilReady(server);
    const replay = [path.join(DATA, "replay.mjs"), "--server", url, "--insecure", ...(filter ? ["--filter", filter] : [])];
    const replayed = await counted(process.execPath, [...replay, path.join(DATA, "cases")]);
    if (filter) return replayed;
    const kubectl = await counted("bash", [path.join(DATA, "kubectl-check.sh"), kubeconfig]);
    return { passed: replayed.passed + kubectl.passed, failed: replayed.failed + kubectl.failed };
  } finally {
    await end(server);
  }
});
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
