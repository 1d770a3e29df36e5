// DevMachine and DevMachineTemplate: simulated infrastructure of a machine. Here: types, schemas, columns.
// Source: spec/api/devmachine.md.
import { infrastructureGroup } from "./groups.ts";
import { ageColumn, clusterLabelColumn, column, defineKind, pausedColumn } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, mapOf, must, object, plainList, quantity, someOf, string, text, type TypeOf } from "./shape.ts";
import { address, conditions, deprecated, templateMeta } from "./shared.ts";

const startup = (what: string) =>
  object(
    {
      provisioning: object(
        {
          startupDuration: must(string("How long the start takes, as a duration such as `1m30s`.")),
          startupJitter: string("Share of the duration that is added at random, a number such as `0.2`."),
        },
        "Delay of the start; absent means none.",
      ),
    },
    `Start of the ${what}.`,
  );

const inMemoryMachine = object(
  {
    vm: startup("virtual machine"),
    node: startup("Node"),
    apiServer: startup("API server"),
    etcd: startup("etcd member"),
  },
  "Simulated in memory.",
);

const dockerMachine = object(
  {
    customImage: string("Image of the container; cannot be changed."),
    preLoadImages: plainList(string("Name of an image."), {}, "Images to load into the machine."),
    extraMounts: plainList(
      object(
        {
          containerPath: string("Path in the machine."),
          hostPath: string("Path on the host."),
          readOnly: boolean("Whether it may only be read."),
        },
        "One mount.",
      ),
      {},
      "Paths of the host to mount.",
    ),
    bootstrapTimeout: string("Limit for the bootstrap, as a duration; unset means 5m."),
  },
  "A container of a Docker engine.",
);

const devMachineSpec = object(
  {
    providerID: text(1, 512, "Id of the machine; set by its controller."),
    backend: must(object({ docker: dockerMachine, inMemory: inMemoryMachine }, "Where the machine lives; in memory wins.")),
  },
  "What the machine shall be.",
);
export type DevMachineSpec = TypeOf<typeof devMachineSpec>;

const devMachineStatus = object(
  {
    conditions,
    initialization: someOf({ provisioned: boolean("The machine is there.") }, "Steps of the first start."),
    addresses: plainList(address, {}, "Addresses of the machine."),
    failureDomain: text(1, 256, "Failure domain the machine runs in."),
    deprecated,
  },
  "What the machine is.",
);
export type DevMachineStatus = TypeOf<typeof devMachineStatus>;

export interface DevMachine extends KubeObject {
  readonly spec?: DevMachineSpec;
  readonly status?: DevMachineStatus;
}

export const devMachineKind = defineKind<DevMachine>(
  infrastructureGroup,
  {
    kind: "DevMachine",
    plural: "devmachines",
    description: "Infrastructure of one machine for development: simulated, or a container.",
    specRequired: false,
    columns: [
      clusterLabelColumn,
      column("Provider ID", "string", ".spec.providerID", "Id of the machine.", 10),
      column("Failure domain", "string", ".status.failureDomain", "Where it runs."),
      column("IP", "string", '.status.addresses[?(@.type=="InternalIP")].address', "Internal address.", 10),
      pausedColumn,
      column("Provisioned", "string", ".status.initialization.provisioned", "Whether the machine is there."),
      ageColumn,
    ],
  },
  devMachineSpec,
  devMachineStatus,
);
export const devMachineResource = devMachineKind.resource;

const devMachineTemplateSpec = object(
  { template: must(object({ metadata: templateMeta(), spec: must(devMachineSpec) }, "The template; its spec cannot be changed.")) },
  "What is made from this template.",
);
export type DevMachineTemplateSpec = TypeOf<typeof devMachineTemplateSpec>;

const devMachineTemplateStatus = object(
  { capacity: mapOf(quantity("Amount."), "Resources of a machine made from this template, to scale from zero.") },
  "What a machine made from this template offers.",
);

export interface DevMachineTemplate extends KubeObject {
  readonly spec?: DevMachineTemplateSpec;
  readonly status?: TypeOf<typeof devMachineTemplateStatus>;
}

export const devMachineTemplateKind = defineKind<DevMachineTemplate>(
  infrastructureGroup,
  {
    kind: "DevMachineTemplate",
    plural: "devmachinetemplates",
    description: "Template of DevMachines.",
    specRequired: false,
    columns: [ageColumn],
  },
  devMachineTemplateSpec,
  devMachineTemplateStatus,
);
export const devMachineTemplateResource = devMachineTemplateKind.resource;
