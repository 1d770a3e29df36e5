// The two ways to run the webhooks: in the process of `theseus dev`, and in `theseus manager`, asked over HTTPS by `theseus apiserver`.
// Here: starting and ending both. Not here: what is tested (suite.ts, *.test.ts).
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { end, run, type Running, start, untilReady, withFolder } from "../e2e/process.ts";

export interface Server {
  readonly url: string;
  readonly token: string;
  readonly kubeconfig: string;
  /** Milliseconds until webhooks have seen what was written. */
  readonly settleMs: number;
}

const TOKEN = "admintoken";
const CERTIFICATE_VALID_MS = 86_400_000;
// Those that the cases were recorded with.
const GATES = "ClusterTopology=true,RuntimeSDK=true,InPlaceUpdates=true,MachinePool=false";

interface Files {
  readonly tokens: string;
  readonly kubeconfig: string;
}

function filesIn(folder: string): Files {
  const tokens = path.join(folder, "tokens.csv");
  writeFileSync(tokens, `${TOKEN},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  return { tokens, kubeconfig: path.join(folder, "kubeconfig") };
}

const serverFlags = ({ tokens, kubeconfig }: Files): readonly string[] => [`--token-auth-file=${tokens}`, `--kubeconfig-out=${kubeconfig}`];

export const withDev = <T>(use: (server: Server) => Promise<T>): Promise<T> =>
  withFolder(async (folder) => {
    const files = filesIn(folder);
    const dev = start(["dev", "--port=0", `--feature-gates=${GATES}`, ...serverFlags(files)]);
    try {
      return await use({ url: await untilReady(dev), token: TOKEN, kubeconfig: files.kubeconfig, settleMs: 0 });
    } finally {
      await end(dev, "SIGTERM");
    }
  });

export const withManager = <T>(use: (server: Server) => Promise<T>): Promise<T> =>
  withFolder(async (folder) => {
    const files = filesIn(folder);
    const started: Running[] = [];
    const begin = (args: readonly string[]): Running => {
      const running = start(args);
      started.unshift(running);
      return running;
    };
    try {
      const url = await untilReady(begin(["apiserver", "--secure-port=0", ...serverFlags(files)]));
      const ca = writeCertificates(folder);
      await install(files);
      const manager = begin([
        "manager",
        `--kubeconfig=${files.kubeconfig}`,
        `--feature-gates=${GATES}`,
        "--webhook-port=0",
        `--webhook-cert-dir=${folder}`,
        "--log-format=json",
      ]);
      const port = await webhookPort(manager);
      await install(files, `--webhook-url=https://127.0.0.1:${port}`, `--webhook-ca-file=${ca}`);
      return await use({ url, token: TOKEN, kubeconfig: files.kubeconfig, settleMs: 600 });
    } finally {
      for (const running of started) await end(running, "SIGTERM");
    }
  });

/** @returns the file of the CA */
function writeCertificates(folder: string): string {
  const pki = createNodePki({ clock: systemClock });
  const ca = pki.createCa("webhooks", CERTIFICATE_VALID_MS);
  const pair = pki.issue(ca, { commonName: "webhooks", names: ["127.0.0.1"], usages: ["server"], validForMs: CERTIFICATE_VALID_MS });
  writeFileSync(path.join(folder, "tls.crt"), pair.certificate);
  writeFileSync(path.join(folder, "tls.key"), pair.key, { mode: 0o600 });
  writeFileSync(path.join(folder, "ca.crt"), ca.certificate);
  return path.join(folder, "ca.crt");
}

async function install({ kubeconfig }: Files, ...more: readonly string[]): Promise<void> {
  const { code, error } = await run(["install", "--apply", `--kubeconfig=${kubeconfig}`, ...more]);
  if (code !== 0) throw new Error(`theseus install ended with ${code}: ${error}`);
}

async function webhookPort(manager: Running, limitMs = 30_000): Promise<number> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    const found = /"port":(\d+)/.exec(
      `${manager.out()}${manager.error()}`.split("\n").find((line) => line.includes("webhooks answer")) ?? "",
    );
    if (found) return Number(found[1]);
    if (manager.process.exitCode !== null || Date.now() > endMs) throw new Error(`no webhooks: ${manager.out()}\n${manager.error()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
