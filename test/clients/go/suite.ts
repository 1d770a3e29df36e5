// Runs the Go module as a suite: `node test/clients/go/suite.ts`. Here: go test within limits, its tests counted.
// The last line is `N passed, N failed`. Without Go it is skipped, with the reason.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";

/** Compiling controller-runtime for the first time takes minutes on a small machine; the tests themselves take seconds. */
const LIMIT_MS = 20 * 60_000;
const GO_MINOR_MIN = 26;

interface TestEvent {
  readonly Action: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
}

function whySkipped(): string | undefined {
  const found = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8" });
  if (found.status !== 0) return "go is not on this machine";
  const minor = Number(/^go1\.(\d+)/.exec(found.stdout.trim())?.[1] ?? 0);
  return minor < GO_MINOR_MIN ? `${found.stdout.trim()} is older than 1.${GO_MINOR_MIN}` : undefined;
}

function parse(line: string): TestEvent | undefined {
  try {
    return JSON.parse(line) as TestEvent;
  } catch {
    return undefined; // what the compiler says is no JSON
  }
}

async function run(): Promise<number> {
  // Neither modules beyond go.sum nor a newer toolchain is fetched unasked.
  const env = { ...process.env, GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local" };
  const args = ["test", "-json", "-count=1", "-timeout=10m", "./api", "./envtest"];
  const go = spawn("go", args, { cwd: import.meta.dirname, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const kill = (): void => {
    if (go.pid !== undefined) process.kill(-go.pid, "SIGKILL");
  };
  const limit = setTimeout(() => {
    process.stdout.write(`ended after its limit of ${LIMIT_MS / 1000} s\n`);
    kill();
  }, LIMIT_MS);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, kill);

  let [passed, failed] = [0, 0];
  const outputs = new Map<string, string[]>();
  for await (const line of createInterface({ input: go.stdout })) {
    const event = parse(line);
    if (event === undefined) {
      process.stdout.write(`${line}\n`);
      continue;
    }
    const id = `${event.Package ?? ""} ${event.Test ?? ""}`;
    if (event.Action === "build-output") process.stdout.write(event.Output ?? "");
    if (event.Action === "output") outputs.set(id, [...(outputs.get(id) ?? []), event.Output ?? ""]);
    if (event.Action === "pass" && event.Test !== undefined) passed += 1;
    if (event.Action !== "fail") continue;
    if (event.Test !== undefined) failed += 1;
    process.stdout.write(`FAIL ${id}\n${(outputs.get(id) ?? []).join("")}`);
  }
  const code = await new Promise<number>((done) => {
    if (go.exitCode !== null || go.signalCode !== null) done(go.exitCode ?? 1);
    else go.on("close", (exit) => done(exit ?? 1));
  });
  clearTimeout(limit);
  // A package that does not build, or a server that does not start, fails without a test.
  if (code !== 0 && failed === 0) failed = 1;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

const skipped = whySkipped();
if (skipped !== undefined) process.stdout.write(`skipped: ${skipped}\n0 passed, 0 failed\n`);
else process.exitCode = await run();
