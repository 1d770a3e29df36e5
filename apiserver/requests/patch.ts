// PATCH: the four kinds of patch, from the body to the new object. Here: media types, faults, identity, strictness of the result.
// Not here: the patches themselves (schema/patch, schema/apply), what every update does (update.ts).
import type { ApiResponse } from "../../api/meta/transport.ts";
import { jsonPatch, mergePatch, strategicMergePatch } from "../../schema/patch/index.ts";
import {
  badRequest,
  conflict,
  fieldInvalid,
  invalid,
  notFound,
  plainError,
  requestEntityTooLarge,
  unprocessable,
  unsupportedMediaType,
} from "../errors.ts";
import { type ApiObject, deepFreeze, withMetadata } from "../object.ts";
import { inNamespace, judgeStrictness, sameName, strictTexts } from "./bodies.ts";
import { type Call, namespaceOf, strategyContext, warn } from "./call.ts";
import { createObject } from "./create.ts";
import { bodyText, contentTypeOf, parseYaml } from "./decode.ts";
import { type BodyError, type Parsed, parseJson } from "./json.ts";
import { type FieldValidation, type WriteOptions, writeOptions } from "./options.ts";
import { answerObject } from "./respond.ts";
import { asKind, type Shaped, shape, shapeWithDefaults } from "./shape.ts";
import { find } from "./storage.ts";
import { updateObject } from "./update.ts";

export type PatchKind = "json" | "merge" | "strategic" | "apply";

const MEDIA: Readonly<Record<string, PatchKind>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** Throws UnsupportedMediaType. */
export function patchKindOf(call: Call): PatchKind {
  const media = contentTypeOf(call.request);
  const kind = Object.hasOwn(MEDIA, media) ? MEDIA[media] : undefined;
  // Without the typed lists of a built-in kind a strategic patch has no meaning.
  if (kind === undefined || (kind === "strategic" && call.type.custom)) {
    throw unsupportedMediaType(Object.keys(MEDIA).filter((type) => !call.type.custom || MEDIA[type] !== "strategic"));
  }
  return kind;
}

/** The decoded patch. Throws BadRequest, RequestEntityTooLarge. */
export function patchBody(call: Call, kind: PatchKind): Parsed {
  const { body } = call.request;
  if (body !== undefined && !(body instanceof Uint8Array)) return { value: body, duplicates: [] };
  const text = bodyText(body ?? new Uint8Array());
  try {
    if (kind !== "apply") return parseJson(text, false);
    // An apply is YAML, of which JSON is the common and quick part.
    return text.trimStart().startsWith("{") ? parseJsonOrYaml(text) : parseYaml(text);
  } catch (error) {
    if ((error as BodyError).code === "BodyError") throw badRequest(`error decoding patch: ${(error as Error).message}`);
    throw error;
  }
}

function parseJsonOrYaml(text: string): Parsed {
  try {
    return parseJson(text, false);
  } catch (error) {
    if ((error as BodyError).code !== "BodyError") throw error;
    return parseYaml(text);
  }
}

function patchFault(error: unknown): unknown {
  const { code, fault, message } = error as { code?: string; fault?: string; message: string };
  if (code !== "PatchError") return error;
  if (fault === "undecodable") return badRequest(message);
  if (fault === "tooLarge") return requestEntityTooLarge(message);
  return fault === "unprocessable" ? unprocessable(message) : plainError(message);
}

/** A patch of JSON values laid over `target`. Throws ApiError. */
export function patchValue(call: Call, kind: PatchKind, target: object): unknown {
  return patched(call, kind, patchBody(call, kind).value, target);
}

function patched(call: Call, kind: PatchKind, patch: unknown, target: object): unknown {
  try {
    switch (kind) {
      case "json":
        return jsonPatch(target, patch);
      case "merge":
        return mergePatch(target, patch);
      case "strategic":
        return strategicMergePatch(call.type.schema ?? {}, target, patch);
      case "apply":
        throw unsupportedMediaType(Object.keys(MEDIA));
    }
  } catch (error) {
    throw patchFault(error);
  }
}

/** The result of a patch must still be an object of the kind, in the form of the kind. */
function asObject(call: Call, result: unknown, validation: FieldValidation, duplicates: readonly string[]): ApiObject {
  if (typeof result !== "object" || result === null || Array.isArray(result)) throw badRequest("the patch must leave an object");
  const { object, unknown } = shaped(call, result);
  judgePatch(call, validation, strictTexts(duplicates, unknown));
  sameName(call, object);
  return inNamespace(call, object);
}

/** What the kind cannot take is told of the patch. */
function shaped(call: Call, result: object): Shaped {
  try {
    return shapeWithDefaults(call.core, call.type, asKind(call.type, result), strategyContext(call, "patch"));
  } catch (error) {
    if ((error as { status?: { code?: number } }).status?.code !== 400) throw error;
    throw invalidPatch((error as Error).message);
  }
}

const invalidPatch = (why: string): Error => invalid({ group: "", kind: "" }, "", [fieldInvalid("patch", "the patch", why)]);

/** Strictness of a patch is an invalid patch, not a bad request. */
function judgePatch(call: Call, validation: FieldValidation, texts: readonly string[]): void {
  if (texts.length === 0 || validation === "Ignore") return;
  if (validation === "Warn") {
    for (const text of texts) warn(call, text);
    return;
  }
  throw invalidPatch(`strict decoding error: ${texts.join(", ")}`);
}

export async function handlePatch(call: Call): Promise<ApiResponse> {
  const kind = patchKindOf(call);
  if (kind === "apply") return handleApply(call);
  const { core, type, route } = call;
  const options = writeOptions(call.request, call.query, "PatchOptions");
  const { value: patch, duplicates } = patchBody(call, kind);
  const updated = await updateObject(call, {
    name: route.name,
    verb: "patch",
    dryRun: options.dryRun,
    review: options.review,
    unconditional: true,
    change: (live) => {
      const object = asObject(call, patched(call, kind, patch, live), options.fieldValidation, duplicates);
      return core.fields.track(type, live, object, options.fieldManager, route.subresource, core.clock.nowMs());
    },
  });
  return answerObject(call, 200, updated);
}

function applyBody(call: Call, options: WriteOptions): ApiObject {
  const { value, duplicates } = patchBody(call, "apply");
  judgeStrictness(call, options.fieldValidation, strictTexts(duplicates, []));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw badRequest("an apply must hold one object");
  const config = checkedIdentity(call, value as ApiObject);
  return inNamespace(call, config);
}

function checkedIdentity(call: Call, value: ApiObject): ApiObject {
  if (typeof value.apiVersion !== "string" || typeof value.kind !== "string") {
    throw badRequest("an apply must name apiVersion and kind of its object");
  }
  const config = asKind(call.type, value) as ApiObject;
  const metadata: unknown = config.metadata;
  if (metadata !== undefined && metadata !== null && (typeof metadata !== "object" || Array.isArray(metadata))) {
    throw badRequest("metadata of an applied object must be an object");
  }
  const named = metadata ? config : ({ ...config, metadata: {} } as ApiObject);
  sameName(call, named);
  return named;
}

async function handleApply(call: Call): Promise<ApiResponse> {
  const { core, type, route } = call;
  const options = writeOptions(call.request, call.query, "PatchOptions", true);
  const config = deepFreeze(applyBody(call, options));
  const write = { type, manager: options.fieldManager, subresource: route.subresource, nowMs: core.clock.nowMs() };
  const finished = (merged: ApiObject): ApiObject => {
    const { object } = shape(core, type, merged, true);
    return inNamespace(call, type.strategy.defaults?.(object, strategyContext(call, "apply")) ?? object);
  };
  const exists = find(core, type, namespaceOf(call), route.name) !== undefined;
  if (!exists) {
    if (route.subresource !== "") throw notFound(type, route.name);
    if ((config.metadata.uid ?? "") !== "") {
      throw conflict(
        type,
        route.name,
        `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`,
      );
    }
    const merged = core.fields.apply(write, undefined, withMetadata(config, { resourceVersion: undefined }), options.force);
    const reviewed = { ...options.review, kind: "CreateOptions" };
    const created = await createObject(call, finished(merged), { options, verb: "apply", optionsReviewed: reviewed });
    return answerObject(call, 201, created);
  }
  const updated = await updateObject(call, {
    name: route.name,
    verb: "apply",
    dryRun: options.dryRun,
    review: options.review,
    unconditional: true,
    change: (live) => {
      const merged = core.fields.apply(write, live, config, options.force);
      return merged === live ? live : finished(merged);
    },
  });
  return answerObject(call, 200, updated);
}
