// What an upgrade makes of texts in the workload cluster: kubeadm-config, images, the Corefile.
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { upgradedClusterConfiguration, withDns } from "./cluster-configuration.ts";
import { migrateCorefile } from "./corefile.ts";
import { dnsImage, parseImage, proxyImage } from "./images.ts";
import { controlPlane } from "./testing.ts";

const stored = (more = ""): string =>
  `apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: demo\nkubernetesVersion: v1.34.0\nnetworking:\n  podSubnet: 10.0.0.0/16\n${more}`;

describe("kubeadm-config", () => {
  it("gets the version and keeps what kubeadm put there", () => {
    const next = parse(upgradedClusterConfiguration(stored(), controlPlane()) ?? "");
    expect(next).toMatchObject({ kubernetesVersion: "v1.35.0", clusterName: "demo", networking: { podSubnet: "10.0.0.0/16" } });
  });
  it("stays as it is when nothing differs", () => {
    expect(upgradedClusterConfiguration(stored(), controlPlane({ version: "v1.34.0" }))).toBeUndefined();
  });
  it("follows components, gates and repository of the control plane", () => {
    const clusterConfiguration = {
      imageRepository: "mirror.example",
      apiServer: { extraArgs: [{ name: "v", value: "2" }] },
      featureGates: { A: true },
    };
    const next = parse(
      upgradedClusterConfiguration(
        stored("scheduler:\n  extraArgs: []\n"),
        controlPlane({ kubeadmConfigSpec: { clusterConfiguration } }),
      ) ?? "",
    );
    expect(next).toMatchObject({
      imageRepository: "mirror.example",
      apiServer: { extraArgs: [{ name: "v", value: "2" }] },
      featureGates: { A: true, ControlPlaneKubeletLocalMode: true },
    });
    expect(next.scheduler).toBeUndefined();
  });
  it("is rewritten in the version that the new release reads", () => {
    const old = stored("apiServer:\n  extraArgs:\n    v: 2\n  timeoutForControlPlane: 4m0s\n").replace("v1beta4", "v1beta3");
    expect(parse(upgradedClusterConfiguration(old, controlPlane()) ?? "")).toMatchObject({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      apiServer: { extraArgs: [{ name: "v", value: "2" }] },
    });
  });
  it("without its key nobody goes on", () => {
    expect(() => upgradedClusterConfiguration(undefined, controlPlane())).toThrow("restore it from a backup");
  });
  it("takes the image of CoreDNS once", () => {
    const next = withDns(stored(), { imageTag: "v1.12.1" });
    expect(parse(next ?? "").dns).toEqual({ imageTag: "v1.12.1" });
    expect(withDns(next, { imageTag: "v1.12.1" })).toBeUndefined();
  });
});

describe("images", () => {
  it.each([
    ["registry.k8s.io/kube-proxy:v1.34.0", "v1.35.0", undefined, "registry.k8s.io/kube-proxy:v1.35.0"],
    ["localhost:5000/a/kube-proxy:v1", "v1.35.0+x.1", undefined, "localhost:5000/a/kube-proxy:v1.35.0_x.1"],
    ["registry.k8s.io/kube-proxy:v1.34.0", "v1.35.0", "mirror.example", "mirror.example/kube-proxy:v1.35.0"],
  ])("kube-proxy %s at %s with repository %s is %s", (current, version, repository, expected) => {
    expect(proxyImage(current, version, repository)).toBe(expected);
  });
  it.each([
    ["registry.k8s.io/coredns/coredns:v1.11.1", { dnsTag: "v1.12.1" }, "registry.k8s.io/coredns/coredns:v1.12.1"],
    ["registry.k8s.io/coredns:1.7.0", { dnsTag: "v1.8.0" }, "registry.k8s.io/coredns/coredns:v1.8.0"],
    ["registry.k8s.io/coredns/coredns:v1.12.1", { imageRepository: "mirror.example" }, "mirror.example/coredns:v1.12.1"],
    [
      "mirror.example/coredns:v1.12.1",
      { dnsRepository: "other.example/dns", imageRepository: "mirror.example" },
      "other.example/dns/coredns:v1.12.1",
    ],
  ])("CoreDNS %s with %j is %s", (current, wanted, expected) => {
    expect(dnsImage(current, wanted)).toBe(expected);
  });
  it("an image without a tag cannot be upgraded", () => {
    expect(() => parseImage("registry.k8s.io/kube-proxy@sha256:abc")).toThrow("a digest cannot be upgraded");
  });
});

describe("Corefile", () => {
  const old = `.:53 {
    errors
    kubernetes cluster.local {
       pods insecure
       upstream
       resyncperiod 5s
    }
    federation cluster.local {
       foo foo.example
    }
    proxy . /etc/resolv.conf {
       max_fails 2
       spray
    }
    cache 30
}`;
  it("loses what newer releases refuse, and keeps the rest", () => {
    expect(migrateCorefile(old, "1.4.0", "1.12.1")).toBe(`.:53 {
    errors
    ready
    kubernetes cluster.local {
       pods insecure
    }
    forward . /etc/resolv.conf {
       max_fails 2
    }
    cache 30
}`);
  });
  it("is the same when it is migrated twice, and between releases that changed nothing", () => {
    const once = migrateCorefile(old, "1.4.0", "1.12.1");
    expect(migrateCorefile(once, "1.4.0", "1.12.1")).toBe(once);
    expect(migrateCorefile(old, "1.11.1", "1.12.1")).toBe(old);
  });
  it.each([
    ["1.12.1", "1.11.1", "cannot go back"],
    ["1.0.6", "1.12.1", "skip-coredns"],
  ])("from %s to %s is refused", (from, to, hint) => {
    expect(() => migrateCorefile(old, from, to)).toThrow(hint);
  });
});
