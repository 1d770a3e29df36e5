import { describe, expect, it } from "@jest/globals";
import type { Cluster } from "../../api/cluster.ts";
import type { MachineSet } from "../../api/machineset.ts";
import type { Unstructured } from "../contract/contract.ts";
import { preflightFailures } from "./preflight.ts";

const SKIP = "machineset.cluster.x-k8s.io/skip-preflight-checks";

function set(version: string | undefined, more: { kind?: string; skip?: string } = {}): MachineSet {
  const { kind = "KubeadmConfigTemplate", skip } = more;
  const spec = {
    clusterName: "demo",
    ...(version ? { version } : {}),
    bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind, name: "b" } },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "i" },
  };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineSet",
    metadata: { name: "ms", ...(skip === undefined ? {} : { annotations: { [SKIP]: skip } }) },
    spec: { clusterName: "demo", selector: {}, template: { spec } },
  };
}

function cluster(topologyVersion?: string, step?: string): Cluster {
  const topology = topologyVersion === undefined ? {} : { topology: { version: topologyVersion, classRef: { name: "c" } } };
  const annotations = step === undefined ? {} : { annotations: { "topology.internal.cluster.x-k8s.io/upgrade-step": step } };
  return { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "demo", ...annotations }, spec: topology } as Cluster;
}

const controlPlane = (version: string | undefined, status: object = { version }): Unstructured => ({
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmControlPlane",
  metadata: { name: "cp" },
  spec: version === undefined ? {} : { version },
  status: status as Unstructured["status"],
});

describe("preflight checks", () => {
  const rows: [string, MachineSet, Cluster, Unstructured | undefined, readonly string[]][] = [
    ["all is well", set("v1.35.0"), cluster(), controlPlane("v1.35.0"), []],
    ["no control plane object", set("v1.35.0"), cluster(), undefined, []],
    ["a control plane without a version", set("v1.35.0"), cluster(), controlPlane(undefined), []],
    ["all skipped", set("v1.36.0", { skip: "All" }), cluster(), controlPlane("v1.35.0"), []],
    ["a newer minor version", set("v1.36.0"), cluster(), controlPlane("v1.35.0"), ["KubernetesVersionSkew", "KubeadmVersionSkew"]],
    ["one of them skipped", set("v1.36.0", { skip: "KubernetesVersionSkew, KubeadmVersionSkew" }), cluster(), controlPlane("v1.35.0"), []],
    ["three minors behind, not by kubeadm", set("v1.32.0", { kind: "OtherTemplate" }), cluster(), controlPlane("v1.35.0"), []],
    ["four minors behind", set("v1.31.0", { kind: "OtherTemplate" }), cluster(), controlPlane("v1.35.0"), ["KubernetesVersionSkew"]],
    ["one minor behind, by kubeadm", set("v1.34.0"), cluster(), controlPlane("v1.35.0"), ["KubeadmVersionSkew"]],
    ["provisioning", set("v1.35.0"), cluster(), controlPlane("v1.35.0", {}), ["ControlPlaneIsStable"]],
    [
      "upgrading",
      set("v1.34.0", { kind: "OtherTemplate" }),
      cluster(),
      controlPlane("v1.35.0", { version: "v1.34.0" }),
      ["ControlPlaneIsStable"],
    ],
    [
      "upgrading, told by a list of versions",
      set("v1.35.0"),
      cluster(),
      controlPlane("v1.35.0", { version: "v1.35.0", versions: [{ version: "v1.34.2" }, { version: "v1.35.0" }] }),
      ["ControlPlaneIsStable"],
    ],
    ["a pending upgrade of the topology", set("v1.35.0"), cluster("v1.36.0"), controlPlane("v1.35.0"), ["ControlPlaneIsStable"]],
    ["a step of a chained upgrade", set("v1.35.0"), cluster("v1.36.0", "v1.35.0"), controlPlane("v1.35.0"), []],
    ["a topology whose versions differ", set("v1.35.0"), cluster("v1.35.1"), controlPlane("v1.35.1"), ["ControlPlaneVersionSkew"]],
    ["no version, nothing to compare", set(undefined), cluster("v1.35.1"), controlPlane("v1.35.1"), []],
  ];
  it.each(rows)("%s", (_what, machineSet, of, cp, expected) => {
    const failures = preflightFailures({ set: machineSet, cluster: of, controlPlane: cp });
    expect(failures.map((text) => /"(\w+)" preflight check failed/.exec(text)?.[1])).toEqual(expected);
  });

  it("a list on the bootstrap template counts when the set has none", () => {
    const bootstrapTemplate = { ...controlPlane(undefined), metadata: { name: "b", annotations: { [SKIP]: "All" } } };
    expect(
      preflightFailures({ set: set("v1.36.0"), cluster: cluster(), controlPlane: controlPlane("v1.35.0"), bootstrapTemplate }),
    ).toEqual([]);
  });

  it("a version that is none is an error, not a failed check", () => {
    expect(() => preflightFailures({ set: set("latest"), cluster: cluster(), controlPlane: controlPlane("v1.35.0") })).toThrow(
      '"latest" is no version',
    );
  });
});
