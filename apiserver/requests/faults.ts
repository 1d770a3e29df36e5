// Answers to requests that fail: every fault as a Status in a form the client takes, unknown paths, refusals.
// Not here: the catalogue of errors (../errors.ts).
import type { ApiRequest, ApiResponse, UserInfo } from "../../api/meta/transport.ts";
import { ApiError, forbidden, noSuchResource, statusOf } from "../errors.ts";
import { textAnswer } from "../health.ts";
import { encodeStatus, PROTOBUF } from "../protobuf/encode-status.ts";
import type { Core } from "./call.ts";
import { negotiate, type Negotiated, parseAccept } from "./negotiate.ts";
import { answer } from "./respond.ts";
import type { Route } from "./route.ts";

const PLAIN: Negotiated = { media: "json", form: "object", formVersion: "v1", pretty: false };

export function faultAnswer(core: Core, request: ApiRequest, error: unknown): ApiResponse {
  const status = statusOf(error);
  if (status.code >= 500 && (error as { status?: unknown }).status === undefined) {
    const unavailable = (error as { code?: unknown }).code === "StoreUnavailable";
    core.log.error(unavailable ? "the store refuses writes" : "fault while handling a request", {
      method: request.method,
      path: request.path,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const headers = error instanceof ApiError ? error.headers : {};
  if (wantsProtobufOnly(request.headers.accept ?? "")) {
    return { kind: "bytes", status: status.code, headers: { "content-type": PROTOBUF, ...headers }, bytes: encodeStatus(status) };
  }
  return answer(faultForm(request), status.code, status, headers);
}

const wantsProtobufOnly = (accept: string): boolean => accept !== "" && parseAccept(accept).every(({ type }) => type === PROTOBUF);

/** Faults come in the media type asked for where there is one, else as JSON. */
function faultForm(request: ApiRequest): Negotiated {
  try {
    return negotiate(request.headers.accept ?? "", new URLSearchParams(request.query), request.headers["user-agent"] ?? "", true);
  } catch {
    return PLAIN;
  }
}

export function refusal(isResource: boolean, route: Route, verb: string, user: UserInfo, reason: string): ApiError {
  const why = reason === "" ? "" : `: ${reason}`;
  const who = `User "${user.username}" cannot ${verb}`;
  if (!isResource) return forbidden({ group: "", plural: "" }, "", `${who} path "${route.path}"${why}`);
  const what = route.subresource === "" ? route.resource : `${route.resource}/${route.subresource}`;
  const where = route.namespace === "" ? "at the cluster scope" : `in the namespace "${route.namespace}"`;
  return forbidden(
    { group: route.group, plural: route.resource },
    route.name,
    `${who} resource "${what}" in API group "${route.group}" ${where}${why}`,
  );
}

/** Below the groups of built-in kinds a Status; elsewhere, as for a kind that was removed, plain text. Throws NotFound. */
export function unknownPath(core: Core, path: string): ApiResponse {
  const [, root = "", group = ""] = path.split("/");
  const builtIn = root === "api" || (root === "apis" && core.registry.all().some((type) => type.group === group && !type.custom));
  if (builtIn) throw noSuchResource();
  return textAnswer(404, "404 page not found\n");
}
