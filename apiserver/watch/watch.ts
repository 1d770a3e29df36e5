// A watch: what existed, then every change, until somebody ends it. Here: one watcher's life and its request.
// Not here: the form of an event (events.ts), history (../store).
import type { StatusCause } from "../../api/meta/status.ts";
import type { ApiResponse, WatchEvent, WatchSink } from "../../api/meta/transport.ts";
import { type ApiError, fieldForbidden, fieldNotSupported, notAcceptable, plainError, resourceVersionTooLarge, tooOld } from "../errors.ts";
import type { Call, Core } from "../requests/call.ts";
import { flagOf, integerOf } from "../requests/options.ts";
import { refuseOptions, revisionOf, scopeOf, selectedEntries, type Selection, selectionOf } from "../requests/read.ts";
import { includeObjectOf, warningHeaders } from "../requests/respond.ts";
import { changeIn, entryObject, resourceOf } from "../requests/storage.ts";
import type { Change } from "../store/store.ts";
import {
  bookmark,
  createEncodeOnce,
  type EncodeOnce,
  encodeEvent,
  errorEvent,
  type EventForm,
  formed,
  type Seen,
  seenBy,
} from "./events.ts";

/** As kube-apiserver: between one and two times half an hour, so that clients do not all come back at once. */
const TIMEOUT_MIN_MS = 30 * 60_000;
const BOOKMARK_EVERY_MS = 60_000;
/** A bookmark shortly before the end lets the client come back where it was. */
const LAST_BOOKMARK_BEFORE_MS = 2_000;

interface Start {
  /** Send what exists first. */
  readonly initial: boolean;
  /** Mark the end of that. */
  readonly marked: boolean;
  /** Without initial events: changes after this revision. */
  readonly after: number;
  /** Told as an event, then the watch ends. */
  readonly fault?: ApiError;
}

function startOf(call: Call): Start {
  const { query, core } = call;
  const text = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const send = flagOf(query, "sendInitialEvents");
  const bookmarks = wantsBookmarks(query);
  const causes: StatusCause[] = [];
  const refuseMatch = (why: string): void => void causes.push(fieldForbidden("resourceVersionMatch", why));
  if (send !== undefined && match !== "NotOlderThan")
    refuseMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (match !== "") {
    if (send === undefined) refuseMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (match !== "NotOlderThan") causes.push(fieldNotSupported("resourceVersionMatch", match, ["NotOlderThan"]));
    if (query.get("continue")) refuseMatch("resourceVersionMatch is forbidden when continue is provided");
  }
  refuseOptions(causes);
  const revision = revisionOf(text, plainError);
  const current = core.store.revision();
  const fromNothing = revision === undefined || revision === 0;
  const initial = send ?? fromNothing;
  // Upstream waits for a version of the future, for ever when its history began anew; an error lets the client list again.
  const fault = !fromNothing && revision > current ? resourceVersionTooLarge(revision, current) : undefined;
  return { initial, marked: initial && bookmarks, after: fromNothing ? current : revision, fault };
}

const wantsBookmarks = (query: URLSearchParams): boolean => flagOf(query, "allowWatchBookmarks") ?? false;

const encoders = new WeakMap<object, EncodeOnce>();

/** One per store: servers that share a store never share a resource. */
function encoderOf(core: Core): EncodeOnce {
  let found = encoders.get(core.store);
  if (!found) {
    found = createEncodeOnce();
    encoders.set(core.store, found);
  }
  return found;
}

export function handleWatch(call: Call): ApiResponse {
  const selection = selectionOf(call);
  const start = startOf(call);
  if (call.accept.media !== "json") throw notAcceptable(["application/json"]);
  const form: EventForm = {
    form: call.accept.form === "PartialObjectMetadataList" ? "PartialObjectMetadata" : call.accept.form,
    formVersion: call.accept.formVersion,
    includeObject: includeObjectOf(call.query),
  };
  const seconds = integerOf(call.query, "timeoutSeconds");
  const timeoutMs = seconds !== undefined && seconds > 0 ? seconds * 1_000 : Math.floor(TIMEOUT_MIN_MS * (1 + call.core.random.next()));
  return {
    kind: "watch",
    status: 200,
    headers: { "content-type": "application/json", ...warningHeaders(call.warnings) },
    subscribe: (sink) => run(call, { selection, start, form, timeoutMs, bookmarks: wantsBookmarks(call.query) }, sink),
  };
}

interface Plan {
  readonly selection: Selection;
  readonly start: Start;
  readonly form: EventForm;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
}

function run(call: Call, plan: Plan, sink: WatchSink): () => void {
  const { core } = call;
  const { selection, start, form } = plan;
  let type = call.type;
  const resource = resourceOf(core, type);
  const encoder = encoderOf(core);
  const formKey = `${type.version}|${form.form}|${form.formVersion}|${form.includeObject}`;
  const stops: (() => void)[] = [];
  let over = false;
  let first = true;
  let lastSent = start.after;

  const finish = (): void => {
    if (over) return;
    over = true;
    for (const stop of stops) stop();
  };
  const end = (): void => {
    if (over) return;
    finish();
    sink.end();
  };
  /** A reader's fault must not become that of the writer whose commit tells it. */
  const accepted = (event: WatchEvent, encoded: () => Uint8Array): boolean => {
    try {
      return sink.event(event, encoded);
    } catch (error) {
      core.log.error("a watcher failed and is cut off", { resource, error: String(error) });
      return false;
    }
  };
  const deliver = (event: WatchEvent, encoded: () => Uint8Array): void => {
    if (over) return;
    first = false;
    // A reader that cannot follow is cut off: it comes back with the version it has.
    if (!accepted(event, encoded)) end();
  };
  const deliverAlone = (seen: Seen): void => {
    const event = formed(type, seen, form, core.clock.nowMs(), first);
    deliver(event, () => encodeEvent(event));
  };
  const deliverChange = (raw: Change): void => {
    if (over) return;
    lastSent = raw.revision;
    const seen = seenBy(changeIn(core, type, raw), selection.matches);
    if (!seen) return;
    const key = `${formKey}|${seen.type}|${first && form.form === "Table"}`;
    const event = formed(type, seen, form, core.clock.nowMs(), first);
    deliver(event, () => encoder.encode(raw, key, event));
  };
  const sendBookmark = (): void => {
    const revision = core.store.revision();
    if (revision > lastSent) lastSent = revision;
    deliverAlone(bookmark(type, lastSent, false));
  };

  const history = start.initial ? [] : core.store.changesAfter(resource, start.after);
  const fault = start.fault ?? (history ? undefined : tooOld(start.after, core.store.oldestRevision(resource)));
  const changes = history ?? [];
  if (fault) {
    const event = errorEvent(fault.status);
    deliver(event, () => encodeEvent(event));
    end();
    return finish;
  }
  const scope = scopeOf(type, selection);
  const since = core.store.revision();
  // From here on nothing is lost: live changes are told after this function returned, or are newer than `since`.
  const early: Change[] = [];
  let live = false;
  stops.push(
    core.store.onChange(resource, scope, (change) => {
      if (change.revision <= since) return; // was in the store, or in history, when the watch began
      if (live) deliverChange(change);
      else early.push(change);
    }),
  );
  if (start.initial) {
    for (const entry of selectedEntries(core, type, selection)) {
      const object = entryObject(core, type, entry);
      if (selection.matches(object)) deliverAlone({ type: "ADDED", object });
    }
    lastSent = since;
    if (start.marked) deliverAlone(bookmark(type, since, true));
  } else for (const change of changes) if (inScope(change, scope)) deliverChange(change);
  for (let change = early.shift(); change; change = early.shift()) deliverChange(change);
  live = true;
  if (over) return finish;
  stops.push(core.clock.after(plan.timeoutMs, end));
  if (plan.bookmarks) {
    stops.push(core.clock.every(BOOKMARK_EVERY_MS, sendBookmark));
    if (plan.timeoutMs > LAST_BOOKMARK_BEFORE_MS) stops.push(core.clock.after(plan.timeoutMs - LAST_BOOKMARK_BEFORE_MS, sendBookmark));
  }
  // A new schema holds for later events; when the kind goes away, its watches end (the objects were deleted before).
  stops.push(
    core.registry.onChange(() => {
      const current = core.registry.byPath(type.group, type.version, type.plural);
      if (current) type = current;
      else end();
    }),
  );
  return finish;
}

const inScope = (change: Change, namespace: string | undefined): boolean =>
  namespace === undefined || (change.object.metadata.namespace ?? "") === namespace;
