// Machine: one node of a workload cluster, from bootstrap data and infrastructure to its Node, its updates and its end.
// Here: watches and steps in order. Source: spec/controllers/machine.md, inplace-workers.md section 6.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource, type Node } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import {
  clusterNameAnnotation,
  clusterNamespaceAnnotation,
  fieldManagers,
  machineDeploymentNameLabel,
  machineFinalizer,
  machineSetNameLabel,
  revisionAnnotation,
} from "../../api/names.ts";
import { type Cache, type Change, index } from "../../runtime/cache.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type Source, type Step } from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { clusterOf } from "../lifecycle/cluster-of.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import { independent } from "../lifecycle/independent.ts";
import { labelValueOf } from "../naming/names.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { deleteMachine, type StageMemory } from "./deletion-steps.ts";
import { callMemories, type UpdateMachine } from "./inplace.ts";
import { updateInPlace } from "./inplace-steps.ts";
import { writeMachineStatus } from "./status.ts";
import {
  adoptBootstrap,
  adoptInfrastructure,
  linkNode,
  type NodeOptions,
  noteCertificatesExpiry,
  ownMachine,
  takeFromReferences,
} from "./steps.ts";
import { clusterKeyOf, loadMachine, type MachineView } from "./view.ts";

export interface MachineControllerOptions {
  readonly workloadClusters: WorkloadClusters;
  readonly updateMachine: UpdateMachine;
  readonly nowMs: () => number;
  /** How long conditions about the Node stand after the last good probe, default 5 min. */
  readonly connectionGraceMs?: number;
  /** More Machine labels and annotations that go to the Node. */
  readonly nodeLabelPatterns?: readonly RegExp[];
  readonly nodeAnnotationPatterns?: readonly RegExp[];
}

const CONNECTION_GRACE_MS = 300_000;

const byNodeName = index(machineResource, "nodeName", (m) => (m.status?.nodeRef ? [m.status.nodeRef.name] : []));
const byProviderId = index(machineResource, "providerID", (m) => (m.spec.providerID ? [m.spec.providerID] : []));
const bySetName = index(machineResource, "setName", labelIndex(machineSetNameLabel));
const byDeploymentName = index(machineResource, "deploymentName", labelIndex(machineDeploymentNameLabel));

function labelIndex(label: string): (machine: Machine) => readonly string[] {
  return ({ metadata }) => (metadata.labels?.[label] === undefined ? [] : [`${metadata.namespace}/${metadata.labels[label]}`]);
}

export function machineController(options: MachineControllerOptions): Controller<Machine> {
  const { workloadClusters, updateMachine, connectionGraceMs = CONNECTION_GRACE_MS } = options;
  const inPlace = { updateMachine, memories: callMemories(options.nowMs) };
  const deletion = { workloadClusters, stages: new Map<string, StageMemory>() };
  const nodes = { labelPatterns: options.nodeLabelPatterns ?? [], annotationPatterns: options.nodeAnnotationPatterns ?? [] };
  workloadClusters.probeGrace(connectionGraceMs);

  const always: readonly Step<MachineView>[] = [
    ownMachine,
    adoptBootstrap,
    adoptInfrastructure,
    takeFromReferences,
    linkNodeWith(nodes),
    noteCertificatesExpiry,
  ];
  const updateStep: Step<MachineView> = (view, context) => updateInPlace(view, context, inPlace);
  const deleteStep: Step<MachineView> = (view, context) => deleteMachine(view, context, deletion);
  return controller<Machine, MachineView>(machineResource, {
    fieldManager: fieldManagers.default,
    eventSource: "machine-controller",
    watches: [
      mapped(clusterResource, (cluster, { cache }) => machinesOf(cache, keyOf(cluster)), turnsInitialized),
      mapped(machineSetResource, (set, { cache }) => inNamespace(cache, bySetName, keyOf(set), labelValueOf), setMatters),
      mapped(
        machineDeploymentResource,
        (deployment, { cache }) => inNamespace(cache, byDeploymentName, keyOf(deployment), (name) => name),
        deploymentMatters,
      ),
    ],
    sources: [workloadSource(workloadClusters, connectionGraceMs)],
    reads: [customResourceDefinitionResource],
    load: async (machine, context) => {
      const cluster = clusterOf(machine, context);
      if (!(await mayReconcile(machineResource, machine, cluster, machineFinalizer, context))) return undefined;
      return loadMachine(machine, cluster, context, workloadClusters);
    },
    whenLive: [...always, updateStep].map(independent),
    whenDeleting: [...always, deleteStep].map(independent),
    finally: (view, context) => writeMachineStatus(view, context, connectionGraceMs),
  });
}

const linkNodeWith =
  (options: NodeOptions): Step<MachineView> =>
  (view, context) =>
    linkNode(view, context, options);

const turnsInitialized = (change: { readonly type: string; readonly object: Cluster; readonly old?: Cluster }): boolean => {
  const isInitialized = (cluster: Cluster | undefined): boolean =>
    hasStatus(cluster?.status?.conditions, "ControlPlaneInitialized", "True");
  return change.type === "updated" && isInitialized(change.object) && !isInitialized(change.old);
};

/** Counters of a set change with each of its Machines; only what is compared or written on Nodes matters here. */
const setMatters = (change: Change<MachineSet>): boolean =>
  differs(change, ({ spec, metadata }) => [spec.template.spec, metadata.annotations?.[revisionAnnotation], metadata.labels]);
const deploymentMatters = (change: Change<MachineDeployment>): boolean =>
  differs(change, ({ spec, metadata }) => [spec.template.spec, spec.rollout?.after, metadata.annotations?.[revisionAnnotation]]);

const differs = <K extends KubeObject>(change: Change<K>, part: (object: K) => readonly unknown[]): boolean =>
  change.type !== "updated" || !sameJson(part(change.object), part(change.old));

const machinesOf = (cache: Cache, cluster: ObjectKey): readonly ObjectKey[] => cache.ofCluster(machineResource, cluster).map(keyOf);

const inNamespace = (
  cache: Cache,
  by: typeof bySetName,
  { namespace, name }: ObjectKey,
  labelOf: (name: string) => string,
): readonly ObjectKey[] => cache.by(by, `${namespace}/${labelOf(name)}`).map(keyOf);

/** Connections run all Machines of their cluster, a Node runs its own Machine. */
const workloadSource =
  (workloadClusters: WorkloadClusters, graceMs: number): Source =>
  (enqueue, { cache }) =>
    workloadClusters.onEvent((event) => {
      switch (event.type) {
        case "connected":
        case "disconnected":
          return machinesOf(cache, event.cluster).forEach(enqueue);
        case "probeFailing":
          return event.graceMs === graceMs ? machinesOf(cache, event.cluster).forEach(enqueue) : undefined;
        case "node":
          return machineOfNode(cache, event.cluster, event.node).forEach(enqueue);
        case "controlPlanePod":
          return undefined;
      }
    });

/** The one Machine of a Node: by its nodeRef, else by provider id; nothing when that is not clear. */
function machineOfNode(cache: Cache, cluster: ObjectKey, node: Node): readonly ObjectKey[] {
  const annotations = node.metadata.annotations ?? {};
  const name = annotations[clusterNameAnnotation] ?? cluster.name;
  const namespace = annotations[clusterNamespaceAnnotation] ?? cluster.namespace;
  const ofCluster = (m: Machine): boolean => clusterKeyOf(m).name === name && clusterKeyOf(m).namespace === namespace;
  const byName = cache.by(byNodeName, node.metadata.name ?? "").filter(ofCluster);
  if (byName.length === 1) return byName.map(keyOf);
  const byId = node.spec?.providerID ? cache.by(byProviderId, node.spec.providerID).filter(ofCluster) : [];
  return byId.length === 1 ? byId.map(keyOf) : [];
}
