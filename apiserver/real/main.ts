// Runs the API server alone, as `node apiserver/real/main.ts --secure-port=0`. The command line of the product is in cmd/.
import { serveApiServer } from "./serve.ts";

const fail = (error: unknown): never => {
  const { code, hint, message } = error as { code?: string; hint?: string; message: string };
  process.stderr.write(`${message}${hint === undefined ? "" : `; ${hint}`}\n`);
  process.exit(code === "FlagError" ? 64 : 1);
};

try {
  const running = await serveApiServer(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
  const stop = (): void => {
    running.stop().then(() => process.exit(0), fail);
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
} catch (error) {
  fail(error);
}
