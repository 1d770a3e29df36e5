// KubeadmControlPlane: the control plane Machines of a cluster, from the first to the last. Here: watches and steps in order.
// Source: spec/controllers/kubeadmcontrolplane.md, kubeadmcontrolplane-inplace.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource, type Secret, secretResource } from "../../api/core/index.ts";
import { extensionConfigResource } from "../../api/extensionconfig.ts";
import { type KubeadmConfig, kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type KubeadmControlPlane, kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { clusterTopologyUpgradeStepAnnotation, fieldManagers, kubeadmControlPlaneFinalizer } from "../../api/names.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { Cache } from "../../runtime/cache.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import {
  type Controller,
  controller,
  mapped,
  owned,
  type ReconcileContext,
  type Step,
  type WatchEnvironment,
} from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { createAppliedMemory } from "../apply/apply.ts";
import { createAskMemory } from "../inplace/ask.ts";
import type { CanUpdateMachine } from "../inplace/ask-machine.ts";
import { mayReconcile } from "../lifecycle/begin.ts";
import { controllerOf, ensureClusterOwner } from "../ownership/owners.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { adoptMachines, refuseForeign } from "./adoption.ts";
import { reconcileCertificates } from "./certificates.ts";
import { updateCoreDns } from "./coredns.ts";
import { deleteControlPlane } from "./deletion.ts";
import { removeStrays } from "./etcd-steps.ts";
import { noteCertificateExpiry } from "./expiry.ts";
import { releaseDeleting } from "./hook-steps.ts";
import { inspect } from "./inspect.ts";
import { reconcileKubeconfig } from "./kubeconfig.ts";
import { isDeleting, replicasOf } from "./machines.ts";
import { remediate } from "./remediation-steps.ts";
import { advance, type RolloutTools } from "./rollout-steps.ts";
import { templateError } from "./scale-steps.ts";
import { workloadSource } from "./source.ts";
import { writeControlPlaneStatus } from "./status.ts";
import { syncMachines } from "./sync.ts";
import { resumeTriggers, waitForUpdates } from "./trigger.ts";
import { clusterKeyOf, clusterOf, type ControlPlaneView, hasEndpoint, loadControlPlane } from "./view.ts";
import { updateKubeProxy } from "./workload-config.ts";

export interface KubeadmControlPlaneDeps {
  readonly workloadClusters: WorkloadClusters;
  readonly pki: Pki;
  /** Asks the update extension; only called with the gate InPlaceUpdates. */
  readonly canUpdate: CanUpdateMachine;
  /** How long conditions about the workload cluster stand after the last good probe, default 5 min, at least 2. */
  readonly connectionGraceMs?: number;
}

const CONNECTION_GRACE_MS = 300_000;

export function kubeadmControlPlaneController(deps: KubeadmControlPlaneDeps): Controller<KubeadmControlPlane> {
  const { workloadClusters, pki, connectionGraceMs: graceMs = CONNECTION_GRACE_MS } = deps;
  const applied = createAppliedMemory();
  const told = new Map<string, string>();
  const kubeconfigs = { pki, workloadClusters, checked: new WeakMap<Secret, number>() };
  const rollout: RolloutTools = {
    workloadClusters,
    canUpdateMachine: deps.canUpdate,
    asked: createAskMemory(),
    replaced: new Map(),
    applied,
    extensions: extensionsToken,
    writeStatus: writeControlPlaneStatus,
  };
  workloadClusters.probeGrace(graceMs);
  const look = { workloadClusters, graceMs };

  return controller<KubeadmControlPlane, ControlPlaneView>(kubeadmControlPlaneResource, {
    fieldManager: fieldManagers.default,
    eventSource: "kubeadm-control-plane-controller",
    watches: [
      owned(machineResource),
      mapped(machineResource, (machine, { cache }) => controlPlaneOf(cache, clusterKey(machine)), isWorkerGone),
      mapped(kubeadmConfigResource, controlPlaneOfConfig, concernsControlPlane),
      mapped(clusterResource, (cluster) => controlPlaneRef(cluster), concernsCluster),
      owned(
        secretResource,
        (change) => change.type === "deleted" || (change.type === "updated" && !sameJson(change.old.data, change.object.data)),
      ),
    ],
    sources: [workloadSource(workloadClusters, graceMs, controlPlaneOf)],
    reads: [customResourceDefinitionResource],
    load: async (kcp, context) => {
      const cluster = clusterOf(kcp, context);
      if (!cluster) return undefined;
      if (!(await mayReconcile(kubeadmControlPlaneResource, kcp, cluster, kubeadmControlPlaneFinalizer, context))) return undefined;
      const view = await loadControlPlane(kcp, cluster, context, told);
      if (view) view.notes.replaced = rollout.replaced.get(kcp.metadata.uid ?? "") ?? [];
      return view;
    },
    whenLive: [
      refuseForeign,
      adoptMachines,
      ownTemplate,
      needInfrastructure,
      (view: ControlPlaneView, context: ReconcileContext) => reconcileCertificates(view, context, pki),
      needEndpoint,
      (view: ControlPlaneView, context: ReconcileContext) => reconcileKubeconfig(view, context, kubeconfigs),
      (view: ControlPlaneView, context: ReconcileContext) => syncMachines(view, context, applied),
      (view: ControlPlaneView, context: ReconcileContext) => inspect(view, context, look),
      (view: ControlPlaneView, context: ReconcileContext) => removeStrays(view, context, workloadClusters),
      (view: ControlPlaneView, context: ReconcileContext) => releaseDeleting(view, context, workloadClusters),
      needTemplate,
      (view: ControlPlaneView, context: ReconcileContext) => resumeTriggers(view, context, applied),
      (view: ControlPlaneView, context: ReconcileContext) => remediate(view, context, workloadClusters),
      waitForUpdates,
      (view: ControlPlaneView, context: ReconcileContext) => advance(view, context, rollout),
      (view: ControlPlaneView, context: ReconcileContext) => careForAddons(view, context, workloadClusters),
    ].map(noting),
    whenDeleting: [
      noting(async (view, context) => {
        // What is left is only looked at; whatever goes wrong must not keep it.
        await inspect(view, context, look).catch((e: unknown) => context.log.debug("not inspected", { error: String(e) }));
      }),
      noting(deleteControlPlane),
    ],
    finally: writeControlPlaneStatus,
  });
}

/** A step whose failure keeps the status from claiming this generation. */
const noting =
  (step: Step<ControlPlaneView>): Step<ControlPlaneView> =>
  async (view, context) => {
    try {
      return await step(view, context);
    } catch (e) {
      view.failed = true;
      throw e;
    }
  };

// --- small steps ---------------------------------------------------------------------------------------------------------------------

/** The template goes when the Cluster goes. A missing one is told by ScalingUp; what needs none goes on. */
const ownTemplate: Step<ControlPlaneView> = async ({ template, cluster }, { client }) => {
  if (template.error) throw template.error;
  if (template.object && template.kind)
    template.object = await ensureClusterOwner(client, template.kind.resource, template.object, cluster);
};

const waiting = (message: string): ControlPlaneView["gate"] => ({ reason: "InspectionFailed", message, overwrite: true, stop: true });

const needInfrastructure: Step<ControlPlaneView> = (view) => {
  if (view.cluster.status?.initialization?.infrastructureProvisioned === true) return undefined;
  view.gate = waiting("Waiting for Cluster status.initialization.infrastructureProvisioned to be true");
  return { stop: true };
};

const needEndpoint: Step<ControlPlaneView> = (view) => {
  if (hasEndpoint(view)) return undefined;
  view.gate = waiting("Waiting for Cluster spec.controlPlaneEndpoint to be set");
  return { stop: true };
};

/** Nothing is deleted, and no update is begun, that could not be completed. */
const needTemplate: Step<ControlPlaneView> = (view) => {
  if (!view.template.object) throw templateError(view);
};

/** Only with all Machines there and up to date. */
async function careForAddons(view: ControlPlaneView, context: ReconcileContext, clusters: WorkloadClusters): Promise<void> {
  if (!view.initialized || view.gate || view.machines.length !== replicasOf(view.kcp)) return;
  const workload = clusters.get(clusterKeyOf(view));
  await updateKubeProxy(view, workload);
  await updateCoreDns(view, workload);
  await noteCertificateExpiry(view, context, workload);
}

/** Which extensions there are, as one text; a change of it is a reason to ask again at once. */
function extensionsToken(context: ReconcileContext): string {
  const rolling = (cache: Cache): readonly ObjectKey[] =>
    cache
      .list(kubeadmControlPlaneResource)
      .filter((kcp) => hasStatus(kcp.status?.conditions, "RollingOut", "True"))
      .map(keyOf);
  if (!context.watchAlso(mapped(extensionConfigResource, (_config, { cache }) => rolling(cache)))) return "";
  return context.cache
    .list(extensionConfigResource)
    .map((c) => `${c.metadata.uid}/${c.metadata.generation}/${JSON.stringify(c.status?.handlers ?? [])}`)
    .join(" ");
}

// --- which keys a change runs --------------------------------------------------------------------------------------------------------

const clusterKey = (machine: Machine): ObjectKey => ({ namespace: machine.metadata.namespace ?? "", name: machine.spec.clusterName });

function controlPlaneRef(cluster: Cluster): readonly ObjectKey[] {
  const ref = cluster.spec.controlPlaneRef;
  if (ref?.kind !== kubeadmControlPlaneResource.kind || !ref.name) return [];
  return [{ namespace: cluster.metadata.namespace ?? "", name: ref.name }];
}

function controlPlaneOf(cache: Cache, key: ObjectKey): readonly ObjectKey[] {
  const cluster = cache.get(clusterResource, key);
  return cluster ? controlPlaneRef(cluster) : [];
}

/** A control plane that is being deleted waits for the last worker. */
const isWorkerGone = (change: { readonly type: string; readonly object: Machine }): boolean =>
  change.type === "deleted" && controllerOf(change.object)?.kind !== kubeadmControlPlaneResource.kind;

function controlPlaneOfConfig(config: KubeadmConfig, { cache }: WatchEnvironment): readonly ObjectKey[] {
  const namespace = config.metadata.namespace ?? "";
  const owner = config.metadata.ownerReferences?.find((o) => o.kind === machineResource.kind);
  const machine = owner && cache.get(machineResource, { namespace, name: owner.name });
  const controllerRef = machine && controllerOf(machine);
  return controllerRef?.kind === kubeadmControlPlaneResource.kind ? [{ namespace, name: controllerRef.name }] : [];
}

type ConfigChange = { readonly type: string; readonly object: KubeadmConfig; readonly old?: KubeadmConfig };

const concernsControlPlane = ({ type, object, old }: ConfigChange): boolean =>
  type === "deleted" ||
  (type === "updated" &&
    old !== undefined &&
    (isDeleting(object) !== isDeleting(old) ||
      !sameJson(old.spec, object.spec) ||
      !sameJson(old.metadata.labels, object.metadata.labels) ||
      !sameJson(old.metadata.annotations, object.metadata.annotations)));

type ClusterChange = { readonly type: string; readonly object: Cluster; readonly old?: Cluster };

/** What of a Cluster a control plane depends on. */
const aspects = (cluster: Cluster): readonly unknown[] => [
  cluster.spec.paused === true,
  cluster.spec.controlPlaneEndpoint,
  cluster.spec.topology?.version,
  cluster.metadata.annotations?.[clusterTopologyUpgradeStepAnnotation],
  cluster.status?.initialization?.infrastructureProvisioned === true,
];

const concernsCluster = ({ type, object, old }: ClusterChange): boolean =>
  type === "added" || (old !== undefined && !sameJson(aspects(old), aspects(object)));
