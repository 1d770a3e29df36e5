// The store on disk: a snapshot and a log of commits after it, beside the objects in memory.
// Here: files, records, compaction. Not here: objects in memory (../store/memory.ts), the lock (lock-file.ts).
//
// A commit is in the log before it is answered: it survives the end of the process. Every SYNC_EVERY_MS the log is also forced
// to the medium. A record that was cut short by the end of the process is dropped; any other damage is refused.
import {
  chmodSync,
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Logger } from "../../runtime/base/log.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import { createMemoryStore } from "../store/memory.ts";
import { type Change, type Entry, type Store, type StoreKey, StoreUnavailable } from "../store/store.ts";
import { takeLock } from "./lock-file.ts";

export interface FileStoreOptions {
  /** Made when absent, for the owner only. */
  readonly directory: string;
  readonly log: Logger;
  readonly historyMax?: number;
  /** Files together larger than this, and than three times the live data, are compacted. Default 4 MiB. */
  readonly bytesMax?: number;
  /** Writes all bytes or throws; replaced in tests of a full disk. */
  readonly write?: (file: number, bytes: Uint8Array) => void;
}

const BYTES_MAX = 4 * 1024 * 1024;
/** Files may grow to this many times the live data; the snapshot that is then written makes it one more. */
const BYTES_PER_LIVE_MAX = 3;
const SYNC_EVERY_MS = 200;
const READ_BYTES = 4 * 1024 * 1024;
/** Objects written between two turns of the event loop, so that requests go on during a compaction. */
const SNAPSHOT_BATCH = 500;
const OWNER_ONLY = 0o600;
const SNAPSHOT = /^snapshot-(\d+)\.ndjson$/;
const LOG = /^log-(\d+)\.ndjson$/;
const TEMPORARY = "snapshot.tmp";

/** resource, namespace, name, object (null = deleted) */
type WireWrite = readonly [string, string, string, ApiObject | null];
interface WireRecord {
  readonly r: number;
  readonly w: readonly WireWrite[];
}

/** Bytes of all objects as they stand in records, kept by object so that what goes takes its size along. */
interface LiveBytes {
  total(): number;
  /** @param bytes of the record, shared by `objects` equally */
  put(objects: readonly ApiObject[], bytes: number): void;
  drop(object: ApiObject | undefined): void;
}

function createLiveBytes(): LiveBytes {
  const sizes = new WeakMap<ApiObject, number>();
  let total = 0;
  return {
    total: () => total,
    put(objects, bytes) {
      for (const object of objects) {
        sizes.set(object, bytes / objects.length);
        total += bytes / objects.length;
      }
    },
    drop(object) {
      if (object !== undefined) total -= sizes.get(object) ?? 0;
    },
  };
}

/** Checksum, blank, JSON, newline. */
function encodeRecord(record: WireRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${crc32(json).toString(16).padStart(8, "0")} ${json}\n`);
}

function decodeRecord(line: string): WireRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== " " || crc32(json).toString(16).padStart(8, "0") !== line.slice(0, 8)) return undefined;
  return JSON.parse(json) as WireRecord;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(file, bytes, at);
}

/** Calls back for each line with the offset after it. @returns bytes after the last newline */
function readLines(path: string, onLine: (line: string, end: number) => void): number {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    let rest = Buffer.alloc(0);
    let offset = 0;
    for (;;) {
      const size = readSync(file, buffer, 0, buffer.byteLength, null);
      if (size === 0) return rest.byteLength;
      let bytes = rest.byteLength === 0 ? buffer.subarray(0, size) : Buffer.concat([rest, buffer.subarray(0, size)]);
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
        offset += end + 1;
        onLine(bytes.toString("utf8", 0, end), offset);
        bytes = bytes.subarray(end + 1);
      }
      rest = Buffer.from(bytes);
    }
  } finally {
    closeSync(file);
  }
}

interface Loaded {
  readonly entries: Map<string, Entry>;
  readonly live: LiveBytes;
  revision: number;
}

const idOf = ([resource, namespace, name]: WireWrite): string => `${resource}\n${namespace}\n${name}`;

function replay(loaded: Loaded, record: WireRecord, bytes: number): void {
  if (record.r > loaded.revision) loaded.revision = record.r;
  const put: ApiObject[] = [];
  for (const write of record.w) {
    const [resource, namespace, name, object] = write;
    loaded.live.drop(loaded.entries.get(idOf(write))?.object);
    if (object === null) loaded.entries.delete(idOf(write));
    else {
      const revision = Number(object.metadata.resourceVersion);
      loaded.entries.set(idOf(write), { key: { resource, namespace, name }, object: deepFreeze(object), revision });
      put.push(object);
    }
  }
  loaded.live.put(put, bytes);
}

const damaged = (path: string, line: number): Error =>
  new Error(`${path} is damaged at line ${line}; restore the data directory from a copy, or remove it to start empty`);

/** @returns bytes of the file that are whole records */
function loadFile(path: string, loaded: Loaded, tornEndAllowed: boolean): number {
  let good = 0;
  let line = 0;
  let bad: number | undefined;
  const rest = readLines(path, (text, end) => {
    line += 1;
    if (bad !== undefined) throw damaged(path, bad);
    const record = decodeRecord(text);
    if (record === undefined) bad = line;
    else {
      if (record.r >= loaded.revision || record.w.length === 0) replay(loaded, record, end - good);
      good = end;
    }
  });
  if ((bad !== undefined || rest > 0) && !tornEndAllowed) throw damaged(path, bad ?? line + 1);
  return good;
}

interface Files {
  readonly snapshot: number | undefined;
  /** Revisions after which logs start, ascending. */
  readonly logs: readonly number[];
}

function filesIn(directory: string): Files {
  const numbers = (pattern: RegExp): readonly number[] =>
    readdirSync(directory)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  return { snapshot: numbers(SNAPSHOT).at(-1), logs: numbers(LOG) };
}

/** Removes what a snapshot at `revision` has made superfluous, also after a compaction that was cut short. */
function removeBefore(directory: string, revision: number): void {
  for (const name of readdirSync(directory)) {
    const start = SNAPSHOT.exec(name)?.[1] ?? LOG.exec(name)?.[1];
    if (name === TEMPORARY || (start !== undefined && Number(start) < revision)) rmSync(join(directory, name), { force: true });
  }
}

const syncDirectory = (directory: string): void => {
  const file = openSync(directory, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Opens or makes the store. Throws Error when the directory is in use, not writable or damaged. */
export function openFileStore(options: FileStoreOptions): Store {
  const { directory, log } = options;
  const write = options.write ?? writeAll;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const unlock = takeLock(join(directory, "lock"));
  try {
    return open();
  } catch (error) {
    unlock();
    throw error;
  }

  function open(): Store {
    const snapshotPath = (revision: number): string => join(directory, `snapshot-${revision}.ndjson`);
    const logPath = (revision: number): string => join(directory, `log-${revision}.ndjson`);
    const files = filesIn(directory);
    removeBefore(directory, files.snapshot ?? 0);
    const live = createLiveBytes();
    const loaded: Loaded = { entries: new Map(), live, revision: 1 };
    /** Of the snapshot and of logs that are no longer written. */
    let oldBytes = files.snapshot === undefined ? 0 : loadFile(snapshotPath(files.snapshot), loaded, false);
    const logs = files.logs.filter((start) => start >= (files.snapshot ?? 0));
    let logBytes = 0;
    logs.forEach((start, i) => {
      const last = i === logs.length - 1;
      oldBytes += logBytes;
      logBytes = loadFile(logPath(start), loaded, last);
    });
    let logStart = logs.at(-1) ?? loaded.revision;
    let file = openSync(logPath(logStart), "a", OWNER_ONLY);
    ftruncateSync(file, logBytes); // what was torn off must not stand before the next record
    const bytesMax = options.bytesMax ?? BYTES_MAX;
    /** After a compaction that failed, such as on a full disk: not with each commit again. */
    let tryAgainAt = 0;
    let dirty = false;
    let broken: string | undefined;
    let closed = false;
    let compacting = false;

    const refuse = (why: string): StoreUnavailable => new StoreUnavailable(`the data directory takes no writes: ${why}`);
    const persist = (revision: number, changes: readonly { readonly key: StoreKey; readonly change: Change }[]): void => {
      if (closed) throw refuse("the server is stopping");
      if (broken !== undefined) throw refuse(broken);
      const writes = changes.map(
        ({ key, change }): WireWrite => [key.resource, key.namespace, key.name, change.type === "DELETED" ? null : change.object],
      );
      const bytes = encodeRecord({ r: revision, w: writes });
      try {
        write(file, bytes);
      } catch (error) {
        takeBack(error);
        throw refuse((error as Error).message);
      }
      logBytes += bytes.byteLength;
      dirty = true;
      for (const { change } of changes) live.drop(change.previous);
      live.put(
        changes.flatMap(({ change }) => (change.type === "DELETED" ? [] : [change.object])),
        bytes.byteLength,
      );
      if (oldBytes + logBytes > Math.max(bytesMax, tryAgainAt, live.total() * BYTES_PER_LIVE_MAX)) void compact();
    };
    /** Half a record must not stay in front of the next one. */
    const takeBack = (cause: unknown): void => {
      try {
        ftruncateSync(file, logBytes);
      } catch {
        broken = `${(cause as Error).message}; the log could not be cut back, restart the server`;
      }
    };
    const sync = (): void => {
      if (!dirty || closed) return;
      dirty = false;
      try {
        fdatasyncSync(file);
      } catch (error) {
        broken = `cannot force the log to the medium: ${(error as Error).message}`;
        log.error("the data directory failed", { directory, error: (error as Error).message });
      }
    };
    const timer = setInterval(sync, SYNC_EVERY_MS);
    timer.unref();

    const store = createMemoryStore({
      historyMax: options.historyMax,
      initial: { revision: loaded.revision, entries: loaded.entries.values() },
      persist,
      onClose() {
        if (closed) return;
        sync();
        closed = true;
        clearInterval(timer);
        closeSync(file);
        unlock();
      },
    });
    loaded.entries.clear();

    /** All objects as they are now go to a new snapshot, while later commits go to a new log. */
    const compact = async (): Promise<void> => {
      if (compacting) return;
      compacting = true;
      // Not within the commit: its record belongs to the old log.
      await turn();
      try {
        if (!closed) await writeSnapshot();
      } catch (error) {
        tryAgainAt = oldBytes + logBytes + bytesMax;
        log.error("compaction of the data directory failed; the log goes on", { directory, error: (error as Error).message });
      } finally {
        compacting = false;
      }
    };
    const writeSnapshot = async (): Promise<void> => {
      const revision = store.revision();
      const entries = store.resources().flatMap((resource) => store.list(resource));
      sync();
      const nextLog = openSync(logPath(revision), "a", OWNER_ONLY);
      closeSync(file);
      file = nextLog;
      logStart = revision;
      oldBytes += logBytes;
      logBytes = 0;
      const temporary = join(directory, TEMPORARY);
      const target = openSync(temporary, "w", OWNER_ONLY);
      let bytes = 0;
      let whole = false;
      try {
        const put = (record: WireRecord): void => {
          const encoded = encodeRecord(record);
          write(target, encoded);
          bytes += encoded.byteLength;
        };
        put({ r: revision, w: [] });
        for (let at = 0; at < entries.length; at += SNAPSHOT_BATCH) {
          for (const { key, object } of entries.slice(at, at + SNAPSHOT_BATCH))
            put({ r: revision, w: [[key.resource, key.namespace, key.name, object]] });
          await turn();
          if (closed) return; // the logs hold everything
        }
        fsyncSync(target);
        whole = true;
      } finally {
        closeSync(target);
        // What is left of it would take the room that writes need.
        if (!whole) rmSync(temporary, { force: true });
      }
      renameSync(temporary, snapshotPath(revision));
      syncDirectory(directory);
      oldBytes = bytes;
      tryAgainAt = 0;
      removeBefore(directory, revision);
      log.debug("data directory compacted", { directory, revision, objects: entries.length, bytes });
    };
    return store;
  }
}
