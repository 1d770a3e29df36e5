// A server small enough to read, for tests of the runtime alone: one flat map, one history, faults on demand.
// Here: get, list with pages, create, merge patch, delete, watch, 410. Not here: anything a controller's test should use (apiserver/).
import type { KubeObject } from "../../api/meta/object.ts";
import type { ApiRequest, ApiResponse, Transport, WatchEvent, WatchSink } from "../../api/meta/transport.ts";

type Any = KubeObject & { readonly [key: string]: unknown };

interface Watcher {
  readonly prefix: string;
  readonly sink: WatchSink;
  next: number;
}

export interface MiniServer {
  readonly transport: Transport;
  /** Ends every open watch, as a network would. */
  dropWatches(): void;
  /** Forgets history up to now: a resume from before answers 410. */
  compact(): void;
  /** While true watches are open but silent; setting it to false delivers what was missed. */
  stall(on: boolean): void;
  /** Every answer that is not undefined takes the place of the real one. */
  fault: (request: ApiRequest) => ApiResponse | undefined;
  objects(): readonly Any[];
  readonly requests: string[];
  watcherCount(): number;
}

export const refusal = (code: number, reason: string, message = reason): ApiResponse => ({
  kind: "object",
  status: code,
  headers: {},
  object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, message, code },
});

const ok = (object: object, status = 200): ApiResponse => ({ kind: "object", status, headers: {}, object });

/** `/apis/g/v/namespaces/ns/things/a` becomes `/apis/g/v/things/ns/a`, so that all namespaces share a prefix; namespaced kinds only. */
function flat(path: string): { readonly path: string; readonly named: boolean } {
  const match = /^(\/apis?\/.+?)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?/.exec(path);
  if (!match) return { path, named: false };
  const [, root, namespace, plural, name] = match;
  return { path: `${root}/${plural}/${namespace}${name === undefined ? "" : `/${name}`}`, named: name !== undefined };
}

export function miniServer(): MiniServer {
  const objects = new Map<string, Any>();
  const history: { path: string; version: number; event: WatchEvent }[] = [];
  const watchers = new Set<Watcher>();
  let version = 100;
  let uids = 0;
  let oldest = 0;
  let stalled = false;

  const pump = (): void => {
    if (stalled) return;
    for (const w of [...watchers]) {
      while (watchers.has(w) && w.next < history.length) {
        const entry = history[w.next++];
        if (entry?.path.startsWith(w.prefix)) w.sink.event(entry.event, () => new Uint8Array());
      }
    }
  };
  const commit = (type: "ADDED" | "MODIFIED" | "DELETED", path: string, object: Any): Any => {
    version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === "DELETED") objects.delete(path);
    else objects.set(path, stored);
    history.push({ path, version, event: { type, object: stored } });
    pump();
    return stored;
  };
  const list = (path: string, query: URLSearchParams): ApiResponse => {
    const all = [...objects].filter(([p]) => p.startsWith(`${path}/`)).sort(([a], [b]) => (a < b ? -1 : 1));
    const from = Number(query.get("continue") ?? 0);
    const limit = Number(query.get("limit") ?? all.length);
    const items = all.slice(from, from + limit).map(([, o]) => o);
    const next = from + limit < all.length ? String(from + limit) : undefined;
    return ok({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: String(version), continue: next }, items });
  };
  const watch = (path: string, query: URLSearchParams): ApiResponse => {
    const from = Number(query.get("resourceVersion"));
    if (from < oldest) return refusal(410, "Expired");
    return {
      kind: "watch",
      status: 200,
      headers: {},
      subscribe: (sink) => {
        const at = history.findIndex((h) => h.version > from);
        const watcher: Watcher = { prefix: `${path}/`, sink, next: at < 0 ? history.length : at };
        watchers.add(watcher);
        pump();
        return () => void watchers.delete(watcher);
      },
    };
  };
  const answer = (request: ApiRequest): ApiResponse => {
    const { path, named } = flat(request.path);
    const query = new URLSearchParams(request.query);
    const old = objects.get(path);
    const body = request.body as Any | undefined;
    switch (request.method) {
      case "GET":
        if (query.get("watch")) return watch(path, query);
        if (old) return ok(old);
        return named ? refusal(404, "NotFound") : list(path, query);
      case "POST": {
        const at = `${path}/${body?.metadata.name}`;
        if (objects.has(at)) return refusal(409, "AlreadyExists");
        return ok(commit("ADDED", at, { ...(body as Any), metadata: { ...body?.metadata, uid: `uid-${++uids}` } }), 201);
      }
      case "PATCH": {
        if (!old) return refusal(404, "NotFound");
        const metadata = { ...old.metadata, ...body?.metadata };
        return ok(commit("MODIFIED", path, { ...old, ...body, metadata } as Any));
      }
      case "DELETE":
        if (!old) return refusal(404, "NotFound");
        commit("DELETED", path, old);
        return ok({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 200 });
      default:
        return refusal(405, "MethodNotAllowed");
    }
  };

  const server: MiniServer = {
    transport: async (request) => {
      server.requests.push(`${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`);
      return server.fault(request) ?? answer(request);
    },
    dropWatches: () => {
      const open = [...watchers];
      watchers.clear();
      for (const w of open) w.sink.end();
    },
    compact: () => {
      oldest = version;
    },
    stall: (on) => {
      stalled = on;
      pump();
    },
    fault: () => undefined,
    objects: () => [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, o]) => o),
    requests: [],
    watcherCount: () => watchers.size,
  };
  return server;
}
