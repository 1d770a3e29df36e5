#!/usr/bin/env node
// The command line: which command, exit codes, signals. Here: nothing that a command does.
import { findCommand, usage } from "./commands.ts";
import type { Io } from "./io.ts";

const EXIT_USAGE = 64;

const line = (stream: NodeJS.WriteStream) => (text: string) => void stream.write(`${text}\n`);

function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A second signal means that the orderly end takes too long for somebody.
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  }
  return stop.signal;
}

async function run(args: readonly string[], io: Io): Promise<number> {
  const [name = "help", ...rest] = args;
  if (name === "help" || name === "--help" || name === "-h") {
    io.out(rest[0] === undefined ? usage() : (await findCommand(rest[0]).load()).help);
    return 0;
  }
  if (name === "--version") return run(["version"], io);
  const command = await findCommand(name).load();
  if (rest.includes("--help") || rest.includes("-h")) {
    io.out(command.help);
    return 0;
  }
  return command.run(rest, io);
}

const args = process.argv.slice(2);
const io: Io = { out: line(process.stdout), error: line(process.stderr), stop: stopOnSignals() };
// A reader that goes away (`theseus help | head -1`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});
try {
  process.exitCode = await run(args, io);
} catch (error) {
  const { code, name, hint, message, stack } = error as { code?: string; name?: string; hint?: string; message?: string; stack?: string };
  const wantsStack = args.some((arg, i) => /^--v=(?:[4-9]|\d\d)/.test(arg) || (arg === "--v" && Number(args[i + 1]) >= 4));
  io.error(`theseus: ${message ?? String(error)}${hint ? `; ${hint}` : ""}`);
  if (wantsStack && stack) io.error(stack);
  process.exitCode = code === "FlagError" || name === "FeatureGateError" ? EXIT_USAGE : 1;
}
// Everything a command opened is closed by now; a handle that is left would keep the terminal waiting. What was printed must be out first.
for (const stream of [process.stdout, process.stderr]) await new Promise((written) => stream.write("", written));
process.exit();
