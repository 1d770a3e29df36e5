// Signing tokens with a private key of the machine. Here: node:crypto behind TokenSigner. Not here: tokens (../auth/).
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { TokenSigner } from "../auth/jwt.ts";

/** @param privateKey PEM of an ECDSA P-256 or RSA key. Throws Error for any other. */
export function createTokenSigner(privateKey: string): TokenSigner {
  const key = createPrivateKey(privateKey);
  const publicKey = createPublicKey(key);
  const type = key.asymmetricKeyType;
  if (type !== "ec" && type !== "rsa") throw new Error(`tokens cannot be signed with a key of type ${type}; use ECDSA P-256 or RSA`);
  // Tokens carry ECDSA signatures as two numbers side by side, not as DER.
  const form = type === "ec" ? ({ dsaEncoding: "ieee-p1363" } as const) : {};
  return {
    algorithm: type === "ec" ? "ES256" : "RS256",
    keyId: createHash("sha256")
      .update(publicKey.export({ type: "spki", format: "der" }))
      .digest("base64url"),
    sign: (bytes) => sign("sha256", bytes, { key, ...form }),
    verify: (bytes, signature) => verify("sha256", bytes, { key: publicKey, ...form }, signature),
  };
}
