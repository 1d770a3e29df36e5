// Reading what a topology is made from and what there is of it. Here: the class, its templates, current objects, each checked to be ours.
// Not here: what shall be (desired.ts). Source: spec/controllers/topology.md sections 5 and 6.
import type { Cluster } from "../../api/cluster.ts";
import { type ClusterClass, clusterClassResource } from "../../api/clusterclass.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineHealthCheck, machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type ObjectKey, type Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import {
  clusterNameLabel,
  clusterTopologyMachineDeploymentNameLabel,
  clusterTopologyOwnedLabel,
  machineControlPlaneLabel,
} from "../../api/names.ts";
import type { TemplateRef } from "../../api/shared.ts";
import { findCondition } from "../../runtime/conditions.ts";
import type { ReconcileContext, Watch } from "../../runtime/controller.ts";
import { type ContractRef, contractKind, textAt, type Unstructured } from "../contract/contract.ts";
import { isTemplateKind, kindOfTemplate } from "../templates/clone.ts";
import { groupOf } from "../ownership/owners.ts";
import { infrastructureRefPath, refAt } from "./fields.ts";
import {
  type Blueprint,
  type ClassTemplate,
  type Current,
  type CurrentWorkers,
  type ObjectTemplate,
  type Stored,
  TopologyFault,
  type TopologyView,
  type WorkersBlueprint,
} from "./view.ts";

/** The first list of a kind is under way: the key runs again by itself. */
export class NotYet extends Error {
  readonly code = "NotYet";
}

/** The class is there, but its own controller has not looked at this version yet. */
export class ClassNotReconciled extends Error {
  readonly code = "ClassNotReconciled";
}

/** @throws TopologyFault when the class is absent, ClassNotReconciled when its status is not up to date */
export function usableClass(cluster: Cluster, { cache }: Pick<ReconcileContext, "cache">): ClusterClass {
  const { name, namespace = cluster.metadata.namespace ?? "" } = cluster.spec.topology?.classRef ?? { name: "" };
  const found = cache.get(clusterClassResource, { namespace, name });
  if (!found) throw new TopologyFault(`ClusterClass ${namespace}/${name} does not exist: create it, or correct spec.topology.classRef`);
  const ready = findCondition(found.status?.conditions, "VariablesReady");
  if (found.metadata.generation !== found.status?.observedGeneration || !ready || ready.status === "False") {
    const why = ready?.status === "False" ? `: ${ready.message}` : "";
    throw new ClassNotReconciled(`ClusterClass ${namespace}/${name} is not reconciled yet${why}`);
  }
  return found;
}

/** @throws NotYet, TopologyFault, ContractUnknown */
export async function loadTopology(cluster: Cluster, clusterClass: ClusterClass, context: ReconcileContext): Promise<TopologyView> {
  const blueprint = await readBlueprint(clusterClass, context);
  const { topology } = cluster.spec;
  if (!topology) throw new TopologyFault("the Cluster has no spec.topology");
  return { cluster, topology, blueprint, current: await readCurrent(cluster, blueprint, context) };
}

// --- the class -----------------------------------------------------------------------------------------------------------------------

async function readBlueprint(clusterClass: ClusterClass, context: ReconcileContext): Promise<Blueprint> {
  const { infrastructure, controlPlane, workers } = clusterClass.spec;
  const namespace = clusterClass.metadata.namespace ?? "";
  const template = (ref: TemplateRef): Promise<ClassTemplate> => readClassTemplate(ref, namespace, context);
  const objects = async (ref: TemplateRef): Promise<ObjectTemplate> => withObjects(await template(ref), context);
  const classes = new Map<string, WorkersBlueprint>();
  for (const definition of workers?.machineDeployments ?? []) {
    classes.set(definition.class, {
      definition,
      bootstrap: await template(definition.bootstrap.templateRef),
      infrastructure: await template(definition.infrastructure.templateRef),
    });
  }
  const machines = controlPlane.machineInfrastructure?.templateRef;
  return {
    clusterClass,
    infrastructure: await objects(infrastructure.templateRef),
    controlPlane: await objects(controlPlane.templateRef),
    ...(machines ? { controlPlaneMachines: await template(machines) } : {}),
    workers: classes,
  };
}

async function readClassTemplate(ref: TemplateRef, namespace: string, context: ReconcileContext): Promise<ClassTemplate> {
  const contractRef: ContractRef = { apiGroup: groupOf(ref.apiVersion), kind: ref.kind, name: ref.name };
  const resource = inVersion(contractKind(context.cache, contractRef).resource, ref.apiVersion);
  const object = await read(resource, { namespace, name: ref.name }, context);
  if (!object) throw new TopologyFault(`${ref.kind} ${namespace}/${ref.name} of the ClusterClass does not exist: create it`);
  return { ref: contractRef, apiVersion: ref.apiVersion, resource, object };
}

function withObjects(template: ClassTemplate, { cache }: ReconcileContext): ObjectTemplate {
  const kind = contractKind(cache, { apiGroup: template.ref.apiGroup, kind: kindOfTemplate(template.ref.kind) });
  return { ...template, objects: inVersion(kind.resource, template.apiVersion), contract: kind.contract };
}

/** What is compared must be read in one version: that of the class. */
const inVersion = (resource: Resource<Unstructured>, apiVersion: string): Resource<Unstructured> => {
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  return version === resource.version ? resource : { ...resource, version };
};

// --- what there is -------------------------------------------------------------------------------------------------------------------

async function readCurrent(cluster: Cluster, blueprint: Blueprint, context: ReconcileContext): Promise<Current> {
  const namespace = cluster.metadata.namespace ?? "";
  const { cache } = context;
  const one = (ref: ContractRef | undefined, known: readonly Resource<Unstructured>[]): Promise<Stored | undefined> =>
    readOwned(ref, known, namespace, context);
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  const infrastructure = await one(infrastructureRef, [blueprint.infrastructure.objects]);
  const controlPlane = await one(controlPlaneRef, [blueprint.controlPlane.objects]);
  const machines = blueprint.controlPlaneMachines;
  const machinesRef =
    controlPlane && machines ? refAt(controlPlane.object, infrastructureRefPath(blueprint.controlPlane.contract)) : undefined;
  const healthCheck = controlPlane && cache.get(machineHealthCheckResource, keyOf(controlPlane.object));
  const nodes = cache.ofCluster(machineResource, keyOf(cluster));
  return {
    infrastructure,
    controlPlane,
    controlPlaneMachines: await one(machinesRef, machines ? [machines.resource] : []),
    controlPlaneHealthCheck: ownedHealthCheck(healthCheck),
    controlPlaneNodes: nodes.filter((m) => m.metadata.labels?.[machineControlPlaneLabel] !== undefined),
    workers: await readWorkers(cluster, blueprint, nodes, context),
  };
}

const isOwned = (object: KubeObject): boolean => object.metadata.labels?.[clusterTopologyOwnedLabel] !== undefined;
const ownedHealthCheck = (check: MachineHealthCheck | undefined): MachineHealthCheck | undefined =>
  check && isOwned(check) ? check : undefined;

async function readOwned(
  ref: ContractRef | undefined,
  known: readonly Resource<Unstructured>[],
  namespace: string,
  context: ReconcileContext,
): Promise<Stored | undefined> {
  if (!ref?.name) return undefined;
  const same = known.find((r) => r.group === ref.apiGroup && r.kind === ref.kind);
  const resource = same ?? contractKind(context.cache, ref).resource;
  const object = await read(resource, { namespace, name: ref.name }, context);
  const what = `${ref.kind} ${namespace}/${ref.name}`;
  if (!object) throw new TopologyFault(`${what} is referred to, but does not exist`);
  if (!isOwned(object))
    throw new TopologyFault(`${what} is referred to, but has no label ${clusterTopologyOwnedLabel}: it belongs to somebody else`);
  return { resource, object };
}

async function readWorkers(
  cluster: Cluster,
  blueprint: Blueprint,
  machines: readonly Machine[],
  context: ReconcileContext,
): Promise<ReadonlyMap<string, CurrentWorkers>> {
  const workers = new Map<string, CurrentWorkers>();
  for (const object of context.cache.ofCluster(machineDeploymentResource, keyOf(cluster)).filter(isOwned)) {
    const name = object.metadata.labels?.[clusterTopologyMachineDeploymentNameLabel] ?? "";
    const what = `MachineDeployment ${object.metadata.name}`;
    if (name === "")
      throw new TopologyFault(
        `${what} has no label ${clusterTopologyMachineDeploymentNameLabel}: set it, or remove ${clusterTopologyOwnedLabel}`,
      );
    const other = workers.get(name);
    if (other) throw new TopologyFault(`${what} and ${other.object.metadata.name} are both ${name} of the topology: delete one of them`);
    workers.set(name, await readDeployment(object, name, blueprint, machines, context));
  }
  return workers;
}

async function readDeployment(
  object: MachineDeployment,
  name: string,
  blueprint: Blueprint,
  machines: readonly Machine[],
  context: ReconcileContext,
): Promise<CurrentWorkers> {
  const namespace = object.metadata.namespace ?? "";
  const known = [...blueprint.workers.values()].flatMap((w) => [w.bootstrap.resource, w.infrastructure.resource]);
  const { bootstrap, infrastructureRef } = object.spec.template.spec;
  const healthCheck = context.cache.get(machineHealthCheckResource, keyOf(object));
  const base = {
    object,
    healthCheck: ownedHealthCheck(healthCheck),
    machines: machines.filter((m) => m.metadata.labels?.[clusterTopologyMachineDeploymentNameLabel] === name),
  };
  if (object.metadata.deletionTimestamp) return base;
  const template = (ref: ContractRef | undefined) =>
    ref && isTemplateKind(ref.kind) ? readOwned(ref, known, namespace, context) : Promise.resolve(undefined);
  return { ...base, bootstrap: await template(bootstrap.configRef), infrastructure: await template(infrastructureRef) };
}

// --- one object ----------------------------------------------------------------------------------------------------------------------

/** Runs the Cluster that an object carries the label of. */
const ofCluster = (resource: Resource<Unstructured>): Watch<Unstructured> => ({
  resource,
  keys: (object): readonly ObjectKey[] => {
    const name = isOwned(object) ? object.metadata.labels?.[clusterNameLabel] : undefined;
    return name === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name }];
  },
});

/** From the cache, and live where the cache has nothing yet. */
async function read(resource: Resource<Unstructured>, key: ObjectKey, context: ReconcileContext): Promise<Unstructured | undefined> {
  if (!context.watchAlso(ofCluster(resource))) throw new NotYet(`the first list of ${resource.plural} is under way`);
  const cached = context.cache.get(resource, key);
  if (cached) return cached;
  try {
    return await context.client.get(resource, key);
  } catch (e) {
    if (isNotFound(e)) return undefined;
    throw e;
  }
}

export const versionOf = (object: Unstructured): string => textAt(object, "spec.version") ?? "";
