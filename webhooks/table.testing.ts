// Tables of rules: one row, one rule. Here: rows to requests, verdicts to texts. Not here: the tables (*.test.ts).
import { expect, it } from "@jest/globals";
import type { FeatureGate } from "../api/feature-gates.ts";
import type { KubeObject } from "../api/meta/object.ts";
import { mutate, type Verdict, validate } from "./review.ts";
import type { Draft, ListRead, ObjectRead, RuleSet } from "./rule-set.ts";

/** Values by JSON pointer; undefined takes a field away. */
export type Changes = Readonly<Record<string, unknown>>;

export interface Circumstances {
  /** Changes of the base that give the stored object; present = an update. */
  readonly old?: Changes;
  readonly verb?: "DELETE";
  /** Gates that are on; the rest is off. */
  readonly gates?: readonly FeatureGate[];
  readonly dryRun?: boolean;
  /** Other objects that are stored. */
  readonly world?: readonly KubeObject[];
  /** Reading anything fails. */
  readonly unreadable?: boolean;
}

/** Rule, what differs from the base, the errors as `Reason field` (`; ` between them, sorted), a bare status code, or nothing. */
export type Row = readonly [rule: string, changes: Changes, wanted: string, circumstances?: Circumstances];

const segments = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

function put(value: unknown, [key, ...rest]: readonly string[], wanted: unknown): unknown {
  if (key === undefined) return wanted;
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === key ? put(item, rest, wanted) : item));
  const { [key]: inner, ...others } = (value ?? {}) as Record<string, unknown>;
  const next = put(inner, rest, wanted);
  return next === undefined ? others : { ...others, [key]: next };
}

export const changed = <T extends object>(base: T, changes: Changes): T =>
  Object.entries(changes).reduce<unknown>((object, [pointer, value]) => put(object, segments(pointer), value), base) as T;

export const valueAt = (object: unknown, pointer: string): unknown =>
  segments(pointer).reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);

function environment({ gates = [], world = [], unreadable = false }: Circumstances) {
  const isOf = (object: KubeObject, read: ObjectRead | ListRead): boolean => {
    if (unreadable) throw new Error("the rules must not see how reading fails");
    return object.kind === read.resource.kind;
  };
  return {
    gate: (name: FeatureGate) => gates.includes(name),
    found: (read: ObjectRead) =>
      world.find((o) => isOf(o, read) && o.metadata.name === read.key.name && (o.metadata.namespace ?? "") === read.key.namespace),
    listed: (read: ListRead) =>
      world.filter(
        (o) =>
          isOf(o, read) &&
          (read.namespace === undefined || o.metadata.namespace === read.namespace) &&
          Object.entries(read.labels ?? {}).every(([key, value]) => o.metadata.labels?.[key] === value),
      ),
  };
}

const textOf = ({ allowed, status }: Verdict): string => {
  if (allowed) return "";
  if (status?.code !== 422) return String(status?.code);
  const causes = status.details?.causes ?? [];
  // Every text says something of its own.
  for (const { message } of causes) expect(message?.length).toBeGreaterThan(5);
  return causes
    .map(({ reason, field }) => `${String(reason).replace("FieldValue", "")} ${field}`)
    .sort()
    .join("; ");
};

/** Defaults, then validation, as the server asks for them (without the schema between). */
export function judge(rules: RuleSet, base: Draft, changes: Changes, circumstances: Circumstances = {}) {
  const { old, verb } = circumstances;
  const request = {
    operation: verb ?? (old ? "UPDATE" : "CREATE"),
    object: verb ? null : changed(base, changes),
    oldObject: verb ? changed(base, changes) : old ? changed(base, old) : null,
    dryRun: circumstances.dryRun ?? false,
  };
  const world = environment(circumstances);
  const first = rules.defaults ? mutate(rules, request, world) : { allowed: true };
  const object = first.object ?? request.object;
  const second = first.allowed ? validate(rules, { ...request, object }, world) : undefined;
  return { text: textOf(second ?? first), object, warnings: second?.warnings ?? [] };
}

export function table(rules: RuleSet, base: Draft, rows: readonly Row[], usual: Circumstances = {}): void {
  it.each(rows.map((row, i) => [`${i + 1} ${row[0]}`, row] as const))("%s", (_title, [, changes, wanted, circumstances]) => {
    expect(judge(rules, base, changes, { ...usual, ...circumstances }).text).toBe(wanted);
  });
}

/** Rule, what differs from the base, what the object then has. */
export type DefaultRow = readonly [rule: string, changes: Changes, wanted: Changes, circumstances?: Circumstances];

export function defaultTable(rules: RuleSet, base: Draft, rows: readonly DefaultRow[], usual: Circumstances = {}): void {
  it.each(rows.map((row, i) => [`${i + 1} ${row[0]}`, row] as const))("%s", (_title, [, changes, wanted, circumstances]) => {
    const { object, text } = judge(rules, base, changes, { ...usual, ...circumstances });
    const got = Object.fromEntries(Object.keys(wanted).map((pointer) => [pointer, valueAt(object, pointer)]));
    expect({ ...got, text }).toEqual({ ...wanted, text: "" });
  });
}
