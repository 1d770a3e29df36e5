// Following every stored kind, also those that come later. Here: one subscription per stored resource, renewed as kinds come and go.
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Change } from "../store/store.ts";

/** Kinds that are stored, one version of each resource, in the order of the registry. */
export function storedTypes(server: ServerContext): readonly ResourceType[] {
  const chosen = new Map<string, ResourceType>();
  for (const type of server.registry.all()) {
    if (type.virtual) continue;
    const known = chosen.get(type.storageKey);
    if (!known || isStorageVersion(type)) chosen.set(type.storageKey, type);
  }
  return [...chosen.values()];
}

const isStorageVersion = (type: ResourceType): boolean =>
  type.storageVersion === (type.group === "" ? type.version : `${type.group}/${type.version}`);

export interface Follower {
  /** A change, from within its commit: note it, act later. */
  readonly changed: (type: ResourceType, change: Change) => void;
  /** An object that was there before. */
  readonly found: (type: ResourceType, object: ApiObject) => void;
}

/** What acts on changes of any kind. */
export interface Watcher extends Follower {
  readonly stop: () => void;
}

/** Tells all of them of all objects there are and of all later changes: one subscription a resource, however many listen. @returns stop */
export function followAll(server: ServerContext, followers: readonly Follower[]): () => void {
  const open = new Map<string, { readonly type: ResourceType; readonly stop: () => void }>();
  const renew = (): void => {
    const wanted = new Map(storedTypes(server).map((type) => [type.storageKey, type]));
    for (const [key, { type, stop }] of open) {
      if (wanted.get(key) === type) continue;
      stop();
      open.delete(key);
    }
    for (const [key, type] of wanted) {
      if (open.has(key)) continue;
      const changed = (change: Change): void => {
        for (const follower of followers) follower.changed(type, change);
      };
      open.set(key, { type, stop: server.objects.watch(type, changed) });
      for (const object of server.objects.list(type)) for (const follower of followers) follower.found(type, object);
    }
  };
  renew();
  const unsubscribe = server.registry.onChange(renew);
  return () => {
    unsubscribe();
    for (const { stop } of open.values()) stop();
    open.clear();
  };
}
