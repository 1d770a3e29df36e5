// Kubernetes versions. Here: parse and compare by major, minor, patch. Source: semver 2; a leading v is usual.
import { parse } from "semver";

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** As it was written. */
  readonly text: string;
}

export function parseVersion(text: string | undefined): Version | undefined {
  const v = text === undefined ? null : parse(text.replace(/^v/, ""));
  return v && text !== undefined ? { major: v.major, minor: v.minor, patch: v.patch, text } : undefined;
}

/** Negative when `a` is older. Pre-releases and build metadata do not count. */
export const compareVersions = (a: Version, b: Version): number => a.major - b.major || a.minor - b.minor || a.patch - b.patch;
