// JSON web tokens in their compact form. Here: encoding, signing and checking signatures through a signer.
// Not here: keys (../real/token-signer.ts), what the claims mean (service-account.ts).

/** Signs and checks with one key. Synchronous, because a simulation runs in one turn. */
export interface TokenSigner {
  readonly algorithm: "ES256" | "RS256";
  readonly keyId: string;
  sign(bytes: Uint8Array): Uint8Array;
  verify(bytes: Uint8Array, signature: Uint8Array): boolean;
}

export type Claims = Readonly<Record<string, unknown>>;

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** @returns undefined for what is no base64url */
function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const utf8 = new TextEncoder();
const encoded = (value: object): string => toBase64Url(utf8.encode(JSON.stringify(value)));

export function signToken(signer: TokenSigner, claims: Claims): string {
  const signed = `${encoded({ alg: signer.algorithm, kid: signer.keyId })}.${encoded(claims)}`;
  return `${signed}.${toBase64Url(signer.sign(utf8.encode(signed)))}`;
}

function decoded(part: string | undefined): Claims | undefined {
  const bytes = fromBase64Url(part ?? "");
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** The claims without looking at the signature: to tell whose token it claims to be. @returns undefined when it is no token of this form */
export function unverifiedClaims(token: string): Claims | undefined {
  const parts = token.split(".");
  return parts.length === 3 ? decoded(parts[1]) : undefined;
}

/** @returns the claims, undefined when form, algorithm or signature are not right */
export function verifiedClaims(signer: TokenSigner, token: string): Claims | undefined {
  const [head, body, signature] = token.split(".");
  const header = decoded(head);
  const bytes = fromBase64Url(signature ?? "");
  if (header?.alg !== signer.algorithm || bytes === undefined || bytes.length === 0) return undefined;
  return signer.verify(utf8.encode(`${head}.${body}`), bytes) ? decoded(body) : undefined;
}
