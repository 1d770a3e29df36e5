// From objects to answers: lists, partial metadata, tables, YAML, pretty JSON. Not here: sockets and gzip (real/).
import { stringify } from "yaml";
import type { ApiResponse } from "../../api/meta/transport.ts";
import { badRequest, formNotAcceptable, plainError } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import { tableOf } from "../table/index.ts";
import type { Call } from "./call.ts";
import type { Negotiated } from "./negotiate.ts";

/** Marks a list of a built-in kind: its items are written without apiVersion and kind, as typed lists are. */
const BARE_ITEMS = Symbol("items without apiVersion and kind");

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

const utf8 = new TextEncoder();
const JSON_HEADERS = Object.freeze({ "content-type": "application/json" });

function listText(list: { readonly items: readonly ApiObject[] }): string {
  const { items, ...head } = list;
  const start = JSON.stringify(head);
  const rows = items.map((item) => JSON.stringify({ ...item, apiVersion: undefined, kind: undefined }));
  return `${start.slice(0, -1)},"items":[${rows.join(",")}]}`;
}

/** JSON text of an answered object. */
export function jsonText(object: object): string {
  return BARE_ITEMS in object ? listText(object as unknown as { readonly items: readonly ApiObject[] }) : JSON.stringify(object);
}

export const jsonBytes = (object: object): Uint8Array => utf8.encode(jsonText(object));

export const makeList = (type: ResourceType, items: readonly ApiObject[], metadata: ListMetadata): object => ({
  apiVersion: apiVersionOfType(type),
  kind: type.listKind,
  // Untyped lists always write the field.
  metadata: type.custom ? { continue: "", ...metadata } : metadata,
  items,
  ...(type.custom ? {} : { [BARE_ITEMS]: true }),
});

export function partialObject(object: ApiObject, formVersion: string): ApiObject {
  return { apiVersion: `meta.k8s.io/${formVersion}`, kind: "PartialObjectMetadata", metadata: object.metadata };
}

/** HTTP needs printable texts in quotes; upstream escapes the same two signs. */
const warningHeader = (text: string): string => `299 - "${text.replace(/[\\"]/g, (sign) => `\\${sign}`).replace(/[\r\n]+/g, " ")}"`;

/** Several Warning headers travel as one value; a socket splits them again (real/). */
export const WARNING_SEPARATOR = "\n";

export function warningHeaders(warnings: readonly string[]): Record<string, string> {
  return warnings.length === 0 ? {} : { warning: warnings.map(warningHeader).join(WARNING_SEPARATOR) };
}

/** As sigs.k8s.io/yaml writes: texts safe for YAML 1.1 readers, keys sorted, lists not indented, long lines kept. */
const YAML_STYLE = { version: "1.1", sortMapEntries: true, indentSeq: false, lineWidth: 0 } as const;

/** Any object, in the media type asked for. */
export function answer(accept: Negotiated, status: number, object: object, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  if (accept.media === "yaml") {
    const plain: unknown = JSON.parse(jsonText(object));
    return {
      kind: "bytes",
      status,
      headers: { "content-type": "application/yaml", ...headers },
      bytes: utf8.encode(stringify(plain, YAML_STYLE)),
    };
  }
  if (accept.pretty) {
    const text = JSON.stringify(JSON.parse(jsonText(object)), null, 2);
    return { kind: "bytes", status, headers: { ...JSON_HEADERS, ...headers }, bytes: utf8.encode(`${text}\n`) };
  }
  return { kind: "object", status, headers: Object.keys(headers).length === 0 ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, object };
}

/** What each row of a table carries. Throws BadRequest. */
export function includeObjectOf(query: URLSearchParams): "None" | "Metadata" | "Object" {
  const asked = query.get("includeObject") ?? "";
  if (asked === "") return "Metadata";
  if (asked === "None" || asked === "Object" || asked === "Metadata") return asked;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(asked)}; use None, Metadata or Object`);
}

export function answerObject(call: Call, status: number, object: ApiObject): ApiResponse {
  const { accept } = call;
  const headers = warningHeaders(call.warnings);
  // A Status (of a delete) and the answers of other kinds have no other form.
  if (accept.form === "object" || object.kind === "Status") return answer(accept, status, object, headers);
  if (accept.form === "PartialObjectMetadata") return answer(accept, status, partialObject(object, accept.formVersion), headers);
  if (accept.form === "PartialObjectMetadataList") throw plainError("a single object cannot be answered as PartialObjectMetadataList");
  const metadata = { resourceVersion: object.metadata.resourceVersion ?? "" };
  const table = tableOf(call.type, [object], metadata, { includeObject: includeObjectOf(call.query), nowMs: call.core.clock.nowMs() });
  return answer(accept, status, { ...table, apiVersion: `meta.k8s.io/${accept.formVersion}` }, headers);
}

export function answerList(call: Call, items: readonly ApiObject[], metadata: ListMetadata): ApiResponse {
  const { accept, type } = call;
  const headers = warningHeaders(call.warnings);
  switch (accept.form) {
    case "object":
      return answer(accept, 200, makeList(type, items, metadata), headers);
    case "PartialObjectMetadata":
      throw formNotAcceptable(["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"]);
    case "PartialObjectMetadataList":
      return answer(accept, 200, partialList(items, metadata, accept.formVersion), headers);
    case "Table": {
      const table = tableOf(type, items, metadata, { includeObject: includeObjectOf(call.query), nowMs: call.core.clock.nowMs() });
      return answer(accept, 200, { ...table, apiVersion: `meta.k8s.io/${accept.formVersion}` }, headers);
    }
  }
}

const partialList = (items: readonly ApiObject[], metadata: ListMetadata, formVersion: string): object => ({
  apiVersion: `meta.k8s.io/${formVersion}`,
  kind: "PartialObjectMetadataList",
  metadata,
  items: items.map((item) => partialObject(item, formVersion)),
});
