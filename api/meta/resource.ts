// How a kind is addressed. Here: the reference that clients, caches and controllers pass around. Not here: its schema (../).
import type { KubeObject, ObjectMeta } from "./object.ts";

/** One kind as the API serves it. The type parameter is carried for the client's answers only. */
export interface Resource<K extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Reads and watches bring metadata alone (PartialObjectMetadata), for kinds whose content must not lie in a cache. */
  readonly metadataOnly?: true;
  /** Never set: ties the TypeScript type to the value. */
  readonly __object?: K;
}

export interface ObjectKey {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

export function resource<K extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced = true,
): Resource<K> {
  return { group, version, kind, plural, namespaced };
}

/** The same kind, read without spec, status or data. */
export const metadataOf = (r: Resource): Resource => ({ ...r, __object: undefined, metadataOnly: true });

export const apiVersionOf = (r: Resource): string => (r.group === "" ? r.version : `${r.group}/${r.version}`);

export const keyOf = (o: { readonly metadata: ObjectMeta }): ObjectKey => ({
  namespace: o.metadata.namespace ?? "",
  name: o.metadata.name ?? "",
});

/** `namespace/name`, or `name` for a cluster-scoped object; one text per object of a kind. */
export const keyText = (k: ObjectKey): string => (k.namespace === "" ? k.name : `${k.namespace}/${k.name}`);

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0 ? { namespace: "", name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** `/api/v1/namespaces/ns/pods/name` and the like. @param subresource e.g. `status` */
export function pathOf(r: Resource, namespace = "", name = "", subresource = ""): string {
  const root = r.group === "" ? `/api/${r.version}` : `/apis/${r.group}/${r.version}`;
  const scope = r.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const tail = name === "" ? "" : `/${encodeURIComponent(name)}${subresource === "" ? "" : `/${subresource}`}`;
  return `${root}${scope}/${r.plural}${tail}`;
}
