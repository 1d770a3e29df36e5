// `npm run check`: types, format and lint, layers, dead exports, unit tests; under a minute. Stops at nothing, so that one run shows all faults.
import { spawnSync } from "node:child_process";

const steps: readonly (readonly [string, ...string[]])[] = [
  ["tsc", "-p", "."],
  ["biome", "check", "--error-on-warnings", "."],
  [
    "depcruise",
    "--config",
    ".dependency-cruiser.cjs",
    "api",
    "schema",
    "controllers",
    "webhooks",
    "runtime",
    "apiserver",
    "hooks",
    "extensions",
    "simulator",
    "cmd",
    "hack",
  ],
  ["knip", "--no-progress"],
  ["jest", "--selectProjects", "unit", "--silent"],
];

let failed = 0;
for (const [command, ...args] of steps) {
  const startMs = performance.now();
  const done = spawnSync(command, args, {
    stdio: "inherit",
    env: { ...process.env, NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning" },
  });
  const ok = done.status === 0;
  if (!ok) failed++;
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${command} (${((performance.now() - startMs) / 1000).toFixed(1)} s)\n`);
}
process.exitCode = failed === 0 ? 0 : 1;
