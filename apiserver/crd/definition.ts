// CustomResourceDefinitions as the server reads them. Here: their shape and conditions. Not here: rules (validate.ts), effects (types.ts).
// Source: apiextensions.k8s.io/v1.
import type { JsonSchema } from "../../api/meta/schema.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { ApiObject } from "../object.ts";
import type { CrdColumn } from "../table/custom.ts";

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
export const CRD = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" } as const;

export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdScale {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: CrdScale };
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface CrdSpec {
  readonly group: string;
  readonly names: CrdNames;
  readonly scope: string;
  readonly versions: readonly CrdVersion[];
  readonly preserveUnknownFields?: boolean;
  readonly conversion?: {
    readonly strategy: string;
    readonly webhook?: { readonly clientConfig?: object; readonly conversionReviewVersions?: readonly string[] };
  };
}

export interface CrdCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface CrdStatus {
  readonly acceptedNames: CrdNames;
  readonly conditions: readonly CrdCondition[] | null;
  readonly storedVersions: readonly string[];
}

const NO_NAMES: CrdNames = { plural: "", kind: "" };

/** Decoded bodies have all fields that v1 always writes; hand-made objects of tests may lack some. */
export function specOf(crd: ApiObject): CrdSpec {
  const spec = (crd.spec ?? {}) as Partial<CrdSpec>;
  return { ...spec, group: spec.group ?? "", names: spec.names ?? NO_NAMES, scope: spec.scope ?? "", versions: spec.versions ?? [] };
}

export function statusOf(crd: ApiObject): CrdStatus {
  const status = (crd.status ?? {}) as Partial<CrdStatus>;
  return {
    acceptedNames: status.acceptedNames ?? NO_NAMES,
    conditions: status.conditions ?? null,
    storedVersions: status.storedVersions ?? [],
  };
}

export const hasCondition = (crd: ApiObject, type: string): boolean =>
  (statusOf(crd).conditions ?? []).some((condition) => condition.type === type && condition.status === "True");

/** Sets a condition in its place; the transition time moves only with the status. */
export function withCondition(
  conditions: readonly CrdCondition[] | null,
  wanted: Omit<CrdCondition, "lastTransitionTime">,
  nowMs: number,
): readonly CrdCondition[] {
  const all = conditions ?? [];
  const known = all.find((condition) => condition.type === wanted.type);
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : timestamp(nowMs);
  const next: CrdCondition = { ...wanted, lastTransitionTime };
  return known ? all.map((condition) => (condition === known ? next : condition)) : [...all, next];
}

export const withStatus = (crd: ApiObject, change: Partial<CrdStatus>): ApiObject => ({ ...crd, status: { ...statusOf(crd), ...change } });
