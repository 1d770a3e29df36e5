// Subresources with their own code: tokens, evictions, bindings, finalize, port-forward. Here: decoding for them and answering.
import type { ApiResponse } from "../../api/meta/transport.ts";
import { badRequest, methodNotAllowed } from "../errors.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import type { SubresourceHandler, SubresourceRequest } from "../registry.ts";
import { type Call, namespaceOf, warn } from "./call.ts";
import { decodeBody } from "./decode.ts";
import { deleteOptions, writeOptions } from "./options.ts";
import { answerObject } from "./respond.ts";

type HandlerVerb = SubresourceRequest["verb"];

/** GET and POST of a connecting subresource (port-forward) are both `connect`. */
function handlerVerb(call: Call, handler: SubresourceHandler): HandlerVerb {
  const verb = call.info.verb as HandlerVerb;
  if ((verb === "get" || verb === "create") && handler.verbs.includes("connect")) return "connect";
  if (!handler.verbs.includes(verb)) throw methodNotAllowed();
  return verb;
}

function bodyOf(call: Call, verb: HandlerVerb): ApiObject | undefined {
  if (verb !== "create" && verb !== "update") return undefined;
  const { value } = decodeBody(call.request, true);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw badRequest("the body must be an object");
  const object = value as ApiObject;
  return deepFreeze(object.metadata ? object : { ...object, metadata: {} });
}

const dryRunOf = (call: Call, verb: HandlerVerb): boolean => {
  if (verb === "create") return writeOptions(call.request, call.query, "CreateOptions").dryRun;
  if (verb === "update") return writeOptions(call.request, call.query, "UpdateOptions").dryRun;
  if (verb === "delete") return deleteOptions(call.request, call.query).dryRun;
  return false;
};

const isResponse = (result: object): result is ApiResponse => {
  const kind = (result as { kind?: unknown }).kind;
  return kind === "object" || kind === "bytes" || kind === "watch" || kind === "upgrade";
};

export async function handleSubresource(call: Call, handler: SubresourceHandler): Promise<ApiResponse> {
  const verb = handlerVerb(call, handler);
  const result = await handler.handle({
    verb,
    type: call.type,
    namespace: namespaceOf(call),
    name: call.route.name,
    user: call.user,
    object: bodyOf(call, verb),
    dryRun: dryRunOf(call, verb),
    query: call.query,
    request: call.request,
    server: call.core,
    warn: (text) => warn(call, text),
  });
  if (isResponse(result)) return result;
  return answerObject(call, verb === "create" ? 201 : 200, deepFreeze(result as ApiObject));
}
