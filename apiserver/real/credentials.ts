// What a server proves itself with: CA, serving certificate, service account key, admin certificate; fresh, or kept in a directory.
// Here: making and keeping them. Not here: how certificates are built (runtime/base/real/node-pki.ts), who is trusted (auth/).
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../runtime/base/clock.ts";
import type { KeyPair, Pki } from "../../runtime/base/pki.ts";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";

const DAY_MS = 24 * 3_600_000;
const CA_VALID_MS = 3650 * DAY_MS;
const LEAF_VALID_MS = 365 * DAY_MS;
/** A kept certificate that ends sooner is made anew. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
// ECDSA keys take a millisecond, RSA keys 25 or more, and both sides speak it.
const ALGORITHM = "ECDSA-P256";

export interface Credentials {
  readonly ca: KeyPair;
  readonly serving: KeyPair;
  readonly admin: KeyPair;
  /** Bearer token of the admin. */
  readonly adminToken: string;
  /** PEM of the key that signs service account tokens. */
  readonly serviceAccountKey: { readonly publicKey: string; readonly privateKey: string };
}

export interface CredentialOptions {
  readonly clock: Clock;
  /** Kept here, readable by the owner only; absent = fresh each time. */
  readonly directory?: string;
  /** Names and addresses under which clients reach the server. */
  readonly names: readonly string[];
  readonly serving?: KeyPair;
}

/** Owner-only from the first byte. */
function writeSecret(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

interface Kept {
  read(name: string): string | undefined;
  write(name: string, text: string): void;
}

function keptIn(directory: string | undefined): Kept {
  if (directory === undefined) return { read: () => undefined, write: () => {} };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  return {
    read: (name) => (existsSync(join(directory, name)) ? readFileSync(join(directory, name), "utf8") : undefined),
    write: (name, text) => writeSecret(join(directory, name), text),
  };
}

function pair(kept: Kept, name: string, good: (pair: KeyPair) => boolean, make: () => KeyPair): KeyPair {
  const [certificate, key] = [kept.read(`${name}.crt`), kept.read(`${name}.key`)];
  if (certificate !== undefined && key !== undefined && good({ certificate, key })) return { certificate, key };
  const fresh = make();
  kept.write(`${name}.crt`, fresh.certificate);
  kept.write(`${name}.key`, fresh.key);
  return fresh;
}

function signingKey(kept: Kept, pki: Pki): Credentials["serviceAccountKey"] {
  const [publicKey, privateKey] = [kept.read("service-account.pub"), kept.read("service-account.key")];
  if (publicKey !== undefined && privateKey !== undefined) return { publicKey, privateKey };
  const fresh = pki.createSigningKey(ALGORITHM);
  kept.write("service-account.pub", fresh.publicKey);
  kept.write("service-account.key", fresh.privateKey);
  return fresh;
}

const TOKEN_BYTES = 24;

function adminToken(kept: Kept): string {
  const known = kept.read("admin.token")?.trim();
  if (known) return known;
  const fresh = randomBytes(TOKEN_BYTES).toString("base64url");
  kept.write("admin.token", `${fresh}\n`);
  return fresh;
}

export function loadCredentials(options: CredentialOptions): Credentials {
  const pki = createNodePki({ clock: options.clock });
  const kept = keptIn(options.directory);
  const lasts = (certificate: string): boolean => {
    try {
      return pki.read(certificate).notAfterMs > options.clock.nowMs() + RENEW_BEFORE_MS;
    } catch {
      return false;
    }
  };
  const ca = pair(
    kept,
    "ca",
    ({ certificate }) => lasts(certificate),
    () => pki.createCa("theseus-apiserver", CA_VALID_MS, ALGORITHM),
  );
  const leafIsGood = ({ certificate }: KeyPair): boolean => lasts(certificate) && pki.verify(certificate, ca.certificate);
  const serving =
    options.serving ??
    pair(
      kept,
      "apiserver",
      (found) => leafIsGood(found) && kept.read("apiserver.names") === options.names.join("\n"),
      () => {
        kept.write("apiserver.names", options.names.join("\n"));
        const { names } = options;
        return pki.issue(ca, { commonName: "kube-apiserver", names, usages: ["server"], validForMs: LEAF_VALID_MS, algorithm: ALGORITHM });
      },
    );
  const admin = pair(kept, "admin", leafIsGood, () =>
    pki.issue(ca, {
      commonName: "kubernetes-admin",
      organizations: ["system:masters"],
      usages: ["client"],
      validForMs: LEAF_VALID_MS,
      algorithm: ALGORITHM,
    }),
  );
  return { ca, serving, admin, adminToken: adminToken(kept), serviceAccountKey: signingKey(kept, pki) };
}
