// Several ways to prove who one is, as one. Here: trying them in turn. Not here: each of them.
import type { ApiRequest } from "../../api/meta/transport.ts";
import type { Authentication, Authenticator } from "../auth-seam.ts";
import { bearerToken } from "./bearer.ts";

export const AUTHENTICATED = "system:authenticated";

/**
 * The first that knows the user wins, and every user is in system:authenticated. Credentials that nobody knows are refused;
 * a request without any stays `none`: anonymous.
 */
export function authenticators(...parts: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(request: ApiRequest): Promise<Authentication> {
      let refused: Authentication | undefined;
      for (const part of parts) {
        const result = await part.authenticate(request);
        if (result.outcome === "user") return withGroup(result);
        if (result.outcome === "refused") refused ??= result;
      }
      if (refused !== undefined) return refused;
      return bearerToken(request) === undefined ? { outcome: "none" } : { outcome: "refused", reason: "invalid bearer token" };
    },
  };
}

function withGroup(result: Extract<Authentication, { outcome: "user" }>): Authentication {
  const { user } = result;
  return user.groups.includes(AUTHENTICATED) ? result : { outcome: "user", user: { ...user, groups: [...user.groups, AUTHENTICATED] } };
}
