// metav1.Status and the one error class that carries it across the client seam.
// Here: shape and class. Not here: the catalogue of API errors the server answers with (apiserver/errors.ts).

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly [key: string]: never };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
  readonly code: number;
}

/** A request that the API server refused. Tell by `code` and `reason`, not by instanceof. */
export class StatusError extends Error {
  readonly status: Status;
  constructor(status: Status) {
    super(status.message ?? status.reason ?? `HTTP ${status.code}`);
    this.name = "StatusError";
    this.status = status;
  }
  get code(): number {
    return this.status.code;
  }
  get reason(): string {
    return this.status.reason ?? "";
  }
}

const statusOf = (e: unknown): Status | undefined => {
  const status = (e as { status?: Status } | undefined)?.status;
  return status && status.kind === "Status" ? status : undefined;
};
const hasReason =
  (reason: string) =>
  (e: unknown): boolean =>
    statusOf(e)?.reason === reason;

export const isNotFound = hasReason("NotFound");
export const isAlreadyExists = hasReason("AlreadyExists");
export const isConflict = hasReason("Conflict");
export const isInvalid = hasReason("Invalid");
export const isForbidden = hasReason("Forbidden");
export const isUnauthorized = hasReason("Unauthorized");
export const isExpired = (e: unknown): boolean => statusOf(e)?.code === 410;
