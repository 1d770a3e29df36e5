// Bearer tokens in requests. Here: reading the header, comparing without telling how much was right, static tokens.
// Not here: tokens of service accounts (service-account.ts), the token file (../real/token-file.ts).
import type { ApiRequest, UserInfo } from "../../api/meta/transport.ts";
import type { Authenticator } from "../auth-seam.ts";

const WEBSOCKET_PREFIX = "base64url.bearer.authorization.k8s.io.";

/** @returns undefined when the request carries none */
export function bearerToken(request: ApiRequest): string | undefined {
  const [scheme = "", token = ""] = (request.headers.authorization ?? "").trim().split(/\s+/);
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  return webSocketToken(request.headers["sec-websocket-protocol"]);
}

/** Browsers cannot set headers of a WebSocket, so the token may come as a protocol. */
function webSocketToken(protocols: string | undefined): string | undefined {
  const found = protocols
    ?.split(",")
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(WEBSOCKET_PREFIX));
  if (found === undefined) return undefined;
  try {
    return atob(found.slice(WEBSOCKET_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}

/** The time depends on the length of `given` only. */
export function sameSecret(given: string, wanted: string): boolean {
  let different = given.length ^ wanted.length;
  for (let i = 0; i < given.length; i++) different |= given.charCodeAt(i) ^ wanted.charCodeAt(i % Math.max(wanted.length, 1));
  return different === 0;
}

/** @param users by token; their groups are complete */
export function staticTokens(users: ReadonlyMap<string, UserInfo>): Authenticator {
  const entries = [...users];
  return {
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return { outcome: "none" };
      let found: UserInfo | undefined;
      // All are compared, so that the time tells nothing.
      for (const [known, user] of entries) if (sameSecret(token, known)) found = user;
      return found === undefined ? { outcome: "none" } : { outcome: "user", user: found };
    },
  };
}
