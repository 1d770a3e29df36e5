// `theseus simulate`: scenarios and rollouts on virtual time. Here: which of the two. Not here: their flags (simulate-*.ts).
// Source: design/architecture.md section 5.
import type { Io } from "./io.ts";
import { rolloutHelp, simulateRollout } from "./simulate-rollout.ts";
import { scenarioHelp, simulateScenario } from "./simulate-scenario.ts";

export const help = `${scenarioHelp}

${rolloutHelp}`;

export const run = (args: readonly string[], io: Io): Promise<number> => {
  const at = args.indexOf("rollout");
  return at < 0 ? simulateScenario(args, io) : simulateRollout(args.toSpliced(at, 1), io);
};
