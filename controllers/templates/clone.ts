// Infrastructure and bootstrap objects made from templates. Here: the clone as a pure function. Not here: reading templates (read.ts), writing.
// Source: spec/controllers/machineset.md section 6, clone rules.
import type { JsonObject, OwnerReference } from "../../api/meta/object.ts";
import {
  clusterNameLabel,
  templateClonedFromGroupKindAnnotation,
  templateClonedFromNameAnnotation,
  templateSuffix,
  updateInProgressAnnotation,
} from "../../api/names.ts";
import { at, type ContractRef, type Fields, type Unstructured } from "../contract/contract.ts";

type StringMap = Readonly<Record<string, string>>;

export const isTemplateKind = (kind: string): boolean => kind.endsWith(templateSuffix) && kind !== templateSuffix;
/** Kind of the objects made from templates of a kind. */
export const kindOfTemplate = (kind: string): string => (isTemplateKind(kind) ? kind.slice(0, -templateSuffix.length) : kind);

/** The reference to the object that a template reference leads to. */
export const clonedRef = (template: ContractRef, name: string): ContractRef => ({
  apiGroup: template.apiGroup,
  kind: kindOfTemplate(template.kind),
  name,
});

export interface CloneRequest {
  readonly template: Unstructured;
  readonly templateRef: ContractRef;
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
  /** Of the Machine; they win over the template's own. */
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly owner?: OwnerReference;
}

const clonedFrom = (ref: ContractRef): StringMap => ({
  [templateClonedFromNameAnnotation]: ref.name,
  [templateClonedFromGroupKindAnnotation]: `${ref.kind}.${ref.apiGroup}`,
});

function contentOf(template: Unstructured): { readonly labels: StringMap; readonly annotations: StringMap; readonly rest: Fields } {
  const source = (at(template, "spec.template") ?? {}) as Fields;
  const { metadata, apiVersion: _apiVersion, kind: _kind, ...rest } = source;
  return {
    labels: (at(metadata, "labels") ?? {}) as StringMap,
    annotations: (at(metadata, "annotations") ?? {}) as StringMap,
    rest,
  };
}

/** A new object from `spec.template` of a template. */
export function cloneTemplate(request: CloneRequest): Unstructured {
  const { template, templateRef, name, namespace, owner } = request;
  const { labels, annotations, rest } = contentOf(template);
  return {
    apiVersion: template.apiVersion,
    kind: kindOfTemplate(template.kind),
    metadata: {
      name,
      namespace,
      labels: { ...labels, ...request.labels, [clusterNameLabel]: request.clusterName },
      annotations: { ...annotations, ...request.annotations, ...clonedFrom(templateRef) },
      ...(owner ? { ownerReferences: [owner] } : {}),
    },
    ...rest,
  };
}

/** What an existing object shall become by an in-place update: the template's whole spec and the mark. Labels belong to the metadata manager
 *  and stay out. @param owner only while no Machine owns the object */
export function desiredInPlace(
  existing: Unstructured,
  template: Unstructured,
  templateRef: ContractRef,
  owner?: OwnerReference,
): Unstructured {
  const { rest } = contentOf(template);
  return {
    apiVersion: existing.apiVersion,
    kind: existing.kind,
    metadata: {
      name: existing.metadata.name,
      namespace: existing.metadata.namespace,
      uid: existing.metadata.uid,
      annotations: { ...clonedFrom(templateRef), [updateInProgressAnnotation]: "" },
      ...(owner ? { ownerReferences: [owner] } : {}),
    },
    spec: (rest.spec ?? {}) as JsonObject,
  };
}
