// DevCluster and DevClusterTemplate: simulated infrastructure of a cluster. Here: types, schemas, columns.
// Source: spec/api/devcluster.md.
import { infrastructureGroup } from "./groups.ts";
import { ageColumn, clusterLabelColumn, defineKind } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { boolean, must, object, someOf, string, type TypeOf } from "./shape.ts";
import { conditions, controlPlaneEndpoint, deprecated, failureDomains, templateMeta } from "./shared.ts";

const dockerCluster = object(
  {
    failureDomains: failureDomains("Failure domains, sorted by name."),
    loadBalancer: object(
      {
        imageRepository: string("Registry of the load balancer image."),
        imageTag: string("Tag of the load balancer image."),
        customHAProxyConfigTemplateRef: object(
          { name: string("Name of the ConfigMap.", { default: "" }) },
          "ConfigMap with a template of the load balancer's configuration.",
          { "x-kubernetes-map-type": "atomic" },
        ),
      },
      "The load balancer of the control plane.",
    ),
  },
  "Containers of a Docker engine.",
);

const devClusterSpec = object(
  {
    controlPlaneEndpoint,
    backend: must(
      object({ docker: dockerCluster, inMemory: object({}, "Simulated in memory.") }, "Where the machines live; in memory wins."),
    ),
  },
  "What the infrastructure shall be.",
);
export type DevClusterSpec = TypeOf<typeof devClusterSpec>;

const devClusterStatus = object(
  {
    conditions,
    initialization: someOf({ provisioned: boolean("The infrastructure is there.") }, "Steps of the first start."),
    failureDomains: failureDomains("Failure domains the machines can run in."),
    deprecated,
  },
  "What the infrastructure is.",
);
export type DevClusterStatus = TypeOf<typeof devClusterStatus>;

export interface DevCluster extends KubeObject {
  readonly spec?: DevClusterSpec;
  readonly status?: DevClusterStatus;
}

export const devClusterKind = defineKind<DevCluster>(
  infrastructureGroup,
  {
    kind: "DevCluster",
    plural: "devclusters",
    description: "Infrastructure of a cluster for development: simulated, or containers.",
    specRequired: false,
    columns: [clusterLabelColumn, ageColumn],
  },
  devClusterSpec,
  devClusterStatus,
);
export const devClusterResource = devClusterKind.resource;

const devClusterTemplateSpec = object(
  { template: must(object({ metadata: templateMeta(), spec: must(devClusterSpec) }, "The template; its spec cannot be changed.")) },
  "What is made from this template.",
);
export type DevClusterTemplateSpec = TypeOf<typeof devClusterTemplateSpec>;

export interface DevClusterTemplate extends KubeObject {
  readonly spec?: DevClusterTemplateSpec;
}

export const devClusterTemplateKind = defineKind<DevClusterTemplate>(
  infrastructureGroup,
  {
    kind: "DevClusterTemplate",
    plural: "devclustertemplates",
    description: "Template of DevClusters.",
    specRequired: false,
    columns: [ageColumn],
  },
  devClusterTemplateSpec,
);
export const devClusterTemplateResource = devClusterTemplateKind.resource;
