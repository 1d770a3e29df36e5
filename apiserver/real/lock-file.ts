// One process per data directory. Here: a file that names its owner, and telling an owner that is gone.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

interface Owner {
  readonly pid: number;
  /** When the process began, as the system counts it: another process may have got the number since. */
  readonly since: string;
}

const TRIES_MAX = 3;

/** Start time of a process in the system's ticks; empty where that cannot be told. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold blanks; the start time is the 20th field after it.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function isAlive({ pid, since }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const started = startOf(pid);
  return since === "" || started === "" || started === since;
}

function ownerIn(path: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(path, "utf8")) as Owner;
    return typeof owner.pid === "number" ? owner : undefined;
  } catch {
    return undefined; // cut short when its owner ended
  }
}

/** @returns a function that gives the lock back. Throws Error when another process holds it. */
export function takeLock(path: string): () => void {
  for (let attempt = 1; ; attempt++) {
    try {
      const file = openSync(path, "wx", 0o600);
      writeSync(file, JSON.stringify({ pid: process.pid, since: startOf(process.pid) }));
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = ownerIn(path);
    if (owner && isAlive(owner)) {
      throw new Error(`${path} is held by process ${owner.pid}: stop that server, or use another directory`);
    }
    if (attempt >= TRIES_MAX) throw new Error(`${path} cannot be taken: another server starts at the same time`);
    rmSync(path, { force: true });
  }
}
