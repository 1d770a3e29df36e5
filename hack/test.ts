// `npm test`: every suite, then one line over all of them. Here: which suites there are. Not here: how one runs (suites.ts).
// With names as arguments only those suites run, e.g. `npm test -- unit`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Count, runSuite, type Suite } from "./suites.ts";

const MINUTE_MS = 60_000;
const has = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const missing = (command: string, ...args: string[]): string | undefined =>
  has(command, ...args) ? undefined : `${command} is not on this machine`;

const jest = (project: string, ...args: string[]): readonly string[] => [
  process.execPath,
  "--experimental-vm-modules",
  "--disable-warning=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
  // A guard against tests that hang, not a measure of speed: the machine may be busy.
  "--testTimeout=120000",
  "--selectProjects",
  project,
  ...args,
];
const script = (file: string): readonly string[] => [process.execPath, "--disable-warning=ExperimentalWarning", file];
const missingFile = (file: string): string | undefined => (existsSync(file) ? undefined : `${file} is not in this version`);

const KINDS = "test/kinds/suite.ts";
const noKubectl = missing("kubectl", "version", "--client");
const suites: readonly Suite[] = [
  { name: "unit", command: jest("unit", "--maxWorkers=2"), limitMs: 15 * MINUTE_MS },
  { name: "system", command: jest("system", "--maxWorkers=2"), limitMs: 15 * MINUTE_MS },
  {
    name: "conformance",
    command: script("test/conformance/api.ts"),
    limitMs: 5 * MINUTE_MS,
    skip: noKubectl ?? missing("openssl", "version"),
  },
  { name: "kinds", command: script(KINDS), limitMs: 10 * MINUTE_MS, skip: missingFile(KINDS) ?? noKubectl },
  { name: "seeds", command: script("test/seeds/suite.ts"), limitMs: 10 * MINUTE_MS },
  { name: "e2e", command: jest("e2e", "--runInBand"), limitMs: 30 * MINUTE_MS, skip: noKubectl },
];
/** Only when named: compiles for minutes, and needs Go's modules from the network. */
const extra: readonly Suite[] = [
  { name: "clients", command: script("test/clients/go/suite.ts"), limitMs: 25 * MINUTE_MS, skip: missing("go", "version") },
];

const wanted = process.argv.slice(2);
const all = [...suites, ...extra];
const unknown = wanted.filter((name) => !all.some((s) => s.name === name));
if (unknown.length > 0) {
  process.stderr.write(`no suite ${unknown.join(", ")}; there are ${all.map((s) => s.name).join(", ")}\n`);
  process.exit(64);
}

const total: { passed: number; failed: number } = { passed: 0, failed: 0 };
const rows: string[] = [];
for (const suite of wanted.length > 0 ? all.filter((s) => wanted.includes(s.name)) : suites) {
  const { passed, failed }: Count = await runSuite(suite);
  total.passed += passed;
  total.failed += failed;
  rows.push(`${suite.name}: ${passed} passed, ${failed} failed${suite.skip ? ` (skipped: ${suite.skip})` : ""}`);
}
// The rows end in a bracket or name a suite first, so that only the last line reads as the sum.
process.stdout.write(`\n${rows.map((row) => `  - ${row}`).join("\n")}\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
