// The commands by name. Here: the table; each is loaded when it is asked for, so that one command does not pay for another.
import { FlagError, closest } from "./flags.ts";
import type { CommandModule } from "./io.ts";

interface Command {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, Command>> = {
  dev: { summary: "API server, controllers, simulated machines and the kubeadm updater in one process", load: () => import("./dev.ts") },
  apiserver: { summary: "the embedded Kubernetes API server alone", load: () => import("./apiserver.ts") },
  manager: { summary: "the controllers, against any Kubernetes API server", load: () => import("./manager.ts") },
  updater: { summary: "the kubeadm updater as an HTTPS extension", load: () => import("./updater.ts") },
  install: { summary: "print or apply CRDs, RBAC and webhook configurations", load: () => import("./install.ts") },
  simulate: { summary: "rollouts and scenarios on virtual time", load: () => import("./simulate.ts") },
  version: { summary: "print the version", load: () => import("./version.ts") },
};

export const usage = (): string => {
  const width = Math.max(...Object.keys(commands).map((c) => c.length));
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "theseus changes machines in place in Cluster API.",
    "",
    "usage: theseus COMMAND ARGS",
    "",
    ...rows,
    `  ${"help".padEnd(width)}  help COMMAND tells its flags`,
  ].join("\n");
};

/** @throws FlagError for a name that is none */
export function findCommand(name: string): Command {
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found) return found;
  const guess = closest(name, [...Object.keys(commands), "help"]);
  throw new FlagError(`unknown command ${JSON.stringify(name)}`, guess ? `did you mean ${guess}?` : "`theseus help` lists the commands");
}
