// ConfigMaps and Secrets: keys, size, immutability, what a type of Secret must hold.
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from "../../errors.ts";
import type { ApiObject } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { asFields, asText, at, unchanged, unchangedOrForbidden } from "./fields.ts";

const BYTES_MAX = 1024 * 1024;
const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function keyErrors(key: string): readonly string[] {
  if (key.length > 253) return ["must be no more than 253 characters"];
  if (key === "." || key === "..") return [`must not be '${key}'`];
  return KEY.test(key) ? [] : [KEY_TEXT];
}

const keyCauses = (object: ApiObject, field: string): readonly StatusCause[] =>
  Object.keys(asFields(object[field])).flatMap((key) => keyErrors(key).map((text) => fieldInvalid(`${field}[${key}]`, key, text)));

const textBytes = (text: string): number => new TextEncoder().encode(text).byteLength;
const base64Bytes = (text: string): number => (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
/** A text has at most three bytes a code unit: most data need no counting. */
const isSmall = (object: ApiObject, field: string): boolean =>
  Object.values(asFields(object[field])).reduce<number>((sum, value) => sum + asText(value).length, 0) * 3 <= BYTES_MAX / 2;
const bytesOf = (object: ApiObject, field: string, size: (text: string) => number): number =>
  Object.values(asFields(object[field])).reduce<number>((sum, value) => sum + size(asText(value)), 0);

/** Data and the mark itself of an immutable object may not change. */
function immutability(object: ApiObject, old: ApiObject, fields: readonly string[]): readonly StatusCause[] {
  if (old.immutable !== true) return [];
  if (object.immutable !== true) return [fieldForbidden("immutable", "field is immutable when `immutable` is set")];
  return fields.flatMap((field) => unchangedOrForbidden(object, old, field, "field is immutable when `immutable` is set"));
}

function validateConfigMap(object: ApiObject): readonly StatusCause[] {
  const data = asFields(object.data);
  const binary = asFields(object.binaryData);
  const twice = Object.keys(data).filter((key) => key in binary);
  const small = isSmall(object, "data") && isSmall(object, "binaryData");
  const bytes = small ? 0 : bytesOf(object, "data", textBytes) + bytesOf(object, "binaryData", base64Bytes);
  return [
    ...keyCauses(object, "data"),
    ...twice.map((key) => fieldInvalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
    ...keyCauses(object, "binaryData"),
    ...(bytes > BYTES_MAX ? [fieldTooLong("", BYTES_MAX)] : []),
  ];
}

export const configMapStrategy: Strategy = {
  validate: validateConfigMap,
  validateUpdate: (object, old) => [...immutability(object, old, ["data", "binaryData"]), ...validateConfigMap(object)],
};

/** Keys of data that a type needs. */
const TYPE_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};
const SERVICE_ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name";

function validateSecret(object: ApiObject): readonly StatusCause[] {
  const type = asText(object.type);
  const data = asFields(object.data);
  const causes: StatusCause[] = [...keyCauses(object, "data")];
  for (const key of TYPE_KEYS[type] ?? []) if (!(key in data)) causes.push(fieldRequired(`data[${key}]`));
  if (type === "kubernetes.io/basic-auth" && !("username" in data) && !("password" in data)) {
    causes.push(fieldRequired("data[username]"), fieldRequired("data[password]"));
  }
  if (type === "kubernetes.io/service-account-token" && !object.metadata.annotations?.[SERVICE_ACCOUNT_ANNOTATION]) {
    causes.push(fieldRequired(`metadata.annotations[${SERVICE_ACCOUNT_ANNOTATION}]`));
  }
  if (bytesOf(object, "data", base64Bytes) > BYTES_MAX) causes.push(fieldTooLong("data", BYTES_MAX));
  return causes;
}

export const secretStrategy: Strategy = {
  validate: validateSecret,
  // A replace without a type keeps the type: only a changed one is refused.
  prepareForUpdate: (object, old) => (at(object, "type") === "" ? { ...object, type: old.type } : object),
  validateUpdate: (object, old) => [...unchanged(object, old, ["type"]), ...immutability(object, old, ["data"]), ...validateSecret(object)],
};
