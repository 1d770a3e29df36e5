// Kinds with a rule or two: nodes, leases, budgets, volumes, storage and priority classes, endpoints, service accounts.
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldForbidden, fieldInvalid, fieldRequired } from "../../errors.ts";
import { type ApiObject, sameJson, withMetadata } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { asFields, asList, asNumber, asText, at, type Fields, specOf, unchanged, unchangedOrForbidden } from "./fields.ts";

const NOT_READY: Fields = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A new node gets no pods before somebody found it ready. */
export const nodeStrategy: Strategy = {
  prepareForCreate: (object) => {
    const taints = asList(specOf(object).taints);
    if (taints.some((t) => t.key === NOT_READY.key && t.effect === NOT_READY.effect)) return object;
    return { ...object, spec: { ...specOf(object), taints: [...taints, NOT_READY] } };
  },
  validateUpdate: (object, old, { subresource }) => {
    const before = asText(specOf(old).providerID);
    if (subresource !== "" || before === "" || specOf(object).providerID === before) return [];
    return [fieldForbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')];
  },
};

const positive = (object: ApiObject, path: string, least: number): readonly StatusCause[] => {
  const value = at(object, path);
  if (typeof value !== "number" || value >= least) return [];
  return [fieldInvalid(path, value, least === 0 ? "must be greater than or equal to 0" : "must be greater than 0")];
};
const validateLease = (object: ApiObject): readonly StatusCause[] => [
  ...positive(object, "spec.leaseDurationSeconds", 1),
  ...positive(object, "spec.leaseTransitions", 0),
];
export const leaseStrategy: Strategy = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateLease,
  validateUpdate: validateLease,
};

function validateBudget(object: ApiObject): readonly StatusCause[] {
  const { minAvailable, maxUnavailable } = specOf(object);
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    return [fieldInvalid("spec", specOf(object), "minAvailable and maxUnavailable cannot be both set")];
  }
  return [];
}
export const podDisruptionBudgetStrategy: Strategy = {
  generation: "spec",
  allowUnconditionalUpdate: false,
  validate: validateBudget,
  validateUpdate: (object, _old, { subresource }) => (subresource === "" ? validateBudget(object) : []),
};

function validateClaim(object: ApiObject): readonly StatusCause[] {
  return at(object, "spec.resources.requests.storage") === undefined ? [fieldRequired("spec.resources[storage]")] : [];
}
const CLAIM_TEXT = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
function claimKept(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const free = { resources: undefined, volumeAttributesClassName: undefined, volumeName: undefined };
  const bound = asText(specOf(old).volumeName);
  const sameVolume = bound === "" || specOf(object).volumeName === bound;
  return sameVolume && sameJson({ ...specOf(object), ...free }, { ...specOf(old), ...free }) ? [] : [fieldForbidden("spec", CLAIM_TEXT)];
}
export const persistentVolumeClaimStrategy: Strategy = {
  returnDeletedObject: true,
  prepareForCreate: (object) => ({ ...object, status: { phase: "Pending" } }),
  validate: validateClaim,
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? [...claimKept(object, old), ...validateClaim(object)] : []),
};

const VOLUME_SETTINGS: ReadonlySet<string> = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);
const sourceOf = (object: ApiObject): Fields =>
  Object.fromEntries(Object.entries(specOf(object)).filter(([name]) => !VOLUME_SETTINGS.has(name)));
function validateVolume(object: ApiObject): readonly StatusCause[] {
  const sources = Object.keys(sourceOf(object));
  if (sources.length === 0) return [fieldRequired("spec", "must specify a volume type")];
  return sources.slice(1).map((name) => fieldForbidden(`spec.${name}`, "may not specify more than 1 volume type"));
}
export const persistentVolumeStrategy: Strategy = {
  returnDeletedObject: true,
  prepareForCreate: (object) => ({ ...object, status: { phase: "Pending" } }),
  validate: validateVolume,
  validateUpdate: (object, old, { subresource }) => {
    if (subresource !== "") return [];
    const kept = sameJson(sourceOf(object), sourceOf(old));
    return [
      ...(kept ? [] : [fieldForbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")]),
      ...unchanged(object, old, ["spec.volumeMode"]),
    ];
  },
};

const frozen = (paths: readonly string[], more: Partial<Strategy> = {}): Strategy => ({
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? unchanged(object, old, paths) : []),
  ...more,
});

export const volumeAttachmentStrategy = frozen(["spec"], { allowUnconditionalUpdate: false, returnDeletedObject: true });
export const csiDriverStrategy = frozen(["spec.attachRequired", "spec.volumeLifecycleModes"], {
  allowUnconditionalUpdate: false,
  returnDeletedObject: true,
});
export const csiNodeStrategy: Strategy = { allowUnconditionalUpdate: false, returnDeletedObject: true };
export const controllerRevisionStrategy = frozen(["data"]);

export const storageClassStrategy: Strategy = {
  returnDeletedObject: true,
  validateUpdate: (object, old) => [
    ...["parameters", "provisioner"].flatMap((path) => unchangedOrForbidden(object, old, path, `updates to ${path} are forbidden.`)),
    ...unchangedOrForbidden(object, old, "reclaimPolicy", "updates to reclaimPolicy are forbidden."),
    ...unchanged(object, old, ["volumeBindingMode"]),
  ],
};

const USER_PRIORITY_MAX = 1_000_000_000;
export const priorityClassStrategy: Strategy = {
  // Set once and never raised.
  prepareForCreate: (object) => withMetadata(object, { generation: 1 }),
  validate: (object) => {
    const value = asNumber(object.value);
    if (value <= USER_PRIORITY_MAX || (object.metadata.name ?? "").startsWith("system-")) return [];
    return [fieldForbidden("value", `maximum allowed value of a user defined priority is ${USER_PRIORITY_MAX}`)];
  },
  validateUpdate: (object, old) => [
    ...unchangedOrForbidden(object, old, "value", "may not be changed in an update."),
    ...unchanged(object, old, ["preemptionPolicy"]),
  ],
};

export const serviceAccountStrategy: Strategy = { returnDeletedObject: true };
export const returnsObject: Strategy = { returnDeletedObject: true };
export const plainUpsert: Strategy = { allowCreateOnUpdate: true };
export const plain: Strategy = {};

export const endpointSliceStrategy: Strategy = {
  generation: "allButStatusAndMetadata",
  validate: validateSlice,
  validateUpdate: (object, old) => [...unchanged(object, old, ["addressType"]), ...validateSlice(object)],
};
function validateSlice(object: ApiObject): readonly StatusCause[] {
  return asList(object.endpoints).flatMap((endpoint, i) => {
    const addresses = asList(endpoint.addresses);
    return addresses.length === 0 ? [fieldRequired(`endpoints[${i}].addresses`, "must contain at least 1 address")] : [];
  });
}

export const apiServiceStrategy: Strategy = {
  allowUnconditionalUpdate: false,
  validate: (object) => {
    const { group, version } = asFields(object.spec);
    const wanted = `${asText(version)}.${asText(group)}`;
    return object.metadata.name === wanted || asText(group) === ""
      ? []
      : [fieldInvalid("metadata.name", object.metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)];
  },
};
