// What a simulation must remember besides Kubernetes objects: hosts, etcd, ports. Kept in the same store as they are, so that one
// data folder holds all. Here: the seam and its form over a Store. Not here: what is remembered.
import type { ObjectKey } from "../../api/meta/resource.ts";
import type { ApiObject } from "../../apiserver/object.ts";
import type { Store, StoreKey } from "../../apiserver/store/store.ts";

/** Small records by kind and name. Values are deeply read-only and must be JSON. */
export interface StateStore {
  get<T extends object>(kind: string, key: ObjectKey): T | undefined;
  put(kind: string, key: ObjectKey, value: object): void;
  delete(kind: string, key: ObjectKey): void;
  /** Sorted by namespace and name. */
  list<T extends object>(kind: string): readonly { readonly key: ObjectKey; readonly value: T }[];
}

interface StateObject extends ApiObject {
  readonly value: object;
}

export function storeState(store: Store): StateStore {
  const place = (kind: string, key: ObjectKey): StoreKey => ({ resource: `simulator|${kind}`, namespace: key.namespace, name: key.name });
  return {
    get: <T extends object>(kind: string, key: ObjectKey) =>
      (store.get(place(kind, key))?.object as StateObject | undefined)?.value as T | undefined,
    put(kind, key, value) {
      const object = (revision: number): StateObject => ({
        apiVersion: "simulator",
        kind,
        metadata: { name: key.name, namespace: key.namespace, resourceVersion: String(revision) },
        value,
      });
      store.commit([{ key: place(kind, key), object }]);
    },
    delete(kind, key) {
      if (store.get(place(kind, key))) store.commit([{ key: place(kind, key) }]);
    },
    list: <T extends object>(kind: string) =>
      store
        .list(`simulator|${kind}`)
        .map((e) => ({ key: { namespace: e.key.namespace, name: e.key.name }, value: (e.object as StateObject).value as T })),
  };
}
