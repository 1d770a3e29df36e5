// Writing a topology: infrastructure cluster, control plane, the Cluster's references, MachineDeployments, each with its templates.
// Here: order, and what happens when one fails. Not here: what is written (desired.ts), templates (template-change.ts).
// Source: spec/controllers/topology.md section 9.
import { clusterResource } from "../../api/cluster.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineHealthCheck, machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, metadataOf, type Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import {
  clusterNameLabel,
  clusterTopologyMachineDeploymentNameLabel,
  clusterTopologyOwnedLabel,
  clusterTopologyUpgradeStepAnnotation,
  fieldManagers,
} from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { mergePatch } from "../../runtime/patch.ts";
import { type AppliedMemory, applyIntent, applyOnce, repairOwnership } from "../apply/apply.ts";
import type { ContractRef, Unstructured } from "../contract/contract.ts";
import { type Desired, type DesiredWorkers, withBootstrapName, withInfrastructureName } from "./desired.ts";
import { infrastructureRefPath, withField } from "./fields.ts";
import { deleteTemplate, reconcileTemplate, takeBack, type TemplateOutcome } from "./template-change.ts";
import type { ControlPlaneDecision } from "./versions.ts";
import { type CurrentWorkers, type Stored, TopologyFault, type TopologyView } from "./view.ts";

export interface Writing {
  readonly view: TopologyView;
  readonly desired: Desired;
  readonly controlPlane: ControlPlaneDecision;
  /** Kept on the Cluster while its upgrade is under way. */
  readonly upgradeStep?: string;
  readonly applied: AppliedMemory;
  readonly context: ReconcileContext;
}

export async function applyTopology(writing: Writing): Promise<void> {
  const infrastructure = await applyInfrastructure(writing);
  let controlPlane: Unstructured;
  try {
    controlPlane = await applyControlPlane(writing);
  } catch (e) {
    // What is there already must be known to the Cluster, whatever failed after it.
    if (!writing.view.current.infrastructure) await applyCluster(writing, infrastructure, writing.view.current.controlPlane?.object);
    throw e;
  }
  await applyHealthCheck(writing, writing.desired.controlPlaneHealthCheck, writing.view.current.controlPlaneHealthCheck);
  await applyCluster(writing, infrastructure, controlPlane);
  await applyWorkers(writing);
}

// --- one object ----------------------------------------------------------------------------------------------------------------------

async function applyObject<K extends KubeObject>(
  { view, applied, context }: Writing,
  resource: Resource<K>,
  current: K | undefined,
  desired: KubeObject,
): Promise<K> {
  const what = `${resource.kind} "${desired.metadata.namespace}/${desired.metadata.name}"`;
  if (!current) {
    const stored = await withoutGeneratedName(desired, () => applyIntent(context, resource, desired, fieldManagers.topology));
    applied.note(
      stored,
      fieldManagers.topology,
      JSON.stringify({ ...desired, metadata: { ...desired.metadata, uid: stored.metadata.uid } }),
    );
    context.record(view.cluster, "Normal", "TopologyCreate", `Created ${what}`);
    return stored;
  }
  if (await repairOwnership(context, applied, resource, current, fieldManagers.topology)) {
    context.enqueue(keyOf(view.cluster));
    return current;
  }
  const stored = await applyOnce(context, applied, resource, current, fieldManagers.topology, JSON.stringify(desired), () => desired);
  if (stored.metadata.generation !== current.metadata.generation)
    context.record(view.cluster, "Normal", "TopologyUpdate", `Updated ${what}`);
  return stored;
}

/** Each try has another name, which would make each failure a new one. */
async function withoutGeneratedName<T>({ metadata }: KubeObject, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (e) {
    const name = metadata.name ?? "";
    if (!(e instanceof Error) || name === "" || !e.message.includes(name)) throw e;
    throw new TopologyFault(e.message.replaceAll(` "${name}"`, "").replaceAll(name, "").trim());
  }
}

function checkSameKind({ object }: Stored, desired: Unstructured): void {
  if (object.kind === desired.kind && object.metadata.name === desired.metadata.name) return;
  throw new TopologyFault(
    `${object.kind} ${object.metadata.name} cannot become ${desired.kind} ${desired.metadata.name}: move the Cluster to a class with the same kinds`,
  );
}

function applyInfrastructure(writing: Writing): Promise<Unstructured> {
  const { current, blueprint } = writing.view;
  if (current.infrastructure) checkSameKind(current.infrastructure, writing.desired.infrastructure);
  return applyObject(writing, blueprint.infrastructure.objects, current.infrastructure?.object, writing.desired.infrastructure);
}

async function applyControlPlane(writing: Writing): Promise<Unstructured> {
  const { view, desired, controlPlane, context, applied } = writing;
  const { current, blueprint } = view;
  // A pending upgrade holds all other changes back too, so that machines roll once.
  if (current.controlPlane && controlPlane.pending) return current.controlPlane.object;
  if (current.controlPlane) checkSameKind(current.controlPlane, desired.controlPlane);
  const machines = desired.controlPlaneMachines && (await reconcileTemplate(desired.controlPlaneMachines, context, applied));
  const path = `${infrastructureRefPath(blueprint.controlPlane.contract)}.name`;
  const wanted = machines ? withField(desired.controlPlane, path, machines.name) : desired.controlPlane;
  let stored: Unstructured;
  try {
    stored = await applyObject(writing, blueprint.controlPlane.objects, current.controlPlane?.object, wanted);
  } catch (e) {
    await takeBack([machines], context);
    throw e;
  }
  if (machines?.replaced) await deleteTemplate(machines.replaced, context);
  return stored;
}

// --- the Cluster ---------------------------------------------------------------------------------------------------------------------

async function applyCluster(
  { view, upgradeStep, context }: Writing,
  infrastructure: Unstructured,
  controlPlane: Unstructured | undefined,
): Promise<void> {
  const { cluster, blueprint } = view;
  const ref = (group: string, object: Unstructured): ContractRef => ({
    apiGroup: group,
    kind: object.kind,
    name: object.metadata.name ?? "",
  });
  const { [clusterTopologyUpgradeStepAnnotation]: _step, ...annotations } = cluster.metadata.annotations ?? {};
  const wanted = {
    metadata: {
      labels: { ...cluster.metadata.labels, [clusterNameLabel]: cluster.metadata.name ?? "", [clusterTopologyOwnedLabel]: "" },
      annotations: { ...annotations, ...(upgradeStep === undefined ? {} : { [clusterTopologyUpgradeStepAnnotation]: upgradeStep }) },
    },
    spec: {
      infrastructureRef: ref(blueprint.infrastructure.ref.apiGroup, infrastructure),
      ...(controlPlane ? { controlPlaneRef: ref(blueprint.controlPlane.ref.apiGroup, controlPlane) } : {}),
    },
  };
  const { labels = {}, annotations: had = {} } = cluster.metadata;
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  const body = mergePatch(
    { metadata: { labels, annotations: had }, spec: { infrastructureRef, ...(controlPlane ? { controlPlaneRef } : {}) } },
    wanted,
  );
  if (body) view.cluster = await context.client.patch(clusterResource, keyOf(cluster), { type: "merge", body });
}

// --- workers -------------------------------------------------------------------------------------------------------------------------

async function applyWorkers(writing: Writing): Promise<void> {
  const { view, desired } = writing;
  const failures: unknown[] = [];
  for (const workers of desired.workers) {
    const current = view.current.workers.get(workers.topology.name);
    try {
      if (current) await updateWorkers(writing, workers, current);
      else if (!workers.decision.pendingCreate) await createWorkers(writing, workers);
    } catch (e) {
      failures.push(e);
    }
  }
  const wanted = new Set(desired.workers.map((w) => w.topology.name));
  for (const [name, current] of view.current.workers) if (!wanted.has(name)) await removeWorkers(writing, current);
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map((e) => (e instanceof Error ? e.message : String(e))).join("; "));
}

async function createWorkers(
  writing: Writing,
  { topology, object, bootstrap, infrastructure, healthCheck }: DesiredWorkers,
): Promise<void> {
  const { view, context, applied } = writing;
  const namespace = view.cluster.metadata.namespace ?? "";
  const labelSelector = `${clusterNameLabel}=${view.cluster.metadata.name},${clusterTopologyMachineDeploymentNameLabel}=${topology.name}`;
  const live = await context.client.list(metadataOf(machineDeploymentResource), { namespace, labelSelector });
  if (live.items.length > 0) return;
  const outcomes: TemplateOutcome[] = [];
  try {
    const madeInfrastructure = await reconcileTemplate(infrastructure, context, applied);
    outcomes.push(madeInfrastructure);
    const madeBootstrap = await reconcileTemplate(bootstrap, context, applied);
    outcomes.push(madeBootstrap);
    await applyObject(writing, machineDeploymentResource, undefined, object);
  } catch (e) {
    await takeBack(outcomes, context);
    throw e;
  }
  await applyHealthCheck(writing, healthCheck, undefined);
}

async function updateWorkers(writing: Writing, workers: DesiredWorkers, current: CurrentWorkers): Promise<void> {
  const { context, applied } = writing;
  const { decision, object, bootstrap, infrastructure, healthCheck } = workers;
  if (current.object.metadata.deletionTimestamp) return;
  await applyHealthCheck(writing, healthCheck, current.healthCheck);
  if (decision.pending) return;
  const outcomes: TemplateOutcome[] = [];
  try {
    const newInfrastructure = await reconcileTemplate(infrastructure, context, applied);
    outcomes.push(newInfrastructure);
    const newBootstrap = await reconcileTemplate(bootstrap, context, applied);
    outcomes.push(newBootstrap);
    const wanted: MachineDeployment = withInfrastructureName(withBootstrapName(object, newBootstrap.name), newInfrastructure.name);
    await applyObject(writing, machineDeploymentResource, current.object, wanted);
  } catch (e) {
    await takeBack(outcomes, context);
    throw e;
  }
}

async function removeWorkers({ view, context }: Writing, { object, healthCheck }: CurrentWorkers): Promise<void> {
  if (object.metadata.deletionTimestamp) return;
  if (healthCheck) await remove(context, machineHealthCheckResource, healthCheck);
  await remove(context, machineDeploymentResource, object);
  context.record(
    view.cluster,
    "Normal",
    "TopologyDelete",
    `Deleted MachineDeployment "${object.metadata.namespace}/${object.metadata.name}"`,
  );
}

// --- health checks -------------------------------------------------------------------------------------------------------------------

async function applyHealthCheck(
  writing: Writing,
  wanted: MachineHealthCheck | undefined,
  current: MachineHealthCheck | undefined,
): Promise<void> {
  if (!wanted) {
    if (current) await remove(writing.context, machineHealthCheckResource, current);
    return;
  }
  const { uid } = current?.metadata ?? {};
  await applyObject(writing, machineHealthCheckResource, current, { ...wanted, metadata: { ...wanted.metadata, ...(uid ? { uid } : {}) } });
}

async function remove({ client }: ReconcileContext, resource: Resource, { metadata }: KubeObject): Promise<void> {
  if (metadata.deletionTimestamp) return;
  try {
    await client.delete(resource, keyOf({ metadata }), { preconditions: { uid: metadata.uid } });
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
