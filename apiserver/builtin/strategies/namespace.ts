// Namespaces: name label, spec finalizer, phases, the finalize subresource. Not here: emptying them (../../background/namespaces.ts).
import { dnsLabelErrors } from "../../requests/names.ts";
import { type ApiObject, withMetadata } from "../../object.ts";
import type { Strategy, SubresourceHandler } from "../../registry.ts";
import { notFound } from "../../errors.ts";
import { specOf, statusOf } from "./fields.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";
const FINALIZER = "kubernetes";

/** The label that selects a namespace by name; nobody can take it away. */
export function withNameLabel(object: ApiObject): ApiObject {
  const { name, labels } = object.metadata;
  if (name === undefined || name === "" || labels?.[NAME_LABEL] === name) return object;
  return withMetadata(object, { labels: { ...labels, [NAME_LABEL]: name } });
}

const withPhase = (object: ApiObject, phase: string): ApiObject =>
  statusOf(object).phase === phase ? object : { ...object, status: { ...statusOf(object), phase } };

const specFinalizers = (object: ApiObject): readonly string[] => (specOf(object).finalizers as readonly string[] | undefined) ?? [];

export const namespaceStrategy: Strategy = {
  prepareForCreate: (object) => {
    const finalizers = specFinalizers(object);
    const spec = finalizers.includes(FINALIZER) ? specOf(object) : { ...specOf(object), finalizers: [...finalizers, FINALIZER] };
    return withNameLabel({ ...object, spec, status: { phase: "Active" } });
  },
  prepareForUpdate: (object, old, { subresource }) => {
    if (subresource === "finalize") return { ...object, status: old.status };
    if (subresource === "status") return object;
    const { finalizers: _, ...spec } = specOf(object);
    return withNameLabel({ ...object, spec: { ...spec, ...finalizersOf(old) } });
  },
  validateName: dnsLabelErrors,
  returnDeletedObject: true,
  keepOnDelete: (object) => (specFinalizers(object).length > 0 ? withPhase(object, "Terminating") : undefined),
};

const finalizersOf = (object: ApiObject): { finalizers?: readonly string[] } =>
  specFinalizers(object).length === 0 ? {} : { finalizers: specFinalizers(object) };

/** PUT /finalize writes metadata and spec.finalizers; the last finalizer that goes takes a terminating namespace with it. */
export const finalizeHandler: SubresourceHandler = {
  verbs: ["update"],
  handle: async ({ type, name, object, dryRun, user, server }) => {
    const wanted = object ? specFinalizers(object) : [];
    const written = await server.objects.update(
      type,
      "",
      name,
      (old) => ({ ...old, metadata: object?.metadata ?? old.metadata, spec: wanted.length === 0 ? {} : { finalizers: wanted } }),
      { subresource: "finalize", dryRun, user },
    );
    if (!written) throw notFound(type, name);
    return written;
  },
};
