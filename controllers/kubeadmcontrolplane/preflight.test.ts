import { describe, expect, it } from "@jest/globals";
import type { Cluster } from "../../api/cluster.ts";
import { type PreflightInput, preflight } from "./preflight.ts";
import { cluster, controlPlane, type MachineParts, machine, member } from "./testing.ts";

const IN_PROGRESS = { "controlplane.cluster.x-k8s.io/remediation-in-progress": "{}" };
const topology = (version: string, step?: string): Cluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, ...(step ? { annotations: { "topology.internal.cluster.x-k8s.io/upgrade-step": step } } : {}) },
  spec: { ...cluster.spec, topology: { version, classRef: { name: "c" } } } as Cluster["spec"],
});

function check(
  parts: Readonly<Record<string, MachineParts>>,
  more: Partial<PreflightInput> & { readonly certificates?: boolean; readonly mark?: boolean } = {},
) {
  const machines = Object.entries(parts).map(([name, p]) => machine(name, p));
  const base = controlPlane();
  const status = more.certificates === false ? "False" : "True";
  const kcp = {
    ...base,
    metadata: { ...base.metadata, ...(more.mark ? { annotations: IN_PROGRESS } : {}) },
    status: { conditions: [{ type: "CertificatesAvailable", status, reason: "x", message: "", lastTransitionTime: "" }] },
  } as PreflightInput["kcp"];
  const { passes, requeueAfterMs, flags } = preflight({ kcp, cluster, machines, managedEtcd: true, scaleUp: true, ...more });
  return passes ? "pass" : `${(requeueAfterMs ?? 0) / 1000} s ${flags.join(" ")}`;
}

describe("preflight", () => {
  const members = ["m1", "m2", "m3"].map((n) => member(n));
  type Row = [string, Readonly<Record<string, MachineParts>>, Parameters<typeof check>[1], string];
  const rows: Row[] = [
    ["no Machines", {}, { certificates: false }, "pass"],
    ["all well", { m1: {}, m2: {} }, {}, "pass"],
    ["the topology is ahead", { m1: {} }, { cluster: topology("v1.36.0") }, "15 s topologyVersion"],
    ["the topology is ahead, but this is the step", { m1: {} }, { cluster: topology("v1.36.0", "v1.35.0") }, "pass"],
    ["no certificates", { m1: {} }, { certificates: false }, "15 s certificates"],
    ["no certificates, one Machine less", { m1: {} }, { certificates: false, scaleUp: false }, "pass"],
    ["one is deleting", { m1: { deleting: true }, m2: {} }, {}, "30 s deleting"],
    ["one has no Node", { m1: { node: false }, m2: {} }, {}, "15 s components etcd"],
    ["one has no Node, external etcd", { m1: { node: false } }, { managedEtcd: false }, "15 s components"],
    ["a Pod is sick", { m1: { conditions: { SchedulerPodHealthy: "False" } } }, {}, "15 s components"],
    ["a Pod is not known", { m1: { conditions: { APIServerPodHealthy: "Unknown" } } }, {}, "15 s components"],
    ["a condition is missing", { m1: { conditions: { EtcdPodHealthy: undefined } } }, {}, "15 s components"],
    ["a member is sick", { m1: { conditions: { EtcdMemberHealthy: "False" } } }, {}, "15 s etcd"],
    ["labels and taints do not count", { m1: { conditions: { NodeKubeadmLabelsAndTaintsSet: "False" } } }, {}, "pass"],
    [
      "a replacement while another is sick",
      { m1: {}, m2: {}, m3: { conditions: { SchedulerPodHealthy: "False" } } },
      { mark: true, members },
      "pass",
    ],
    [
      "a replacement, quorum at risk",
      { m1: {}, m2: { conditions: { EtcdMemberHealthy: "False" } }, m3: {} },
      { mark: true, members },
      "15 s etcd",
    ],
    ["a replacement, members not known", { m1: {}, m2: { node: false } }, { mark: true }, "15 s components etcd"],
  ];
  it.each(rows)("%s", (_what, parts, more, expected) => {
    expect(check(parts, more)).toBe(expected);
  });
});
