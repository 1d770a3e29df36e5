// Who asks, and may they: what the pipeline needs to know. Here: types only.
// Not here: tokens, certificates, RBAC (auth/).
import type { ApiRequest, UserInfo } from "../api/meta/transport.ts";

export const ANONYMOUS: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };
/** The identity of the server's own controllers; member of system:masters, which is always allowed. */
export const LOOPBACK: UserInfo = { username: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

/** What a request is about, as kube-apiserver's RequestInfo. Resource fields are empty for other paths. */
export interface RequestInfo {
  readonly isResource: boolean;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other paths the lower-case HTTP method. */
  readonly verb: string;
  /** Decoded path. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export type Authentication =
  | { readonly outcome: "user"; readonly user: UserInfo }
  /** No credentials that this authenticator knows: the next one, or anonymous. */
  | { readonly outcome: "none" }
  /** Credentials were given and are bad: 401. */
  | { readonly outcome: "refused"; readonly reason: string };

export interface Authenticator {
  authenticate(request: ApiRequest): Authentication | Promise<Authentication>;
}

export interface AuthorizationAttributes extends RequestInfo {
  readonly user: UserInfo;
}

export interface Decision {
  readonly allowed: boolean;
  /** Why; shown to the client after a refusal. */
  readonly reason?: string;
}

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision>;
}

export const allowAll: Authorizer = { authorize: () => ({ allowed: true }) };
