// Shapes that several kinds use: references, template metadata, gates, taints, conditions.
// Not here: shapes of one kind, condition types (conditions.ts). Source: spec/api/common.md sections 4 and 5.
import type { Condition, LabelSelector } from "./meta/object.ts";
import {
  conditionTypePattern,
  groupVersionPattern,
  kindPattern,
  labelValuePattern,
  reasonPattern,
  subdomainPattern,
  taintKeyPattern,
} from "./patterns.ts";
import {
  anyJson,
  anyObject,
  boolean,
  dateTime,
  int32,
  int64,
  intOrString,
  list,
  listMap,
  must,
  object,
  oneOf,
  type Shape,
  someOf,
  string,
  stringMap,
  text,
  type TypeOf,
} from "./shape.ts";

const subdomain = { pattern: subdomainPattern };

export const contractRef = (description: string) =>
  object(
    {
      apiGroup: must(
        text(1, 253, "API group of the referenced object; its version follows from the contract labels of the CRD.", subdomain),
      ),
      kind: must(text(1, 63, "Kind of the referenced object.", { pattern: kindPattern })),
      name: must(text(1, 253, "Name of the referenced object, in the same namespace.", subdomain)),
    },
    description,
  );
export type ContractRef = TypeOf<ReturnType<typeof contractRef>>;

export const templateRef = (description: string) =>
  object(
    {
      apiVersion: must(text(1, 317, "Group and version of the template.", { pattern: groupVersionPattern })),
      kind: must(text(1, 63, "Kind of the template.", { pattern: kindPattern })),
      name: must(text(1, 253, "Name of the template, in the same namespace.", subdomain)),
    },
    description,
  );
export type TemplateRef = TypeOf<ReturnType<typeof templateRef>>;

export const templateMeta = (description = "Labels and annotations of the objects made from this.") =>
  someOf({ labels: stringMap("Labels to set."), annotations: stringMap("Annotations to set.") }, description);
export type TemplateMeta = TypeOf<ReturnType<typeof templateMeta>>;

/** @param description what is selected */
export const labelSelector = (description: string): Shape<LabelSelector> =>
  ({
    ...object(
      {
        matchLabels: stringMap("Labels that must be present with exactly these values."),
        matchExpressions: list(
          object(
            {
              key: must(string("Label key.")),
              operator: must(string("In, NotIn, Exists or DoesNotExist.")),
              values: list(string("Label value."), {}, "Values for In and NotIn; empty for the others."),
            },
            "One condition on one label.",
          ),
          {},
          "Conditions that must all hold.",
        ),
      },
      description,
    ),
    "x-kubernetes-map-type": "atomic",
  }) as Shape<LabelSelector>;

const seconds = (description: string) => int32(description, { minimum: 0 });
export const nodeDeletionFields = {
  nodeDrainTimeoutSeconds: seconds("How long draining the Node may take, in seconds; 0 or unset: without limit."),
  nodeVolumeDetachTimeoutSeconds: seconds("How long to wait for volumes to detach, in seconds; 0 or unset: without limit."),
  nodeDeletionTimeoutSeconds: seconds("How long deleting the Node is retried, in seconds; 0: for ever."),
} as const;
export const nodeDeletion = (description = "Limits for the steps of deleting a machine.") => someOf(nodeDeletionFields, description);
export type NodeDeletion = TypeOf<ReturnType<typeof nodeDeletion>>;

export const deletionOrder = oneOf(["Random", "Newest", "Oldest"], "Which machines go first on scale down; unset means Random.");

const machineTaint = object(
  {
    key: must(text(1, 317, "Taint key.", { pattern: taintKeyPattern })),
    value: text(1, 63, "Taint value.", { pattern: labelValuePattern }),
    effect: must(oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"], "What the taint does to Pods that do not tolerate it.")),
    propagation: must(oneOf(["Always", "OnInitialization"], "Always: kept on the Node. OnInitialization: added once.")),
  },
  "A taint for the Node of a machine.",
);
export const machineTaints = (description = "Taints for the Nodes. Needs the gate MachineTaintPropagation.") =>
  listMap(["key", "effect"], machineTaint, { min: 1, max: 64 }, description);
export type MachineTaint = TypeOf<typeof machineTaint>;

const gate = object(
  {
    conditionType: must(text(1, 316, "Type of the condition.", { pattern: conditionTypePattern })),
    polarity: oneOf(["Positive", "Negative"], "Positive (also when unset): True is good. Negative: False is good."),
  },
  "One more condition to take into account.",
);
export type Gate = TypeOf<typeof gate>;
const gates = (description: string) => listMap(["conditionType"], gate, { min: 1, max: 32 }, description);
export const readinessGates = (description = "Conditions that count for Ready of a Machine besides the usual ones.") => gates(description);
export const availabilityGates = (description: string) => gates(description);

export const failureDomains = (description: string) =>
  listMap(
    ["name"],
    object(
      {
        name: must(text(1, 256, "Name of the failure domain.")),
        controlPlane: boolean("Whether control plane machines may run here; unset means no."),
        attributes: stringMap("More about it, free form."),
      },
      "A failure domain of the infrastructure.",
    ),
    { min: 1, max: 100 },
    description,
  );
export type FailureDomain = TypeOf<ReturnType<typeof failureDomains>>[number];

export const clusterVariables = (description: string) =>
  listMap(
    ["name"],
    object({ name: must(text(1, 256, "Name of the variable.")), value: must(anyJson("Value, any JSON.")) }, "One variable."),
    { min: 1, max: 1000 },
    description,
  );
export type ClusterVariable = TypeOf<ReturnType<typeof clusterVariables>>[number];

const statusVersion = object(
  {
    version: must(text(1, 256, "Kubernetes version.")),
    replicas: int32("How many machines run it.", { minimum: 1 }),
  },
  "One version in use.",
);
export const statusVersions = listMap(["version"], statusVersion, { min: 1, max: 100 }, "Kubernetes versions in use, with counts.");
export type StatusVersion = TypeOf<typeof statusVersion>;
/** The form that Cluster.status has: at most 32, replaced as one. */
export const clusterStatusVersions = list(statusVersion, { min: 1, max: 32 }, "Kubernetes versions in use, with counts.");

export const address = object(
  {
    type: must(oneOf(["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"], "Kind of the address.")),
    address: must(text(1, 256, "The address.")),
  },
  "An address of a machine.",
);
export type MachineAddress = TypeOf<typeof address>;

export const controlPlaneEndpoint = someOf(
  {
    host: text(1, 512, "Host name or address."),
    port: int32("Port.", { minimum: 1, maximum: 65535 }),
  },
  "Where the API server of the workload cluster is reached.",
);
export type ControlPlaneEndpoint = TypeOf<typeof controlPlaneEndpoint>;

export const conditions = listMap(
  ["type"],
  object(
    {
      type: must(text(0, 316, "Type of the condition, unique in the list.", { pattern: conditionTypePattern })),
      status: must(oneOf(["True", "False", "Unknown"], "Whether it holds.")),
      reason: must(text(1, 1024, "Why, as one word for programs.", { pattern: reasonPattern })),
      message: must(text(0, 32768, "Why, for people; may be empty.")),
      lastTransitionTime: must(dateTime("When the status last changed.")),
      observedGeneration: int64("The generation of the object that was judged.", { minimum: 0 }),
    },
    "One aspect of the state of the object.",
  ),
  { max: 32 },
  "What is known about the state of the object.",
) as Shape<readonly Condition[]>;

export const observedGeneration = int64("Newest generation of the spec that a controller has seen.", { minimum: 1 });
export const deprecated = object(
  { v1beta1: anyObject("Fields of the older API version.") },
  "Fields that only readers of older API versions need.",
);

export const intOrPercent = (description: string) => intOrString(description);

export const machineNaming = (description: string) =>
  someOf({ template: text(1, 256, "Go text template of the name; must contain `{{ .random }}`.") }, description);
