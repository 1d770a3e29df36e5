// OpenAPI paths: /openapi/v2, /openapi/v3 and below. Here: which document is asked for; documents are made when first asked for.
// Not here: their content (documents.ts, protobuf.ts). Absent: the protobuf form of v3, which clients do without.
import type { ApiRequest, ApiResponse } from "../../api/meta/transport.ts";
import type { PathHandler, ServerContext } from "../context.ts";
import { methodNotAllowed, notAcceptable } from "../errors.ts";
import { textHash } from "../hash.ts";
import { VERSION } from "../health.ts";
import type { Registry, ResourceType } from "../registry.ts";
import { parseAccept } from "../requests/negotiate.ts";
import { documentKey, openApiV2, openApiV3 } from "./documents.ts";
import { openApiV2Protobuf } from "./protobuf.ts";

const utf8 = new TextEncoder();
const INDEX = "/openapi/v3";

interface Served {
  readonly etag: string;
  readonly bytes: Uint8Array;
}

interface Documents {
  /** Kinds by the key of their group and version, sorted. */
  readonly groups: ReadonlyMap<string, readonly ResourceType[]>;
  /** By key, `v2` or `index`. */
  readonly made: Map<string, Served>;
}

const cache = new WeakMap<Registry, { readonly revision: number; readonly documents: Documents }>();

/** A group whose kinds did not change keeps its document over a change of the registry. */
const byTypes = new WeakMap<ResourceType, { readonly types: readonly ResourceType[]; readonly served: Served }>();

function documentsOf(registry: Registry): Documents {
  const known = cache.get(registry);
  if (known?.revision === registry.revision) return known.documents;
  const groups = new Map<string, ResourceType[]>();
  for (const type of registry.all()) {
    const key = documentKey(type);
    groups.set(key, [...(groups.get(key) ?? []), type]);
  }
  const documents = { groups: new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1))), made: new Map<string, Served>() };
  cache.set(registry, { revision: registry.revision, documents });
  return documents;
}

function serve(document: object, encode?: (document: object) => Uint8Array): Served {
  const text = JSON.stringify(document);
  return { etag: `"${textHash(text).toUpperCase()}${encode ? "-P" : ""}"`, bytes: encode?.(document) ?? utf8.encode(text) };
}

function groupDocument(types: readonly ResourceType[]): Served {
  const [first] = types;
  if (!first) return serve(openApiV3([], VERSION.gitVersion));
  const known = byTypes.get(first);
  if (known && known.types.length === types.length && known.types.every((type, i) => type === types[i])) return known.served;
  const served = serve(openApiV3(types, VERSION.gitVersion));
  byTypes.set(first, { types, served });
  return served;
}

/** Each entry carries a hash, so that clients can keep documents. Made of what the document is made of, not of the document: cheap. */
function indexDocument({ groups }: Documents): Served {
  const paths = [...groups].map(([key, types]) => [key, { serverRelativeURL: `${INDEX}/${key}?hash=${groupHash(types)}` }]);
  return serve({ paths: Object.fromEntries(paths) });
}

const hashes = new WeakMap<ResourceType, string>();
function typeHash(type: ResourceType): string {
  let hash = hashes.get(type);
  if (hash === undefined) {
    const { schema, fromStorage: _, ...rest } = type;
    hash = textHash(JSON.stringify([VERSION.gitVersion, rest, type.custom ? schema : ""]));
    hashes.set(type, hash);
  }
  return hash;
}
const groupHash = (types: readonly ResourceType[]): string => textHash(types.map(typeHash).join()).toUpperCase();

function made(documents: Documents, key: string, make: () => Served): Served {
  let served = documents.made.get(key);
  if (!served) {
    served = make();
    documents.made.set(key, served);
  }
  return served;
}

function answer(
  request: ApiRequest,
  { etag, bytes }: Served,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): ApiResponse {
  const headers = { etag, vary: "Accept", ...more };
  if (request.headers["if-none-match"] === etag) return { kind: "bytes", status: 304, headers, bytes: new Uint8Array() };
  return { kind: "bytes", status: 200, headers: { "content-type": contentType, ...headers }, bytes };
}

/** Under both names that clients ask for it. The answer bears the first: the second, with its @, is no media type to a client that parses it. */
const PROTOBUF: readonly string[] = [
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/** The first of `offered` that the client takes. Throws NotAcceptable for one that takes none. */
function form(request: ApiRequest, offered: readonly string[]): string {
  const types = parseAccept(request.headers.accept ?? "").map((clause) => clause.type);
  const [first = ""] = offered;
  if (types.length === 0) return first;
  for (const type of types) {
    if (type === "*/*" || type === "application/*") return first;
    if (offered.includes(type)) return type;
  }
  throw notAcceptable(offered);
}

function handle(request: ApiRequest, path: string, server: ServerContext): ApiResponse {
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
  const documents = documentsOf(server.registry);
  if (path === INDEX)
    return answer(
      request,
      made(documents, "index", () => indexDocument(documents)),
      "text/plain; charset=utf-8",
    );
  if (path === "/openapi/v2") {
    const type = form(request, ["application/json", ...PROTOBUF]);
    const protobuf = PROTOBUF.includes(type);
    const make = (): Served => serve(openApiV2(server.registry.all(), VERSION.gitVersion), protobuf ? openApiV2Protobuf : undefined);
    return answer(request, made(documents, protobuf ? "v2 protobuf" : "v2", make), protobuf ? (PROTOBUF[0] ?? type) : type);
  }
  form(request, ["application/json"]);
  const types = documents.groups.get(path.slice(INDEX.length + 1));
  if (!types) return { kind: "bytes", status: 404, headers: {}, bytes: new Uint8Array() };
  const fixed = new URLSearchParams(request.query).get("hash") === groupHash(types);
  return answer(request, groupDocument(types), "application/json", fixed ? { "cache-control": "public, immutable" } : {});
}

export const openApiPaths: readonly PathHandler[] = [
  { matches: (path) => path === "/openapi/v2" || path === INDEX || path.startsWith(`${INDEX}/`), handle },
];
