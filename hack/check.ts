// `npm run check`: types, format and lint, layers, dead code, generated files, quick unit tests; under a minute. Stops at nothing, so that one
// run shows all faults. Here: which steps there are. Not here: what they check (tsconfig.json, biome.json, .dependency-cruiser.cjs, knip.json).
import { spawn } from "node:child_process";

type Step = readonly [command: string, ...args: readonly string[]];

const FOLDERS = "api schema controllers webhooks runtime apiserver hooks extensions simulator cmd hack test".split(" ");

/** Tests that open ports, try many random inputs or play long stories; `npm test` runs them. */
const SLOW = ["/real/", "/any-", "/properties\\.", "extensions/kubeadm-updater/engine\\.", "apiserver/openapi/", "runtime/client\\."];

const statics: readonly Step[] = [
  ["tsc", "-p", "."],
  ["biome", "check", "--error-on-warnings", "."],
  ["depcruise", "--config", ".dependency-cruiser.cjs", ...FOLDERS],
  // Once with tests as users of exports, once without them: code that only tests use is dead too.
  ["knip", "--no-progress", "--treat-config-hints-as-errors"],
  ["knip", "--no-progress", "--production", "--include", "files,dependencies,unlisted"],
  ["node", "hack/generate.ts", "--verify"],
];
const tests: readonly Step[] = [
  ["jest", "--selectProjects", "unit", "--silent", "--testTimeout=60000", "--testPathIgnorePatterns", "/node_modules/", ...SLOW],
];

const JEST_OPTIONS = "--experimental-vm-modules --disable-warning=ExperimentalWarning";

function run([command, ...args]: Step): Promise<boolean> {
  const startMs = performance.now();
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_OPTIONS: JEST_OPTIONS } });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk));
    const end = (ok: boolean): void => {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      const label = [command, ...args.slice(0, 2)].join(" ");
      process.stdout.write(`${ok ? "" : Buffer.concat(output).toString()}${ok ? "ok    " : "FAILED"} ${label} (${seconds} s)\n`);
      done(ok);
    };
    child.on("error", (error) => {
      output.push(Buffer.from(`${error.message}\n`));
      end(false);
    });
    child.on("close", (code) => end(code === 0));
  });
}

async function lane(steps: readonly Step[]): Promise<number> {
  let failed = 0;
  for (const step of steps) if (!(await run(step))) failed++;
  return failed;
}

const failures = await Promise.all([lane(statics), lane(tests)]);
process.exitCode = failures.some((n) => n > 0) ? 1 : 0;
