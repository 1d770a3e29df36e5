// Running a suite as a child process and counting its tests. Here: spawn, limits, the closing line. Not here: which suites there are (test.ts).
import { spawn } from "node:child_process";

export interface Suite {
  readonly name: string;
  readonly command: readonly string[];
  /** A suite that runs longer is ended and counts as failed, milliseconds. */
  readonly limitMs: number;
  /** Set, with the reason, when something the suite needs is missing on this machine. */
  readonly skip?: string;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

const CLOSING_LINE = /^(?:\w+: )?(\d+) passed, (\d+) failed(?:, \d+ skipped)?$/;
const JEST_LINE = /^Tests:\s+(.*)$/;

/** Reads the count from the last line of a suite's output that has one; undefined when none has. */
export function countOf(output: string): Count | undefined {
  for (const line of output.split("\n").reverse()) {
    const closing = CLOSING_LINE.exec(line.trim());
    if (closing) return { passed: Number(closing[1]), failed: Number(closing[2]) };
    const jest = JEST_LINE.exec(line.trim());
    if (jest) {
      const number = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(jest[1] ?? "")?.[1] ?? 0);
      return { passed: number("passed"), failed: number("failed") };
    }
  }
  return undefined;
}

/** A suite that exits with an error, counts nothing or runs into its limit has at least one failure. */
export async function runSuite(suite: Suite): Promise<Count> {
  process.stdout.write(`\n== ${suite.name}\n`);
  if (suite.skip) {
    process.stdout.write(`skipped: ${suite.skip}\n`);
    return { passed: 0, failed: 0 };
  }
  const [command, ...args] = suite.command as [string, ...string[]];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      process.stdout.write(chunk);
    });
  }
  // The suite and all it started are one process group.
  const endAll = (): void => {
    try {
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Nothing of it is left.
    }
  };
  const interrupted = (): void => {
    endAll();
    process.exit(130);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupted);
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    endAll();
  }, suite.limitMs);
  const code = await new Promise<number>((done) => {
    child.on("error", (error) => {
      output += `${error.message}\n`;
      done(1);
    });
    child.on("exit", endAll);
    child.on("close", (exit) => done(exit ?? 1));
  });
  clearTimeout(limit);
  for (const signal of signals) process.off(signal, interrupted);
  const count = countOf(output) ?? { passed: 0, failed: 0 };
  if (late) process.stdout.write(`${suite.name}: ended after its limit of ${suite.limitMs / 1000} s\n`);
  const nothingRan = count.passed + count.failed === 0;
  return (code !== 0 || nothingRan) && count.failed === 0 ? { ...count, failed: 1 } : count;
}
