// The object a create or replace carries. Here: decoding, strictness, identity against the path. Not here: patches.
import { badRequest } from "../errors.ts";
import { type ApiObject, withMetadata } from "../object.ts";
import { type Call, namespaceOf, strategyContext, warn } from "./call.ts";
import { decodeBody } from "./decode.ts";
import type { FieldValidation } from "./options.ts";
import { asKind, shapeWithDefaults } from "./shape.ts";

/** Texts for doubled and unknown fields as upstream's strict decoder gives them. */
export const strictTexts = (duplicates: readonly string[], unknown: readonly string[]): readonly string[] => [
  ...duplicates.map((path) => `duplicate field "${path}"`),
  ...unknown.map((path) => `unknown field "${path}"`),
];

/** Ignores, warns or refuses. Throws BadRequest under Strict. */
export function judgeStrictness(call: Call, validation: FieldValidation, texts: readonly string[]): void {
  if (texts.length === 0 || validation === "Ignore") return;
  if (validation === "Strict") {
    throw badRequest(
      `${call.type.kind} in version "${call.type.version}" cannot be handled as a ${call.type.kind}: strict decoding error: ${texts.join(", ")}`,
    );
  }
  for (const text of texts) warn(call, text);
}

/** The body as an object of the path's kind, with defaults. Throws BadRequest. */
export function bodyObject(call: Call, validation: FieldValidation, verb: string): ApiObject {
  const { value, duplicates } = decodeBody(call.request, !call.type.custom);
  if (value === null || value === undefined) throw badRequest(`the body must hold a ${call.type.kind}`);
  const { object, unknown } = shapeWithDefaults(call.core, call.type, asKind(call.type, value), strategyContext(call, verb));
  judgeStrictness(call, validation, strictTexts(duplicates, unknown));
  return inNamespace(call, object);
}

/** The object in the namespace of the path. Throws BadRequest when it names another. */
export function inNamespace(call: Call, object: ApiObject): ApiObject {
  const wanted = namespaceOf(call);
  const given = object.metadata.namespace ?? "";
  if (given === wanted) return object;
  if (given !== "" && wanted !== "") {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return withMetadata(object, { namespace: wanted === "" ? undefined : wanted });
}

/** The object must carry the name of the path. Throws BadRequest. */
export function sameName(call: Call, object: ApiObject): void {
  const name = object.metadata.name ?? "";
  if (name === "") throw badRequest("the name of the object must be given and must match the name on the URL");
  if (name !== call.route.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.route.name})`);
  }
}
