// `theseus apiserver`: the server alone. Here: help, waiting for the end. Not here: flags and server (apiserver/real).
import { APISERVER_FLAGS, serveApiServer } from "../apiserver/real/serve.ts";
import type { Io } from "./io.ts";
import { flagHelp } from "./flags.ts";
import { untilStopped } from "./stopping.ts";

export const help = `usage: theseus apiserver FLAGS

The embedded Kubernetes API server. Prints \`ready URL\` when it answers.

${flagHelp(APISERVER_FLAGS)}`;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const server = await serveApiServer(args, io.out);
  await untilStopped(io.stop);
  await server.stop();
  return 0;
}
