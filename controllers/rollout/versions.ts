// Kubernetes versions. Here: reading, comparing and counting them. Source: spec/api/common.md section 6.

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** @param text with or without a leading `v`  @throws Error when it is no version */
export function parseVersion(text: string): Version {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text.trim());
  if (!match) throw new Error(`"${text}" is no version: write it like v1.35.0`);
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** By numbers; texts that are no versions come last, by name. */
export function compareVersions(a: string, b: string): number {
  try {
    const [x, y] = [parseVersion(a), parseVersion(b)];
    return x.major - y.major || x.minor - y.minor || x.patch - y.patch || (a < b ? -1 : a > b ? 1 : 0);
  } catch {
    return a < b ? -1 : a > b ? 1 : 0;
  }
}

export interface VersionCount {
  readonly version: string;
  readonly replicas: number;
}

/** How often each version is in use, ordered by version; undefined when none is known. */
export function countVersions(counts: readonly VersionCount[]): readonly VersionCount[] | undefined {
  const sums = new Map<string, number>();
  for (const { version, replicas } of counts) sums.set(version, (sums.get(version) ?? 0) + replicas);
  if (sums.size === 0) return undefined;
  return [...sums].sort(([a], [b]) => compareVersions(a, b)).map(([version, replicas]) => ({ version, replicas }));
}
