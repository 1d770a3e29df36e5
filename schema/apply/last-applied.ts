// From client-side to server-side apply with kubectl: what its annotation proves to be its own is no conflict, and the annotation follows.
// Here: both rules, for the manager `kubectl` only. Not here: apply itself.
// Source: Kubernetes, "Upgrading from client-side apply to server-side apply".
import type { KubeObject } from "../../api/meta/object.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet, has } from "./field-set.ts";
import { withManagedFields } from "./managed-fields.ts";
import { canonical } from "../equal.ts";
import { isMap } from "../json-values.ts";
import { ownedFields } from "./owned-fields.ts";
import type { ApplyConflict, ApplyRequest, ApplyResult } from "./types.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
export const KUBECTL = "kubectl";
/** As kubectl: a longer annotation could make the object too large to be stored. */
const ANNOTATION_BYTES_MAX = 262_144;

/** @param apply the plain apply */
export function applyAsKubectl(request: ApplyRequest, apply: (request: ApplyRequest) => ApplyResult): ApplyResult {
  return followAnnotation(request, applyOrForce(request, apply));
}

function applyOrForce(request: ApplyRequest, apply: (request: ApplyRequest) => ApplyResult): ApplyResult {
  try {
    return apply(request);
  } catch (error) {
    const conflict = error as ApplyConflict;
    if (conflict.code !== "ApplyConflict" || request.live === undefined) throw error;
    const own = appliedByClient(request, request.live);
    if (own === undefined || !conflict.conflicts.every((c) => has(own, c.path))) throw error;
    return apply({ ...request, force: true });
  }
}

const annotationOf = (object: KubeObject): string => object.metadata.annotations?.[ANNOTATION] ?? "";

/** Fields that the annotation holds and that nobody has changed since. */
function appliedByClient(request: ApplyRequest, live: KubeObject): FieldSet | undefined {
  const typed = request.schemas(request.apiVersion);
  const applied = parse(annotationOf(live));
  if (typed === undefined || applied === undefined || applied.apiVersion !== request.apiVersion) return undefined;
  try {
    const { added, modified, removed } = compare(typed, applied, live);
    return difference(difference(difference(ownedFields(typed, applied), modified), added), removed);
  } catch {
    // An annotation that does not fit the schema proves nothing.
    return undefined;
  }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** kubectl's client-side apply goes on to work, because the annotation says what was applied last. */
function followAnnotation(request: ApplyRequest, result: ApplyResult): ApplyResult {
  if (annotationOf(result.object) === "") return result;
  const applied = `${canonical(configWithoutAnnotation(request.config))}\n`;
  const text = applied.length > ANNOTATION_BYTES_MAX ? "" : applied;
  if (text === annotationOf(result.object)) return result;
  const annotations = { ...result.object.metadata.annotations, [ANNOTATION]: text };
  return { ...result, object: { ...result.object, metadata: { ...result.object.metadata, annotations } }, changed: true };
}

function configWithoutAnnotation(config: KubeObject): KubeObject {
  if (annotationOf(config) === "") return withManagedFields(config, []);
  const { [ANNOTATION]: _, ...annotations } = config.metadata.annotations ?? {};
  return withManagedFields({ ...config, metadata: { ...config.metadata, annotations } }, []);
}
