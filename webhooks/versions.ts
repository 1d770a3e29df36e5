// Kubernetes versions: strict and tolerant reading, order with and without pre-releases and build tags.
// Here: pure texts and numbers. Source: spec/api/common.md section 6; semver 2.
import { compare } from "semver";
import { type FieldError, invalid } from "../schema/field.ts";

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Without a leading v; equal versions have equal texts. */
  readonly text: string;
  readonly build: readonly string[];
}

function strictVersion(text: string): Version | undefined {
  const match = SEMVER.exec(text);
  if (!match) return undefined;
  const [, major, minor, patch, , build] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), text, build: build === undefined ? [] : build.split(".") };
}

/** Blanks, one leading v and leading zeros are fine; minor and patch may be missing when nothing follows. */
export function tolerantVersion(given: string): Version | undefined {
  const [major = "", minor, ...rest] = given.trim().replace(/^v/, "").split(".");
  const parts = minor === undefined ? [major] : rest.length === 0 ? [major, minor] : [major, minor, rest.join(".")];
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) return undefined;
  const padded = [...parts, "0", "0"].slice(0, 3).map((part) => part.replace(/^0+(?=\d)/, ""));
  return strictVersion(padded.join("."));
}

/** Negative, 0 or positive; pre-releases and build tags do not count. */
export const compareCore = (a: Version, b: Version): number => a.major - b.major || a.minor - b.minor || a.patch - b.patch;

/** @returns "differs" for build tags that have no order, such as hashes */
export function compareWithBuild(a: Version, b: Version): number | "differs" {
  const order = compare(a.text, b.text);
  if (order !== 0) return order;
  for (const [i, mine] of a.build.entries()) {
    const theirs = b.build[i];
    if (theirs === undefined) return 1;
    const one = compareTags(mine, theirs);
    if (one !== 0) return one;
  }
  return a.build.length - b.build.length;
}

const isNumber = (tag: string): boolean => /^\d+$/.test(tag);

function compareTags(a: string, b: string): number | "differs" {
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  if (isNumber(a)) return Number(a) - Number(b);
  return a === b ? 0 : "differs";
}

/** Strict: a leading `v`, then semver 2 with three numbers; each fault is an error of its own. */
export function versionErrors(version: string | undefined, path: string): readonly FieldError[] {
  if (version === undefined || version === "") return [];
  const errors: FieldError[] = [];
  if (!version.startsWith("v")) errors.push(invalid(path, version, "must begin with v, as in v1.35.0"));
  if (!strictVersion(version.replace(/^v/, ""))) errors.push(invalid(path, version, "must be a semantic version such as v1.35.0"));
  return errors;
}
