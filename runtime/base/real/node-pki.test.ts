import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { VirtualClock } from "../virtual-clock.ts";
import { createNodePki, generateKeys, pooledKeys } from "./node-pki.ts";

const YEAR_MS = 365 * 24 * 3_600_000;
const START_MS = Date.parse("2026-08-21T10:00:00Z");

describe("createNodePki", () => {
  it.each(["RSA-2048", "ECDSA-P256", "ECDSA-P384"] as const)("issues leaves that verify against their CA only (%s)", (algorithm) => {
    const pki = createNodePki({ clock: new VirtualClock(START_MS) });
    const ca = pki.createCa("test-ca", YEAR_MS, algorithm);
    const other = pki.createCa("test-ca", YEAR_MS, algorithm);
    const leaf = pki.issue(ca, {
      commonName: "kubernetes-admin",
      organizations: ["kubeadm:cluster-admins", "b"],
      names: ["localhost", "127.0.0.1", "::1"],
      usages: ["client", "server"],
      validForMs: YEAR_MS,
      algorithm,
    });
    expect(pki.verify(leaf.certificate, ca.certificate)).toBe(true);
    expect(pki.verify(leaf.certificate, other.certificate)).toBe(false);
    expect(pki.read(leaf.certificate)).toEqual({
      commonName: "kubernetes-admin",
      organizations: ["kubeadm:cluster-admins", "b"],
      notBeforeMs: START_MS - 300_000,
      notAfterMs: START_MS + YEAR_MS,
      isCa: false,
    });
    expect(pki.read(ca.certificate).isCa).toBe(true);
    const x509 = new X509Certificate(leaf.certificate);
    expect(x509.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    expect(x509.checkPrivateKey(generateKeys(algorithm).privateKey)).toBe(false);
  });

  it("refuses certificates outside of their time", () => {
    const clock = new VirtualClock(START_MS);
    const pki = createNodePki({ clock });
    const ca = pki.createCa("short", 60_000, "ECDSA-P256");
    const leaf = pki.issue(ca, { commonName: "x", usages: ["client"], validForMs: 60_000, algorithm: "ECDSA-P256" });
    expect(pki.verify(leaf.certificate, ca.certificate)).toBe(true);
    clock.after(61_000, () => {});
    clock.runNext();
    expect(pki.verify(leaf.certificate, ca.certificate)).toBe(false);
  });

  it("gives the same bytes for the same keys, time and serial bytes", () => {
    const pool = { "RSA-2048": [generateKeyPairSync("rsa", { modulusLength: 2048 }), generateKeyPairSync("rsa", { modulusLength: 2048 })] };
    const make = (): string => {
      const pki = createNodePki({
        clock: new VirtualClock(START_MS),
        keys: pooledKeys(pool),
        serialBytes: (n) => new Uint8Array(n).fill(7),
      });
      const ca = pki.createCa("pooled", YEAR_MS);
      return pki.issue(ca, { commonName: "node", usages: ["server"], validForMs: YEAR_MS }).certificate;
    };
    expect(make()).toBe(make());
  });

  it("says what is wrong with a text that is no certificate", () => {
    expect(() => createNodePki({ clock: new VirtualClock() }).read("nonsense")).toThrow(/BEGIN CERTIFICATE/);
  });
});
