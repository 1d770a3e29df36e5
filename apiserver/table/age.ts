// Ages as kubectl shows them. Source: k8s.io/apimachinery util/duration, HumanDuration: two units at most, whole numbers.
import { parseTimestamp } from "../../runtime/base/clock.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;

/** @param seconds negative by more than clock skew gives `<invalid>` */
export function humanDuration(seconds: number): string {
  const s = Math.floor(seconds);
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 2 * MINUTE) return `${s}s`;
  const minutes = Math.floor(s / MINUTE);
  if (minutes < 10) return two(minutes, "m", s % MINUTE, "s");
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(s / HOUR);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 2 * 24) return `${hours}h`;
  const days = Math.floor(s / DAY);
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(s / YEAR);
  if (years < 8) return two(years, "y", days % 365, "d");
  return `${years}y`;
}

/** Time since a timestamp; `<unknown>` without one. */
export function age(since: string | null | undefined, nowMs: number): string {
  if (since === undefined || since === null || since === "") return "<unknown>";
  const at = parseTimestamp(since);
  return Number.isNaN(at) ? "<unknown>" : humanDuration((nowMs - at) / 1000);
}
