// How soon the server is ready with all CRDs, and what it then holds: `node test/bench/ready.ts`. Node alone stands beside it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { printMachine, row } from "./measure.ts";
import { startBuilt } from "./server.ts";

const STARTS = 7;
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Resident memory of a process, MiB; where /proc is missing, NaN. */
function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

await printMachine();
const empty: number[] = [];
const ready: number[] = [];
const resident: number[] = [];
let what = "";
for (let i = 0; i < STARTS; i++) {
  const startedAt = performance.now();
  spawnSync(process.execPath, ["-e", ""]);
  empty.push(performance.now() - startedAt);
  const running = await startBuilt();
  what = running.what;
  ready.push(running.readyMs);
  resident.push(residentMiB(running.pid));
  await running.stop();
}
process.stdout.write(`server: ${what}\n`);
row(
  "ready with all CRDs",
  median(ready),
  "ms",
  `best ${Math.round(Math.min(...ready))}, worst ${Math.round(Math.max(...ready))}; goal 500`,
);
row("  against an empty Node process", median(ready) / median(empty), "x", `${Math.round(median(empty))} ms`);
row("resident when ready", median(resident), "MiB", "goal 150");
