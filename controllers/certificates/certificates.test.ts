import { createHash, X509Certificate } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import type { Secret } from "../../api/core/index.ts";
import { StatusError } from "../../api/meta/status.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import type { Client } from "../../runtime/client.ts";
import { dataOf, textOf } from "../workload/secrets.ts";
import { adminKubeconfig, needsRenewal, serverOf } from "./kubeconfig.ts";
import { publicKeyHashes } from "./public-key-hash.ts";
import { controlPlaneCertificates, workerCertificates } from "./purposes.ts";
import { ensureCertificates, lookUpCertificates, requireCertificates } from "./secrets.ts";
import { sha256Hex } from "./sha256.ts";

const clock = new VirtualClock(Date.parse("2026-06-01T12:00:00Z"));
const pki = createNodePki({ clock });
const cluster = { namespace: "ns", name: "demo" };
const owner = { apiVersion: "v1", kind: "X", name: "x", uid: "u" };

describe("sha256Hex", () => {
  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 1_000])("of %i bytes", (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + 7) & 0xff);
    expect(sha256Hex(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
  });
});

describe("publicKeyHashes", () => {
  it.each(["RSA-2048", "ECDSA-P256"] as const)("hashes the %s key of each certificate", (algorithm) => {
    const [a, b] = [pki.createCa("a", 1_000_000, algorithm), pki.createCa("b", 1_000_000, algorithm)];
    const expected = [a, b].map(({ certificate }) => {
      const spki = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
      return `sha256:${createHash("sha256").update(new Uint8Array(spki)).digest("hex")}`;
    });
    expect(publicKeyHashes(a.certificate + b.certificate)).toEqual(expected);
  });
  it("refuses half a certificate", () => {
    expect(() => publicKeyHashes("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----")).toThrow("ends too early");
  });
});

describe("what a machine gets", () => {
  const files = (...args: Parameters<typeof controlPlaneCertificates>) =>
    controlPlaneCertificates(...args).map((c) => `${c.purpose} ${c.certificatePath} ${c.keyPath ?? "-"}`);
  it("by default", () => {
    expect(files(undefined)).toEqual([
      "ca /etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/ca.key",
      "etcd /etc/kubernetes/pki/etcd/ca.crt /etc/kubernetes/pki/etcd/ca.key",
      "proxy /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/front-proxy-ca.key",
      "sa /etc/kubernetes/pki/sa.pub /etc/kubernetes/pki/sa.key",
    ]);
  });
  it("with external etcd and another folder", () => {
    const external = { endpoints: ["https://e"], caFile: "/e/ca", certFile: "/e/crt", keyFile: "/e/key" };
    expect(files({ certificatesDir: "/pki", etcd: { external } })).toEqual([
      "ca /pki/ca.crt /pki/ca.key",
      "etcd /e/ca -",
      "proxy /pki/front-proxy-ca.crt /pki/front-proxy-ca.key",
      "sa /pki/sa.pub /pki/sa.key",
      "apiserver-etcd-client /e/crt /e/key",
    ]);
  });
  it("a worker only knows the CA", () =>
    expect(workerCertificates(undefined)).toEqual([{ purpose: "ca", making: "ca", certificatePath: "/etc/kubernetes/pki/ca.crt" }]));
});

function secretsClient(...initial: Secret[]) {
  const stored = new Map(initial.map((s) => [s.metadata.name ?? "", s]));
  const client = {
    get: async (_r: unknown, key: { name: string }) => {
      const secret = stored.get(key.name);
      if (!secret)
        throw new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 });
      return secret;
    },
    create: async (_r: unknown, secret: Secret) => {
      stored.set(secret.metadata.name ?? "", secret);
      return secret;
    },
  } as unknown as Client;
  return { client, stored };
}
const secret = (name: string, values: Record<string, string>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: dataOf(values),
});

describe("certificate Secrets", () => {
  it("makes what is missing, keeps what is there, and makes nothing the second time", async () => {
    const { client, stored } = secretsClient(secret("demo-ca", { "tls.crt": "mine", "tls.key": "key" }));
    const wanted = controlPlaneCertificates({ encryptionAlgorithm: "ECDSA-P256", caCertificateValidityPeriodDays: 10 });
    const options = { configuration: { encryptionAlgorithm: "ECDSA-P256", caCertificateValidityPeriodDays: 10 } as const, owner };
    const made = await ensureCertificates(client, pki, cluster, wanted, options);
    expect([...stored.keys()]).toEqual(["demo-ca", "demo-etcd", "demo-proxy", "demo-sa"]);
    expect(made.get("ca")?.certificate).toBe("mine");
    const etcd = pki.read(made.get("etcd")?.certificate ?? "");
    expect(etcd).toMatchObject({ commonName: "kubernetes", isCa: true });
    expect(etcd.notAfterMs - clock.nowMs()).toBeCloseTo(10 * 24 * 3_600_000, -6);
    expect(made.get("sa")?.certificate).toContain("PUBLIC KEY");
    expect(stored.get("demo-etcd")).toMatchObject({
      type: "cluster.x-k8s.io/secret",
      metadata: { labels: { "cluster.x-k8s.io/cluster-name": "demo" }, ownerReferences: [owner] },
    });
    const again = await ensureCertificates(client, pki, cluster, wanted, options);
    expect(again.get("proxy")).toEqual(made.get("proxy"));
  });

  it("never makes certificates of an external etcd", async () => {
    const external = { endpoints: ["https://e"], caFile: "/e/ca", certFile: "/e/crt", keyFile: "/e/key" };
    const wanted = controlPlaneCertificates({ etcd: { external } });
    const { client } = secretsClient();
    await expect(ensureCertificates(client, pki, cluster, wanted, { configuration: {}, owner })).rejects.toThrow(
      "certificates are missing: no Secret demo-etcd, demo-apiserver-etcd-client",
    );
  });

  it("names what is missing, and refuses a Secret without a certificate", async () => {
    const wanted = controlPlaneCertificates(undefined);
    const { client } = secretsClient(secret("demo-ca", { "tls.crt": "c", "tls.key": "k" }));
    const found = await lookUpCertificates(client, cluster, wanted);
    expect(() => requireCertificates("demo", wanted, found)).toThrow("no Secret demo-etcd, demo-proxy, demo-sa");
    await expect(lookUpCertificates(secretsClient(secret("demo-ca", { "tls.key": "k" })).client, cluster, wanted)).rejects.toThrow(
      "has no certificate",
    );
  });
});

describe("kubeconfig", () => {
  const ca = pki.createCa("kubernetes", 10 * 365 * 24 * 3_600_000, "ECDSA-P256");
  const text = adminKubeconfig("demo", "https://10.0.0.1:6443", ca, pki, "ECDSA-P256");

  it("lets the admin in", () => {
    const config = parse(text);
    expect(config["current-context"]).toBe("demo-admin@demo");
    expect(serverOf(text)).toBe("https://10.0.0.1:6443");
    const certificate = textOf(secret("x", {}), "x") ?? Buffer.from(config.users[0].user["client-certificate-data"], "base64").toString();
    expect(pki.read(certificate)).toMatchObject({ commonName: "kubernetes-admin", organizations: ["system:masters"] });
    expect(pki.verify(certificate, ca.certificate)).toBe(true);
  });

  it("is due for renewal after half a year", () => {
    const dayMs = 24 * 3_600_000;
    expect(needsRenewal(text, pki, clock.nowMs() + 180 * dayMs)).toBe(false);
    expect(needsRenewal(text, pki, clock.nowMs() + 184 * dayMs)).toBe(true);
  });
});
