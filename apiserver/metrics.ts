// Counters of requests, in the names and the text form of kube-apiserver's /metrics. Here: counting and writing. Not here: when (requests/handle.ts).
import type { ApiResponse } from "../api/meta/transport.ts";
import type { PathHandler } from "./context.ts";
import type { RequestInfo } from "./auth-seam.ts";

export interface RequestMetrics {
  /** Counts one answered request; `verb` as authorization sees it. */
  count(info: RequestInfo, dryRun: boolean, apply: boolean, code: number): void;
  /** Prometheus text format. */
  text(): string;
}

const METHOD_OF_VERB: Readonly<Record<string, string>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
};
const HEAD = `# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.
# TYPE apiserver_request_total counter
`;

const escaped = (text: string): string => text.replace(/[\\"\n]/g, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`));

function scopeOf(info: RequestInfo): string {
  if (!info.isResource) return "";
  if (info.name !== "") return "resource";
  return info.namespace === "" ? "cluster" : "namespace";
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, number>();
  return {
    count(info, dryRun, apply, code) {
      const verb = apply ? "APPLY" : (METHOD_OF_VERB[info.verb] ?? info.verb.toUpperCase());
      const labels = `code="${code}",component="apiserver",dry_run="${dryRun ? "All" : ""}",group="${escaped(info.group)}",resource="${escaped(info.resource)}",scope="${scopeOf(info)}",subresource="${escaped(info.subresource)}",verb="${escaped(verb)}",version="${escaped(info.version)}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    text() {
      const lines = [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([labels, count]) => `apiserver_request_total{${labels}} ${count}\n`);
      return HEAD + lines.join("");
    },
  };
}

const utf8 = new TextEncoder();

export const metricsPath = (metrics: RequestMetrics): PathHandler => ({
  matches: (path) => path === "/metrics",
  handle: (): ApiResponse => ({
    kind: "bytes",
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    bytes: utf8.encode(metrics.text()),
  }),
});
