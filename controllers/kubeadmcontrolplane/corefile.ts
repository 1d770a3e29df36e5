// The Corefile across versions of CoreDNS: what was removed and what took its place. Pure text to text.
// Not here: writing it (coredns.ts). Source: release notes of CoreDNS 1.5.0 and 1.7.0.
import { compareVersions } from "../rollout/versions.ts";

/** Releases in their order; an upgrade from or to another one is not known. */
const CHAIN: readonly string[] = (
  "1.1.3 1.1.4 1.2.0 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.2.6 1.3.0 1.3.1 1.4.0 1.5.0 1.5.1 1.5.2 1.6.0 1.6.1 1.6.2 1.6.3 1.6.4 1.6.5 1.6.6 1.6.7 " +
  "1.6.9 1.7.0 1.7.1 1.8.0 1.8.3 1.8.4 1.8.5 1.8.6 1.8.7 1.9.0 1.9.1 1.9.2 1.9.3 1.9.4 1.10.0 1.10.1 1.11.0 1.11.1 1.11.3 1.11.4 1.12.0 " +
  "1.12.1 1.12.2 1.12.3 1.12.4 1.13.0 1.13.1 1.13.2 1.14.0 1.14.1 1.14.2 1.14.3 1.14.4 1.14.6"
).split(" ");

export class CoreDnsUpgradeRefused extends Error {
  readonly code = "CoreDnsUpgradeRefused";
}

/** @throws CoreDnsUpgradeRefused for a downgrade and for a version that nobody knows how to migrate from */
export function migrateCorefile(corefile: string, from: string, to: string): string {
  if (from === to) return corefile;
  if (compareVersions(from, to) > 0) {
    throw new CoreDnsUpgradeRefused(
      `CoreDNS cannot go back from ${from} to ${to}: set spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag to a later version`,
    );
  }
  if (!CHAIN.includes(from)) {
    throw new CoreDnsUpgradeRefused(
      `the Corefile of CoreDNS ${from} cannot be migrated: annotate the control plane with controlplane.cluster.x-k8s.io/skip-coredns and upgrade by hand`,
    );
  }
  let migrated = corefile;
  if (crosses("1.5.0", from, to)) migrated = withReady(proxyToForward(migrated));
  if (crosses("1.7.0", from, to)) migrated = withoutRemoved(migrated);
  return migrated;
}

const crosses = (at: string, from: string, to: string): boolean => compareVersions(from, at) < 0 && compareVersions(to, at) >= 0;

interface Line {
  readonly text: string;
  readonly words: readonly string[];
  /** Blocks around the line: 1 inside a server block, 2 inside a plugin's block. */
  readonly depth: number;
  /** The plugin whose block the line is in, at depth 2. */
  readonly plugin?: string;
}

function linesOf(corefile: string): readonly Line[] {
  const lines: Line[] = [];
  let depth = 0;
  let plugin: string | undefined;
  for (const text of corefile.split("\n")) {
    const words = text
      .trim()
      .split(/\s+/)
      .filter((w) => w !== "");
    if (words[0] === "}") depth--;
    if (depth < 2) plugin = undefined;
    lines.push({ text, words, depth, ...(plugin === undefined ? {} : { plugin }) });
    if (words.at(-1) === "{") {
      if (depth === 1) plugin = words[0];
      depth++;
    }
  }
  return lines;
}

/** `proxy` became `forward`; of its options those with the same meaning stay. */
function proxyToForward(corefile: string): string {
  const kept = ["except", "force_tcp", "prefer_udp", "expire", "max_fails", "tls", "tls_servername", "policy", "health_check"];
  return linesOf(corefile)
    .filter((line) => !(line.plugin === "proxy" && line.depth === 2 && line.words.length > 0 && !kept.includes(line.words[0] ?? "")))
    .map((line) => (line.depth === 1 && line.words[0] === "proxy" ? line.text.replace("proxy", "forward") : line.text))
    .join("\n");
}

/** Readiness got a plugin of its own; the first server block serves it. */
function withReady(corefile: string): string {
  const lines = linesOf(corefile);
  if (lines.some((l) => l.depth === 1 && l.words[0] === "ready")) return corefile;
  const before = lines.findIndex((l) => l.depth === 1 && l.words[0] === "kubernetes");
  if (before < 0) return corefile;
  const indent = /^\s*/.exec(lines[before]?.text ?? "")?.[0] ?? "    ";
  const texts = lines.map((l) => l.text);
  return [...texts.slice(0, before), `${indent}ready`, ...texts.slice(before)].join("\n");
}

const REMOVED_OPTIONS = ["upstream", "resyncperiod"];

/** `federation`, and options of `kubernetes` that do nothing any more and would stop the start. */
function withoutRemoved(corefile: string): string {
  const lines = linesOf(corefile);
  return lines
    .filter((line, i) => {
      if (line.plugin === "kubernetes" && line.depth === 2) return !REMOVED_OPTIONS.includes(line.words[0] ?? "");
      if (line.plugin === "federation") return false;
      if (line.depth === 1 && line.words[0] === "federation") return false;
      return !(line.depth === 1 && line.words[0] === "}" && lines[i - 1] !== undefined && endsFederation(lines, i));
    })
    .map((line) => line.text)
    .join("\n");
}

/** The closing brace at `i` belongs to a federation block. */
function endsFederation(lines: readonly Line[], i: number): boolean {
  for (let j = i - 1; j >= 0; j--) {
    const line = lines[j];
    if (line?.depth !== 1) continue;
    return line.words[0] === "federation" && line.words.at(-1) === "{";
  }
  return false;
}
