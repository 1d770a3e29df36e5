// Between the pipeline and the store: keys, versions, resourceVersion. Here: one object at a time. Not here: rules of any verb.
import { deepFreeze, type ApiObject, withMetadata } from "../object.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import type { Change, Entry, StoreKey, Write } from "../store/store.ts";
import type { Core } from "./call.ts";

export const resourceOf = (core: Pick<Core, "keyPrefix">, type: ResourceType): string => core.keyPrefix + type.storageKey;

export const keyOf = (core: Pick<Core, "keyPrefix">, type: ResourceType, namespace: string, name: string): StoreKey => ({
  resource: resourceOf(core, type),
  namespace: type.namespaced ? namespace : "",
  name,
});

// One stored object is read many times; its form in a version is made once. Types are immutable, so a new schema means a new cache.
const forms = new WeakMap<ResourceType, WeakMap<ApiObject, ApiObject>>();

function formsOf(type: ResourceType): WeakMap<ApiObject, ApiObject> {
  let found = forms.get(type);
  if (!found) {
    found = new WeakMap();
    forms.set(type, found);
  }
  return found;
}

function convert(core: Pick<Core, "compiled">, type: ResourceType, stored: ApiObject): ApiObject {
  const apiVersion = apiVersionOfType(type);
  let object = type.fromStorage ? type.fromStorage(stored) : stored;
  if (object.apiVersion !== apiVersion) object = { ...object, apiVersion };
  // Stored before a default or a field came to the schema: custom resources are defaulted and pruned when read.
  if (type.custom) object = core.compiled(type)?.defaultAndPrune(object) ?? object;
  return deepFreeze(object);
}

/** A stored object in the version of `type`; the same value for the same stored object. */
export function fromStored(core: Pick<Core, "compiled">, type: ResourceType, stored: ApiObject): ApiObject {
  const known = formsOf(type);
  let object = known.get(stored);
  if (!object) {
    object = convert(core, type, stored);
    known.set(stored, object);
  }
  return object;
}

export function changeIn(core: Pick<Core, "compiled">, type: ResourceType, change: Change): Change {
  const object = fromStored(core, type, change.object);
  const previous = change.previous && fromStored(core, type, change.previous);
  return object === change.object && previous === change.previous ? change : { ...change, object, ...(previous ? { previous } : {}) };
}

function toStored(type: ResourceType, object: ApiObject): ApiObject {
  const stored = type.toStorage ? type.toStorage(object) : object;
  return stored.apiVersion === type.storageVersion ? stored : { ...stored, apiVersion: type.storageVersion };
}

export interface Found {
  readonly object: ApiObject;
  readonly revision: number;
}

export function find(core: Core, type: ResourceType, namespace: string, name: string): Found | undefined {
  const entry = core.store.get(keyOf(core, type, namespace, name));
  return entry && { object: fromStored(core, type, entry.object), revision: entry.revision };
}

/** Writes `object`. @param expectedRevision 0 = must not exist. @returns it with its resourceVersion. Throws StoreConflict. */
export function save(core: Core, type: ResourceType, object: ApiObject, expectedRevision: number): ApiObject {
  const key = keyOf(core, type, object.metadata.namespace ?? "", object.metadata.name ?? "");
  let stored: ApiObject | undefined;
  const write: Write = {
    key,
    expectedRevision,
    object: (revision) => {
      stored = deepFreeze(toStored(type, withMetadata(object, { resourceVersion: String(revision) })));
      // What was just defaulted and pruned needs not be read again, unless it changed its form on the way.
      if (!type.toStorage && stored.apiVersion === apiVersionOfType(type)) formsOf(type).set(stored, stored);
      return stored;
    },
  };
  core.store.commit([write]);
  return fromStored(core, type, stored as unknown as ApiObject);
}

export function remove(core: Core, type: ResourceType, found: Found): void {
  const { metadata } = found.object;
  core.store.commit([{ key: keyOf(core, type, metadata.namespace ?? "", metadata.name ?? ""), expectedRevision: found.revision }]);
}

export const entryObject = (core: Core, type: ResourceType, entry: Entry): ApiObject => fromStored(core, type, entry.object);
