// Groups, versions and resources as clients discover them. Here: pure documents from the kinds served. Not here: paths (index.ts).
// Source: Kubernetes API, meta.k8s.io/v1 APIGroupList and APIResourceList, apidiscovery.k8s.io/v2.
import type { ResourceType, SubresourceHandler } from "../registry.ts";

export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly types: readonly ResourceType[];
}

export interface Group {
  readonly name: string;
  /** Preferred first. */
  readonly versions: readonly GroupVersion[];
}

/** v2 before v1 before v1beta1 before v1alpha1; names of another form come last, by name. Source: CRD versioning documentation. */
export function compareVersions(a: string, b: string): number {
  const rank = (version: string): readonly number[] | undefined => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (!match) return undefined;
    const [, major, stage, minor] = match;
    return [stage === undefined ? 2 : stage === "beta" ? 1 : 0, Number(major), Number(minor ?? 0)];
  };
  const [left, right] = [rank(a), rank(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return (right[i] ?? 0) - (left[i] ?? 0);
  return 0;
}

/** Groups by name, the core group ("") first; hidden kinds left out. */
export function groupsOf(types: readonly ResourceType[]): readonly Group[] {
  const groups = new Map<string, Map<string, ResourceType[]>>();
  for (const type of types) {
    if (type.listed === false) continue;
    const versions = groups.get(type.group) ?? new Map<string, ResourceType[]>();
    groups.set(type.group, versions);
    versions.set(type.version, [...(versions.get(type.version) ?? []), type]);
  }
  return [...groups].sort(byKey).map(([name, versions]) => ({
    name,
    versions: [...versions]
      .sort(([a], [b]) => compareVersions(a, b))
      .map(([version, list]) => ({ group: name, version, types: [...list].sort((a, b) => (a.plural < b.plural ? -1 : 1)) })),
  }));
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);

const CONNECT_VERBS = ["create", "get"];
const STATUS_VERBS = ["get", "patch", "update"];
const SCALE_KIND = { group: "autoscaling", version: "v1", kind: "Scale" };

function handlerResource(type: ResourceType, name: string, handler: SubresourceHandler): ApiResource {
  const kind = handler.kind ?? type;
  const foreign = kind.group !== type.group || kind.version !== type.version;
  return {
    name: `${type.plural}/${name}`,
    singularName: "",
    namespaced: type.namespaced,
    ...(foreign ? { group: kind.group, version: kind.version } : {}),
    kind: kind.kind,
    verbs: handler.verbs.includes("connect") ? CONNECT_VERBS : [...handler.verbs].sort(),
  };
}

/** The kind itself, then its subresources by name. */
function resourcesOf(type: ResourceType): readonly ApiResource[] {
  const { status, scale, handlers = {} } = type.subresources;
  const below: ApiResource[] = Object.entries(handlers).map(([name, handler]) => handlerResource(type, name, handler));
  if (scale) {
    below.push({ name: `${type.plural}/scale`, singularName: "", namespaced: type.namespaced, ...SCALE_KIND, verbs: STATUS_VERBS });
  }
  if (status)
    below.push({ name: `${type.plural}/status`, singularName: "", namespaced: type.namespaced, kind: type.kind, verbs: STATUS_VERBS });
  return [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: [...type.verbs].sort(),
      ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
      ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    },
    ...below.sort((a, b) => (a.name < b.name ? -1 : 1)),
  ];
}

const groupVersion = (group: string, version: string): string => (group === "" ? version : `${group}/${version}`);

export function groupDocument(group: Group): object {
  const versions = group.versions.map(({ version }) => ({ groupVersion: groupVersion(group.name, version), version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

export const groupListDocument = (groups: readonly Group[]): object => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: groups.filter((g) => g.name !== "").map(groupDocument),
});

/** The core group's document has no apiVersion: it is older than that field. */
export const resourceListDocument = ({ group, version, types }: GroupVersion): object => ({
  kind: "APIResourceList",
  ...(group === "" ? {} : { apiVersion: "v1" }),
  groupVersion: groupVersion(group, version),
  resources: types.flatMap(resourcesOf),
});

const responseKind = (resource: ApiResource): object => ({
  group: resource.group ?? "",
  version: resource.version ?? "",
  kind: resource.kind,
});

function aggregatedResource(type: ResourceType): object {
  const [own, ...below] = resourcesOf(type);
  if (!own) return {};
  return {
    resource: own.name,
    responseKind: responseKind(own),
    scope: own.namespaced ? "Namespaced" : "Cluster",
    singularResource: own.singularName,
    verbs: own.verbs,
    ...(own.shortNames ? { shortNames: own.shortNames } : {}),
    ...(own.categories ? { categories: own.categories } : {}),
    ...(below.length === 0
      ? {}
      : {
          subresources: below.map((r) => ({
            subresource: r.name.slice(type.plural.length + 1),
            responseKind: responseKind(r),
            verbs: r.verbs,
          })),
        }),
  };
}

/** @param apiVersion `v2` or `v2beta1`, which have the same fields */
export const aggregatedDocument = (groups: readonly Group[], apiVersion: string): object => ({
  kind: "APIGroupDiscoveryList",
  apiVersion: `apidiscovery.k8s.io/${apiVersion}`,
  metadata: {},
  items: groups.map((group) => ({
    metadata: group.name === "" ? {} : { name: group.name },
    versions: group.versions.map(({ version, types }) => ({ version, resources: types.map(aggregatedResource), freshness: "Current" })),
  })),
});
