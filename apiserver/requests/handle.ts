// The pipeline: one request in, one answer out. Here: the order of its stages, and every fault as a Status.
// Not here: what each verb does (create.ts, update.ts, ...).
import type { ApiRequest, ApiResponse, UserInfo } from "../../api/meta/transport.ts";
import { impersonated, impersonates } from "../auth/impersonation.ts";
import { ANONYMOUS } from "../auth-seam.ts";
import type { PathHandler } from "../context.ts";
import { ApiError, forbidden, methodNotAllowed, noSuchResource, statusOf, unauthorized } from "../errors.ts";
import { textAnswer } from "../health.ts";
import { encodeStatus, PROTOBUF } from "../protobuf/encode-status.ts";
import type { ResourceType } from "../registry.ts";
import { handleWatch } from "../watch/watch.ts";
import type { Call, Core } from "./call.ts";
import { handleCreate } from "./create.ts";
import { handleDelete, handleDeleteCollection } from "./delete.ts";
import { negotiate, type Negotiated, parseAccept } from "./negotiate.ts";
import { handlePatch } from "./patch.ts";
import { handleGet, handleList } from "./read.ts";
import { handleReplace } from "./replace.ts";
import { answer } from "./respond.ts";
import { parsePath, requestInfo, type Route } from "./route.ts";
import { handleScale } from "./scale.ts";
import { handleSubresource } from "./subresource.ts";

const PLAIN: Negotiated = { media: "json", form: "object", formVersion: "v1", pretty: false };

export interface Pipeline {
  readonly core: Core;
  readonly paths: readonly PathHandler[];
}

export async function handle(pipeline: Pipeline, request: ApiRequest): Promise<ApiResponse> {
  try {
    return await stages(pipeline, request);
  } catch (error) {
    return faultAnswer(pipeline.core, request, error);
  }
}

function faultAnswer(core: Core, request: ApiRequest, error: unknown): ApiResponse {
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

async function stages(pipeline: Pipeline, request: ApiRequest): Promise<ApiResponse> {
  const { core } = pipeline;
  const route = parsePath(request.path);
  if (!route) return unknownPath(core, request.path);
  const query = new URLSearchParams(request.query);
  const asker = request.user ?? (await authenticate(core, request));
  const user = impersonates(request) ? await impersonated(core.authorizer, request, asker) : asker;
  const watching = isWatch(query, route);
  const info = requestInfo(request.method, route, watching);
  const decision = await core.authorizer.authorize({ ...info, user });
  if (!decision.allowed) throw refusal(info.isResource, route, info.verb, user, decision.reason ?? "");
  if (!route.isResource) return otherPath(pipeline, request, route);
  const type = core.registry.byPath(route.group, route.version, route.resource);
  if (!type || route.rest.length > 0) return unknownPath(core, route.path);
  if (type.namespaced && route.namespace === "" && route.name !== "") throw noSuchResource();
  if (!type.namespaced && route.namespace !== "" && route.resource !== "namespaces") throw noSuchResource();
  return resourceRequest(core, request, route, info, type, query, user, watching);
}

const isWatch = (query: URLSearchParams, route: Route): boolean => {
  const watch = query.get("watch");
  return route.isResource && route.name === "" && watch !== null && watch !== "false" && watch !== "0";
};

async function authenticate(core: Core, request: ApiRequest): Promise<UserInfo> {
  const result = await core.authenticator.authenticate(request);
  if (result.outcome === "refused") throw unauthorized();
  return result.outcome === "user" ? result.user : ANONYMOUS;
}

function refusal(isResource: boolean, route: Route, verb: string, user: UserInfo, reason: string): ApiError {
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

async function otherPath({ core, paths }: Pipeline, request: ApiRequest, route: Route): Promise<ApiResponse> {
  for (const handler of paths) {
    if (!handler.matches(route.path)) continue;
    const found = await handler.handle(request, route.path, core);
    if (found) return found;
  }
  return unknownPath(core, route.path);
}

/** Below the groups of built-in kinds a Status; elsewhere, as for a kind that was removed, plain text. Throws NotFound. */
function unknownPath(core: Core, path: string): ApiResponse {
  const [, root = "", group = ""] = path.split("/");
  const builtIn = root === "api" || (root === "apis" && core.registry.all().some((type) => type.group === group && !type.custom));
  if (builtIn) throw noSuchResource();
  return textAnswer(404, "404 page not found\n");
}

async function resourceRequest(
  core: Core,
  request: ApiRequest,
  route: Route,
  info: ReturnType<typeof requestInfo>,
  type: ResourceType,
  query: URLSearchParams,
  user: UserInfo,
  watching: boolean,
): Promise<ApiResponse> {
  if (request.method === "HEAD" || request.method === "OPTIONS" || info.verb === "") throw methodNotAllowed();
  checkVerb(type, route, info.verb);
  const readsForms = route.subresource === "" || route.subresource === "status";
  const accept = negotiate(request.headers.accept ?? "", query, request.headers["user-agent"] ?? "", readsForms);
  const warnings = type.deprecationWarning === undefined ? [] : [type.deprecationWarning];
  const call: Call = { core, request, route, info, type, query, user, accept, warnings };
  if (route.subresource === "scale") return handleScale(call);
  const handler = route.subresource === "" ? undefined : type.subresources.handlers?.[route.subresource];
  if (handler) return handleSubresource(call, handler);
  return watching ? handleWatch(call) : byVerb(call);
}

/** Throws 404 for a subresource that does not exist and 405 for a verb that the resource does not have there. */
function checkVerb(type: ResourceType, route: Route, verb: string): void {
  const { subresource } = route;
  if (subresource !== "") {
    const { status, scale, handlers } = type.subresources;
    if (handlers && Object.hasOwn(handlers, subresource)) return; // its own verbs are checked with it
    if (!(subresource === "status" && status) && !(subresource === "scale" && scale)) throw noSuchResource();
    if (verb !== "get" && verb !== "update" && verb !== "patch") throw methodNotAllowed();
    return;
  }
  if (type.virtual) {
    if (verb !== "create") throw methodNotAllowed();
    return;
  }
  if (!(type.verbs as readonly string[]).includes(verb)) throw methodNotAllowed();
  const one = route.name !== "";
  const wantsOne = verb === "get" || verb === "update" || verb === "patch" || verb === "delete";
  if (wantsOne !== one) throw methodNotAllowed();
  // A collection over all namespaces can only be read.
  if (type.namespaced && route.namespace === "" && verb !== "list" && verb !== "watch") throw methodNotAllowed();
}

function byVerb(call: Call): ApiResponse | Promise<ApiResponse> {
  switch (call.info.verb) {
    case "get":
      return handleGet(call);
    case "list":
      return handleList(call);
    case "create":
      return handleCreate(call);
    case "update":
      return handleReplace(call);
    case "patch":
      return handlePatch(call);
    case "delete":
      return handleDelete(call);
    case "deletecollection":
      return handleDeleteCollection(call);
    default:
      throw methodNotAllowed();
  }
}
