// `theseus version`: version of the package and of the runtime. Here: reading package.json, wherever the command was installed.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Io } from "./io.ts";

export const help = "usage: theseus version\n\nPrints the version of theseus and of Node.js.";

/** Looks upwards: the sources lie one folder below package.json, the built files two. */
export function packageVersion(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, "package.json")) && path.dirname(folder) !== folder) folder = path.dirname(folder);
  return (JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { version: string }).version;
}

export async function run(_args: readonly string[], io: Io): Promise<number> {
  io.out(`theseus ${packageVersion()} (Node.js ${process.version})`);
  return 0;
}
