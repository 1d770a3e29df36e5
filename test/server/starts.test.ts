// 50 starts: some fail in the middle, some are interrupted. Here: that none leaves a process, a port, a folder or a lock.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "@jest/globals";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { endOf, folders, isAlive, spawnServer, untilReady } from "./server-process.ts";

const STARTS = 50;
const LIMIT_MS = 10 * 60_000;
const { make, removeAll } = folders();
afterEach(removeAll);

const random = seededRandom(11);

/** A start that cannot succeed, by turns at its begin, middle and end. */
function failing(i: number, taken: number, folder: string): readonly string[] {
  const broken = join(folder, "crds");
  mkdirSync(broken, { recursive: true });
  writeFileSync(join(broken, "broken.yaml"), "kind: [CustomResource");
  const ways = [[`--crd-dir=${broken}`], [`--secure-port=${taken}`], [`--kubeconfig-out=${join(folder, "absent", "kubeconfig")}`]];
  return ways[i % ways.length] ?? [];
}

function takenPort(): Promise<Server> {
  return new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => done(server));
  });
}

const portIsFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });

interface Ended {
  readonly child: ChildProcess;
  readonly url?: string;
  readonly end: number | string;
}

async function runOnce(i: number, folder: string, dataDir: string, temporary: string, taken: number): Promise<Ended & { way: string }> {
  const way = i % 5 === 0 ? "fails" : i % 5 === 1 ? "interrupted" : "runs";
  const child = spawnServer(folder, { dataDir, temporary, args: way === "fails" ? failing(i / 5, taken, folder) : [] });
  if (way === "interrupted") {
    untilReady(child).catch(() => undefined);
    await new Promise((done) => setTimeout(done, randomInt(random, 800)));
    child.kill(i % 2 === 0 ? "SIGINT" : "SIGTERM");
    return { way, child, end: await endOf(child) };
  }
  const url = await untilReady(child).catch(() => undefined);
  if (url !== undefined) child.kill("SIGTERM");
  return { way, child, end: await endOf(child), ...(url === undefined ? {} : { url }) };
}

it(
  `${STARTS} starts leave nothing behind`,
  async () => {
    const [folder, dataDir, temporary] = [make(), make(), make()];
    const taken = await takenPort();
    const all: (Ended & { way: string })[] = [];
    for (let i = 0; i < STARTS; i++) all.push(await runOnce(i, folder, dataDir, temporary, (taken.address() as AddressInfo).port));
    await new Promise((done) => taken.close(done));

    const wrong = all.filter(({ way, end }) => (way === "fails" ? end !== 1 : way === "runs" && end !== 0));
    expect(wrong.map(({ way, end }) => ({ way, end }))).toEqual([]);
    expect(all.filter(({ way }) => way === "fails")).toHaveLength(10);
    expect(all.filter(({ way }) => way === "interrupted")).toHaveLength(10);
    expect(all.filter(({ child }) => isAlive(child.pid ?? 0))).toEqual([]);
    for (const { url } of all) if (url !== undefined) expect(await portIsFree(Number(new URL(url).port))).toBe(true);
    expect(readdirSync(temporary).filter((name) => name !== "node-compile-cache")).toEqual([]);
    // One interrupted before it could hear of it may leave its lock, which the next start takes over; an orderly end leaves none.
    const last = await runOnce(2, folder, dataDir, temporary, 0);
    expect(last.end).toBe(0);
    expect(readdirSync(join(dataDir, "store")).filter((name) => name === "lock" || name.endsWith(".tmp"))).toEqual([]);
  },
  LIMIT_MS,
);
