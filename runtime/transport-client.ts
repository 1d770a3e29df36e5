// A Client over a Transport: in process or over HTTPS, the same code. Here: requests built, answers and refusals read.
// Not here: the server (apiserver/), sockets (real/https-transport.ts).
import type { KubeList, KubeObject } from "../api/meta/object.ts";
import { apiVersionOf, keyOf, type ObjectKey, pathOf, type Resource } from "../api/meta/resource.ts";
import { type Status, StatusError } from "../api/meta/status.ts";
import type { ApiRequest, ApiResponse, Transport, UserInfo, WatchEvent } from "../api/meta/transport.ts";
import type {
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  ReadOptions,
  WatchHandle,
  WatchHandler,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { frozen } from "../schema/equal.ts";

export interface TransportClientOptions {
  readonly transport: Transport;
  /** For every write that does not name another; absent = the server derives one from the user agent. */
  readonly fieldManager?: string;
  /** In process: who asks. Over sockets the transport's credentials say it. */
  readonly user?: UserInfo;
  /** Default `theseus`. */
  readonly userAgent?: string;
}

const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const METADATA = "PartialObjectMetadata";
const METADATA_LIST = "PartialObjectMetadataList";

/** A kind read as metadata names the form in Accept; the object's own form is not offered, so that content never comes by mistake. */
const readHeaders = (base: Readonly<Record<string, string>>, resource: Resource, as: string): Readonly<Record<string, string>> =>
  resource.metadataOnly ? { ...base, accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } : base;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function transportClient(options: TransportClientOptions): Client {
  const { transport, fieldManager, user } = options;
  const base = { accept: "application/json", "user-agent": options.userAgent ?? "theseus" };

  const read = (resource: Resource, as: string, path: string, query: Query): Promise<ApiResponse> =>
    transport({ method: "GET", path, query: queryText(query), headers: readHeaders(base, resource, as), ...(user ? { user } : {}) });
  const send = (method: string, path: string, query: Query, body?: object, contentType = "application/json"): Promise<ApiResponse> => {
    const headers = body === undefined ? base : { ...base, "content-type": contentType };
    const request: ApiRequest = {
      method,
      path,
      query: queryText(query),
      headers,
      ...(body === undefined ? {} : { body }),
      ...(user ? { user } : {}),
    };
    return transport(request);
  };
  const object = async <T>(answer: Promise<ApiResponse>): Promise<T> => bodyOf(await answer) as T;
  const writeQuery = (o: WriteOptions | undefined): Query => ({
    fieldManager: o?.fieldManager ?? fieldManager,
    dryRun: o?.dryRun ? "All" : undefined,
    fieldValidation: o?.fieldValidation,
  });

  return {
    get: (resource, key, o?: ReadOptions) =>
      object(read(resource, METADATA, pathOf(resource, key.namespace, key.name), { resourceVersion: o?.resourceVersion })),
    list: async <K extends KubeObject>(resource: Resource<K>, o?: ListOptions): Promise<KubeList<K>> =>
      named(resource, await object<KubeList<K>>(read(resource, METADATA_LIST, pathOf(resource, o?.namespace), listQuery(o)))),
    create: (resource, body, o) =>
      object(
        o?.subresource === undefined
          ? send("POST", pathOf(resource, keyOf(body).namespace), writeQuery(o), body)
          : send("POST", pathOf(resource, keyOf(body).namespace, keyOf(body).name, o.subresource), writeQuery(o), body),
      ),
    update: (resource, body, o) => object(send("PUT", pathOfObject(resource, keyOf(body), o), writeQuery(o), body)),
    patch: (resource, key, patch: Patch, o) =>
      object(send("PATCH", pathOfObject(resource, key, o), writeQuery(o), patch.body, PATCH_TYPES[patch.type])),
    apply: (resource, body, o?: ApplyOptions) => {
      const query = { ...writeQuery(o), force: o?.force ? true : undefined };
      return object(send("PATCH", pathOfObject(resource, keyOf(body), o), query, body, PATCH_TYPES.apply));
    },
    delete: async (resource, key, o) => {
      await object(send("DELETE", pathOf(resource, key.namespace, key.name), {}, deleteBody(o)));
    },
    watch: async (resource, o, handler) => watch(transport, resource, o, handler, readHeaders(base, resource, METADATA), user),
    raw: async (path) => {
      const [bare = "", query = ""] = path.split("?", 2);
      return bodyOf(await transport({ method: "GET", path: bare, query, headers: base, ...(user ? { user } : {}) }));
    },
    as: (manager) => transportClient({ ...options, fieldManager: manager }),
  };
}

const pathOfObject = (resource: Resource, key: ObjectKey, o: WriteOptions | undefined): string =>
  pathOf(resource, key.namespace, key.name, o?.subresource);

const listQuery = (o: ListOptions | undefined): Query => ({
  labelSelector: o?.labelSelector,
  fieldSelector: o?.fieldSelector,
  limit: o?.limit,
  continue: o?.continue,
  resourceVersion: o?.resourceVersion,
});

function queryText(query: Query): string {
  let text = "";
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    text += `${text === "" ? "" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

const deleteBody = (o: DeleteOptions | undefined): object | undefined =>
  o && {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(o.propagationPolicy ? { propagationPolicy: o.propagationPolicy } : {}),
    ...(o.preconditions ? { preconditions: o.preconditions } : {}),
    ...(o.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: o.gracePeriodSeconds }),
    ...(o.dryRun ? { dryRun: ["All"] } : {}),
  };

/** Items of a list of a built-in kind come without apiVersion and kind; a reader wants whole objects. */
function named<K extends KubeObject>(resource: Resource<K>, list: KubeList<K>): KubeList<K> {
  const first = list.items?.[0];
  if (!first) return list.items ? list : { ...list, items: [] };
  if (first.kind) return list;
  return { ...list, items: list.items.map((item) => ({ ...item, apiVersion: apiVersionOf(resource), kind: resource.kind })) };
}

const decoder = new TextDecoder();

function bodyOf(answer: ApiResponse): unknown {
  if (answer.kind === "watch" || answer.kind === "upgrade") {
    throw new Error(`the server answered a plain request with a ${answer.kind} (HTTP ${answer.status})`);
  }
  const body = answer.kind === "object" ? answer.object : parse(answer.bytes, answer.headers["content-type"] ?? "", answer.status);
  if (answer.status >= 400) throw new StatusError(statusOf(body, answer.status));
  return body;
}

function parse(bytes: Uint8Array, contentType: string, status: number): unknown {
  const text = decoder.decode(bytes);
  if (!contentType.includes("json")) return text;
  try {
    return frozen(JSON.parse(text));
  } catch {
    throw new Error(`the server answered HTTP ${status} with a body that is not JSON: ${text.slice(0, 200)}`);
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A refusal that is not a Status (a proxy's text, say) becomes one with the reason that belongs to its code. */
function statusOf(body: unknown, code: number): Status {
  const given = body as Partial<Status> | undefined;
  if (given && typeof given === "object" && given.kind === "Status") return { ...(given as Status), code: given.code ?? code };
  const message = typeof body === "string" && body.trim() !== "" ? body.trim().slice(0, 512) : `the server answered HTTP ${code}`;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: REASONS[code] ?? "", code };
}

async function watch<K extends KubeObject>(
  transport: Transport,
  resource: Resource<K>,
  o: WatchOptions,
  handler: WatchHandler<K>,
  headers: Readonly<Record<string, string>>,
  user: UserInfo | undefined,
): Promise<WatchHandle> {
  const query: Query = {
    ...listQuery(o),
    watch: true,
    allowWatchBookmarks: o.allowWatchBookmarks ? true : undefined,
    sendInitialEvents: o.sendInitialEvents,
    resourceVersionMatch: o.sendInitialEvents === undefined ? undefined : "NotOlderThan",
    timeoutSeconds: o.timeoutSeconds,
  };
  const answer = await transport({
    method: "GET",
    path: pathOf(resource, o.namespace),
    query: queryText(query),
    headers,
    ...(user ? { user } : {}),
  });
  if (answer.kind !== "watch") {
    bodyOf(answer);
    throw new Error(`the server answered a watch of ${resource.plural} with HTTP ${answer.status} and no stream`);
  }
  let over = false;
  const finish = (cause?: Error): void => {
    if (over) return;
    over = true;
    handler.end(cause);
  };
  const cancel = answer.subscribe({
    event: (event) => {
      if (over) return false;
      if (event.type === "ERROR") finish(new StatusError(statusOf(event.object, 500)));
      else handler.event(frozen(event) as WatchEvent<K>);
      return !over;
    },
    end: () => finish(),
  });
  const close = (): void => {
    cancel();
    finish();
  };
  if (over) cancel();
  return { close };
}
