// The scale subresource: an autoscaling/v1 Scale that stands for two or three fields of an object.
// Here: reading and writing it. Not here: which fields (registry).
import type { ApiResponse } from "../../api/meta/transport.ts";
import { badRequest, conflict, fieldInvalid, invalid, notFound, plainError } from "../errors.ts";
import { type ApiObject, withMetadata } from "../object.ts";
import type { ResourceType, ScalePaths } from "../registry.ts";
import { type Call, namespaceOf } from "./call.ts";
import { decodeBody } from "./decode.ts";
import { writeOptions } from "./options.ts";
import { patchBody, patchKindOf, patchValue } from "./patch.ts";
import { answerObject } from "./respond.ts";
import { find } from "./storage.ts";
import { checkResourceVersion, updateObject } from "./update.ts";

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" } as const;

const segments = (path: string): readonly string[] => path.split(".").filter((part) => part !== "");

function at(object: unknown, path: string): unknown {
  let value = object;
  for (const part of segments(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function withValue(object: unknown, parts: readonly string[], value: unknown): unknown {
  const [head, ...rest] = parts;
  if (head === undefined) return value;
  const record = typeof object === "object" && object !== null ? (object as Record<string, unknown>) : {};
  return { ...record, [head]: withValue(record[head], rest, value) };
}

function pathsOf(type: ResourceType): ScalePaths {
  const paths = type.subresources.scale;
  if (!paths) throw notFound(type, "scale");
  return paths;
}

/** Throws 500 without reason for a custom resource without replicas, as upstream does. */
function scaleOf(type: ResourceType, object: ApiObject): ApiObject {
  const paths = pathsOf(type);
  const replicas = at(object, paths.specReplicasPath);
  if (typeof replicas !== "number") {
    if (type.custom) throw plainError(`the spec replicas field "${paths.specReplicasPath}" does not exist`);
  }
  const selector = paths.labelSelectorPath === undefined ? undefined : selectorText(at(object, paths.labelSelectorPath));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const status = at(object, paths.statusReplicasPath);
  return {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : type.custom ? { replicas: replicas ?? 0 } : {},
    status: { replicas: typeof status === "number" ? status : 0, ...(selector === undefined || selector === "" ? {} : { selector }) },
  };
}

/** Custom resources keep a text; built-in kinds a LabelSelector. */
function selectorText(selector: unknown): string | undefined {
  if (typeof selector === "string") return selector;
  if (typeof selector !== "object" || selector === null) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = selector as {
    matchLabels?: Readonly<Record<string, string>>;
    matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
  };
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${[...values].sort().join(",")})`;
  });
  return [...labels, ...expressions].sort().join(",");
}

export async function handleScale(call: Call): Promise<ApiResponse> {
  switch (call.info.verb) {
    case "get":
      return answerObject(call, 200, scaleOf(call.type, current(call)));
    case "update":
      return writeScale(call, false);
    default:
      return patchKindOf(call) === "apply" ? applyScale(call) : writeScale(call, true);
  }
}

function current(call: Call): ApiObject {
  const found = find(call.core, call.type, namespaceOf(call), call.route.name);
  if (!found) throw notFound(call.type, call.route.name);
  return found.object;
}

async function writeScale(call: Call, patch: boolean): Promise<ApiResponse> {
  const { type, route, core } = call;
  const options = writeOptions(call.request, call.query, patch ? "PatchOptions" : "UpdateOptions");
  const wanted = patch ? undefined : decodedScale(call);
  const paths = pathsOf(type);
  const updated = await updateObject(call, {
    name: route.name,
    verb: patch ? "patch" : "update",
    dryRun: options.dryRun,
    review: options.review,
    unconditional: true,
    change: (live) => {
      const before = scaleOf(type, live);
      const scale = wanted ?? asScale(patchValue(call, patchKindOf(call), before));
      checkIdentity(call, scale, live);
      const replicas = replicasOf(type, route.name, scale, paths);
      const changed = withValue(live, segments(paths.specReplicasPath), replicas) as ApiObject;
      const version = scale.metadata?.resourceVersion;
      const conditional = withMetadata(changed, { resourceVersion: version === "" ? undefined : version });
      return withoutScaleTime(core.fields.track(type, live, conditional, options.fieldManager, "scale", core.clock.nowMs()));
    },
  });
  return answerObject(call, 200, scaleOf(type, updated));
}

/** Server-side apply of a Scale is one of the field that its replicas stand for. */
async function applyScale(call: Call): Promise<ApiResponse> {
  const { type, route, core } = call;
  const options = writeOptions(call.request, call.query, "PatchOptions", true);
  const scale = asScale(patchBody(call, "apply").value);
  const paths = pathsOf(type);
  const updated = await updateObject(call, {
    name: route.name,
    verb: "apply",
    dryRun: options.dryRun,
    review: options.review,
    unconditional: true,
    change: (live) => {
      checkIdentity(call, scale, live);
      const { resourceVersion } = scale.metadata ?? {};
      const metadata = { name: route.name, ...(resourceVersion ? { resourceVersion } : {}) };
      const named = { apiVersion: live.apiVersion, kind: live.kind, metadata };
      const config = withValue(named, segments(paths.specReplicasPath), replicasOf(type, route.name, scale, paths)) as ApiObject;
      const write = { type, manager: options.fieldManager, subresource: "scale", nowMs: core.clock.nowMs() };
      const merged = core.fields.apply(write, live, config, options.force);
      return merged === live ? live : withoutScaleTime(merged);
    },
  });
  return answerObject(call, 200, scaleOf(type, updated));
}

/** Upstream records writes through scale without a time. */
function withoutScaleTime(object: ApiObject): ApiObject {
  const managedFields = object.metadata.managedFields?.map((entry) => {
    if (entry.subresource !== "scale") return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  return withMetadata(object, { managedFields });
}

type Scale = Partial<ApiObject>;

function asScale(value: unknown): Scale {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest("the body must be a Scale object of autoscaling/v1");
  const scale = value as Scale;
  if (scale.kind !== undefined && scale.kind !== SCALE.kind)
    throw badRequest(`the body must be a Scale of autoscaling/v1, not ${scale.kind}`);
  return scale;
}

function decodedScale(call: Call): Scale {
  const scale = asScale(decodeBody(call.request, true).value);
  checkResourceVersion(scale.metadata?.resourceVersion);
  return scale;
}

function checkIdentity(call: Call, scale: Scale, live: ApiObject): void {
  const { name, uid } = scale.metadata ?? {};
  if (name !== undefined && name !== "" && name !== call.route.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.route.name})`);
  }
  if (uid !== undefined && uid !== "" && uid !== live.metadata.uid)
    throw conflict(call.type, call.route.name, "the uid of the scale is of another object");
}

function replicasOf(type: ResourceType, name: string, scale: Scale, paths: ScalePaths): number {
  const replicas = (scale.spec as { replicas?: unknown } | undefined)?.replicas ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) throw badRequest("spec.replicas of a Scale must be a whole number");
  if (replicas < 0) {
    const [subject, field] = type.custom ? [type, paths.specReplicasPath] : [SCALE, "spec.replicas"];
    throw invalid(subject, name, [fieldInvalid(field, replicas, "should be a non-negative integer")]);
  }
  return replicas;
}
