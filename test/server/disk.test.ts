// The data directory on a bad day: full disk, second server, growth, rights of files.
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { CONFIG_MAPS, configMap, contents, filesBelow, folders, type ServerProcess, startServer } from "./server-process.ts";

/** Below this much nothing is compacted. */
const SMALL_BYTES = 4.2 * 1024 * 1024;
const LIMIT_MS = 3 * 60_000;
const { make, removeAll } = folders();
const servers: ServerProcess[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.end("SIGKILL");
  removeAll();
});
async function start(...given: Parameters<typeof startServer>): Promise<ServerProcess> {
  const server = await startServer(...given);
  servers.push(server);
  return server;
}

const bytesBelow = (folder: string): number => filesBelow(folder).reduce((sum, file) => sum + statSync(file).size, 0);

describe("a full disk", () => {
  it(
    "turns writes into errors, while reads and watches go on; with room again everything acknowledged is there",
    async () => {
      const [folder, dataDir] = [make(), make()];
      const server = await start(folder, { dataDir, fileKiBMax: 1024 });
      const acknowledged: string[] = [];
      let refused: { readonly status: number; readonly text: string } | undefined;
      for (let i = 0; i < 500 && !refused; i++) {
        const answer = await server.send("POST", CONFIG_MAPS, configMap(`c${i}`, { filling: "x".repeat(8 * 1024) }));
        if (answer.status === 201) acknowledged.push(`c${i}`);
        else refused = answer;
      }
      // As kube-apiserver answers when etcd has no space left.
      expect(refused?.status).toBe(500);
      expect(JSON.parse(refused?.text ?? "{}")).toMatchObject({
        kind: "Status",
        reason: "InternalError",
        message: expect.stringContaining("the data directory takes no writes"),
      });
      expect(acknowledged.length).toBeGreaterThan(50);

      expect([...(await contents(server)).keys()].sort()).toEqual([...acknowledged].sort());
      const watch = await server.send("GET", `${CONFIG_MAPS}?watch=true&timeoutSeconds=1&resourceVersion=0`);
      expect(watch.status).toBe(200);
      expect(watch.text.split("\n").length).toBeGreaterThan(acknowledged.length);
      expect((await server.send("POST", CONFIG_MAPS, configMap("late", { filling: "x".repeat(8 * 1024) }))).status).toBe(500);
      const there = [...(await contents(server)).keys()].sort();
      expect(await server.end("SIGTERM")).toBe(0);

      const again = await start(folder, { dataDir });
      expect([...(await contents(again)).keys()].sort()).toEqual(there);
      expect((await again.send("POST", CONFIG_MAPS, configMap("late"))).status).toBe(201);
    },
    LIMIT_MS,
  );
});

describe("the data directory", () => {
  it(
    "belongs to one server, and its files to one user",
    async () => {
      const [folder, dataDir] = [make(), make()];
      const first = await start(folder, { dataDir });
      await first.send("POST", CONFIG_MAPS, configMap("mine"));
      await expect(startServer(make(), { dataDir })).rejects.toThrow(`held by process ${first.pid}`);
      expect((await first.send("GET", `${CONFIG_MAPS}/mine`)).status).toBe(200);
      const readable = [...filesBelow(dataDir), join(folder, "kubeconfig")].filter((file) => (statSync(file).mode & 0o077) !== 0);
      expect(readable).toEqual([]);
      expect(filesBelow(dataDir).length).toBeGreaterThan(4);
      expect(await first.end("SIGTERM")).toBe(0);
      await start(make(), { dataDir });
    },
    LIMIT_MS,
  );

  it(
    "stays within four times the live data, however often objects change, and shrinks when they go",
    async () => {
      const [folder, dataDir] = [make(), make()];
      const server = await start(folder, { dataDir, args: ["--background-controllers=false"] });
      const filling = "x".repeat(100 * 1024);
      const write = (name: string, round: number): Promise<{ readonly status: number }> =>
        server.send("PUT", `${CONFIG_MAPS}/${name}`, configMap(name, { filling, round: String(round) }));
      const names = Array.from({ length: 40 }, (_, i) => `big-${i}`);
      for (const name of names) expect((await server.send("POST", CONFIG_MAPS, configMap(name, { filling }))).status).toBe(201);
      const live = names.length * filling.length;
      let most = 0;
      for (let round = 0; round < 12; round++) {
        for (const name of names) {
          expect((await write(name, round)).status).toBe(200);
          most = Math.max(most, bytesBelow(join(dataDir, "store")));
        }
      }
      expect(most / live).toBeGreaterThan(2); // otherwise nothing was compacted
      // The third part that is written while the two others are still there.
      expect(most / live).toBeLessThan(4.5);
      for (const name of names.slice(1)) await server.send("DELETE", `${CONFIG_MAPS}/${name}`);
      await write("big-0", 99);
      await new Promise((done) => setTimeout(done, 500));
      expect(bytesBelow(join(dataDir, "store"))).toBeLessThan(SMALL_BYTES);
    },
    LIMIT_MS,
  );
});
