// Tokens of service accounts, on request. Here: the TokenRequest subresource. Not here: signing (auth/, through TokenIssuer).
import { timestamp } from "../../runtime/base/clock.ts";
import { badRequest, fieldInvalid, invalid, notFound } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { SubresourceHandler } from "../registry.ts";
import { asFields, asNumber, specOf } from "./strategies/fields.ts";

export interface TokenClaims {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly uid: string;
  /** Empty: those of the API server itself. */
  readonly audiences: readonly string[];
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** The token dies with this object. */
  readonly bound?: { readonly kind: string; readonly name: string; readonly uid: string };
}

interface IssuedToken {
  readonly token: string;
  readonly audiences: readonly string[];
}

/** Signs a token. Throws ApiError when it cannot. */
export type TokenIssuer = (claims: TokenClaims) => IssuedToken | Promise<IssuedToken>;

const LIFETIME_SECONDS_MIN = 600;
const LIFETIME_SECONDS_MAX = 2 ** 32;
const DEFAULT_SECONDS = 3600;

function boundTo(object: ApiObject): TokenClaims["bound"] {
  const { kind, name, uid } = asFields(specOf(object).boundObjectRef);
  return typeof kind === "string" && typeof name === "string" ? { kind, name, uid: typeof uid === "string" ? uid : "" } : undefined;
}

function lifetime(object: ApiObject): number {
  const seconds = asNumber(specOf(object).expirationSeconds, DEFAULT_SECONDS);
  const field = "spec.expirationSeconds";
  const subject = { group: "authentication.k8s.io", kind: "TokenRequest" };
  if (seconds < LIFETIME_SECONDS_MIN)
    throw invalid(subject, "", [fieldInvalid(field, seconds, "may not specify a duration less than 10 minutes")]);
  if (seconds > LIFETIME_SECONDS_MAX)
    throw invalid(subject, "", [fieldInvalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]);
  return seconds;
}

export const tokenHandler = (issue: TokenIssuer): SubresourceHandler => ({
  verbs: ["create"],
  kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
  handle: async ({ type, namespace, name, object, server }) => {
    const account = server.objects.get(type, namespace, name);
    if (!account) throw notFound(type, name);
    if (!object) throw badRequest("a TokenRequest is needed as the body");
    const seconds = lifetime(object);
    const nowMs = server.clock.nowMs();
    const expiresAtMs = nowMs + seconds * 1000;
    const bound = boundTo(object);
    const { token, audiences } = await issue({
      namespace,
      serviceAccount: name,
      uid: account.metadata.uid ?? "",
      audiences: (specOf(object).audiences as readonly string[] | null) ?? [],
      issuedAtMs: nowMs,
      expiresAtMs,
      ...(bound === undefined ? {} : { bound }),
    });
    return {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace, creationTimestamp: timestamp(nowMs) },
      spec: { ...specOf(object), audiences, expirationSeconds: seconds, boundObjectRef: specOf(object).boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp(expiresAtMs) },
    };
  },
});
