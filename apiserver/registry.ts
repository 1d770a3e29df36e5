// Which kinds the server serves. Here: the mutable registry. Not here: what a kind is (resource-type.ts), the kinds (builtin/, crd/).
import type { Registry, RegistryListener, ResourceType, Verb } from "./resource-type.ts";

export type * from "./resource-type.ts";

export const ALL_VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const pathKey = (t: { group: string; version: string; plural: string }): string => `${t.group}/${t.version}/${t.plural}`;
const kindKey = (t: { group: string; version: string; kind: string }): string => `${t.group}/${t.version}/${t.kind}`;
const byPathOrder = (a: ResourceType, b: ResourceType): number => (pathKey(a) < pathKey(b) ? -1 : pathKey(a) > pathKey(b) ? 1 : 0);

export const apiVersionOfType = (t: { readonly group: string; readonly version: string }): string =>
  t.group === "" ? t.version : `${t.group}/${t.version}`;

export function createRegistry(initial: readonly ResourceType[] = []): Registry {
  const paths = new Map<string, ResourceType>();
  const kinds = new Map<string, ResourceType>();
  const listeners = new Set<RegistryListener>();
  let revision = 0;
  let sorted: readonly ResourceType[] | undefined;
  const registry: Registry = {
    get revision() {
      return revision;
    },
    all() {
      sorted ??= Object.freeze([...paths.values()].sort(byPathOrder));
      return sorted;
    },
    byPath: (group, version, plural) => paths.get(`${group}/${version}/${plural}`),
    byKind: (group, version, kind) => kinds.get(`${group}/${version}/${kind}`),
    versions: (group, plural) => [...paths.values()].filter((t) => t.group === group && t.plural === plural),
    hasGroup: (group, version) => registry.all().some((t) => t.group === group && (version === undefined || t.version === version)),
    change(added, removed = []) {
      for (const type of removed) {
        if (paths.get(pathKey(type)) !== type) continue;
        paths.delete(pathKey(type));
        if (kinds.get(kindKey(type)) === type) kinds.delete(kindKey(type));
      }
      for (const type of added) {
        const before = paths.get(pathKey(type));
        if (before && kinds.get(kindKey(before)) === before) kinds.delete(kindKey(before));
        paths.set(pathKey(type), type);
        kinds.set(kindKey(type), type);
      }
      revision += 1;
      sorted = undefined;
      for (const listener of [...listeners]) listener({ added, removed });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  if (initial.length > 0) registry.change(initial);
  return registry;
}
