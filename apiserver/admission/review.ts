// AdmissionReview, the question to a hook and its answer. Here: building the one, checking and reading the other.
// Not here: sending (the injected CallWebhook), what a refusal or a patch leads to (webhooks.ts).
// Source: admission.k8s.io/v1.
import type { Status } from "../../api/meta/status.ts";
import type { AdmissionAttributes } from "../admission-seam.ts";
import type { Webhook } from "./configuration.ts";
import type { Matched } from "./match.ts";

export const REVIEW_GROUP = "admission.k8s.io";

export interface ReviewRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind: GroupVersionKind;
  readonly requestResource: GroupVersionResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: AdmissionAttributes["operation"];
  readonly userInfo: object;
  readonly object: object | null;
  readonly oldObject: object | null;
  readonly dryRun: boolean;
  readonly options: object | null;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export function reviewRequest(attributes: AdmissionAttributes, matched: Matched, uid: string): ReviewRequest {
  const { type, subresource, kind, name, namespace, operation, object, oldObject, dryRun, options } = attributes;
  const seen = matched.type;
  const below = subresource === "" ? {} : { subResource: subresource };
  // A body of another kind (Scale) has one version only.
  const ownKind = kind.group === type.group && kind.kind === type.kind;
  return {
    uid,
    kind: ownKind ? { group: seen.group, version: seen.version, kind: seen.kind } : kind,
    resource: { group: seen.group, version: seen.version, resource: seen.plural },
    ...below,
    requestKind: kind,
    requestResource: { group: type.group, version: type.version, resource: type.plural },
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: attributes.user,
    object: object === undefined ? null : ownKind ? matched.convert(object) : object,
    oldObject: oldObject === undefined ? null : ownKind ? matched.convert(oldObject) : oldObject,
    dryRun,
    options,
  };
}

const KNOWN_VERSIONS: readonly string[] = ["v1", "v1beta1"];

/** The first version in the hook's list that we speak. */
export const reviewVersion = (webhook: Webhook): string =>
  webhook.admissionReviewVersions?.find((version) => KNOWN_VERSIONS.includes(version)) ?? "v1";

export const review = (version: string, request: ReviewRequest): object => ({
  kind: "AdmissionReview",
  apiVersion: `${REVIEW_GROUP}/${version}`,
  request,
});

export interface Verdict {
  readonly allowed: boolean;
  readonly status?: Partial<Status>;
  /** Operations of a JSON patch, decoded from base64 but not from JSON; empty when there is none. */
  readonly patch: string;
  readonly warnings: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/**
 * @param answer the decoded body
 * @throws Error that says why it is no answer to this review
 */
export function readVerdict(answer: unknown, version: string, uid: string, mutating: boolean): Verdict {
  const body = fieldsOf(answer);
  const response = fieldsOf(body?.response);
  if (version === "v1") {
    const wanted = `${REVIEW_GROUP}/v1`;
    if (body?.apiVersion !== wanted || body.kind !== "AdmissionReview") {
      throw new Error(
        `expected webhook response of ${wanted}, Kind=AdmissionReview, got ${String(body?.apiVersion)}, Kind=${String(body?.kind)}`,
      );
    }
    if (response !== undefined && response.uid !== uid)
      throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  }
  if (response === undefined) throw new Error("webhook response was absent");
  if (typeof (response.allowed ?? false) !== "boolean") throw new Error("response.allowed must be a boolean");
  checkPatch(response, version, mutating);
  return {
    allowed: response.allowed === true,
    ...(fieldsOf(response.status) === undefined ? {} : { status: response.status as Partial<Status> }),
    patch: mutating && typeof response.patch === "string" ? decodeBase64(response.patch) : "",
    warnings: Array.isArray(response.warnings) ? response.warnings.filter((text): text is string => typeof text === "string") : [],
  };
}

function checkPatch(response: Fields, version: string, mutating: boolean): void {
  const patch = response.patch ?? "";
  const type = response.patchType ?? undefined;
  if (typeof patch !== "string") throw new Error("response.patch must be base64 text");
  if (version !== "v1") return;
  if (!mutating) {
    if (patch !== "") throw new Error("validating webhook may not return response.patch");
    if (type !== undefined) throw new Error("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== "" && type === undefined) throw new Error("webhook returned response.patch but not response.patchType");
  if (patch === "" && type !== undefined) throw new Error("webhook returned response.patchType but not response.patch");
  if (type !== undefined && type !== "JSONPatch") throw new Error(`webhook returned invalid response.patchType of ${JSON.stringify(type)}`);
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  } catch {
    throw new Error("response.patch is not base64 of UTF-8 text");
  }
}
