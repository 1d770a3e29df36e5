// What one run knows of a control plane: read once, completed by its steps. Here: the type, reading it, asking it.
// Not here: the workload cluster (inspect.ts), decisions. Source: spec/controllers/kubeadmcontrolplane.md section 5.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type KubeadmConfig, kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type KubeadmControlPlane, kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, keyText, type ObjectKey, type Resource } from "../../api/meta/resource.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { mapped, type ReconcileContext, type Watch } from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { textAt, type Unstructured } from "../contract/contract.ts";
import { readReferenced, type Referenced } from "../contract/read.ts";
import { controllerOf, groupOf, isControlledBy } from "../ownership/owners.ts";
import type { ClosedGate, WorkloadFacts } from "./facts.ts";
import { byName, hasManagedEtcd, isControlPlaneMachineOf, isDeleting, nameOf } from "./machines.ts";
import type { PreflightFlag } from "./preflight.ts";
import { memberNameOf } from "./targets.ts";
import { compareMachine, type UpToDate } from "./up-to-date.ts";

/** What a user should read, and would find nowhere else. */
export interface Notes {
  /** Why nobody can tell whether a Machine can be updated in place; nothing is changed meanwhile. */
  undecided?: string;
  /** Why nothing is replaced although something is outdated. */
  blocked?: readonly string[];
  /** Machines that are replaced, and why. */
  replaced: readonly string[];
  /** What a Machine that is being deleted, or an update that was begun, waits for. */
  waiting: string[];
}

export interface Deletion {
  readonly reason: "WaitingForWorkersDeletion" | "WaitingForMachineDeletion" | "DeletionCompleted" | "InternalError";
  readonly message: string;
}

export interface ControlPlaneView {
  /** Newest version known; a write of ours replaces it. */
  kcp: KubeadmControlPlane;
  readonly cluster: Cluster;
  readonly nowMs: number;
  readonly managedEtcd: boolean;
  /** Controlled by this control plane, deleting ones included, by name. Newest versions known. */
  machines: readonly Machine[];
  /** Control plane Machines of the Cluster without a controller. */
  readonly orphans: readonly Machine[];
  /** Control plane Machines of the Cluster that something else controls. */
  readonly foreign: readonly Machine[];
  readonly template: Referenced;
  /** By name of the Machine. */
  readonly infrastructure: Map<string, Referenced>;
  readonly configs: Map<string, KubeadmConfig>;
  /** What verdictOf said last, by name of the Machine. */
  readonly verdicts: Map<string, { readonly about: readonly unknown[]; readonly verdict: UpToDate }>;
  /** Text of the last ControlPlaneUnhealthy Event, by uid of the control plane; outlives the run. */
  readonly told: Map<string, string>;
  /** As in the condition, or found out in this run. */
  initialized: boolean;
  /** Absent: the workload cluster was not looked at. */
  facts?: WorkloadFacts;
  gate?: ClosedGate;
  /** As found out in this run; absent: as in the condition. */
  certificates?: "available" | "unknown" | readonly string[];
  preflightFlags: readonly PreflightFlag[];
  readonly notes: Notes;
  deletion?: Deletion;
  /** The last finalizer went: there is nothing to write any more. */
  gone?: boolean;
  /** A step failed: the status must not claim to have seen this generation. */
  failed: boolean;
}

/** @returns nothing while the first list of some kind is under way; the key runs again by itself */
export async function loadControlPlane(
  kcp: KubeadmControlPlane,
  cluster: Cluster,
  context: ReconcileContext,
  told: Map<string, string>,
): Promise<ControlPlaneView | undefined> {
  const namespace = kcp.metadata.namespace ?? "";
  const template = await readReferenced(context, namespace, kcp.spec.machineTemplate.spec.infrastructureRef, templateWatch);
  if (template === "later" || template === undefined) return undefined;
  const all = context.cache.ofCluster(machineResource, keyOf(cluster)).filter((m) => isControlPlaneMachineOf(m, nameOf(cluster)));
  const machines = all.filter((m) => isControlledBy(m, kcp)).sort(byName);
  const infrastructure = new Map<string, Referenced>();
  const configs = new Map<string, KubeadmConfig>();
  for (const machine of machines) {
    const infra = await readReferenced(context, namespace, machine.spec.infrastructureRef, infrastructureWatch);
    if (infra === "later") return undefined;
    if (infra) infrastructure.set(nameOf(machine), infra);
    const config = configOf(machine, context);
    if (config) configs.set(nameOf(machine), config);
  }
  return {
    kcp,
    cluster,
    nowMs: context.clock.nowMs(),
    managedEtcd: hasManagedEtcd(kcp),
    machines,
    orphans: all.filter((m) => controllerOf(m) === undefined).sort(byName),
    foreign: all.filter((m) => controllerOf(m) !== undefined && !isControlledBy(m, kcp)).sort(byName),
    template,
    infrastructure,
    configs,
    verdicts: new Map(),
    told,
    initialized: isInitialized(kcp),
    preflightFlags: [],
    notes: { replaced: [], waiting: [] },
    failed: false,
  };
}

export const isInitialized = (kcp: KubeadmControlPlane): boolean =>
  kcp.status?.initialization?.controlPlaneInitialized === true && hasStatus(kcp.status.conditions, "Initialized", "True");

function configOf(machine: Machine, { cache }: ReconcileContext): KubeadmConfig | undefined {
  const ref = machine.spec.bootstrap.configRef;
  if (ref?.kind !== kubeadmConfigResource.kind || !ref.name) return undefined;
  return cache.get(kubeadmConfigResource, { namespace: machine.metadata.namespace ?? "", name: ref.name });
}

/** The Cluster that owns the control plane. @throws Error when it is named but does not exist */
export function clusterOf(kcp: KubeadmControlPlane, { cache }: Pick<ReconcileContext, "cache">): Cluster | undefined {
  const owner = kcp.metadata.ownerReferences?.find(
    (o) => o.kind === clusterResource.kind && groupOf(o.apiVersion) === clusterResource.group,
  );
  if (!owner) return undefined;
  const key = { namespace: kcp.metadata.namespace ?? "", name: owner.name };
  const cluster = cache.get(clusterResource, key);
  if (!cluster) throw new Error(`Cluster ${keyText(key)}, which owns this KubeadmControlPlane, does not exist`);
  return cluster;
}

// --- asking the view -----------------------------------------------------------------------------------------------------------------

export const clusterKeyOf = (view: ControlPlaneView): ObjectKey => keyOf(view.cluster);
export const infrastructureOf = (view: ControlPlaneView, machine: Machine): Unstructured | undefined =>
  view.infrastructure.get(nameOf(machine))?.object;
export const configFor = (view: ControlPlaneView, machine: Machine): KubeadmConfig | undefined => view.configs.get(nameOf(machine));

/** Kept while nothing it is about changes: comparing configs costs. */
export function verdictOf(view: ControlPlaneView, machine: Machine): UpToDate {
  const objects = { machine, config: configFor(view, machine), infrastructure: infrastructureOf(view, machine) };
  const about = [machine, objects.config, objects.infrastructure, view.kcp.spec];
  const known = view.verdicts.get(nameOf(machine));
  if (known?.about.every((part, i) => part === about[i])) return known.verdict;
  const verdict = compareMachine(objects, view.kcp, view.nowMs);
  view.verdicts.set(nameOf(machine), { about, verdict });
  return verdict;
}

export const liveMachines = (view: ControlPlaneView): readonly Machine[] => view.machines.filter((m) => !isDeleting(m));
export const outdatedMachines = (view: ControlPlaneView): readonly Machine[] =>
  liveMachines(view).filter((m) => !verdictOf(view, m).upToDate);

export const memberName =
  (view: ControlPlaneView) =>
  (machine: Machine): string | undefined =>
    memberNameOf(machine, view.facts?.nodes ?? [], [machine.spec.providerID, textAt(infrastructureOf(view, machine), "spec.providerID")]);

/** Members of etcd and their alarms, as far as known. */
export function etcdOf(view: ControlPlaneView) {
  const etcd = view.facts?.etcd;
  return etcd?.state === "known" ? { members: etcd.members, alarms: etcd.alarms } : {};
}

export const hasEndpoint = ({ cluster }: ControlPlaneView): boolean => {
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  return Boolean(host) && Boolean(port);
};

/** A write of ours: the view goes on with what the server stored. */
export function replaceMachine(view: ControlPlaneView, stored: Machine): void {
  const others = view.machines.filter((m) => nameOf(m) !== nameOf(stored));
  view.machines = [...others, stored].sort(byName);
}

// --- which keys a change of a referenced object runs ---------------------------------------------------------------------------------

/** Clone marks, marks of updates and the contract fields matter; other changes of infrastructure objects are the Machine's business. */
const infrastructureWatch = (resource: Resource<Unstructured>): Watch<Unstructured> =>
  mapped(
    resource,
    (object, { cache }) => {
      const owner = object.metadata.ownerReferences?.find((o) => o.kind === machineResource.kind);
      const machine = owner && cache.get(machineResource, { namespace: object.metadata.namespace ?? "", name: owner.name });
      const controller = machine && controllerOf(machine);
      return controller?.kind === kubeadmControlPlaneResource.kind
        ? [{ namespace: object.metadata.namespace ?? "", name: controller.name }]
        : [];
    },
    (change) =>
      change.type !== "updated" ||
      !sameJson(change.old.metadata.annotations, change.object.metadata.annotations) ||
      !sameJson(change.old.metadata.labels, change.object.metadata.labels) ||
      !sameJson(change.old.status?.initialization, change.object.status?.initialization),
  );

/** A template that appears or goes decides whether Machines can be made; its content is read when one is made. */
const templateWatch = (resource: Resource<Unstructured>): Watch<Unstructured> =>
  mapped(
    resource,
    (template, { cache }) =>
      cache
        .list(kubeadmControlPlaneResource, template.metadata.namespace)
        .filter((kcp) => {
          const ref = kcp.spec.machineTemplate.spec.infrastructureRef;
          return ref.name === template.metadata.name && ref.kind === template.kind;
        })
        .map(keyOf),
    (change) => change.type !== "updated",
  );
