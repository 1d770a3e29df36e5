// Machine: one node of a workload cluster. Here: type, schema, columns. Source: spec/api/machine.md.
import { clusterGroup } from "./groups.ts";
import { ageColumn, column, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { subdomainPattern } from "./patterns.ts";
import { boolean, dateTime, int32, int64, list, must, object, oneOf, someOf, string, text, type TypeOf, described } from "./shape.ts";
import { address, conditions, contractRef, deprecated, machineTaints, nodeDeletion, observedGeneration, readinessGates } from "./shared.ts";

/** Also the shape of `template.spec` in MachineDeployment and MachineSet, where the references name templates. */
const machineSpec = object(
  {
    clusterName: must(text(1, 63, "Name of the owning Cluster; cannot be changed.")),
    bootstrap: must(
      object(
        {
          configRef: contractRef("Bootstrap object of the machine, or template of it inside a template."),
          dataSecretName: text(0, 253, "Secret with the bootstrap data; an empty text counts as set."),
        },
        "Where the bootstrap data comes from.",
      ),
    ),
    infrastructureRef: must(contractRef("Infrastructure machine, or template of it inside a template.")),
    version: text(1, 256, "Kubernetes version, with a leading `v`."),
    providerID: text(1, 512, "Id of the machine at its provider; copied from the infrastructure machine."),
    failureDomain: text(1, 256, "Failure domain the machine shall run in."),
    minReadySeconds: int32("How long the machine must be ready to count as available, in seconds; unset means 0.", { minimum: 0 }),
    readinessGates: readinessGates(),
    deletion: nodeDeletion(),
    taints: machineTaints(),
  },
  "What the machine shall be.",
);
export type MachineSpec = TypeOf<typeof machineSpec>;

const nodeInfo = object(
  {
    architecture: must(string("CPU architecture.")),
    bootID: must(string("Id of the current boot.")),
    containerRuntimeVersion: must(string("Container runtime and its version.")),
    kernelVersion: must(string("Kernel version.")),
    kubeProxyVersion: must(string("Version of kube-proxy.")),
    kubeletVersion: must(string("Version of the kubelet; an in-place upgrade is over when it equals spec.version.")),
    machineID: must(string("Id of the machine, as its operating system tells.")),
    operatingSystem: must(string("Operating system.")),
    osImage: must(string("Operating system image.")),
    systemUUID: must(string("UUID of the hardware.")),
    swap: object({ capacity: int64("Size of the swap memory in bytes.") }, "Swap memory of the Node."),
  },
  "Copy of the Node's system information.",
);

const machinePhases = [
  "Pending",
  "Provisioning",
  "Provisioned",
  "Running",
  "Updating",
  "Deleting",
  "Deleted",
  "Failed",
  "Unknown",
] as const;
export type MachinePhase = (typeof machinePhases)[number];

const machineStatus = someOf(
  {
    conditions,
    initialization: someOf(
      {
        infrastructureProvisioned: boolean("The infrastructure is there; never reset once true."),
        bootstrapDataSecretCreated: boolean("The bootstrap data is there; never reset once true."),
      },
      "Steps of the first start.",
    ),
    nodeRef: object(
      { name: must(text(1, 253, "Name of the Node.", { pattern: subdomainPattern })) },
      "The Node with the provider id of this machine.",
    ),
    nodeInfo,
    lastUpdated: dateTime("When the phase last changed."),
    failureDomain: text(1, 256, "Failure domain the machine runs in."),
    addresses: list(address, { max: 256 }, "Addresses of the machine."),
    phase: oneOf(machinePhases, "Rough state of the machine."),
    certificatesExpiryDate: dateTime("When the certificates of a control plane machine expire."),
    observedGeneration,
    deletion: object(
      {
        nodeDrainStartTime: dateTime("When draining the Node began."),
        waitForNodeVolumeDetachStartTime: dateTime("When waiting for volumes to detach began."),
        waitForPreDrainHookStartTime: dateTime("When waiting for pre-drain hooks began."),
        waitForPreTerminateHookStartTime: dateTime("When waiting for pre-terminate hooks began."),
      },
      "Progress of the deletion.",
    ),
    deprecated,
  },
  "What the machine is.",
);
export type MachineStatus = TypeOf<typeof machineStatus>;

export interface Machine extends KubeObject {
  readonly spec: MachineSpec;
  readonly status?: MachineStatus;
}

export const machineKind = defineKind<Machine>(
  clusterGroup,
  {
    kind: "Machine",
    plural: "machines",
    description: "One node of a workload cluster, with its bootstrap data and its infrastructure.",
    shortNames: ["ma"],
    columns: [
      column("Cluster", "string", ".spec.clusterName", "Owning Cluster."),
      column("Node Name", "string", ".status.nodeRef.name", "Node of the machine."),
      column("Provider ID", "string", ".spec.providerID", "Id at the provider.", 10),
      column("Failure domain", "string", ".status.failureDomain", "Where it runs."),
      conditionColumn("Ready", "Ready", "Whether the machine is ready."),
      conditionColumn("Available", "Available", "Whether it has been ready for long enough."),
      conditionColumn("Up-to-date", "UpToDate", "Whether it matches what its owner wants."),
      column("Internal-IP", "string", '.status.addresses[?(@.type=="InternalIP")].address', "Internal address.", 10),
      column("External-IP", "string", '.status.addresses[?(@.type=="ExternalIP")].address', "External address.", 10),
      column("OS-Image", "string", ".status.nodeInfo.osImage", "Operating system image.", 10),
      pausedColumn,
      column("Phase", "string", ".status.phase", "Rough state."),
      ageColumn,
      column("Version", "string", ".spec.version", "Kubernetes version wanted."),
    ],
  },
  machineSpec,
  machineStatus,
);
export const machineResource = machineKind.resource;

/** `template` of a MachineDeployment or MachineSet. */
export const describedMachineSpec = (description: string) => described(machineSpec, description);
