// Paths that say how the server is and what it is: /healthz, /livez, /readyz, /version. Not here: discovery.
import type { ApiResponse } from "../api/meta/transport.ts";
import type { PathHandler } from "./context.ts";

/** The release whose behaviour is matched. */
export const VERSION = Object.freeze({
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.3",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
});

const utf8 = new TextEncoder();

export const textAnswer = (status: number, text: string): ApiResponse => ({
  kind: "bytes",
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  bytes: utf8.encode(text),
});

const CHECKS = ["ping", "log", "etcd", "informer-sync", "poststarthook/rbac/bootstrap-roles"];
const HEALTH_PATH = /^\/(healthz|livez|readyz)(\/.*)?$/;

function health(path: string, query: URLSearchParams): ApiResponse | undefined {
  const [, kind = "", below] = HEALTH_PATH.exec(path) ?? [];
  if (below !== undefined) return CHECKS.includes(below.slice(1)) ? textAnswer(200, "ok") : undefined;
  if (!query.has("verbose")) return textAnswer(200, "ok");
  return textAnswer(200, `${CHECKS.map((check) => `[+]${check} ok`).join("\n")}\n${kind} check passed\n`);
}

export const healthPaths: readonly PathHandler[] = [
  { matches: (path) => HEALTH_PATH.test(path), handle: (request, path) => health(path, new URLSearchParams(request.query)) },
  {
    matches: (path) => path === "/version",
    handle: () => ({ kind: "object", status: 200, headers: { "content-type": "application/json" }, object: VERSION }),
  },
];
