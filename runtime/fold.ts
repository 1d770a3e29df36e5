// Fold: how a cache follows a list and a watch, as one pure step over a closed union.
// Here: the protocol and its meaning. Not here: talking to a server (reflector.ts), lookups (store.ts).
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, keyText } from "../api/meta/resource.ts";
import { invariant, unreachable } from "./base/invariant.ts";
import type { Change } from "./cache.ts";

export type CacheEvent<K extends KubeObject> =
  | { readonly type: "relistStart" }
  | { readonly type: "relistItem"; readonly object: K }
  | { readonly type: "relistEnd"; readonly resourceVersion: string }
  | { readonly type: "upsert"; readonly object: K }
  | { readonly type: "remove"; readonly object: K }
  | { readonly type: "bookmark"; readonly resourceVersion: string }
  /** Read live beside the watch: says nothing about what the watch has delivered. */
  | { readonly type: "found"; readonly object: K }
  | { readonly type: "lost"; readonly object: K };

/** `live` is what readers see; it is changed in place, except by a relist, which swaps in a whole new map. */
export interface CacheState<K extends KubeObject> {
  readonly live: ReadonlyMap<string, K>;
  readonly draft?: Map<string, K>;
  readonly synced: boolean;
  /** Everything up to this version of the server has been seen; empty before the first list. */
  readonly resourceVersion: string;
}

export interface Folded<K extends KubeObject> {
  readonly state: CacheState<K>;
  readonly changes: readonly Change<K>[];
}

export const emptyCacheState = <K extends KubeObject>(): CacheState<K> => ({ live: new Map(), synced: false, resourceVersion: "" });

export function fold<K extends KubeObject>(state: CacheState<K>, event: CacheEvent<K>): Folded<K> {
  switch (event.type) {
    case "relistStart":
      return { state: { ...state, draft: new Map() }, changes: [] };
    case "relistItem":
      draftOf(state).set(keyText(keyOf(event.object)), event.object);
      return { state, changes: [] };
    case "relistEnd":
      return swapDraft(state, event.resourceVersion);
    case "upsert":
      return upsert(state, event.object);
    case "remove":
      return remove(state, event.object);
    case "bookmark":
      return { state: seen(state, event.resourceVersion), changes: [] };
    case "found":
      return withVersionOf(state, upsert(state, event.object));
    case "lost":
      return withVersionOf(state, remove(state, event.object));
    default:
      return unreachable(event);
  }
}

/** Compares two resource versions of one server. @returns negative, 0, positive; NaN when they cannot be compared
 *  Source: Kubernetes 1.35, resource versions are decimal numbers without bound */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return Number.NaN;
  return a.length - b.length || (a < b ? -1 : 1);
}
const DECIMAL = /^(0|[1-9][0-9]*)$/;

const draftOf = <K extends KubeObject>(state: CacheState<K>): Map<string, K> => {
  invariant(state.draft, "items of a relist come between its start and its end");
  return state.draft;
};

/** Watch events and live reads of one object may arrive out of order; the newer one stays. */
const isOlder = (a: KubeObject, than: KubeObject): boolean =>
  compareVersions(a.metadata.resourceVersion ?? "", than.metadata.resourceVersion ?? "") < 0;

const seen = <K extends KubeObject>(state: CacheState<K>, version: string | undefined): CacheState<K> =>
  version === undefined || compareVersions(version, state.resourceVersion) <= 0 ? state : { ...state, resourceVersion: version };

const withVersionOf = <K extends KubeObject>({ resourceVersion }: CacheState<K>, { state, changes }: Folded<K>): Folded<K> => ({
  state: { ...state, resourceVersion },
  changes,
});

function upsert<K extends KubeObject>(state: CacheState<K>, object: K): Folded<K> {
  const live = state.live as Map<string, K>;
  const key = keyText(keyOf(object));
  const old = live.get(key);
  if (old && (isOlder(object, old) || old.metadata.resourceVersion === object.metadata.resourceVersion)) {
    return { state: seen(state, object.metadata.resourceVersion), changes: [] };
  }
  live.set(key, object);
  const after = seen(state, object.metadata.resourceVersion);
  if (!old) return { state: after, changes: [{ type: "added", object, initial: false }] };
  return { state: after, changes: replaced(old, object) };
}

function remove<K extends KubeObject>(state: CacheState<K>, object: K): Folded<K> {
  const live = state.live as Map<string, K>;
  const key = keyText(keyOf(object));
  const old = live.get(key);
  const after = seen(state, object.metadata.resourceVersion);
  if (!old || isOlder(object, old)) return { state: after, changes: [] };
  live.delete(key);
  return { state: after, changes: [{ type: "deleted", object: old }] };
}

/** The same name with another uid is another object: one was deleted, one came. */
const replaced = <K extends KubeObject>(old: K, object: K): readonly Change<K>[] =>
  old.metadata.uid === object.metadata.uid
    ? [{ type: "updated", object, old }]
    : [
        { type: "deleted", object: old },
        { type: "added", object, initial: false },
      ];

function swapDraft<K extends KubeObject>(state: CacheState<K>, resourceVersion: string): Folded<K> {
  const draft = draftOf(state);
  const changes: Change<K>[] = [];
  for (const [key, old] of state.live) if (!draft.has(key)) changes.push({ type: "deleted", object: old });
  for (const [key, object] of draft) {
    const old = state.live.get(key);
    if (!old) changes.push({ type: "added", object, initial: !state.synced });
    else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) changes.push(...replaced(old, object));
  }
  return { state: { live: draft, synced: true, resourceVersion }, changes };
}
