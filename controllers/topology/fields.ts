// Fields of control planes and infrastructure clusters that a topology reads and sets. Here: paths by contract version, reading, setting.
// Source: spec/controllers/topology.md section 7; spec/api/common.md section 4.1.
import {
  clusterTopologyDeferUpgradeAnnotation,
  clusterTopologyHoldUpgradeSequenceAnnotation,
  lastAppliedConfigAnnotation,
} from "../../api/names.ts";
import { at, type ContractRef, type ContractVersion, type Fields, textAt, type Unstructured } from "../contract/contract.ts";
import { groupOf } from "../ownership/owners.ts";

/** Where a control plane names the template of its machines. */
export const infrastructureRefPath = (contract: ContractVersion): string =>
  contract === "v1beta1" ? "spec.machineTemplate.infrastructureRef" : "spec.machineTemplate.spec.infrastructureRef";

/** A reference in either form: with apiGroup, or with apiVersion. */
export function refAt(object: unknown, path: string): ContractRef | undefined {
  const name = textAt(object, `${path}.name`);
  const kind = textAt(object, `${path}.kind`);
  const apiVersion = textAt(object, `${path}.apiVersion`);
  if (!name || !kind) return undefined;
  return { apiGroup: textAt(object, `${path}.apiGroup`) ?? groupOf(apiVersion ?? ""), kind, name };
}

/** A copy with `value` at the path; undefined removes, and leaves no empty parents that it made. */
export function withField<T>(object: T, path: string, value: unknown): T {
  if (value === undefined && at(object, path) === undefined) return object;
  return set(object, path.split("."), value) as T;
}

function set(object: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const fields = (typeof object === "object" && object !== null ? object : {}) as Fields;
  const next = rest.length === 0 ? value : set(fields[key], rest, value);
  if (next !== undefined) return { ...fields, [key]: next };
  const { [key]: _gone, ...kept } = fields;
  return kept;
}

/** Each field with a value set; those without are left as they are. */
export const withFields = <T>(object: T, values: Readonly<Record<string, unknown>>): T =>
  Object.entries(values).reduce((o, [path, value]) => (value === undefined ? o : withField(o, path, value)), object);

/** Only what has a value; undefined when nothing has. */
export function someOf<T extends object>(fields: T): Partial<T> | undefined {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Partial<T>);
}

export type StringMap = Readonly<Record<string, string>>;
export const mapAt = (object: unknown, path: string): StringMap => (at(object, path) ?? {}) as StringMap;
export const specOf = (object: Unstructured): Fields => (object.spec ?? {}) as Fields;

/** What steers upgrades of one pool is no business of its objects. */
export function propagated(annotations: StringMap): StringMap {
  const {
    [clusterTopologyDeferUpgradeAnnotation]: _defer,
    [clusterTopologyHoldUpgradeSequenceAnnotation]: _hold,
    [lastAppliedConfigAnnotation]: _applied,
    ...rest
  } = annotations;
  return rest;
}
