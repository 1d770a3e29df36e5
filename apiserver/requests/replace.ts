// PUT: the whole object, or its status. Here: the body, what it is compared with, creation where the kind allows it.
import type { ApiResponse } from "../../api/meta/transport.ts";
import { conflict, notFound } from "../errors.ts";
import { type ApiObject, withMetadata } from "../object.ts";
import { bodyObject, sameName } from "./bodies.ts";
import { type Call, namespaceOf } from "./call.ts";
import { createObject } from "./create.ts";
import { writeOptions } from "./options.ts";
import { answerObject } from "./respond.ts";
import { find } from "./storage.ts";
import { checkResourceVersion, updateObject } from "./update.ts";

export async function handleReplace(call: Call): Promise<ApiResponse> {
  const { core, type, route } = call;
  const options = writeOptions(call.request, call.query, "UpdateOptions");
  const body = bodyObject(call, options.fieldValidation, "update");
  sameName(call, body);
  checkResourceVersion(body.metadata.resourceVersion);
  const exists = find(core, type, namespaceOf(call), route.name) !== undefined;
  if (!exists) {
    if (type.strategy.allowCreateOnUpdate !== true || route.subresource !== "") throw notFound(type, route.name);
    const fresh = withMetadata(body, { resourceVersion: undefined });
    const tracked = core.fields.track(type, undefined, fresh, options.fieldManager, "", core.clock.nowMs());
    const created = await createObject(call, tracked, {
      options,
      verb: "update",
      optionsReviewed: { ...options.review, kind: "CreateOptions" },
    });
    return answerObject(call, 201, created);
  }
  const updated = await updateObject(call, {
    name: route.name,
    verb: "update",
    dryRun: options.dryRun,
    review: options.review,
    unconditional: false,
    change: (live) => replacement(call, body, live, options.fieldManager),
  });
  return answerObject(call, 200, updated);
}

function replacement(call: Call, body: ApiObject, live: ApiObject, manager: string): ApiObject {
  const { core, type, route } = call;
  const { uid } = body.metadata;
  if (uid !== undefined && uid !== "" && uid !== live.metadata.uid) {
    throw conflict(type, route.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`);
  }
  return core.fields.track(type, live, body, manager, route.subresource, core.clock.nowMs());
}
