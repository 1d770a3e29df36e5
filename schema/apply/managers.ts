// Who owns what, while an operation works on it. Here: managers and their entries in managedFields. Not here: apply and update themselves.
import type { ManagedFieldsEntry } from "../../api/meta/object.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { equal, type FieldSet, isEmpty, union } from "./field-set.ts";
import { fieldsV1, parseFieldsV1 } from "./fields-v1.ts";
import { type Fields, isMap } from "../json-values.ts";
import { reconcile } from "./reconcile.ts";
import type { Typed } from "./typed.ts";
import type { TypedVersions } from "./types.ts";

export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339; undefined for an apply that never changed a value. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry this was read from, as long as it still says the same. */
  readonly entry?: ManagedFieldsEntry;
  /** Remembers the schema that `fields` was found to fit; nothing else of a manager ever changes. */
  fits?: Typed;
}

/** An applier is the same manager in whatever version it applies; an updater has one record per version. */
export const isSame = (a: Manager, b: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): boolean =>
  a.name === b.name &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === "Apply" || a.apiVersion === b.apiVersion);

/** Managers as the schemas of today see them. */
export const reconciled = (managers: readonly Manager[], schemas: TypedVersions): readonly Manager[] =>
  managers.map((manager) => {
    const typed = schemas(manager.apiVersion);
    if (typed === undefined || manager.fits === typed) return manager;
    const found = withFields(manager, reconcile(manager.fields, typed));
    found.fits = typed;
    return found;
  });

/** @returns undefined when an entry makes no sense: then the whole list counts for nothing, as upstream does */
export function decodeManagers(entries: unknown): readonly Manager[] | undefined {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) return undefined;
  const managers: Manager[] = [];
  for (const entry of entries) {
    const manager = decodeEntry(entry);
    if (manager === undefined) return undefined;
    const twin = managers.findIndex((m) => isSame(m, manager));
    if (twin < 0) managers.push(manager);
    else managers[twin] = manager;
  }
  return managers;
}

const text = (value: unknown): string | undefined => (value === undefined ? "" : typeof value === "string" ? value : undefined);

// Stored entries are never changed, so what was read from one stays true as long as it lives.
const decoded = new WeakMap<object, Manager>();

function decodeEntry(entry: unknown): Manager | undefined {
  if (!isMap(entry)) return undefined;
  const known = decoded.get(entry);
  if (known !== undefined) return known;
  const manager = readEntry(entry);
  if (manager !== undefined && Object.isFrozen(entry) && Object.isFrozen(entry.fieldsV1)) decoded.set(entry, manager);
  return manager;
}

function readEntry(entry: Fields): Manager | undefined {
  const { operation, apiVersion, fieldsType, time } = entry;
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (typeof apiVersion !== "string" || apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
  const name = text(entry.manager);
  const subresource = text(entry.subresource);
  const fields = parseFieldsV1(entry.fieldsV1 ?? {});
  if (name === undefined || subresource === undefined || fields === undefined) return undefined;
  if (time !== undefined && time !== null && (typeof time !== "string" || Number.isNaN(Date.parse(time)))) return undefined;
  return { name, operation, apiVersion, subresource, time: time ?? undefined, fields, entry };
}

/** The record with other fields; it keeps its entry when they are equal. */
export const withFields = (manager: Manager, fields: FieldSet): Manager =>
  fields === manager.fields || equal(fields, manager.fields) ? manager : { ...manager, fields, entry: undefined, fits: undefined };

// Many writes happen within one second of the clock, and the text of a time costs more than the rest of a record.
const lastStamp = { second: Number.NaN, text: "" };

/** The time of a record, in whole seconds. */
export function stamp(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastStamp.second) Object.assign(lastStamp, { second, text: timestamp(nowMs) });
  return lastStamp.text;
}

export const withTime = (manager: Manager, time: string): Manager =>
  manager.time === time ? manager : { ...manager, time, entry: undefined };

/** Entries in Kubernetes' order: applies first, then by time, manager, version, subresource. Managers without fields are left out. */
export function encodeManagers(managers: readonly Manager[]): readonly ManagedFieldsEntry[] {
  const owners = managers.filter((m) => !isEmpty(m.fields));
  if (owners.length > 1) owners.sort(inEntryOrder);
  return owners.map((m) => m.entry ?? encodeEntry(m));
}

const inTextOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const inEntryOrder = (a: Manager, b: Manager): number =>
  inTextOrder(a.operation, b.operation) ||
  inTimeOrder(a, b) ||
  inTextOrder(a.name, b.name) ||
  inTextOrder(a.apiVersion, b.apiVersion) ||
  inTextOrder(a.subresource, b.subresource);

const PLAIN_TIME = "2026-08-21T10:00:00Z".length;

/** By whole seconds; records without time come first. */
export function inTimeOrder(a: Manager, b: Manager): number {
  if (a.time === b.time) return 0;
  if (a.time === undefined || b.time === undefined) return a.time === undefined ? -1 : 1;
  // Times as we write them sort as texts; a client may have sent others.
  if (a.time.length === PLAIN_TIME && b.time.length === PLAIN_TIME) return inTextOrder(a.time, b.time);
  return Math.floor(Date.parse(a.time) / 1000) - Math.floor(Date.parse(b.time) / 1000);
}

const encodeEntry = (m: Manager): ManagedFieldsEntry => ({
  ...(m.name === "" ? {} : { manager: m.name }),
  operation: m.operation,
  apiVersion: m.apiVersion,
  ...(m.time === undefined ? {} : { time: m.time }),
  fieldsType: "FieldsV1",
  fieldsV1: fieldsV1(m.fields),
  ...(m.subresource === "" ? {} : { subresource: m.subresource }),
});

/** What at least one of them owns. */
export const allFields = (managers: readonly Manager[], start: FieldSet): FieldSet =>
  managers.reduce((all, m) => union(all, m.fields), start);

/** How people are told of a manager: appliers by name, updaters with their version. */
export function managerText(m: Manager): string {
  const name = JSON.stringify(m.name) + (m.subresource === "" ? "" : ` with subresource ${JSON.stringify(m.subresource)}`);
  return m.operation === "Apply" ? name : `${name} using ${m.apiVersion}`;
}
