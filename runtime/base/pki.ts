// Pki: keys and certificates. Here: the seam, synchronous on purpose (WebCrypto never settles inside one turn of a simulation).
// Not here: the implementation over node:crypto (real/), the seeded pool for simulations (simulator/).

export type KeyAlgorithm = "RSA-2048" | "RSA-3072" | "RSA-4096" | "ECDSA-P256" | "ECDSA-P384";

/** Certificate and private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses (told apart by form). */
  readonly names?: readonly string[];
  readonly usages: readonly ("server" | "client")[];
  readonly validForMs: number;
  readonly algorithm?: KeyAlgorithm;
}

export interface CertificateFacts {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isCa: boolean;
}

export interface Pki {
  /** A self-signed CA. */
  createCa(commonName: string, validForMs: number, algorithm?: KeyAlgorithm): KeyPair;
  /** A leaf signed by `ca`. */
  issue(ca: KeyPair, request: CertificateRequest): KeyPair;
  /** A bare signing key pair (service accounts), PEM. */
  createSigningKey(algorithm?: KeyAlgorithm): { readonly publicKey: string; readonly privateKey: string };
  /** Facts of the first certificate in `pem`; throws when it is none. */
  read(pem: string): CertificateFacts;
  /** True when `certificate` (PEM) is signed by `ca` (PEM) and both are within their validity. */
  verify(certificate: string, ca: string): boolean;
}
