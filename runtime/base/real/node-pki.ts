// Pki over node:crypto: X.509 certificates built and signed synchronously.
// Here: encoding and signing. Not here: where certificates are kept, which names they get (apiserver/real, controllers).
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from "node:crypto";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import type { Clock } from "../clock.ts";
import type { CertificateFacts, CertificateRequest, KeyAlgorithm, KeyPair, Pki } from "../pki.ts";

/** Two key objects of one pair. */
export interface KeyObjects {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface NodePkiOptions {
  readonly clock: Pick<Clock, "nowMs">;
  /** Where keys come from. Default: new ones. A pool makes a simulation quick, and reproducible with RSA (ECDSA signatures differ each time). */
  readonly keys?: (algorithm: KeyAlgorithm) => KeyObjects;
  /** Bytes of serial numbers. Default: the system's. */
  readonly serialBytes?: (length: number) => Uint8Array;
}

const DEFAULT_ALGORITHM: KeyAlgorithm = "RSA-2048";
const RSA_BITS: Readonly<Partial<Record<KeyAlgorithm, number>>> = { "RSA-2048": 2048, "RSA-3072": 3072, "RSA-4096": 4096 };
const CURVES: Readonly<Partial<Record<KeyAlgorithm, string>>> = { "ECDSA-P256": "P-256", "ECDSA-P384": "P-384" };
const ID_RSA_SHA256 = "1.2.840.113549.1.1.11";
const ID_ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const ID_COMMON_NAME = "2.5.4.3";
const ID_ORGANIZATION = "2.5.4.10";
const SERIAL_BYTES = 8;
// A peer whose clock is a little behind accepts the certificate too; kubeadm does the same.
const BACKDATE_MS = 5 * 60_000;

/** A new pair of keys. */
export function generateKeys(algorithm: KeyAlgorithm): KeyObjects {
  const bits = RSA_BITS[algorithm];
  if (bits !== undefined) return generateKeyPairSync("rsa", { modulusLength: bits });
  return generateKeyPairSync("ec", { namedCurve: CURVES[algorithm] ?? "P-256" });
}

/** Keys handed out in turn, so that the same sequence of requests gets the same keys. Throws on an empty pool. */
export function pooledKeys(pool: Readonly<Partial<Record<KeyAlgorithm, readonly KeyObjects[]>>>): (algorithm: KeyAlgorithm) => KeyObjects {
  const next = new Map<KeyAlgorithm, number>();
  return (algorithm) => {
    const keys = pool[algorithm] ?? [];
    const at = next.get(algorithm) ?? 0;
    const found = keys[at % keys.length];
    if (!found) throw new Error(`the key pool holds no ${algorithm} key; add one, or ask for another algorithm`);
    next.set(algorithm, at + 1);
    return found;
  };
}

const privatePem = (key: KeyObject): string =>
  key.export(key.asymmetricKeyType === "ec" ? { type: "sec1", format: "pem" } : { type: "pkcs1", format: "pem" }).toString();

function subject(commonName: string, organizations: readonly string[]): Name {
  const attribute = (type: string, text: string): RelativeDistinguishedName =>
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) })]);
  return new Name([...organizations.map((name) => attribute(ID_ORGANIZATION, name)), attribute(ID_COMMON_NAME, commonName)]);
}

const isIpAddress = (name: string): boolean => /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || name.includes(":");

const extension = (extnID: string, critical: boolean, value: unknown): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });

const spkiOf = (key: KeyObject): SubjectPublicKeyInfo =>
  AsnConvert.parse(key.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo);

/** SHA-1 of the key's bits, as RFC 5280 proposes for identifiers. */
const keyIdOf = (spki: SubjectPublicKeyInfo): Buffer => createHash("sha1").update(new Uint8Array(spki.subjectPublicKey)).digest();

function signatureAlgorithm(signer: KeyObject): AlgorithmIdentifier {
  return signer.asymmetricKeyType === "ec"
    ? new AlgorithmIdentifier({ algorithm: ID_ECDSA_SHA256 })
    : new AlgorithmIdentifier({ algorithm: ID_RSA_SHA256, parameters: null });
}

interface Draft {
  readonly subject: Name;
  readonly issuer: Name;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly signerPublicKey: KeyObject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly serial: Uint8Array;
  readonly extensions: readonly Extension[];
}

function certificatePem(draft: Draft): string {
  const spki = spkiOf(draft.publicKey);
  const algorithm = signatureAlgorithm(draft.signer);
  const tbs = new TBSCertificate({
    version: Version.v3,
    serialNumber: Uint8Array.from(draft.serial).buffer,
    signature: algorithm,
    issuer: draft.issuer,
    validity: new Validity({ notBefore: new Date(draft.notBeforeMs), notAfter: new Date(draft.notAfterMs) }),
    subject: draft.subject,
    subjectPublicKeyInfo: spki,
    extensions: new Extensions([
      ...draft.extensions,
      extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(keyIdOf(spki))),
      extension(
        id_ce_authorityKeyIdentifier,
        false,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyIdOf(spkiOf(draft.signerPublicKey))) }),
      ),
    ]),
  });
  const signature = createSign("sha256")
    .update(new Uint8Array(AsnConvert.serialize(tbs)))
    .sign(draft.signer);
  const certificate = new Certificate({
    tbsCertificate: tbs,
    signatureAlgorithm: algorithm,
    signatureValue: Uint8Array.from(signature).buffer,
  });
  const base64 = Buffer.from(AsnConvert.serialize(certificate)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** `CN=a\nO=b` as node prints a subject. */
function subjectField(text: string, field: string): readonly string[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${field}=`))
    .map((line) => line.slice(field.length + 1).replace(/\\(.)/g, "$1"));
}

const parsed = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error("not a PEM certificate: expected a text with -----BEGIN CERTIFICATE-----", { cause });
  }
};

export function createNodePki(options: NodePkiOptions): Pki {
  const keys = options.keys ?? generateKeys;
  const nowMs = (): number => options.clock.nowMs();
  const serial = (): Uint8Array => {
    const bytes = Uint8Array.from(options.serialBytes?.(SERIAL_BYTES) ?? randomBytes(SERIAL_BYTES));
    bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40; // positive, and never a leading zero
    return bytes;
  };
  const within = (certificate: X509Certificate): boolean =>
    Date.parse(certificate.validFrom) <= nowMs() && nowMs() <= Date.parse(certificate.validTo);

  return {
    createCa(commonName, validForMs, algorithm = DEFAULT_ALGORITHM): KeyPair {
      const pair = keys(algorithm);
      const name = subject(commonName, []);
      const certificate = certificatePem({
        subject: name,
        issuer: name,
        publicKey: pair.publicKey,
        signer: pair.privateKey,
        signerPublicKey: pair.publicKey,
        notBeforeMs: nowMs() - BACKDATE_MS,
        notAfterMs: nowMs() + validForMs,
        serial: serial(),
        extensions: [
          extension(
            id_ce_keyUsage,
            true,
            new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign),
          ),
          extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
        ],
      });
      return { certificate, key: privatePem(pair.privateKey) };
    },

    issue(ca: KeyPair, request: CertificateRequest): KeyPair {
      const issuer = parsed(ca.certificate);
      const signer = createPrivateKey(ca.key);
      const pair = keys(request.algorithm ?? DEFAULT_ALGORITHM);
      const usages = request.usages.map((usage) => (usage === "server" ? id_kp_serverAuth : id_kp_clientAuth));
      const names = (request.names ?? []).map((name) => new GeneralName(isIpAddress(name) ? { iPAddress: name } : { dNSName: name }));
      const certificate = certificatePem({
        subject: subject(request.commonName, request.organizations ?? []),
        issuer: AsnConvert.parse(issuer.raw, Certificate).tbsCertificate.subject,
        publicKey: pair.publicKey,
        signer,
        signerPublicKey: issuer.publicKey,
        notBeforeMs: Math.max(nowMs() - BACKDATE_MS, Date.parse(issuer.validFrom)),
        notAfterMs: nowMs() + request.validForMs,
        serial: serial(),
        extensions: [
          extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment)),
          extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage(usages)),
          extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
          ...(names.length === 0 ? [] : [extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names))]),
        ],
      });
      return { certificate, key: privatePem(pair.privateKey) };
    },

    createSigningKey(algorithm = DEFAULT_ALGORITHM) {
      const pair = keys(algorithm);
      return { publicKey: pair.publicKey.export({ type: "spki", format: "pem" }).toString(), privateKey: privatePem(pair.privateKey) };
    },

    read(pem): CertificateFacts {
      const certificate = parsed(pem);
      return {
        commonName: subjectField(certificate.subject, "CN")[0] ?? "",
        organizations: subjectField(certificate.subject, "O"),
        notBeforeMs: Date.parse(certificate.validFrom),
        notAfterMs: Date.parse(certificate.validTo),
        isCa: certificate.ca,
      };
    },

    verify(certificate, ca) {
      const [leaf, issuer] = [parsed(certificate), parsed(ca)];
      return (
        leaf.checkIssued(issuer) &&
        leaf.verify(createPublicKey(issuer.publicKey.export({ type: "spki", format: "pem" }))) &&
        within(leaf) &&
        within(issuer)
      );
    },
  };
}
