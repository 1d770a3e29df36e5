// From the bytes of a body to a value. Here: media types, JSON, YAML 1.1, size. Not here: what kind it must be (bodies.ts).
import { parseDocument } from "yaml";
import type { ApiRequest } from "../../api/meta/transport.ts";
import { badRequest, requestEntityTooLarge, unsupportedMediaType } from "../errors.ts";
import { decodeProtobuf, type ProtobufError } from "../protobuf/decode.ts";
import { PROTOBUF } from "../protobuf/encode-status.ts";
import { BodyError, type Parsed, parseJson } from "./json.ts";

/** kube-apiserver's limit, bytes. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;
const YAML_DEPTH_MAX = 2_000;
/** Aliases in YAML may multiply a body; more than this is an attack. */
const YAML_ALIASES_MAX = 100;

/** The media type of a body, without parameters; `application/json` when none is given. */
export const contentTypeOf = (request: ApiRequest): string =>
  (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";

const text = new TextDecoder("utf-8");

/** Bytes of the body as text. Throws RequestEntityTooLarge. */
export function bodyText(bytes: Uint8Array): string {
  checkSize(bytes);
  return text.decode(bytes);
}

function checkSize(bytes: Uint8Array): void {
  if (bytes.byteLength > BODY_BYTES_MAX) throw requestEntityTooLarge(`Request entity too large: limit is ${BODY_BYTES_MAX}`);
}

/** YAML 1.1 as sigs.k8s.io/yaml reads it: `y` and `on` are booleans, doubled keys are told. Throws BodyError. */
export function parseYaml(source: string): Parsed {
  const document = parseDocument(source, {
    version: "1.1",
    merge: true,
    uniqueKeys: false,
    stringKeys: false,
    prettyErrors: true,
    logLevel: "silent",
  });
  const [error] = document.errors;
  if (error) throw new BodyError(error.message);
  const duplicates = yamlDuplicates(document.contents, "", 0);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: YAML_ALIASES_MAX });
  } catch (cause) {
    throw new BodyError(cause instanceof Error ? cause.message : String(cause));
  }
  return { value: plainJson(value), duplicates };
}

interface YamlNode {
  readonly items?: readonly (YamlPair | YamlNode)[];
}
interface YamlPair {
  readonly key?: { readonly value?: unknown };
  readonly value?: YamlNode | null;
}

function yamlDuplicates(node: unknown, path: string, depth: number): readonly string[] {
  if (depth > YAML_DEPTH_MAX) throw new BodyError(`exceeded max depth of ${YAML_DEPTH_MAX}`);
  const items = (node as YamlNode | null)?.items;
  if (!items) return [];
  const found: string[] = [];
  const seen = new Set<string>();
  items.forEach((item, i) => {
    if (!("key" in item)) {
      found.push(...yamlDuplicates(item, `${path}[${i}]`, depth + 1));
      return;
    }
    const key = String(item.key?.value);
    const below = path === "" ? key : `${path}.${key}`;
    if (seen.has(key) && key !== "<<") found.push(below);
    seen.add(key);
    found.push(...yamlDuplicates(item.value, below, depth + 1));
  });
  return found;
}

/** What YAML has and JSON does not (dates, binary) becomes text; keys are texts. */
function plainJson(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (value instanceof Uint8Array) return btoa(String.fromCharCode(...value));
  if (Array.isArray(value)) return value.map(plainJson);
  if (typeof value === "object" && value !== null) {
    const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
    return Object.fromEntries(entries.filter(([key]) => key !== "__proto__").map(([key, field]) => [String(key), plainJson(field)]));
  }
  return typeof value === "bigint" ? Number(value) : value;
}

/** The body as a value. @param mergeDuplicates see parseJson; typed kinds may also come as protobuf   Throws BadRequest, UnsupportedMediaType, RequestEntityTooLarge. */
export function decodeBody(request: ApiRequest, mergeDuplicates: boolean): Parsed {
  const { body } = request;
  if (body !== undefined && !(body instanceof Uint8Array)) return { value: body, duplicates: [] };
  const type = contentTypeOf(request);
  if (type === PROTOBUF && mergeDuplicates) return protobufBody(body ?? new Uint8Array());
  const parse = parserOf(type, mergeDuplicates);
  const source = bodyText(body ?? new Uint8Array());
  try {
    return parse(source);
  } catch (error) {
    if ((error as BodyError).code === "BodyError") throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
    throw error;
  }
}

function protobufBody(bytes: Uint8Array): Parsed {
  checkSize(bytes);
  try {
    return { value: decodeProtobuf(bytes), duplicates: [] };
  } catch (error) {
    if ((error as ProtobufError).code === "ProtobufError")
      throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
    throw error;
  }
}

function parserOf(type: string, mergeDuplicates: boolean): (source: string) => Parsed {
  if (type === "application/json") return (source) => parseJson(source, mergeDuplicates);
  if (type === "application/yaml" || type === "text/yaml") return parseYaml;
  throw unsupportedMediaType(["application/json", "application/yaml"]);
}
