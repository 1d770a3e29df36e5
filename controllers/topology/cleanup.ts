// Templates of a topology's MachineDeployments and MachineSets: deleted when the last object that used them goes.
// Here: both controllers, since they differ only in where they look. Source: spec/controllers/topology.md section 12.
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import {
  clusterNameLabel,
  clusterTopologyMachineDeploymentNameLabel,
  clusterTopologyOwnedLabel,
  fieldManagers,
  machineDeploymentNameLabel,
  machineDeploymentTopologyFinalizer,
  machineSetTopologyFinalizer,
} from "../../api/names.ts";
import { clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type Controller, controller, type ReconcileContext } from "../../runtime/controller.ts";
import { ensureFinalizer, removeFinalizer } from "../../runtime/patch.ts";
import { type ContractRef, contractKind } from "../contract/contract.ts";
import { isPaused } from "../lifecycle/paused.ts";
import { isTemplateKind } from "../templates/clone.ts";

type Owner = MachineDeployment | MachineSet;

interface View<K extends Owner> {
  readonly object: K;
}

const isOwned = ({ metadata }: KubeObject): boolean => metadata.labels?.[clusterTopologyOwnedLabel] !== undefined;

/** Owned by a topology, of a Cluster that is not paused. */
function load<K extends Owner>(object: K, { cache }: ReconcileContext): View<K> | undefined {
  if (!isOwned(object)) return undefined;
  const cluster = cache.get(clusterResource, { namespace: object.metadata.namespace ?? "", name: object.spec.clusterName });
  return isPaused(cluster, object) ? undefined : { object };
}

function cleaner<K extends Owner>(
  name: string,
  resource: Resource<K>,
  finalizer: string,
  clean: (object: K, context: ReconcileContext) => Promise<void>,
): Controller<K> {
  return controller<K, View<K>>(resource, {
    name,
    fieldManager: fieldManagers.default,
    watches: [],
    reads: [clusterResource, customResourceDefinitionResource],
    when: (change) => change.type !== "updated" || change.old.metadata !== change.object.metadata,
    load,
    whenLive: [
      async ({ object }, { client }) => {
        await ensureFinalizer(client, resource, object, finalizer);
      },
    ],
    whenDeleting: [
      async ({ object }, context) => {
        if (!object.metadata.finalizers?.includes(finalizer)) return;
        await clean(object, context);
        await withoutFinalizer(resource, object, finalizer, context);
      },
    ],
  });
}

/** Somebody else may have taken the last other finalizer meanwhile: then the object is gone. */
async function withoutFinalizer<K extends Owner>(
  resource: Resource<K>,
  object: K,
  finalizer: string,
  { client }: ReconcileContext,
): Promise<void> {
  try {
    await removeFinalizer(client, resource, object, finalizer);
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}

export const topologyMachineDeploymentController = (): Controller<MachineDeployment> =>
  cleaner("topologymachinedeployment", machineDeploymentResource, machineDeploymentTopologyFinalizer, async (deployment, context) => {
    const topologyName = deployment.metadata.labels?.[clusterTopologyMachineDeploymentNameLabel] ?? "";
    await deleteUnused(deployment, `${clusterTopologyMachineDeploymentNameLabel}=${topologyName}`, context);
    await remove(machineHealthCheckResource, keyOf(deployment), context);
  });

export const topologyMachineSetController = (): Controller<MachineSet> =>
  cleaner("topologymachineset", machineSetResource, machineSetTopologyFinalizer, async (set, context) => {
    const name = set.metadata.labels?.[machineDeploymentNameLabel];
    const topologyName = set.metadata.labels?.[clusterTopologyMachineDeploymentNameLabel];
    if (name === undefined && topologyName === undefined) return;
    await deleteUnused(set, `${clusterTopologyMachineDeploymentNameLabel}=${topologyName ?? ""}`, context);
  });

const refsOf = ({ spec }: Owner): readonly ContractRef[] => {
  const { bootstrap, infrastructureRef } = spec.template.spec;
  return [bootstrap.configRef, infrastructureRef].filter((ref) => ref !== undefined && isTemplateKind(ref.kind)) as readonly ContractRef[];
};
const idOf = ({ apiGroup, kind, name }: ContractRef): string => `${apiGroup}/${kind}/${name}`;

/** What live objects still refer to is kept. Lists are read from the server: a cache may not know the newest MachineSet. */
async function deleteUnused(owner: Owner, selector: string, context: ReconcileContext): Promise<void> {
  const namespace = owner.metadata.namespace ?? "";
  const options = { namespace, labelSelector: `${clusterNameLabel}=${owner.spec.clusterName},${clusterTopologyOwnedLabel},${selector}` };
  const deployments = await context.client.list(machineDeploymentResource, options);
  const sets = await context.client.list(machineSetResource, options);
  const live = [...deployments.items, ...sets.items].filter((o) => !o.metadata.deletionTimestamp && o.metadata.uid !== owner.metadata.uid);
  const used = new Set(live.flatMap(refsOf).map(idOf));
  for (const ref of refsOf(owner)) {
    if (used.has(idOf(ref))) continue;
    await remove(contractKind(context.cache, ref).resource, { namespace, name: ref.name }, context);
  }
}

async function remove(
  resource: Resource,
  key: { readonly namespace: string; readonly name: string },
  { client }: ReconcileContext,
): Promise<void> {
  try {
    const found = await client.get(resource, key);
    if (isOwned(found) && !found.metadata.deletionTimestamp)
      await client.delete(resource, key, { preconditions: { uid: found.metadata.uid } });
  } catch (e) {
    if (!isNotFound(e)) throw e;
  }
}
