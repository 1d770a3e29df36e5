import { describe, expect, it } from "@jest/globals";
import type { KubeadmControlPlaneSpec } from "../../api/kubeadmcontrolplane.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { Unstructured } from "../contract/contract.ts";
import { controlPlane, kubeadmConfig, type MachineParts, machine, nowMs } from "./testing.ts";
import { compareMachine, type MachineObjects } from "./up-to-date.ts";

const DAY_MS = 86_400_000;
const clonedFrom = (name?: string, kind = "DevMachineTemplate.infrastructure.cluster.x-k8s.io"): Unstructured => ({
  apiVersion: "i/v1",
  kind: "DevMachine",
  metadata: name ? { annotations: { "cluster.x-k8s.io/cloned-from-name": name, "cluster.x-k8s.io/cloned-from-groupkind": kind } } : {},
});

interface Row {
  readonly spec?: Partial<KubeadmControlPlaneSpec>;
  readonly machine?: MachineParts;
  readonly expiresInDays?: number;
  readonly objects?: Omit<MachineObjects, "machine">;
}

function judge(row: Row): string {
  const made = machine("m1", row.machine);
  const status =
    row.expiresInDays === undefined
      ? made.status
      : { ...made.status, certificatesExpiryDate: timestamp(nowMs + row.expiresInDays * DAY_MS) };
  const verdict = compareMachine({ machine: { ...made, status }, ...row.objects }, controlPlane(row.spec), nowMs);
  return [...verdict.messages, verdict.inPlaceEligible ? "(in place)" : ""].filter((t) => t !== "").join("; ") || "up to date";
}

const expiring = { rollout: { before: { certificatesExpiryDays: 30 } } };
const rolloutAfter = (ms: number) => ({ rollout: { after: timestamp(ms) } });

describe("is a Machine up to date", () => {
  const rows: [string, Row, string][] = [
    [
      "equal",
      {
        objects: {
          config: kubeadmConfig({
            joinConfiguration: { controlPlane: {} },
            clusterConfiguration: { featureGates: { ControlPlaneKubeletLocalMode: true } },
          }),
          infrastructure: clonedFrom("t1"),
        },
      },
      "up to date",
    ],
    ["nothing to compare is no difference", {}, "up to date"],
    ["another version", { spec: { version: "v1.36.0" } }, "Version v1.35.0, v1.36.0 required; (in place)"],
    ["another template", { objects: { infrastructure: clonedFrom("t0") } }, "DevMachine is not up-to-date; (in place)"],
    [
      "another kind of template",
      { objects: { infrastructure: clonedFrom("t1", "Other.infrastructure.cluster.x-k8s.io") } },
      "DevMachine is not up-to-date; (in place)",
    ],
    ["no clone marks", { objects: { infrastructure: clonedFrom() } }, "up to date"],
    ["another config", { objects: { config: kubeadmConfig({ files: [{ path: "/a" }] }) } }, "KubeadmConfig is not up-to-date; (in place)"],
    ["certificates expire soon", { spec: expiring, expiresInDays: 29 }, "Certificates will expire soon"],
    ["certificates expire later", { spec: expiring, expiresInDays: 31 }, "up to date"],
    ["nobody knows when certificates expire", { spec: expiring }, "up to date"],
    ["the date has come", { spec: rolloutAfter(nowMs - 1_000) }, "KubeadmControlPlane spec.rollout.after expired"],
    ["the date is now", { spec: rolloutAfter(nowMs) }, "up to date"],
    ["made in the second of the date", { spec: rolloutAfter(nowMs - 300 * 60_000), machine: { ageMinutes: 300 } }, "up to date"],
    [
      "due, and changed: no update in place",
      { spec: { ...rolloutAfter(nowMs - 1_000), version: "v1.36.0" } },
      "KubeadmControlPlane spec.rollout.after expired; Version v1.35.0, v1.36.0 required",
    ],
    [
      "to be deleted: no update in place",
      { spec: { version: "v1.36.0" }, machine: { annotations: { "cluster.x-k8s.io/delete-machine": "" } } },
      "Version v1.35.0, v1.36.0 required",
    ],
  ];
  it.each(rows)("%s", (_what, row, expected) => {
    expect(judge(row)).toBe(expected);
  });
});
