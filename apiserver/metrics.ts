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

interface Counter {
  readonly labels: Readonly<Record<string, string>>;
  count: number;
}

const line = ({ labels, count }: Counter): string =>
  `apiserver_request_total{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}} ${count}\n`;

export function createRequestMetrics(): RequestMetrics {
  const counters = new Map<string, Counter>();
  return {
    count(info, dryRun, apply, code) {
      const { group, version, resource, subresource } = info;
      const verb = apply ? "APPLY" : (METHOD_OF_VERB[info.verb] ?? info.verb.toUpperCase());
      const key = `${group}/${version}/${resource}/${subresource}/${verb}/${scopeOf(info)}/${dryRun ? "All" : ""}/${code}`;
      const known = counters.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      const scope = scopeOf(info);
      const labels = {
        code: String(code),
        component: "apiserver",
        dry_run: dryRun ? "All" : "",
        group,
        resource,
        scope,
        subresource,
        verb,
        version,
      };
      counters.set(key, { labels, count: 1 });
    },
    text: () => HEAD + [...counters.values()].map(line).sort().join(""),
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
