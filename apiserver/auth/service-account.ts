// Tokens of service accounts: issued on request, bound to what they were asked for.
// Here: claims, issuing, checking against the objects. Not here: the TokenRequest subresource (builtin/token.ts), signatures (jwt.ts).
// Source: Kubernetes' documentation of bound service account tokens.
import type { UserInfo } from "../../api/meta/transport.ts";
import { type Random, uuid } from "../../runtime/base/random.ts";
import type { Authentication, Authenticator } from "../auth-seam.ts";
import type { TokenIssuer } from "../builtin/token.ts";
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import { bearerToken } from "./bearer.ts";
import { type Claims, signToken, type TokenSigner, unverifiedClaims, verifiedClaims } from "./jwt.ts";

const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";
const PRIVATE_CLAIM = "kubernetes.io";
const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";
const POD_NAME = "authentication.kubernetes.io/pod-name";
const POD_UID = "authentication.kubernetes.io/pod-uid";

export interface ServiceAccountTokens {
  readonly signer: TokenSigner;
  readonly random: Random;
  /** Default: the name of the API server inside its cluster; also its audience. */
  readonly issuer?: string;
}

/** Kinds a token may be bound to; it ends with the object. */
const BOUND: Readonly<Record<string, string>> = { Pod: "pod", Secret: "secret", Node: "node" };

/** Signs what a TokenRequest asks for. */
export function tokenIssuer({ signer, random, issuer = DEFAULT_ISSUER }: ServiceAccountTokens): TokenIssuer {
  return (claims) => {
    const audiences = claims.audiences.length > 0 ? claims.audiences : [issuer];
    const issuedAt = Math.floor(claims.issuedAtMs / 1000);
    const bound = claims.bound === undefined ? undefined : BOUND[claims.bound.kind];
    const token = signToken(signer, {
      aud: audiences,
      exp: Math.floor(claims.expiresAtMs / 1000),
      iat: issuedAt,
      iss: issuer,
      jti: uuid(random),
      [PRIVATE_CLAIM]: {
        namespace: claims.namespace,
        ...(bound === undefined ? {} : { [bound]: { name: claims.bound?.name, uid: claims.bound?.uid } }),
        serviceaccount: { name: claims.serviceAccount, uid: claims.uid },
      },
      nbf: issuedAt,
      sub: `system:serviceaccount:${claims.namespace}:${claims.serviceAccount}`,
    });
    return { token, audiences };
  };
}

interface Subject {
  readonly namespace: string;
  readonly account: Named;
  readonly bound: readonly (Named & { readonly kind: string })[];
}

interface Named {
  readonly name: string;
  readonly uid: string;
}

const fieldsOf = (value: unknown): Claims => (typeof value === "object" && value !== null ? (value as Claims) : {});
const namedOf = (value: unknown): Named | undefined => {
  const { name, uid } = fieldsOf(value);
  return typeof name === "string" && typeof uid === "string" ? { name, uid } : undefined;
};

function subjectOf(claims: Claims): Subject | undefined {
  const own = fieldsOf(claims[PRIVATE_CLAIM]);
  const account = namedOf(own.serviceaccount);
  if (typeof own.namespace !== "string" || account === undefined) return undefined;
  const bound = Object.entries(BOUND).flatMap(([kind, claim]) => {
    const named = namedOf(own[claim]);
    return named === undefined ? [] : [{ ...named, kind }];
  });
  return { namespace: own.namespace, account, bound };
}

const seconds = (claims: Claims, name: string): number => (typeof claims[name] === "number" ? (claims[name] as number) : Number.NaN);

/** Knows tokens of its issuer only; others are left to the next authenticator. */
export function serviceAccountTokens(options: ServiceAccountTokens): (server: ServerContext) => Authenticator {
  const issuer = options.issuer ?? DEFAULT_ISSUER;
  const checked = signatureCache(options.signer);
  return (server) => ({
    authenticate(request): Authentication {
      const token = bearerToken(request);
      if (token === undefined || unverifiedClaims(token)?.iss !== issuer) return { outcome: "none" };
      const claims = checked(token);
      if (claims === undefined) return refused("the signature of the token is not right");
      const now = server.clock.nowMs() / 1000;
      if (!(now < seconds(claims, "exp"))) return refused("the token has expired");
      if (now < seconds(claims, "nbf")) return refused("the token is not valid yet");
      if (!Array.isArray(claims.aud) || !claims.aud.includes(issuer)) return refused("the token is for another audience");
      return userOf(server, claims);
    },
  });
}

const refused = (reason: string): Authentication => ({ outcome: "refused", reason });

/** A check of a signature costs more than a small request: the last tokens are remembered. */
const REMEMBERED_MAX = 1_000;

function signatureCache(signer: TokenSigner): (token: string) => Claims | undefined {
  const good = new Map<string, Claims>();
  return (token) => {
    const known = good.get(token);
    if (known !== undefined) return known;
    const claims = verifiedClaims(signer, token);
    if (claims === undefined) return undefined;
    const oldest = good.size >= REMEMBERED_MAX ? good.keys().next().value : undefined;
    if (oldest !== undefined) good.delete(oldest);
    good.set(token, claims);
    return claims;
  };
}

function userOf(server: ServerContext, claims: Claims): Authentication {
  const subject = subjectOf(claims);
  if (subject === undefined) return refused("the token names no service account");
  const { namespace, account, bound } = subject;
  if (!isLive(find(server, "ServiceAccount", namespace, account.name), account.uid)) {
    return refused(`service account ${namespace}/${account.name} of the token is gone`);
  }
  for (const { kind, name, uid } of bound) {
    if (!isLive(find(server, kind, namespace, name), uid))
      return refused(`${kind.toLowerCase()} ${name} that the token is bound to is gone`);
  }
  return { outcome: "user", user: serviceAccountUser(namespace, account, extraOf(claims, bound)) };
}

const isLive = (object: ApiObject | undefined, uid: string): boolean =>
  object !== undefined && object.metadata.uid === uid && object.metadata.deletionTimestamp === undefined;

function find(server: ServerContext, kind: string, namespace: string, name: string): ApiObject | undefined {
  const type = server.registry.byKind("", "v1", kind);
  return type === undefined ? undefined : server.objects.get(type, type.namespaced ? namespace : "", name);
}

function extraOf(claims: Claims, bound: Subject["bound"]): NonNullable<UserInfo["extra"]> {
  const pod = bound.find(({ kind }) => kind === "Pod");
  return {
    ...(typeof claims.jti === "string" ? { [CREDENTIAL_ID]: [`JTI=${claims.jti}`] } : {}),
    ...(pod === undefined ? {} : { [POD_NAME]: [pod.name], [POD_UID]: [pod.uid] }),
  };
}

/** How a service account appears as a user. */
const serviceAccountUser = (namespace: string, account: Named, extra: NonNullable<UserInfo["extra"]> = {}): UserInfo => ({
  username: `system:serviceaccount:${namespace}:${account.name}`,
  uid: account.uid,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  extra,
});
