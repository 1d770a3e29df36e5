import { describe, expect, it } from "@jest/globals";
import {
  clusterConfigurationDocument,
  goDuration,
  initConfigurationDocument,
  joinConfigurationDocument,
  kubeadmVersionFor,
} from "./documents.ts";

it.each([
  ["v1.30.9", "v1beta3"],
  ["v1.31.0", "v1beta4"],
  ["1.35.0-rc.1", "v1beta4"],
])("%s reads %s", (version, expected) => expect(kubeadmVersionFor(version)).toBe(expected));
it("refuses what is no version", () => expect(() => kubeadmVersionFor("latest")).toThrow("write one such as v1.35.0"));
it.each([
  [5, "5s"],
  [240, "4m0s"],
  [3_661, "1h1m1s"],
])("%i seconds are %s", (seconds, text) => expect(goDuration(seconds)).toBe(text));

const apiServer = { extraArgs: [{ name: "v", value: "2" }], extraEnvs: [{ name: "A", value: "1" }], certSANs: ["a.example"] };

describe("ClusterConfiguration", () => {
  const facts = {
    clusterName: "demo",
    kubernetesVersion: "v1.35.0",
    controlPlaneEndpoint: "h:6443",
    podSubnet: "10.0.0.0/8",
    controlPlaneComponentHealthCheckSeconds: 60,
  };
  it("of 1.31 and later has lists of arguments and validity periods", () => {
    expect(
      clusterConfigurationDocument({ apiServer, caCertificateValidityPeriodDays: 10, encryptionAlgorithm: "RSA-2048" }, facts, "v1beta4"),
    ).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "ClusterConfiguration",
      apiServer,
      caCertificateValidityPeriod: "240h0m0s",
      clusterName: "demo",
      controlPlaneEndpoint: "h:6443",
      encryptionAlgorithm: "RSA-2048",
      kubernetesVersion: "v1.35.0",
      networking: { podSubnet: "10.0.0.0/8" },
    });
  });
  it("before that has maps, and leaves out what it cannot say", () => {
    expect(
      clusterConfigurationDocument({ apiServer, caCertificateValidityPeriodDays: 10, controlPlaneEndpoint: "own:1" }, facts, "v1beta3"),
    ).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta3",
      kind: "ClusterConfiguration",
      apiServer: { extraArgs: { v: "2" }, certSANs: ["a.example"], timeoutForControlPlane: "1m0s" },
      clusterName: "demo",
      controlPlaneEndpoint: "own:1",
      kubernetesVersion: "v1.35.0",
      networking: { podSubnet: "10.0.0.0/8" },
    });
  });
  it("of nothing holds nothing", () =>
    expect(Object.keys(clusterConfigurationDocument(undefined, {}, "v1beta4"))).toEqual(["apiVersion", "kind"]));
});

describe("InitConfiguration and JoinConfiguration", () => {
  it("keep the difference between no taints and the usual taints", () => {
    expect(initConfigurationDocument({ nodeRegistration: { taints: [] } }, "v1beta4")).toMatchObject({ nodeRegistration: { taints: [] } });
    expect(initConfigurationDocument({ nodeRegistration: { name: "n" } }, "v1beta4").nodeRegistration).toEqual({ name: "n" });
  });
  it("write times to live and limits as durations", () => {
    const document = initConfigurationDocument(
      { bootstrapTokens: [{ token: "a.b", ttlSeconds: 3_600 }], timeouts: { discoverySeconds: 90 } },
      "v1beta4",
    );
    expect(document).toMatchObject({ bootstrapTokens: [{ token: "a.b", ttl: "1h0m0s" }], timeouts: { discovery: "1m30s" } });
  });
  it("joins as a control plane also with an empty section", () => {
    expect(joinConfigurationDocument({ controlPlane: {} }, "v1beta4")).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "JoinConfiguration",
      controlPlane: { localAPIEndpoint: {} },
    });
  });
  it("tells kubeadm only the path of a kubeconfig for discovery", () => {
    const discovery = { file: { kubeConfigPath: "/k", kubeConfig: { user: { exec: { command: "x" } } } } };
    expect(joinConfigurationDocument({ discovery }, "v1beta4").discovery).toEqual({ file: { kubeConfigPath: "/k" } });
  });
});
