// KindDefinition: everything the API server, the docs and the CRD need to know about one kind.
// Here: the record and its maker. Not here: the kinds themselves, the CRD text (crd.ts).
import type { KubeObject } from "./meta/object.ts";
import { type Resource, resource } from "./meta/resource.ts";
import type { JsonSchema } from "./meta/schema.ts";
import type { Shape } from "./shape.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "date" | "number";
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: only in wide output. */
  readonly priority?: number;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

export interface KindDefinition<K extends KubeObject = KubeObject> {
  readonly resource: Resource<K>;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly columns: readonly PrinterColumn[];
  readonly statusSubresource: boolean;
  readonly scale?: ScalePaths;
  /** Of the whole object, apiVersion and metadata included. */
  readonly schema: JsonSchema;
  /** Value of the label `cluster.x-k8s.io/provider` on the CRD. */
  readonly provider: string;
}

interface KindOptions {
  readonly kind: string;
  readonly plural: string;
  readonly description: string;
  readonly shortNames?: readonly string[];
  readonly namespaced?: boolean;
  readonly specRequired?: boolean;
  readonly statusSubresource?: boolean;
  readonly scale?: boolean;
  readonly columns: readonly PrinterColumn[];
}

const VERSION = "v1beta2";
const providers: Readonly<Record<string, string>> = {
  "cluster.x-k8s.io": "cluster-api",
  "runtime.cluster.x-k8s.io": "cluster-api",
  "bootstrap.cluster.x-k8s.io": "bootstrap-kubeadm",
  "controlplane.cluster.x-k8s.io": "control-plane-kubeadm",
  "infrastructure.cluster.x-k8s.io": "infrastructure-docker",
};
const scalePaths: ScalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};

/** @param spec, status shapes of the two halves; a kind without status has none */
export function defineKind<K extends KubeObject>(
  group: string,
  options: KindOptions,
  spec: Shape<unknown>,
  status?: Shape<unknown>,
): KindDefinition<K> {
  return {
    resource: resource<K>(group, VERSION, options.kind, options.plural, options.namespaced ?? true),
    singular: options.kind.toLowerCase(),
    listKind: `${options.kind}List`,
    shortNames: options.shortNames ?? [],
    categories: ["cluster-api"],
    columns: options.columns,
    statusSubresource: options.statusSubresource ?? status !== undefined,
    ...(options.scale ? { scale: scalePaths } : {}),
    schema: {
      type: "object",
      description: options.description,
      ...((options.specRequired ?? true) ? { required: ["spec"] } : {}),
      properties: {
        apiVersion: { type: "string", description: "Group and version of this object." },
        kind: { type: "string", description: "Kind of this object." },
        metadata: { type: "object" },
        spec,
        ...(status ? { status } : {}),
      },
    },
    provider: providers[group] ?? "cluster-api",
  };
}

export const column = (
  name: string,
  type: PrinterColumn["type"],
  jsonPath: string,
  description: string,
  priority?: number,
): PrinterColumn => ({ name, type, jsonPath, description, ...(priority === undefined ? {} : { priority }) });

/** A column that shows the status of one condition. */
export const conditionColumn = (name: string, type: string, description: string, priority?: number): PrinterColumn =>
  column(name, "string", `.status.conditions[?(@.type=="${type}")].status`, description, priority);

export const pausedColumn = conditionColumn("Paused", "Paused", "Whether controllers leave this object alone.", 10);
export const ageColumn = column("Age", "date", ".metadata.creationTimestamp", "Time since creation.");
export const clusterLabelColumn = column(
  "Cluster",
  "string",
  ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",
  "Cluster this object belongs to.",
);
