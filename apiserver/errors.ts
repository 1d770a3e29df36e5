// The catalogue of API errors: one factory per cause, each a Status as kube-apiserver shapes it.
// Here: codes, reasons, details and texts. Not here: field errors of a kind (they come as causes).
import { type Status, type StatusCause, StatusError } from "../api/meta/status.ts";

/** An answer that is a Status. Thrown anywhere in the pipeline; told by `status.kind`, not by instanceof. */
export class ApiError extends StatusError {
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: Status, headers: Readonly<Record<string, string>> = {}) {
    super(status);
    this.name = "ApiError";
    this.headers = headers;
  }
}

/** What an error is about. `kind` of a Status' details is the plural, except for Invalid and deletes (the kind). */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

type Details = NonNullable<Status["details"]>;

const omitEmpty = (details: Details): Details =>
  Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined && value !== "")) as Details;

function failure(code: number, reason: string, message: string, details?: Details, headers?: Record<string, string>): ApiError {
  return new ApiError(
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details: omitEmpty(details) }),
      code,
    },
    headers,
  );
}

const qualified = (s: { readonly group: string; readonly plural: string }): string =>
  s.group === "" ? s.plural : `${s.plural}.${s.group}`;
const about = (s: Subject, name: string): Details => ({ name, group: s.group, kind: s.plural });

export const notFound = (s: Subject, name: string): ApiError =>
  failure(404, "NotFound", `${qualified(s)} "${name}" not found`, about(s, name));

/** A path that no resource answers: `the server could not find the requested resource`. */
export const noSuchResource = (): ApiError => failure(404, "NotFound", "the server could not find the requested resource", {});

export const alreadyExists = (s: Subject, name: string): ApiError =>
  failure(409, "AlreadyExists", `${qualified(s)} "${name}" already exists`, about(s, name));

export const STALE_OBJECT = "the object has been modified; please apply your changes to the latest version and try again";

export const conflict = (s: Subject, name: string, why: string = STALE_OBJECT, causes?: readonly StatusCause[]): ApiError =>
  failure(409, "Conflict", `Operation cannot be fulfilled on ${qualified(s)} "${name}": ${why}`, { ...about(s, name), causes });

/** Server-side apply found fields of other managers. @param causes FieldManagerConflict, one per field */
export const applyConflict = (message: string, causes: readonly StatusCause[]): ApiError => failure(409, "Conflict", message, { causes });

/** A precondition of the request does not hold; details name the kind, not the plural. */
export const preconditionFailed = (s: Subject, name: string, why: string): ApiError =>
  failure(409, "Conflict", `Operation cannot be fulfilled on ${s.kind} "${name}": ${why}`, { name, group: s.group, kind: s.kind });

const causeText = (cause: StatusCause): string =>
  (cause.field === undefined || cause.field === "" ? "" : `${cause.field}: `) + (cause.message ?? "");

/** @param causes at least one; `message` is the text after the field, such as `Required value: name is needed` */
export function invalid(s: { readonly group: string; readonly kind: string }, name: string, causes: readonly StatusCause[]): ApiError {
  const kind = s.group === "" ? s.kind : `${s.kind}.${s.group}`;
  const texts = [...new Set(causes.map(causeText))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return failure(422, "Invalid", `${kind} "${name}" is invalid: ${text}`, { name, group: s.group, kind: s.kind, causes });
}

/** 422 without causes: the request was understood and cannot be done (a JSON patch whose test fails). */
export const unprocessable = (message: string): ApiError => failure(422, "Invalid", message, {});

export const badRequest = (message: string): ApiError => failure(400, "BadRequest", message);

/** Refused by a plugin or by authorization. */
export function forbidden(s: { readonly group: string; readonly plural: string }, name: string, why: string): ApiError {
  const what = s.plural === "" ? "forbidden" : `${qualified(s)}${name === "" ? "" : ` "${name}"`} is forbidden`;
  return failure(403, "Forbidden", `${what}: ${why}`, { name, group: s.group, kind: s.plural });
}

export const unauthorized = (message = "Unauthorized"): ApiError => failure(401, "Unauthorized", message);

export const expired = (message: string): ApiError => failure(410, "Expired", message);

/** A continue token or resourceVersion older than the kept history. */
export const tooOld = (asked: number, oldest: number): ApiError => expired(`too old resource version: ${asked} (${oldest})`);

export const tooManyRequests = (message: string, retryAfterSeconds: number, causes?: readonly StatusCause[]): ApiError =>
  failure(429, "TooManyRequests", message, { causes, retryAfterSeconds }, { "retry-after": String(retryAfterSeconds) });

export const timeout = (message: string, retryAfterSeconds?: number): ApiError => failure(504, "Timeout", message, { retryAfterSeconds });

export const resourceVersionTooLarge = (asked: number, current: number): ApiError =>
  failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

/** A verb that the resource does not have. */
export const methodNotAllowed = (message = "the server does not allow this method on the requested resource"): ApiError =>
  failure(405, "MethodNotAllowed", message, {});

export const methodNotSupported = (s: Subject, verb: string): ApiError =>
  failure(405, "MethodNotAllowed", `${verb} is not supported on resources of kind "${qualified(s)}"`, { group: s.group, kind: s.plural });

/** No media type of the Accept header is one of ours. */
export const notAcceptable = (accepted: readonly string[]): ApiError =>
  failure(406, "NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`, {});

/** The media type would do, but not the transformation asked for with it. */
export const formNotAcceptable = (accepted: readonly string[]): ApiError =>
  failure(406, "NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  failure(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );

export const requestEntityTooLarge = (message: string): ApiError => failure(413, "RequestEntityTooLarge", message);

export const internalError = (message: string): ApiError =>
  failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

/** A fault that kube-apiserver passes on as it is: 500 and no reason (typed-value errors of apply, malformed resource versions). */
export const plainError = (message: string): ApiError => failure(500, "", message);

/** An error with its own code and reason, as a webhook may give it. */
export const customError = (code: number, reason: string, message: string, details?: Details): ApiError =>
  failure(code, reason, message, details);

/** The Status of anything thrown; faults of ours become InternalError. */
export function statusOf(error: unknown): Status {
  const status = (error as { status?: Status } | undefined)?.status;
  if (status?.kind === "Status") return status;
  return internalError(error instanceof Error ? error.message : String(error)).status;
}

// ---- Causes: field errors in the texts of k8s.io/apimachinery field.Error.

const shown = (value: unknown): string => (value === undefined ? "null" : JSON.stringify(value));

export const fieldRequired = (field: string, detail = ""): StatusCause => ({
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`,
  field,
});
export const fieldInvalid = (field: string, value: unknown, detail: string): StatusCause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
  field,
});
export const fieldForbidden = (field: string, detail: string): StatusCause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
  field,
});
export const fieldDuplicate = (field: string, value: unknown): StatusCause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
  field,
});
export const fieldNotSupported = (field: string, value: unknown, supported: readonly string[]): StatusCause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((s) => JSON.stringify(s)).join(", ")}`,
  field,
});
export const fieldTooLong = (field: string, bytesMax: number): StatusCause => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${bytesMax} bytes`,
  field,
});
