// The functions that Kubernetes adds to CEL: strings, lists, regular expressions, sets, time. Here: registration and small bodies.
// Not here: network and number types (library-types.ts), comprehensions (comprehensions.ts).
// Source: Kubernetes documentation, "Common Expression Language in Kubernetes"; cel-go extensions.
import { Environment } from "@marcbachmann/cel-js";
import type { Duration } from "@marcbachmann/cel-js/evaluator";
import { registerComprehensions, registerFormat } from "./comprehensions.ts";
import { registerLists } from "./library-lists.ts";
import { registerOptionals } from "./library-optionals.ts";
import { registerTypes } from "./library-types.ts";
import { type Register, registrar } from "./register.ts";
import * as strings from "./strings.ts";
import { celEqual, parseDuration } from "./value.ts";

const ours = (names: string): ReadonlyMap<string, string> => new Map(names.split(" ").map((name) => [name, `__${name}`]));

/**
 * The core library's own versions of these differ from CEL (UTF-16 units, JavaScript patterns, Unicode case, no offsets of time) and
 * cannot be registered anew; a parsed rule calls ours instead, under these names (program.ts renames them).
 */
export const RENAMED_METHODS = ours(
  "matches indexOf lastIndexOf substring split join lowerAscii upperAscii getSeconds getMinutes getHours getMilliseconds getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getMonth",
);
export const RENAMED_FUNCTIONS = ours("matches duration");

const TIME = "google.protobuf.Timestamp";
const SPAN = "google.protobuf.Duration";
const DAY_MS = 86_400_000;

const startOfYearMs = (time: Date): number => Date.UTC(time.getUTCFullYear(), 0, 1);

/** Parts of a time in UTC. Source: CEL language definition; months and some days count from zero. */
const TIME_PARTS: Readonly<Record<string, (time: Date) => number>> = {
  getSeconds: (t) => t.getUTCSeconds(),
  getMinutes: (t) => t.getUTCMinutes(),
  getHours: (t) => t.getUTCHours(),
  getMilliseconds: (t) => t.getUTCMilliseconds(),
  getDate: (t) => t.getUTCDate(),
  getDayOfMonth: (t) => t.getUTCDate() - 1,
  getDayOfWeek: (t) => t.getUTCDay(),
  getDayOfYear: (t) => Math.floor((t.getTime() - startOfYearMs(t)) / DAY_MS),
  getFullYear: (t) => t.getUTCFullYear(),
  getMonth: (t) => t.getUTCMonth(),
};
const SPAN_UNITS: Readonly<Record<string, bigint>> = {
  getSeconds: 1_000_000_000n,
  getMinutes: 60_000_000_000n,
  getHours: 3_600_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** All of it; clone it to add variables. */
export function kubernetesEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: true });
  const register = registrar(environment);
  registerStrings(environment, register);
  registerLists(environment, register);
  registerOptionals(environment, register);
  registerTime(register);
  registerSets(environment, register);
  registerTypes(environment, register);
  registerComprehensions(environment);
  return environment;
}

function registerStrings(environment: Environment, register: Register): void {
  const pattern = strings.patternCache();
  register("string.__matches(string): bool", (text: string, re: string) => pattern(re).test(text));
  register("__matches(string, string): bool", (text: string, re: string) => pattern(re).test(text));
  register("string.find(string): string", (text: string, re: string) => strings.find(text, pattern(re)));
  register("string.findAll(string): list<string>", (text: string, re: string) => strings.findAll(text, pattern(re)));
  register("string.findAll(string, int): list<string>", (text: string, re: string, limit: bigint) =>
    strings.findAll(text, pattern(re), limit),
  );
  register("string.charAt(int): string", strings.charAt);
  register("string.__indexOf(string): int", (text: string, part: string) => strings.indexOf(text, part));
  register("string.__indexOf(string, int): int", strings.indexOf);
  register("string.__lastIndexOf(string): int", (text: string, part: string) => strings.lastIndexOf(text, part));
  register("string.__lastIndexOf(string, int): int", strings.lastIndexOf);
  register("string.__substring(int): string", (text: string, start: bigint) => strings.substring(text, start));
  register("string.__substring(int, int): string", strings.substring);
  register("string.__split(string): list<string>", (text: string, by: string) => strings.split(text, by));
  register("string.__split(string, int): list<string>", strings.split);
  register("list<string>.__join(): string", (parts: Iterable<string>) => [...parts].join(""));
  register("list<string>.__join(string): string", (parts: Iterable<string>, by: string) => [...parts].join(by));
  register("string.replace(string, string): string", (text: string, old: string, by: string) => strings.replace(text, old, by));
  register("string.replace(string, string, int): string", strings.replace);
  register("string.__lowerAscii(): string", strings.lowerAscii);
  register("string.__upperAscii(): string", strings.upperAscii);
  register("string.reverse(): string", strings.reverse);
  registerFormat(environment);
}

function registerTime(register: Register): void {
  const zoned = (time: Date, zone: string): Date => new Date(time.getTime() + zoneOffsetMs(time, zone));
  for (const [name, read] of Object.entries(TIME_PARTS)) {
    register(`${TIME}.__${name}(): int`, (time: Date) => BigInt(read(time)));
    register(`${TIME}.__${name}(string): int`, (time: Date, zone: string) => BigInt(read(zoned(time, zone))));
  }
  for (const [name, unit] of Object.entries(SPAN_UNITS))
    register(`${SPAN}.__${name}(): int`, (span: Duration) => strings.nanosOf(span) / unit);
  register(`string(${TIME}): string`, strings.timestampText);
  register(`string(${SPAN}): string`, strings.durationText);
  register(`int(${TIME}): int`, (time: Date) => BigInt(Math.floor(time.getTime() / 1000)));
  register(`int(${SPAN}): int`, strings.nanosOf);
  register("int(uint): int", (value: { valueOf(): bigint }) => value.valueOf());
  register(`timestamp(${TIME}): ${TIME}`, (time: Date) => time);
  register(`__duration(string): ${SPAN}`, parseDuration);
  register(`__duration(${SPAN}): ${SPAN}`, (span: Duration) => span);
  register(`__duration(int): ${SPAN}`, (nanos: bigint) => parseDuration(`${nanos}ns`));
}

/** Minutes and hours of a fixed offset such as `-07:00`, or the rules of a named zone. */
function zoneOffsetMs(time: Date, zone: string): number {
  const fixed = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed) return (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(time);
  const part = (type: string): number => Number(parts.find((p) => p.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(time.getTime() / 1000) * 1000;
}

class SetsNamespace {}

function registerSets(environment: Environment, register: Register): void {
  environment.registerType("SetsNamespace", SetsNamespace);
  environment.registerConstant("sets", "SetsNamespace", new SetsNamespace() as never);
  const contains = (list: Iterable<unknown>, part: Iterable<unknown>): boolean => {
    const all = [...list];
    return [...part].every((item) => all.some((other) => celEqual(other, item)));
  };
  register("SetsNamespace.contains(list<T>, list<T>): bool", (_: unknown, a: Iterable<unknown>, b: Iterable<unknown>) => contains(a, b));
  register(
    "SetsNamespace.equivalent(list<T>, list<T>): bool",
    (_: unknown, a: Iterable<unknown>, b: Iterable<unknown>) => contains(a, b) && contains(b, a),
  );
  register("SetsNamespace.intersects(list<T>, list<T>): bool", (_: unknown, a: Iterable<unknown>, b: Iterable<unknown>) => {
    const all = [...a];
    return [...b].some((item) => all.some((other) => celEqual(other, item)));
  });
}
