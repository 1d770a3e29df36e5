// HTTPS for a Transport: HTTP/2 and HTTP/1.1 on one port, client certificates, limits, upgrades.
// Here: connections and the order of things. Not here: messages (exchange.ts), what a request means (the Transport).
import http2, { type Http2SecureServer } from "node:http2";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { ApiResponse, Transport, UserInfo } from "../../api/meta/transport.ts";
import type { Logger } from "../../runtime/base/log.ts";
import { badRequest, timeout, tooManyRequests, unauthorized } from "../errors.ts";
import { jsonBytes } from "../requests/respond.ts";
import { apiRequest, errorAnswer, readBody, type Request, type Response, sendBytes, setHeaders } from "./exchange.ts";
import { upgradeStream, writeUpgradeHead } from "./upgrade.ts";
import { serveWatch } from "./watch-stream.ts";

export interface FrontOptions {
  readonly handle: Transport;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** PEM of CAs whose client certificates name users; none = client certificates are not asked for. */
  readonly clientCas: readonly string[];
  readonly log: Logger;
}

export interface Front {
  readonly port: number;
  /** Ends watches and connections, then the port. */
  close(): Promise<void>;
}

/** kube-apiserver's defaults for requests at once (--max-requests-inflight, --max-mutating-requests-inflight). */
const READS_MAX = 400;
const WRITES_MAX = 200;
const RETRY_AFTER_SECONDS = 1;
/** As --request-timeout: no answer within this time is a timeout. */
const REQUEST_TIMEOUT_MS = 60_000;
const URL_LENGTH_MAX = 64 * 1024;
const HEADER_BYTES_MAX = 256 * 1024;
const KEEP_ALIVE_MS = 120_000;
const CLOSE_GRACE_MS = 250;
const HANDSHAKE_TIMEOUT_MS = 10_000;

interface InFlight {
  reads: number;
  writes: number;
}

const isLongRunning = (url: string): boolean =>
  /[?&]watch=(1|true)\b/.test(url) || /\/(portforward|exec|attach|log|proxy)(\?|\/|$)/.test(url);
const isRead = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

/** The user that a verified client certificate names; `refused` for one that no known CA signed. */
function certificateUser(socket: TLSSocket): UserInfo | "refused" | undefined {
  const certificate = socket.getPeerCertificate?.();
  if (!certificate || Object.keys(certificate).length === 0) return undefined;
  if (!socket.authorized) return "refused";
  const { CN, O } = certificate.subject as unknown as { CN?: string | string[]; O?: string | string[] };
  const list = (value: string | string[] | undefined): readonly string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  return { username: list(CN)[0] ?? "", groups: [...list(O), "system:authenticated"] };
}

/** The first of: the answer, or a timeout. */
function withinTime(answer: Promise<ApiResponse>): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(timeout(`the request did not finish within ${REQUEST_TIMEOUT_MS / 1000} seconds; try again`)),
      REQUEST_TIMEOUT_MS,
    );
    const done = (): void => clearTimeout(timer);
    answer.then(resolve, reject).finally(done);
  });
}

const socketOf = (request: Request): TLSSocket =>
  ("stream" in request && request.stream?.session ? request.stream.session.socket : request.socket) as TLSSocket;

export function listen(options: FrontOptions): Promise<Front> {
  const { handle, log } = options;
  const inFlight: InFlight = { reads: 0, writes: 0 };
  const users = new WeakMap<object, { readonly user: UserInfo | "refused" | undefined }>();
  const sockets = new Set<Socket>();

  const userOf = (request: Request): UserInfo | undefined => {
    const socket = socketOf(request);
    let known = users.get(socket);
    if (!known) {
      known = { user: options.clientCas.length > 0 ? certificateUser(socket) : undefined };
      users.set(socket, known);
    }
    // A bearer token speaks louder than a certificate of an unknown CA.
    if (known.user === "refused") {
      if (request.headers.authorization === undefined) throw unauthorized();
      return undefined;
    }
    return known.user;
  };

  const takeSlot = (request: Request): (() => void) => {
    const kind = isRead(request.method ?? "GET") ? "reads" : "writes";
    if (isLongRunning(request.url ?? "")) return () => {};
    if (inFlight[kind] >= (kind === "reads" ? READS_MAX : WRITES_MAX)) {
      throw tooManyRequests("too many requests at once, please try again later", RETRY_AFTER_SECONDS);
    }
    inFlight[kind] += 1;
    return () => {
      inFlight[kind] -= 1;
    };
  };

  const answerTo = async (request: Request, signal: AbortSignal): Promise<ApiResponse> => {
    const url = request.url ?? "/";
    if (url.length > URL_LENGTH_MAX) throw badRequest(`the URL is longer than ${URL_LENGTH_MAX} characters`);
    const user = userOf(request);
    const body = isRead(request.method ?? "GET") ? undefined : await readBody(request);
    const answer = handle(apiRequest(request, user, body, signal));
    return isLongRunning(url) ? answer : withinTime(answer);
  };

  const send = (request: Request, response: Response, result: ApiResponse): Promise<void> | void => {
    if (response.destroyed) return;
    if (result.kind === "upgrade")
      throw badRequest("this request needs a connection that can be upgraded: HTTP/1.1 with Connection: Upgrade");
    if (result.kind !== "watch") return sendBytes(request, response, result);
    setHeaders(response, result.headers);
    serveWatch(response, result);
  };

  const sendFault = async (request: Request, response: Response, error: unknown): Promise<void> => {
    if (response.destroyed) return;
    if ((error as { status?: unknown }).status === undefined) {
      log.error("fault in the HTTPS front", { error: String((error as Error).stack ?? error) });
    }
    if (response.headersSent) response.destroy();
    else await sendBytes(request, response, errorAnswer(error)).catch(() => response.destroy());
  };

  const serve = async (request: Request, response: Response): Promise<void> => {
    const abort = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) abort.abort();
    });
    let release = (): void => {};
    try {
      release = takeSlot(request);
      await send(request, response, await answerTo(request, abort.signal));
    } catch (error) {
      await sendFault(request, response, error);
    } finally {
      release();
    }
  };

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on("error", () => socket.destroy());
    try {
      const result = await handle(apiRequest(request, userOf(request), undefined, new AbortController().signal));
      if (result.kind === "upgrade") {
        writeUpgradeHead(socket, 101, result.headers);
        result.accept(upgradeStream(socket, head));
        return;
      }
      const answer =
        result.kind === "object" || result.kind === "bytes" ? result : errorAnswer(badRequest("this request cannot be upgraded"));
      writeUpgradeHead(socket, answer.status, answer.headers);
      socket.end(answer.kind === "bytes" ? answer.bytes : jsonBytes(answer.object));
    } catch (error) {
      const answer = errorAnswer(error);
      writeUpgradeHead(socket, answer.status, answer.headers);
      socket.end(jsonBytes(answer.object));
    }
  };

  const server: Http2SecureServer = http2.createSecureServer({
    allowHTTP1: true,
    cert: options.certificate,
    key: options.key,
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    ...(options.clientCas.length > 0 ? { requestCert: true, rejectUnauthorized: false, ca: [...options.clientCas] } : {}),
    maxSessionMemory: 256,
    settings: { maxConcurrentStreams: 1_000, initialWindowSize: 1024 * 1024 },
    ...{ maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: KEEP_ALIVE_MS },
  });
  server.on("request", (request, response) => void serve(request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => void upgrade(request, socket, head));
  server.on("secureConnection", (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("sessionError", () => {});
  server.on("tlsClientError", (error) => log.debug("TLS handshake failed", { error: error.message }));
  server.setTimeout(0);

  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen(options.port, options.host, () => {
      server.removeAllListeners("error");
      server.on("error", (error) => log.error("fault of the listener", { error: error.message }));
      const address = server.address();
      resolve({
        port: typeof address === "object" && address ? address.port : options.port,
        close: () => closeServer(server, sockets),
      });
    });
  });
}

function listenError(error: NodeJS.ErrnoException, { host, port }: FrontOptions): Error {
  if (error.code === "EADDRINUSE") return new Error(`port ${port} of ${host} is in use; choose another one, or 0 for any free port`);
  if (error.code === "EACCES") return new Error(`port ${port} of ${host} may not be used by this user; choose one above 1023`);
  if (error.code === "EADDRNOTAVAIL") return new Error(`${host} is no address of this machine`);
  return error;
}

function closeServer(server: Http2SecureServer, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    // Idle keep-alive connections and watches would hold the port open.
    for (const socket of sockets) socket.end();
  });
}
