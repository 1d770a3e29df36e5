// KubeadmControlPlane: the control plane of a cluster, made with kubeadm. Here: type, schema, columns.
// Source: spec/api/kubeadmcontrolplane.md.
import { controlPlaneGroup } from "./groups.ts";
import { ageColumn, clusterLabelColumn, column, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, dateTime, int32, must, object, oneOf, someOf, text, type TypeOf } from "./shape.ts";
import {
  conditions,
  contractRef,
  deprecated,
  intOrPercent,
  machineNaming,
  machineTaints,
  nodeDeletion,
  observedGeneration,
  readinessGates,
  statusVersions,
  templateMeta,
} from "./shared.ts";

export const controlPlaneRollout = someOf(
  {
    before: someOf(
      {
        certificatesExpiryDays: int32("Replace a machine whose certificates expire in fewer days than this.", { minimum: 7 }),
      },
      "Replace machines ahead of an event.",
    ),
    after: dateTime("Machines made before this moment are replaced once it has come."),
    strategy: someOf(
      {
        type: must(oneOf(["RollingUpdate"], "RollingUpdate: one machine after the other.")),
        rollingUpdate: someOf(
          { maxSurge: intOrPercent("0 or 1: whether a new machine is made before an old one goes.") },
          "Limits of a rolling update.",
        ),
      },
      "How a change reaches the machines.",
    ),
  },
  "How and when machines are rolled out.",
);
export type ControlPlaneRollout = TypeOf<typeof controlPlaneRollout>;

export const controlPlaneRemediation = someOf(
  {
    maxRetry: int32("How often remediation of one machine is tried; unset: without limit."),
    retryPeriodSeconds: int32("How long to wait between tries, in seconds; unset means 0.", { minimum: 0 }),
    minHealthyPeriodSeconds: int32("After how long a failure counts as a new one, in seconds; unset means 3600.", { minimum: 0 }),
  },
  "How unhealthy machines are remediated.",
);

export const controlPlaneNaming = machineNaming("How new machines are named; unset: `{{ .kubeadmControlPlane.name }}-{{ .random }}`.");

const kubeadmControlPlaneSpec = object(
  {
    replicas: int32("How many machines there shall be; an odd number unless etcd is external."),
    version: must(text(1, 256, "Kubernetes version, with a leading `v`.")),
    machineTemplate: must(
      object(
        {
          metadata: templateMeta("Labels and annotations of the machines; changes reach existing ones."),
          spec: must(
            object(
              {
                infrastructureRef: must(contractRef("Template of the infrastructure machines.")),
                readinessGates: readinessGates(),
                deletion: nodeDeletion(),
                taints: machineTaints(),
              },
              "What each machine shall be.",
            ),
          ),
        },
        "Template of the machines.",
      ),
    ),
    kubeadmConfigSpec,
    rollout: controlPlaneRollout,
    remediation: controlPlaneRemediation,
    machineNaming: controlPlaneNaming,
  },
  "What the control plane shall be.",
);
export type KubeadmControlPlaneSpec = TypeOf<typeof kubeadmControlPlaneSpec>;

const kubeadmControlPlaneStatus = someOf(
  {
    conditions,
    initialization: someOf(
      { controlPlaneInitialized: boolean("The API server has answered once; never reset once true.") },
      "Steps of the first start.",
    ),
    selector: text(1, 4096, "The selector as text, for the scale subresource."),
    replicas: int32("How many machines there are."),
    readyReplicas: int32("How many of them are Ready."),
    availableReplicas: int32("How many of them are Available."),
    upToDateReplicas: int32("How many of them are UpToDate."),
    version: text(1, 256, "Lowest version of the machines; prefer versions."),
    versions: statusVersions,
    observedGeneration,
    lastRemediation: object(
      {
        machine: must(text(1, 253, "Name of the machine.")),
        time: must(dateTime("When it began.")),
        retryCount: must(int32("How often it was tried again.", { minimum: 0 })),
      },
      "The last remediation.",
    ),
    deprecated,
  },
  "What the control plane is.",
);
export type KubeadmControlPlaneStatus = TypeOf<typeof kubeadmControlPlaneStatus>;

export interface KubeadmControlPlane extends KubeObject {
  readonly spec: KubeadmControlPlaneSpec;
  readonly status?: KubeadmControlPlaneStatus;
}

export const kubeadmControlPlaneKind = defineKind<KubeadmControlPlane>(
  controlPlaneGroup,
  {
    kind: "KubeadmControlPlane",
    plural: "kubeadmcontrolplanes",
    description: "The control plane of a cluster, made with kubeadm.",
    shortNames: ["kcp"],
    scale: true,
    columns: [
      clusterLabelColumn,
      conditionColumn("Available", "Available", "Whether the control plane can be used."),
      column("Desired", "integer", ".spec.replicas", "How many machines are wanted."),
      column("Current", "integer", ".status.replicas", "How many there are."),
      column("Ready", "integer", ".status.readyReplicas", "How many are ready."),
      column("Available", "integer", ".status.availableReplicas", "How many are available."),
      column("Up-to-date", "integer", ".status.upToDateReplicas", "How many are up to date."),
      pausedColumn,
      column("Initialized", "boolean", ".status.initialization.controlPlaneInitialized", "Whether the API server has answered once."),
      ageColumn,
      column("Version", "string", ".spec.version", "Kubernetes version wanted."),
    ],
  },
  kubeadmControlPlaneSpec,
  kubeadmControlPlaneStatus,
);
export const kubeadmControlPlaneResource = kubeadmControlPlaneKind.resource;
