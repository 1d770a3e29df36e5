// Commits in files: the form of a record, whole files of them, and which files a data directory holds. Here: reading, and naming.
// Not here: when they are written and put together (file-store.ts).
import { closeSync, fsyncSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type ApiObject, deepFreeze } from "../object.ts";
import type { Entry } from "../store/store.ts";

const READ_BYTES = 4 * 1024 * 1024;
const SNAPSHOT = /^snapshot-(\d+)\.ndjson$/;
const LOG = /^log-(\d+)\.ndjson$/;
export const TEMPORARY = "snapshot.tmp";

/** resource, namespace, name, object (null = deleted) */
export type WireWrite = readonly [string, string, string, ApiObject | null];
export interface WireRecord {
  readonly r: number;
  readonly w: readonly WireWrite[];
}

/** Bytes of all objects as they stand in records, kept by object so that what goes takes its size along. */
export interface LiveBytes {
  total(): number;
  /** @param bytes of the record, shared by `objects` equally */
  put(objects: readonly ApiObject[], bytes: number): void;
  drop(object: ApiObject | undefined): void;
}

export function createLiveBytes(): LiveBytes {
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
export function encodeRecord(record: WireRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${crc32(json).toString(16).padStart(8, "0")} ${json}\n`);
}

function decodeRecord(line: string): WireRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== " " || crc32(json).toString(16).padStart(8, "0") !== line.slice(0, 8)) return undefined;
  return JSON.parse(json) as WireRecord;
}

export function writeAll(file: number, bytes: Uint8Array): void {
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

export interface Loaded {
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
export function loadFile(path: string, loaded: Loaded, tornEndAllowed: boolean): number {
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

export function filesIn(directory: string): Files {
  const numbers = (pattern: RegExp): readonly number[] =>
    readdirSync(directory)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  return { snapshot: numbers(SNAPSHOT).at(-1), logs: numbers(LOG) };
}

/** Removes what a snapshot at `revision` has made superfluous, also after a compaction that was cut short. */
export function removeBefore(directory: string, revision: number): void {
  for (const name of readdirSync(directory)) {
    const start = SNAPSHOT.exec(name)?.[1] ?? LOG.exec(name)?.[1];
    if (name === TEMPORARY || (start !== undefined && Number(start) < revision)) rmSync(join(directory, name), { force: true });
  }
}

export const syncDirectory = (directory: string): void => {
  const file = openSync(directory, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};
