// A Transport over HTTPS with keep-alive connections. Here: requests, whole answers, watch streams. Not here: credentials (kube-config.ts),
// what answers mean (../transport-client.ts).
import type { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import type { ApiRequest, ApiResponse, Transport, WatchEvent, WatchSink } from "../../api/meta/transport.ts";

/** A server that accepts a connection and says nothing must not hold a worker for ever. */
const ANSWER_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Requests beyond it wait for a free connection; a thousand handshakes at once would time out. */
const CONNECTIONS_MAX = 32;
/** Longer than the pauses between reconciles, shorter than what proxies allow. */
const KEEP_ALIVE_MS = 60_000;
/** One event of a watch; an object in etcd has at most 1.5 MiB, a client's request 3 MiB. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;

export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

export interface HttpsTransportOptions {
  /** `https://host:port`, with a path prefix when the server is behind one. */
  readonly url: string;
  readonly tls?: TlsOptions;
  /** Asked for each request. @param refresh true after a 401: what was given is no longer good */
  readonly authorization?: (refresh: boolean) => Promise<string | undefined>;
}

export interface HttpsTransport {
  readonly transport: Transport;
  /** Ends idle and running connections. */
  close(): Promise<void>;
}

export function httpsTransport(options: HttpsTransportOptions): HttpsTransport {
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/$/, "");
  const common = { connect: { ...options.tls, timeout: CONNECT_TIMEOUT_MS }, keepAliveTimeout: KEEP_ALIVE_MS, allowH2: false };
  const requests = new Agent({ ...common, connections: CONNECTIONS_MAX });
  // Each watch keeps a connection, so watches must not share the bound of the others.
  const watches = new Agent(common);

  const send = async (request: ApiRequest, refresh: boolean): Promise<Dispatcher.ResponseData> => {
    const authorization = await options.authorization?.(refresh);
    const watching = isWatch(request);
    return (watching ? watches : requests).request({
      origin: base.origin,
      path: `${prefix}${request.path}${request.query === "" ? "" : `?${request.query}`}`,
      method: request.method as Dispatcher.HttpMethod,
      headers: { ...request.headers, ...(authorization ? { authorization } : {}) },
      body: bodyOf(request.body),
      signal: request.signal,
      headersTimeout: ANSWER_TIMEOUT_MS,
      // How long a watch may be silent is the reflector's business, which has a clock.
      bodyTimeout: watching ? 0 : ANSWER_TIMEOUT_MS,
    });
  };

  return {
    transport: async (request) => {
      let answer = await send(request, false);
      if (answer.statusCode === 401 && options.authorization) {
        await answer.body.dump();
        answer = await send(request, true);
      }
      const headers = flatHeaders(answer.headers);
      const status = answer.statusCode;
      if (isWatch(request) && status === 200) return watchResponse(answer.body, status, headers);
      return { kind: "bytes", status, headers, bytes: new Uint8Array(await answer.body.arrayBuffer()) };
    },
    close: async () => {
      await Promise.all([requests.destroy(), watches.destroy()]);
    },
  };
}

const isWatch = (request: ApiRequest): boolean => request.method === "GET" && /(^|&)watch=(true|1)(&|$)/.test(request.query);

const bodyOf = (body: Uint8Array | object | undefined): Uint8Array | string | undefined =>
  body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);

const flatHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );

function watchResponse(body: Readable, status: number, headers: Readonly<Record<string, string>>): ApiResponse {
  return {
    kind: "watch",
    status,
    headers,
    subscribe: (sink) => {
      let over = false;
      const end = (): void => {
        if (over) return;
        over = true;
        sink.end();
      };
      const stop = (): void => {
        over = true;
        body.destroy();
      };
      const lines = lineSplitter((line) => {
        if (!over && !deliver(line, sink)) stop();
      });
      body.on("data", (chunk: Buffer) => {
        if (!lines(chunk)) {
          end();
          body.destroy();
        }
      });
      body.on("end", end);
      body.on("close", end);
      // A broken connection is the end of a watch like any other: the reflector resumes.
      body.on("error", end);
      return stop;
    },
  };
}

function deliver(line: string, sink: WatchSink): boolean {
  let event: WatchEvent;
  try {
    event = JSON.parse(line) as WatchEvent;
  } catch {
    const message = `the watch sent a line that is not JSON: ${line.slice(0, 200)}`;
    event = { type: "ERROR", object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 } };
  }
  return sink.event(event, () => new TextEncoder().encode(line));
}

/** @returns a function that takes chunks; false when a line grew beyond the bound */
function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let parts: Buffer[] = [];
  let length = 0;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, at)]).toString("utf8");
      parts = [];
      length = 0;
      from = at + 1;
      if (line.trim() !== "") onLine(line);
    }
    if (from < chunk.length) {
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
    }
    return length <= EVENT_BYTES_MAX;
  };
}
