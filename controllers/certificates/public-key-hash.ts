// Fingerprints of CA keys as kubeadm's discovery wants them. Here: the public key inside a certificate, found by walking its DER.
// Source: RFC 5280 section 4.1; spec/controllers/kubeadmconfig.md section 5.1.
import { base64ToBytes } from "../workload/secrets.ts";
import { sha256Hex } from "./sha256.ts";

interface Element {
  readonly tag: number;
  /** First byte of the content, and the first after it. */
  readonly from: number;
  readonly to: number;
  /** First byte of the tag. */
  readonly start: number;
}

function elementAt(der: Uint8Array, start: number): Element {
  const tag = der[start];
  const first = der[start + 1];
  if (tag === undefined || first === undefined) throw new Error("the certificate ends too early");
  let [from, length] = [start + 2, first];
  if (first >= 0x80) {
    const bytes = first & 0x7f;
    length = 0;
    for (let i = 0; i < bytes; i++) length = length * 256 + (der[start + 2 + i] ?? 0);
    from += bytes;
  }
  if (from + length > der.length) throw new Error("the certificate ends too early");
  return { tag, start, from, to: from + length };
}

function childrenOf(der: Uint8Array, parent: Element): readonly Element[] {
  const children: Element[] = [];
  for (let next = parent.from; next < parent.to; ) {
    const child = elementAt(der, next);
    children.push(child);
    next = child.to;
  }
  return children;
}

const VERSION_TAG = 0xa0;
/** serialNumber, signature, issuer, validity, subject stand before it. */
const FIELDS_BEFORE_KEY = 5;

/** DER of the SubjectPublicKeyInfo. */
function publicKeyInfo(der: Uint8Array): Uint8Array {
  const [toBeSigned] = childrenOf(der, elementAt(der, 0));
  const fields = toBeSigned ? childrenOf(der, toBeSigned) : [];
  const key = fields[FIELDS_BEFORE_KEY + (fields[0]?.tag === VERSION_TAG ? 1 : 0)];
  if (!key) throw new Error("the certificate has no public key");
  return der.subarray(key.start, key.to);
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** `sha256:<hex>` for each certificate in the PEM text. @throws when a certificate cannot be read */
export const publicKeyHashes = (pem: string): readonly string[] =>
  [...pem.matchAll(PEM)].map(([, body = ""]) => `sha256:${sha256Hex(publicKeyInfo(base64ToBytes(body.replace(/\s/g, ""))))}`);
