// Objects of providers that are known only by a reference. Here: which API version a reference means, field reads by path, adoption.
// Not here: which fields of a contract a controller reads (its own folder). Source: spec/controllers/machinedeployment.md 0.6, spec/api/common.md 4.1.
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { type Resource, resource } from "../../api/meta/resource.ts";
import { contractVersionLabel, olderContractVersionLabel } from "../../api/names.ts";
import { type Cache, index } from "../../runtime/cache.ts";

/** A reference to an object in the same namespace. */
export interface ContractRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** An object whose kind this program does not know. */
export interface Unstructured extends KubeObject {
  readonly spec?: Fields;
  readonly status?: Fields;
}
export type Fields = { readonly [key: string]: unknown };

export type ContractVersion = "v1beta2" | "v1beta1";

export interface ContractKind {
  readonly resource: Resource<Unstructured>;
  /** Decides which status fields are read. */
  readonly contract: ContractVersion;
}

const byGroupKind = index(customResourceDefinitionResource, "groupKind", (crd) => [`${crd.spec.group}/${crd.spec.names.kind}`]);
const CONTRACTS: readonly (readonly [ContractVersion, label: string])[] = [
  ["v1beta2", contractVersionLabel],
  ["v1beta1", olderContractVersionLabel],
];

export class ContractUnknown extends Error {
  readonly code = "ContractUnknown";
}

/** The kind a reference means. The controller names CustomResourceDefinition in `reads`. Answers are the same object as long as the CRD does not change.
 *  @throws ContractUnknown when the CRD is missing or carries no contract label */
export function contractKind(cache: Cache, ref: { readonly apiGroup: string; readonly kind: string }): ContractKind {
  const crd = cache.by(byGroupKind, `${ref.apiGroup}/${ref.kind}`)[0];
  const plural = crd?.spec.names.plural;
  if (!crd || !plural) {
    throw new ContractUnknown(
      `no CustomResourceDefinition for kind ${ref.kind} in group ${ref.apiGroup}: install its provider, or correct the reference`,
    );
  }
  for (const [contract, label] of CONTRACTS) {
    const version = newestVersion(crd.metadata.labels?.[label]);
    if (version) return { resource: resource(ref.apiGroup, version, ref.kind, plural, crd.spec.scope !== "Cluster"), contract };
  }
  throw new ContractUnknown(
    `CustomResourceDefinition ${crd.metadata.name} has no label ${contractVersionLabel} that names its version for the contract: label it, e.g. with v1beta2`,
  );
}

/** The highest of versions joined by `_`, by Kubernetes version order. */
const newestVersion = (label: string | undefined): string | undefined =>
  (label ?? "")
    .split("_")
    .filter((v) => v !== "")
    .sort(byKubernetesVersion)[0];

/** Stable before beta before alpha, higher numbers first; other texts last, by name. */
export function byKubernetesVersion(a: string, b: string): number {
  const [x, y] = [rankOf(a), rankOf(b)];
  for (let i = 0; i < x.length; i++) {
    const difference = (y[i] ?? 0) - (x[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function rankOf(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return [0, 0, 0, 0];
  const stage = match[2] === undefined ? 3 : match[2] === "beta" ? 2 : 1;
  return [1, stage, Number(match[1]), Number(match[3] ?? 0)];
}

/** The value at a path such as `status.initialization.provisioned`; undefined when a part is missing. */
export function at(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Fields)[part];
  }
  return value;
}

export const textAt = (object: unknown, path: string): string | undefined => {
  const value = at(object, path);
  return typeof value === "string" && value !== "" ? value : undefined;
};
export const numberAt = (object: unknown, path: string): number | undefined => {
  const value = at(object, path);
  return typeof value === "number" ? value : undefined;
};
export const isTrueAt = (object: unknown, path: string): boolean => at(object, path) === true;
export const listAt = (object: unknown, path: string): readonly Fields[] => {
  const value = at(object, path);
  return Array.isArray(value) ? (value as Fields[]) : [];
};
