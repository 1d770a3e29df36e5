// The public surface of the folder: who asks, and may they.
import type { Authorizer } from "../auth-seam.ts";
import { allowAll } from "../auth-seam.ts";
import type { AdmissionPlugin } from "../admission-seam.ts";
import type { ServerContext } from "../context.ts";
import { escalationCheck } from "./escalation.ts";
import { createRbac } from "./rbac.ts";

export { aggregateClusterRoles } from "./aggregation.ts";
export { authenticators } from "./authenticators.ts";
export { sameSecret, staticTokens } from "./bearer.ts";
export { defaultRbac } from "./bootstrap-roles.ts";
export { serviceAccountTokens, tokenIssuer } from "./service-account.ts";

export const AUTHORIZATION_MODES = ["RBAC", "AlwaysAllow", "AlwaysDeny"] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

export interface Authorization {
  readonly authorizer: Authorizer;
  /** What has to be checked at writes, as the first of the validating plugins. */
  readonly admission: readonly AdmissionPlugin[];
}

/** @param modes tried in turn: the first that allows wins, as with kube-apiserver's --authorization-mode */
export function createAuthorization(server: ServerContext, modes: readonly AuthorizationMode[]): Authorization {
  const rbac = createRbac(server);
  const of = (mode: AuthorizationMode): Authorizer =>
    mode === "RBAC" ? rbac : mode === "AlwaysAllow" ? allowAll : { authorize: () => ({ allowed: false }) };
  const authorizer = modes.length === 1 && modes[0] !== undefined ? of(modes[0]) : anyOf(modes.map(of));
  return { authorizer, admission: modes.includes("RBAC") ? [escalationCheck(authorizer, rbac)] : [] };
}

const anyOf = (authorizers: readonly Authorizer[]): Authorizer => ({
  async authorize(attributes) {
    const reasons: string[] = [];
    for (const authorizer of authorizers) {
      const decision = await authorizer.authorize(attributes);
      if (decision.allowed) return decision;
      if (decision.reason !== undefined && decision.reason !== "") reasons.push(decision.reason);
    }
    return { allowed: false, reason: reasons.join(", ") };
  },
});
