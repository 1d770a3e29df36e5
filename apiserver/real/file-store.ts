// The store on disk: a snapshot and a log of commits after it, beside the objects in memory.
// Here: writing commits, compaction. Not here: records and reading them (records.ts), objects in memory (../store/memory.ts), the lock.
//
// A commit is in the log before it is answered: it survives the end of the process. Every SYNC_EVERY_MS the log is also forced
// to the medium. A record that was cut short by the end of the process is dropped; any other damage is refused.
import { chmodSync, closeSync, fdatasyncSync, fsyncSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../../runtime/base/log.ts";
import { createMemoryStore } from "../store/memory.ts";
import { type Change, type Store, type StoreKey, StoreUnavailable } from "../store/store.ts";
import { takeLock } from "./lock-file.ts";
import {
  createLiveBytes,
  encodeRecord,
  filesIn,
  type Loaded,
  loadFile,
  removeBefore,
  syncDirectory,
  TEMPORARY,
  type WireRecord,
  type WireWrite,
  writeAll,
} from "./records.ts";

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
/** Objects written between two turns of the event loop, so that requests go on during a compaction. */
const SNAPSHOT_BATCH = 500;
const OWNER_ONLY = 0o600;

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
    let file = openSync(logPath(logs.at(-1) ?? loaded.revision), "a", OWNER_ONLY);
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
