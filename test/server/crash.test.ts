// kill -9 under load: what was acknowledged is there after the next start. Here: 100 kills on one data directory.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "@jest/globals";
import { randomInt, seededRandom } from "../../runtime/base/random.ts";
import { CONFIG_MAPS, configMap, contents, folders, type ServerProcess, startServer } from "./server-process.ts";

const KILLS = 100;
const WRITERS = 8;
const KEYS_PER_WRITER = 6;
/** Large enough that the log is compacted several times on the way. */
const FILLING = "x".repeat(8 * 1024);
const LIMIT_MS = 15 * 60_000;

const { make, removeAll } = folders();
afterEach(removeAll);

/** What a key may hold: what was acknowledged last, or the one write that was under way. Undefined = no object. */
interface Key {
  readonly name: string;
  acknowledged: string | undefined;
  underWay?: { readonly value: string | undefined };
}

const random = seededRandom(7);
let nextValue = 0;
let newestRevision = 0;

async function writeOnce(server: ServerProcess, key: Key): Promise<boolean> {
  const exists = key.acknowledged !== undefined;
  const drops = exists && random.next() < 0.2;
  const value = drops ? undefined : String(nextValue++);
  key.underWay = { value };
  const body = drops ? undefined : configMap(key.name, { value: value ?? "", filling: FILLING });
  const path = exists ? `${CONFIG_MAPS}/${key.name}` : CONFIG_MAPS;
  try {
    const answer = await server.send(drops ? "DELETE" : exists ? "PUT" : "POST", path, body);
    if (answer.status >= 300) throw new Error(`unexpected answer ${answer.status}: ${answer.text}`);
    const revision = Number((JSON.parse(answer.text) as { metadata: { resourceVersion?: string } }).metadata.resourceVersion ?? 0);
    newestRevision = Math.max(newestRevision, revision);
  } catch (error) {
    if ((error as Error).message.startsWith("unexpected")) throw error;
    return false; // the server is gone
  }
  key.acknowledged = value;
  key.underWay = undefined;
  return true;
}

async function load(server: ServerProcess, keys: readonly Key[]): Promise<void> {
  for (;;) {
    const key = keys[randomInt(random, keys.length)];
    if (!key || !(await writeOnce(server, key))) return;
  }
}

/** Half of the last record once more, as a crash of the machine in mid-write leaves it. */
function tearLog(dataDir: string): void {
  const store = join(dataDir, "store");
  const newest = readdirSync(store)
    .filter((name) => name.startsWith("log-"))
    .sort((a, b) => Number(a.slice(4, -7)) - Number(b.slice(4, -7)))
    .at(-1);
  const log = join(store, newest ?? "");
  const last = readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "";
  appendFileSync(log, last.slice(0, randomInt(random, last.length)));
}

async function compare(server: ServerProcess, keys: readonly Key[]): Promise<readonly string[]> {
  const found = await contents(server);
  const differences: string[] = [];
  for (const key of keys) {
    const value = found.get(key.name)?.value;
    if (value !== key.acknowledged && !(key.underWay && value === key.underWay.value)) {
      differences.push(`${key.name}: acknowledged ${key.acknowledged}, found ${value}`);
    }
    key.acknowledged = value;
    key.underWay = undefined;
  }
  const known = new Set(keys.map((key) => key.name));
  for (const name of found.keys()) if (!known.has(name)) differences.push(`${name}: nobody wrote it`);
  return differences;
}

it(
  `${KILLS} kills lose nothing that was acknowledged and take no revision back`,
  async () => {
    const [folder, dataDir] = [make(), make()];
    const keys = Array.from({ length: WRITERS }, (_, writer) =>
      Array.from({ length: KEYS_PER_WRITER }, (_, i): Key => ({ name: `k${writer}-${i}`, acknowledged: undefined })),
    );
    let written = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const server = await startServer(folder, { dataDir, args: ["--background-controllers=false"] });
      expect({ kill, differences: await compare(server, keys.flat()) }).toEqual({ kill, differences: [] });
      const list = JSON.parse((await server.send("GET", `${CONFIG_MAPS}?limit=1`)).text) as { metadata: { resourceVersion: string } };
      expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(newestRevision);
      const before = nextValue;
      const loads = keys.map((own) => load(server, own));
      await new Promise((done) => setTimeout(done, 30 + randomInt(random, 150)));
      expect(await server.end("SIGKILL")).toBe("SIGKILL");
      await Promise.all(loads);
      written += nextValue - before;
      if (kill % 4 === 0) tearLog(dataDir);
    }
    const last = await startServer(folder, { dataDir });
    expect(await compare(last, keys.flat())).toEqual([]);
    await last.end("SIGTERM");
    // A load that wrote next to nothing would prove nothing.
    expect(written).toBeGreaterThan(KILLS * 4);
  },
  LIMIT_MS,
);
