import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { silentLogger } from "../../runtime/base/log.ts";
import type { ApiObject } from "../object.ts";
import type { Store, StoreKey } from "../store/store.ts";
import { type FileStoreOptions, openFileStore } from "./file-store.ts";

const directories: string[] = [];
const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "theseus-store-"));
  directories.push(directory);
  return directory;
};
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const open = (directory: string, options: Partial<FileStoreOptions> = {}): Store =>
  openFileStore({ directory, log: silentLogger, ...options });
const key = (name: string): StoreKey => ({ resource: "configmaps", namespace: "default", name });
const put = (store: Store, name: string, value: string): number =>
  store.commit([
    {
      key: key(name),
      object: (revision): ApiObject => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "default", resourceVersion: String(revision) },
        data: { value },
      }),
    },
  ]);
const drop = (store: Store, name: string): number => store.commit([{ key: key(name) }]);
const contents = (store: Store): Record<string, unknown> =>
  Object.fromEntries(store.list("configmaps").map((entry) => [entry.key.name, [entry.object.data, entry.revision]]));
const logOf = (directory: string): string =>
  join(
    directory,
    readdirSync(directory)
      .filter((name) => name.startsWith("log-"))
      .at(-1) ?? "",
  );

describe("openFileStore", () => {
  it("finds objects, deletions and the revision after it was opened again", () => {
    const directory = newDirectory();
    const first = open(directory);
    put(first, "a", "1");
    put(first, "b", "1");
    put(first, "a", "2");
    drop(first, "b");
    const before = contents(first);
    const revision = first.revision();
    first.close();
    const second = open(directory);
    expect(contents(second)).toEqual(before);
    expect(second.revision()).toBe(revision);
    expect(put(second, "c", "1")).toBe(revision + 1);
    expect(second.changesAfter("configmaps", 1)).toBeUndefined(); // history does not outlive the process
    second.close();
  });

  it("keeps files for the owner only", () => {
    const directory = newDirectory();
    put(open(directory), "a", "1");
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(directory)) expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it.each([
    ["half a record", (path: string) => truncateSync(path, statSync(path).size - 7)],
    ["a record without its end of line", (path: string) => truncateSync(path, statSync(path).size - 1)],
    ["garbage after the last record", (path: string) => appendFileSync(path, '12345678 {"r":')],
  ])("drops %s at the end of the log and writes on behind it", (what, damage) => {
    const directory = newDirectory();
    const first = open(directory);
    put(first, "kept", "1");
    put(first, "last", "1");
    first.close();
    damage(logOf(directory));
    const second = open(directory);
    expect(Object.keys(contents(second))).toEqual(what.startsWith("garbage") ? ["kept", "last"] : ["kept"]);
    put(second, "after", "1");
    second.close();
    const third = open(directory);
    expect(contents(third)).toHaveProperty("after");
    third.close();
  });

  it("refuses a log that is damaged in the middle, and says where", () => {
    const directory = newDirectory();
    const store = open(directory);
    for (const name of ["a", "b", "c"]) put(store, name, "1");
    store.close();
    const path = logOf(directory);
    writeFileSync(path, readFileSync(path, "utf8").replace('"name":"b"', '"name":"x"'));
    expect(() => open(directory)).toThrow(/damaged at line 2/);
  });

  it("refuses writes on a full disk, reads on, and writes again when there is room", () => {
    const directory = newDirectory();
    let full = false;
    const store = open(directory, {
      write(file, bytes) {
        if (!full) {
          writeSync(file, bytes);
          return;
        }
        writeSync(file, bytes, 0, 5); // the disk takes a part, then no more
        throw new Error("ENOSPC: no space left on device");
      },
    });
    put(store, "a", "1");
    full = true;
    expect(() => put(store, "a", "2")).toThrow(/takes no writes: ENOSPC/);
    expect(contents(store)).toEqual({ a: [{ value: "1" }, 2] });
    full = false;
    put(store, "b", "1");
    store.close();
    const again = open(directory);
    expect(contents(again)).toEqual({ a: [{ value: "1" }, 2], b: [{ value: "1" }, 3] });
    again.close();
  });

  it("compacts a long log, while writes go on", async () => {
    const directory = newDirectory();
    const store = open(directory, { bytesMax: 2_000 });
    for (let i = 0; i < 60; i++) {
      put(store, `n${i % 5}`, String(i));
      await new Promise((done) => setImmediate(done));
    }
    await new Promise((done) => setTimeout(done, 50));
    put(store, "after", "1");
    const before = contents(store);
    store.close();
    expect(readdirSync(directory).filter((name) => name.startsWith("snapshot-"))).toHaveLength(1);
    expect(statSync(logOf(directory)).size).toBeLessThan(6_000);
    const again = open(directory);
    expect(contents(again)).toEqual(before);
    again.close();
  });

  it("belongs to one process; the lock of a dead one is taken over", () => {
    const directory = newDirectory();
    const store = open(directory);
    expect(() => open(directory)).toThrow(new RegExp(`held by process ${process.pid}`));
    store.close();
    const gone = spawnSync(process.execPath, ["-e", ""]).pid;
    writeFileSync(join(directory, "lock"), JSON.stringify({ pid: gone, since: "1" }));
    open(directory).close();
    writeFileSync(join(directory, "lock"), JSON.stringify({ pid: process.pid, since: "1" })); // the number is another process' now
    open(directory).close();
    writeFileSync(join(directory, "lock"), "");
    open(directory).close();
  });

  it("keeps what was acknowledged when the process is killed", () => {
    const directory = newDirectory();
    const script = `
      const { openFileStore } = await import(${JSON.stringify(new URL("./file-store.ts", import.meta.url).href)});
      const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
      const store = openFileStore({ directory: ${JSON.stringify(directory)}, log });
      for (let i = 0; ; i++) {
        store.commit([{ key: { resource: "r", namespace: "", name: "n" + i }, object: (v) => ({ apiVersion: "v1", kind: "R", metadata: { name: "n" + i, resourceVersion: String(v) } }) }]);
        if (i === 200) process.kill(process.pid, "SIGKILL");
      }`;
    const killed = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(killed.signal).toBe("SIGKILL");
    const store = open(directory);
    expect(store.count("r")).toBe(201);
    store.close();
  });
});
