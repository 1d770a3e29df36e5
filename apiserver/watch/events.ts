// One change as one watcher sees it: which event, of which object, in which form, encoded once for all who want the same.
// Here: label transitions, forms, bookmarks, errors. Not here: when events are delivered (watch.ts).
import type { Status } from "../../api/meta/status.ts";
import type { WatchEvent, WatchEventType } from "../../api/meta/transport.ts";
import type { ApiObject } from "../object.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import type { Form } from "../requests/negotiate.ts";
import { partialObject } from "../requests/respond.ts";
import type { Matcher } from "../requests/selectors.ts";
import type { Change } from "../store/store.ts";
import { tableOf } from "../table/index.ts";

export interface Seen {
  readonly type: WatchEventType;
  readonly object: ApiObject;
}

/**
 * What a watcher with a selector sees of a change: an object that starts to match is added, one that stops is deleted.
 * @returns undefined when it sees nothing
 */
export function seenBy(change: Change, matches: Matcher): Seen | undefined {
  const { type, object, previous } = change;
  if (type === "ADDED") return matches(object) ? { type: "ADDED", object } : undefined;
  const did = previous !== undefined && matches(previous);
  if (type === "DELETED") return did ? { type: "DELETED", object } : undefined;
  const does = matches(object);
  if (does) return { type: did ? "MODIFIED" : "ADDED", object };
  if (!did) return undefined;
  // The last state that matched, at the version of the change.
  const { resourceVersion } = object.metadata;
  return { type: "DELETED", object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}

export interface EventForm {
  readonly form: Form;
  readonly formVersion: string;
  readonly includeObject: "None" | "Metadata" | "Object";
}

/** @param first false for all but the first event of a table watch: columns are sent once */
export function formed(type: ResourceType, seen: Seen, form: EventForm, nowMs: number, first: boolean): WatchEvent {
  const { object } = seen;
  switch (form.form) {
    case "object":
      return seen;
    case "Table": {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      const table = tableOf(type, [object], metadata, { includeObject: form.includeObject, nowMs });
      const columns = first ? {} : { columnDefinitions: null };
      return { type: seen.type, object: { ...table, ...columns, apiVersion: `meta.k8s.io/${form.formVersion}` } };
    }
    default:
      return { type: seen.type, object: partialObject(object, form.formVersion) };
  }
}

/** @param endsInitial marks the end of what existed when the watch began */
export function bookmark(type: ResourceType, revision: number, endsInitial: boolean): Seen {
  const annotations = endsInitial ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const empty = type.empty?.() ?? { apiVersion: apiVersionOfType(type), kind: type.kind };
  const object = {
    ...empty,
    apiVersion: apiVersionOfType(type),
    kind: type.kind,
    metadata: { resourceVersion: String(revision), ...annotations },
  };
  return { type: "BOOKMARK", object };
}

export const errorEvent = (status: Status): WatchEvent<Status> => ({ type: "ERROR", object: status });

const utf8 = new TextEncoder();

/** One JSON line. */
export const encodeEvent = (event: WatchEvent): Uint8Array => utf8.encode(`${JSON.stringify(event)}\n`);

/**
 * Encodings of the change that is being delivered. Live watchers all get one change before the next, so one slot is enough,
 * and what was encoded is let go with the change.
 */
export interface EncodeOnce {
  encode(change: Change, key: string, event: WatchEvent): Uint8Array;
}

export function createEncodeOnce(): EncodeOnce {
  let current: Change | undefined;
  let made = new Map<string, Uint8Array>();
  return {
    encode(change, key, event) {
      if (current !== change) {
        current = change;
        made = new Map();
      }
      let bytes = made.get(key);
      if (!bytes) {
        bytes = encodeEvent(event);
        made.set(key, bytes);
      }
      return bytes;
    },
  };
}
