// Get and list. Here: versions asked for, selectors, pages. Not here: watches (../watch), the form of the answer (respond.ts).
import type { StatusCause } from "../../api/meta/status.ts";
import type { ApiResponse } from "../../api/meta/transport.ts";
import {
  badRequest,
  expired,
  fieldForbidden,
  fieldNotSupported,
  invalid,
  notFound,
  plainError,
  resourceVersionTooLarge,
} from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Entry } from "../store/store.ts";
import { type Call, type Core, namespaceOf } from "./call.ts";
import { integerOf } from "./options.ts";
import { answerList, answerObject } from "./respond.ts";
import { everything, type FieldSelection, fieldSelection, labelMatcher, type Matcher } from "./selectors.ts";
import { entryObject, find, keyOf, resourceOf } from "./storage.ts";

export interface Selection {
  readonly matches: Matcher;
  readonly all: boolean;
  readonly fields: FieldSelection;
  /** Empty text = all namespaces. */
  readonly namespace: string;
}

/** Label and field selector and the namespace of a list or watch. Throws BadRequest. */
export function selectionOf(call: Call): Selection {
  const labels = labelMatcher(call.query.get("labelSelector") ?? "");
  const fields = fieldSelection(call.query.get("fieldSelector") ?? "", call.type);
  const all = labels === everything && fields.matches === everything;
  const matches: Matcher = all ? everything : (object) => labels(object) && fields.matches(object);
  return { matches, all, fields, namespace: namespaceOf(call) };
}

/** undefined for none, 0 for any. @param malformed how a text that is no version is refused */
export function revisionOf(text: string | null, malformed: (message: string) => Error): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d+$/.test(text)) throw malformed(`Invalid value: ${JSON.stringify(text)}: a resourceVersion is a whole number`);
  return Number(text);
}

export const refuseOptions = (causes: readonly StatusCause[]): void => {
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
};

const RESOURCE_VERSION_MATCHES = ["Exact", "NotOlderThan"];

export function handleGet(call: Call): ApiResponse {
  const { core, type, route } = call;
  const asked = revisionOf(call.query.get("resourceVersion"), plainError);
  if (asked !== undefined && asked > core.store.revision()) throw resourceVersionTooLarge(asked, core.store.revision());
  const found = find(core, type, namespaceOf(call), route.name);
  if (!found) throw notFound(type, route.name);
  return answerObject(call, 200, found.object);
}

interface Token {
  readonly revision: number;
  /** Key after which the next page starts. */
  readonly after: string;
}

const orderText = (entry: Entry): string => `${entry.key.namespace}/${entry.key.name}`;

const encodeToken = (token: Token): string =>
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after }))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

function decodeToken(text: string): Token {
  try {
    const raw = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/"))) as { v?: unknown; rv?: unknown; start?: unknown };
    if (raw.v === "meta.k8s.io/v1" && typeof raw.rv === "number" && typeof raw.start === "string")
      return { revision: raw.rv, after: raw.start };
  } catch {
    // told below
  }
  throw badRequest("continue key is not valid: take it as it came from metadata.continue of the page before");
}

/** What of the collection is asked for: the newest state, or that of a revision. */
interface Snapshot {
  readonly entries: readonly Entry[];
  readonly revision: number;
}

function checkListOptions(match: string, version: string, token: string, sendInitialEvents: boolean): void {
  const causes: StatusCause[] = [];
  if (sendInitialEvents) causes.push(fieldForbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (match !== "") causes.push(...matchCauses(match, version, token));
  refuseOptions(causes);
}

function matchCauses(match: string, version: string, token: string): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  if (version === "")
    causes.push(fieldForbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (token !== "") causes.push(fieldForbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  if (!RESOURCE_VERSION_MATCHES.includes(match))
    causes.push(fieldNotSupported("resourceVersionMatch", match, [...RESOURCE_VERSION_MATCHES, ""]));
  else if (match === "Exact" && version === "0") {
    causes.push(fieldForbidden("resourceVersionMatch", 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"'));
  }
  return causes;
}

function snapshotAt(call: Call, revision: number, namespace: string | undefined): Snapshot {
  const { core, type } = call;
  if (revision > core.store.revision()) throw resourceVersionTooLarge(revision, core.store.revision());
  const entries = core.store.listAt(resourceOf(core, type), revision, namespace);
  if (!entries) throw expired("The resourceVersion for the provided list is too old; list again without it.");
  return { entries, revision };
}

/** Throws Invalid, BadRequest, Expired, Timeout. */
function snapshotOf(call: Call, limit: number, token: Token | undefined, selection: Selection): Snapshot {
  const { core, type, query } = call;
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  checkListOptions(match, version, query.get("continue") ?? "", query.has("sendInitialEvents"));
  const revision = revisionOf(version, badRequest);
  const scope = scopeOf(type, selection);
  if (token) {
    if (revision !== undefined && revision !== 0) throw badRequest("specifying resource version is not allowed when using continue");
    return snapshotAt(call, token.revision, scope);
  }
  // Without a match rule a version with a limit means that version, as it does upstream.
  const exact = match === "Exact" || (match === "" && limit > 0 && revision !== undefined && revision !== 0);
  if (exact && revision !== undefined) return snapshotAt(call, revision, scope);
  const current = core.store.revision();
  if (revision !== undefined && revision > current) throw resourceVersionTooLarge(revision, current);
  return { entries: selectedEntries(core, type, selection), revision: current };
}

/** The namespace that a list or watch is limited to, by path or by field selector; undefined = all. */
export function scopeOf(type: ResourceType, selection: Selection): string | undefined {
  if (!type.namespaced) return undefined;
  return selection.namespace !== "" ? selection.namespace : selection.fields.namespace;
}

/** Entries that may match: one when the selector names one object, those of a namespace, or all. */
export function selectedEntries(core: Core, type: ResourceType, selection: Selection): readonly Entry[] {
  const scope = scopeOf(type, selection);
  const { name } = selection.fields;
  if (name === undefined || (type.namespaced && scope === undefined)) return core.store.list(resourceOf(core, type), scope);
  const entry = core.store.get(keyOf(core, type, scope ?? "", name));
  return entry ? [entry] : [];
}

/** All objects that a request selects, sorted. */
export function matching(call: Call): readonly ApiObject[] {
  const selection = selectionOf(call);
  const { entries } = snapshotOf(call, 0, undefined, selection);
  return entries.map((entry) => entryObject(call.core, call.type, entry)).filter(selection.matches);
}

export function handleList(call: Call): ApiResponse {
  const selection = selectionOf(call);
  const limit = Math.max(0, integerOf(call.query, "limit") ?? 0);
  const continueText = call.query.get("continue") ?? "";
  const token = continueText === "" ? undefined : decodeToken(continueText);
  const { entries, revision } = snapshotOf(call, limit, token, selection);
  const objects: ApiObject[] = [];
  const start = token === undefined ? 0 : firstAfter(entries, token.after);
  let at = start;
  for (; at < entries.length && (limit === 0 || objects.length < limit); at++) {
    const object = entryObject(call.core, call.type, entries[at] as Entry);
    if (selection.all || selection.matches(object)) objects.push(object);
  }
  const rest = entries.length - at;
  const last = entries[at - 1];
  const more = rest > 0 && last !== undefined;
  return answerList(call, objects, {
    resourceVersion: String(revision),
    ...(more ? { continue: encodeToken({ revision, after: orderText(last) }) } : {}),
    ...(more && selection.all ? { remainingItemCount: rest } : {}),
  });
}

function firstAfter(entries: readonly Entry[], after: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orderText(entries[middle] as Entry) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
