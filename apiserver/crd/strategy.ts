// CustomResourceDefinitions as a kind: what the server sets, what it refuses, how they are deleted.
// Here: the strategy that is merged over the built-in kind. Not here: its rules (validate.ts), its effects (controller.ts).
import { unknownFormats } from "../../schema/index.ts";
import type { ApiObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { CLEANUP_FINALIZER, specOf, statusOf, withCondition, withStatus } from "./definition.ts";
import { crdCauses, crdStatusCauses, crdUpdateCauses } from "./validate.ts";

const storageVersions = (crd: ApiObject): readonly string[] =>
  specOf(crd)
    .versions.filter((version) => version.storage)
    .map((version) => version.name);

/** Versions that ever were the storage version: they may have objects in the store. */
function withStoredVersions(crd: ApiObject): ApiObject {
  const { storedVersions } = statusOf(crd);
  const added = storageVersions(crd).filter((name) => !storedVersions.includes(name));
  return added.length === 0 ? crd : withStatus(crd, { storedVersions: [...storedVersions, ...added] });
}

const formatsOf = (crd: ApiObject): readonly string[] => [
  ...new Set(specOf(crd).versions.flatMap(({ schema }) => (schema?.openAPIV3Schema ? unknownFormats(schema.openAPIV3Schema) : []))),
];

/** @param old formats that were there before are not told again */
function warnOfFormats(warn: (text: string) => void, crd: ApiObject, old?: ApiObject): void {
  const before = old ? formatsOf(old) : [];
  for (const format of formatsOf(crd)) if (!before.includes(format)) warn(`unrecognized format ${JSON.stringify(format)}`);
}

export const crdStrategy: Strategy = {
  generation: "spec",
  allowUnconditionalUpdate: false,
  prepareForCreate: (crd) => ({
    ...crd,
    status: { acceptedNames: { kind: "", plural: "" }, conditions: null, storedVersions: storageVersions(crd) },
  }),
  prepareForUpdate: (crd, _old, { subresource }) => (subresource === "status" ? crd : withStoredVersions(crd)),
  validate(crd, { warn }) {
    if (specOf(crd).conversion?.strategy === "Webhook")
      warn("conversion webhooks are not called by this server: all versions of an object differ in apiVersion only");
    warnOfFormats(warn, crd);
    return crdCauses(crd);
  },
  validateUpdate(crd, old, { subresource, warn }) {
    if (subresource === "status") return crdStatusCauses(crd);
    warnOfFormats(warn, crd, old);
    return crdUpdateCauses(crd, old);
  },
  finalizersOnDelete: (crd) => (crd.metadata.deletionTimestamp === undefined ? [CLEANUP_FINALIZER] : []),
  keepOnDelete(crd, { nowMs }) {
    if (!(crd.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return undefined;
    const { conditions } = statusOf(crd);
    if (conditions?.some(({ type, status }) => type === "Terminating" && status === "True")) return crd;
    const ending = {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    } as const;
    return withStatus(crd, { conditions: withCondition(conditions, ending, nowMs) });
  },
  returnDeletedObject: true,
};
