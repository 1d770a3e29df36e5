// Discovery paths: /, /api, /apis and below, in both forms. Here: which document a path and an Accept header get, cached by registry revision.
// Not here: the documents (groups.ts), OpenAPI (../openapi), /version and health (../health.ts).
import type { ApiRequest, ApiResponse } from "../../api/meta/transport.ts";
import type { PathHandler, ServerContext } from "../context.ts";
import { methodNotAllowed } from "../errors.ts";
import { textHash } from "../hash.ts";
import type { Registry } from "../registry.ts";
import { parseAccept } from "../requests/negotiate.ts";
import { aggregatedDocument, type Group, groupDocument, groupListDocument, groupsOf, resourceListDocument } from "./groups.ts";

const JSON_TYPE = "application/json";
const DISCOVERY_PATH = /^\/(?:api|apis)?(?:\/|$)/;
const utf8 = new TextEncoder();

interface Documents {
  readonly groups: readonly Group[];
  /** By path, or by path and form: the answer of an unconditional GET. */
  readonly answers: Map<string, ApiResponse>;
}

/** Documents of a registry, made when first asked for, dropped when the registry changes. */
const cache = new WeakMap<Registry, { readonly revision: number; readonly documents: Documents }>();

function documentsOf(registry: Registry): Documents {
  const known = cache.get(registry);
  if (known?.revision === registry.revision) return known.documents;
  const documents: Documents = { groups: groupsOf(registry.all()), answers: new Map() };
  cache.set(registry, { revision: registry.revision, documents });
  return documents;
}

/** `v2` or `v2beta1` when the client would rather have the aggregated form; undefined for the plain one. */
function aggregatedVersion(accept: string): string | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== JSON_TYPE && type !== "*/*") continue;
    const [as, version] = [parameters.get("as"), parameters.get("v") ?? ""];
    if (as === undefined) return undefined;
    const known = as === "APIGroupDiscoveryList" && parameters.get("g") === "apidiscovery.k8s.io";
    if (known && (version === "v2" || version === "v2beta1")) return version;
  }
  return undefined;
}

function jsonAnswer(document: object, contentType = JSON_TYPE): ApiResponse {
  const text = `${JSON.stringify(document)}\n`;
  const headers = { "content-type": contentType, etag: `"${textHash(text)}"`, vary: "Accept" };
  return { kind: "bytes", status: 200, headers, bytes: utf8.encode(text) };
}

const pageNotFound = (): ApiResponse => ({
  kind: "bytes",
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  bytes: utf8.encode("404 page not found\n"),
});

/** The same document again is not sent again. */
function conditional(request: ApiRequest, answer: ApiResponse): ApiResponse {
  const etag = answer.headers.etag;
  const seen = request.headers["if-none-match"];
  if (etag === undefined || seen === undefined) return answer;
  const matches = seen.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
  return matches ? { kind: "bytes", status: 304, headers: { etag, vary: "Accept" }, bytes: new Uint8Array() } : answer;
}

const OTHER_PATHS = [
  "/healthz",
  "/healthz/etcd",
  "/healthz/log",
  "/healthz/ping",
  "/livez",
  "/livez/ping",
  "/openapi/v2",
  "/openapi/v3",
  "/readyz",
  "/readyz/ping",
  "/version",
];

function rootDocument(groups: readonly Group[]): object {
  const paths = groups.flatMap(({ name, versions }) =>
    name === ""
      ? ["/api", ...versions.map((v) => `/api/${v.version}`)]
      : [`/apis/${name}`, ...versions.map((v) => `/apis/${name}/${v.version}`)],
  );
  return { paths: ["/apis", ...paths, ...OTHER_PATHS].sort() };
}

function legacyDocument(groups: readonly Group[], path: string, host: string): object | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const core = groups.find((g) => g.name === "");
  if (parts.length === 0) return rootDocument(groups);
  if (path === "/apis") return groupListDocument(groups);
  if (path === "/api") {
    return {
      kind: "APIVersions",
      versions: core?.versions.map((v) => v.version) ?? [],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
    };
  }
  const group = parts[0] === "api" ? core : groups.find((g) => g.name !== "" && g.name === parts[1]);
  if (!group) return undefined;
  const [version, rest] = parts[0] === "api" ? [parts[1], parts[2]] : [parts[2], parts[3]];
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupDocument(group) };
  const found = group.versions.find((v) => v.version === version);
  return found === undefined || rest !== undefined ? undefined : resourceListDocument(found);
}

function answerOf(documents: Documents, request: ApiRequest, path: string): ApiResponse {
  const version = path === "/api" || path === "/apis" ? aggregatedVersion(request.headers.accept ?? "") : undefined;
  const key = version === undefined ? path : `${path};${version}`;
  const known = documents.answers.get(key);
  if (known) return known;
  const { groups } = documents;
  let answer: ApiResponse;
  if (version !== undefined) {
    const wanted = groups.filter((g) => (g.name === "") === (path === "/api"));
    answer = jsonAnswer(aggregatedDocument(wanted, version), `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
  } else {
    const document = legacyDocument(groups, path, request.headers.host ?? "localhost");
    if (document === undefined) return pageNotFound();
    answer = jsonAnswer(document);
    if (path === "/api") return answer; // names the host that was asked
  }
  documents.answers.set(key, answer);
  return answer;
}

/** Answers `/`, `/api`, `/apis` and group and version paths; kinds come and go with the registry. */
export const discoveryPaths: readonly PathHandler[] = [
  {
    matches: (path) => DISCOVERY_PATH.test(path),
    handle: (request: ApiRequest, path: string, server: ServerContext): ApiResponse => {
      if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
      return conditional(request, answerOf(documentsOf(server.registry), request, path));
    },
  },
];
