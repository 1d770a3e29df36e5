// Runs the API server alone, as `node apiserver/real/main.ts --secure-port=0`. The command line of the product is in cmd/.
import { serveApiServer } from "./serve.ts";

const fail = (error: unknown): never => {
  const { code, hint, message } = error as { code?: string; hint?: string; message: string };
  process.stderr.write(`${message}${hint === undefined ? "" : `; ${hint}`}\n`);
  process.exit(code === "FlagError" ? 64 : 1);
};

// Heard from the first moment on: a signal in mid-start ends the server in order, too.
const stopped = new Promise<void>((done) => {
  process.once("SIGINT", () => done());
  process.once("SIGTERM", () => done());
});
try {
  const running = await serveApiServer(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
  await stopped;
  await running.stop();
  process.exit(0);
} catch (error) {
  fail(error);
}
