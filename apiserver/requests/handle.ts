// The pipeline: one request in, one answer out. Here: the order of its stages, and every fault as a Status.
// Not here: what each verb does (create.ts, update.ts, ...).
import type { ApiRequest, ApiResponse, UserInfo } from "../../api/meta/transport.ts";
import { impersonated, impersonates } from "../auth/impersonation.ts";
import { ANONYMOUS } from "../auth-seam.ts";
import type { PathHandler } from "../context.ts";
import { methodNotAllowed, methodNotSupported, noSuchResource, unauthorized } from "../errors.ts";
import type { RequestMetrics } from "../metrics.ts";
import type { ResourceType } from "../registry.ts";
import { handleWatch } from "../watch/watch.ts";
import type { Call, Core } from "./call.ts";
import { handleCreate } from "./create.ts";
import { handleDelete, handleDeleteCollection } from "./delete.ts";
import { faultAnswer, refusal, unknownPath } from "./faults.ts";
import { negotiate } from "./negotiate.ts";
import { handlePatch } from "./patch.ts";
import { handleGet, handleList } from "./read.ts";
import { handleReplace } from "./replace.ts";
import type { Route } from "./route.ts";
import { handleScale } from "./scale.ts";
import { handleSubresource } from "./subresource.ts";
import { type Target, targetOf } from "./target.ts";

export interface Pipeline {
  readonly core: Core;
  readonly paths: readonly PathHandler[];
  readonly metrics: RequestMetrics;
}

export async function handle(pipeline: Pipeline, request: ApiRequest): Promise<ApiResponse> {
  const { core, metrics } = pipeline;
  const target = targetOf(request);
  let result: ApiResponse;
  try {
    result = target ? await stages(pipeline, request, target) : unknownPath(core, request.path);
  } catch (error) {
    result = faultAnswer(core, request, error);
  }
  if (target) metrics.count(target.info, target.query.has("dryRun"), isApply(request), result.status);
  return result;
}

const isApply = (request: ApiRequest): boolean =>
  request.method === "PATCH" && request.headers["content-type"]?.startsWith("application/apply-patch") === true;

async function stages(pipeline: Pipeline, request: ApiRequest, target: Target): Promise<ApiResponse> {
  const { core } = pipeline;
  const { route, info } = target;
  const asker = request.user ?? (await authenticate(core, request));
  const user = impersonates(request) ? await impersonated(core.authorizer, request, asker) : asker;
  const decision = await core.authorizer.authorize({ ...info, user });
  if (!decision.allowed) throw refusal(info.isResource, route, info.verb, user, decision.reason ?? "");
  if (!route.isResource) return otherPath(pipeline, request, route);
  const type = core.registry.byPath(route.group, route.version, route.resource);
  if (!type || route.rest.length > 0) return unknownPath(core, route.path);
  if (type.namespaced && route.namespace === "" && route.name !== "") throw noSuchResource();
  if (!type.namespaced && route.namespace !== "" && route.resource !== "namespaces") throw noSuchResource();
  return resourceRequest(core, request, target, type, user);
}

async function authenticate(core: Core, request: ApiRequest): Promise<UserInfo> {
  const result = await core.authenticator.authenticate(request);
  if (result.outcome === "refused") throw unauthorized();
  return result.outcome === "user" ? result.user : ANONYMOUS;
}

async function otherPath({ core, paths }: Pipeline, request: ApiRequest, route: Route): Promise<ApiResponse> {
  for (const handler of paths) {
    if (!handler.matches(route.path)) continue;
    const found = await handler.handle(request, route.path, core);
    if (found) return found;
  }
  return unknownPath(core, route.path);
}

function resourceRequest(
  core: Core,
  request: ApiRequest,
  { route, info, query, watching }: Target,
  type: ResourceType,
  user: UserInfo,
): ApiResponse | Promise<ApiResponse> {
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
  // A custom resource lacks a verb only while its definition goes.
  if (!(type.verbs as readonly string[]).includes(verb)) throw type.custom ? methodNotSupported(type, verb) : methodNotAllowed();
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
