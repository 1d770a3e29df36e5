// One request and its answer as HTTP carries them: headers, bodies, gzip, the same for HTTP/1.1 and HTTP/2.
// Here: from a message to an ApiRequest, and from an ApiResponse to bytes. Not here: connections, users, limits (https-front.ts).
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { gzip } from "node:zlib";
import type { ApiRequest, ApiResponse, UserInfo } from "../../api/meta/transport.ts";
import { type ApiError, badRequest, requestEntityTooLarge, statusOf, timeout } from "../errors.ts";
import { BODY_BYTES_MAX } from "../requests/decode.ts";
import { jsonBytes, WARNING_SEPARATOR } from "../requests/respond.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** kube-apiserver compresses from here on. */
const GZIP_BYTES_MIN = 128 * 1024;
/** A body that comes slower than this is given up. */
const BODY_TIMEOUT_MS = 60_000;
/** A body too large is read on so far that its sender sees the answer. */
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

function headersOf(request: Request): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

/** Bytes of the body; one more than allowed when it is too large, so that the pipeline refuses it. */
export function readBody(request: Request): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => reject(timeout("the body of the request did not come in time")), BODY_TIMEOUT_MS);
    const settle = (then: () => void) => (): void => {
      clearTimeout(timer);
      then();
    };
    request.on("data", (chunk: Buffer) => {
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
      size += chunk.length;
      if (size > DRAIN_BYTES_MAX) {
        clearTimeout(timer);
        reject(requestEntityTooLarge(`Request entity too large: limit is ${BODY_BYTES_MAX}`));
        request.destroy();
      }
    });
    request.on(
      "end",
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))),
    );
    request.on("error", (error) => settle(() => reject(badRequest(`the body of the request broke off: ${error.message}`)))());
    request.on(
      "aborted",
      settle(() => reject(badRequest("the body of the request broke off"))),
    );
  });
}

export function apiRequest(request: Request, user: UserInfo | undefined, body: Uint8Array | undefined, signal: AbortSignal): ApiRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    headers: headersOf(request),
    ...(body === undefined ? {} : { body }),
    ...(user ? { user } : {}),
    signal,
  };
}

function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => gzip(bytes, { level: 1 }, (error, packed) => (error ? reject(error) : resolve(packed))));
}

const acceptsGzip = (request: Request): boolean => /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));

export function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  response.setHeader("audit-id", randomUUID());
  response.setHeader("cache-control", "no-cache, private");
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, name === "warning" ? value.split(WARNING_SEPARATOR) : value);
  }
}

export async function sendBytes(
  request: Request,
  response: Response,
  answer: Extract<ApiResponse, { kind: "object" | "bytes" }>,
): Promise<void> {
  const plain = answer.kind === "bytes" ? answer.bytes : jsonBytes(answer.object);
  const packed = plain.byteLength >= GZIP_BYTES_MIN && acceptsGzip(request) ? await compress(plain) : undefined;
  if (response.destroyed || response.headersSent) return;
  setHeaders(response, answer.headers);
  if (packed) {
    response.setHeader("content-encoding", "gzip");
    response.setHeader("vary", "Accept-Encoding");
  }
  const bytes = packed ?? plain;
  response.setHeader("content-length", bytes.byteLength);
  response.statusCode = answer.status;
  if (request.method === "HEAD") response.end();
  else response.end(bytes);
}

export const errorAnswer = (error: unknown): Extract<ApiResponse, { kind: "object" }> => {
  const status = statusOf(error);
  return {
    kind: "object",
    status: status.code,
    headers: { "content-type": "application/json", ...(error as ApiError).headers },
    object: status,
  };
};
