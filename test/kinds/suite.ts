// The suite `kinds`: requests recorded with upstream's verdicts, with the webhooks in process and over HTTPS.
// `node test/kinds/suite.ts [FILTER]`. Here: servers, runner, one closing line. Not here: cases and runner (test/conformance/kinds).
import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { countOf } from "../../hack/suites.ts";
import { type Server, withDev, withManager } from "./servers.ts";

const DATA = path.join(path.dirname(fileURLToPath(import.meta.url)), "../conformance/kinds");

interface Done {
  readonly passed: number;
  readonly failed: number;
}

/** A runner that counts nothing has failed once. */
async function replay(server: Server, filter: string | undefined): Promise<Done> {
  const flags = ["--server", server.url, "--token", server.token, "--insecure", "--settle", String(server.settleMs)];
  const chosen = filter ? ["--filter", filter] : [];
  const child = spawn(process.execPath, [path.join(DATA, "run.mjs"), ...flags, ...chosen, path.join(DATA, "cases")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
    // The count of a part must not read as that of the whole.
    process.stdout.write(String(chunk).replace(/^(\d+ passed, \d+ failed)$/gm, "  $1."));
  });
  const code = await new Promise<number>((done, failed) => {
    child.on("error", failed);
    child.on("close", (exit) => done(exit ?? 1));
  });
  const count = countOf(output) ?? { passed: 0, failed: 1 };
  return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

const [filter] = process.argv.slice(2);
let total: Done = { passed: 0, failed: 0 };
for (const [title, withServer] of [
  ["theseus dev, webhooks in process", withDev],
  ["theseus apiserver and theseus manager, webhooks over HTTPS", withManager],
] as const) {
  process.stdout.write(`-- ${title}\n`);
  const done = await withServer((server) => replay(server, filter));
  total = { passed: total.passed + done.passed, failed: total.failed + done.failed };
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
