// Topology controller: makes infrastructure, control plane and workers of a Cluster from its ClusterClass, and keeps them so.
// Here: watches and the order of one reconcile. Not here: reading (load.ts), decisions (versions.ts, desired.ts), writing (apply.ts).
// Source: spec/controllers/topology.md section 5.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type ClusterClass, clusterClassResource } from "../../api/clusterclass.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import type { HookName } from "../../api/hooks/index.ts";
import { machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { isConflict } from "../../api/meta/status.ts";
import { clusterNameLabel, clusterTopologyOwnedLabel, fieldManagers, okToDeleteAnnotation } from "../../api/names.ts";
import type { HookClient } from "../../hooks/client.ts";
import { type Clock, timestamp } from "../../runtime/base/clock.ts";
import { type Cache, type Change, index } from "../../runtime/cache.ts";
import { hasStatus, setConditions } from "../../runtime/conditions.ts";
import { type Controller, mapped, type ReconcileContext, type Result, type WatchEnvironment } from "../../runtime/controller.ts";
import { patchObject, sameJson } from "../../runtime/patch.ts";
import { type AppliedMemory, createAppliedMemory } from "../apply/apply.ts";
import { isPaused, pausedFinding } from "../lifecycle/paused.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { applyTopology } from "./apply.ts";
import { type Outcome, topologyReconciled } from "./conditions.ts";
import { draftOf } from "./desired.ts";
import { externalPatches, validateTopology } from "./external.ts";
import { pendingHooksOf, planQuestion, versionFacts } from "./facts.ts";
import { createLifecycle, type Lifecycle, planFields, writeMarks } from "./lifecycle.ts";
import { ClassNotReconciled, loadTopology, usableClass } from "./load.ts";
import { applyPatches } from "./patches.ts";
import { dropShim, ensureShim } from "./shim.ts";
import { isAtTarget, type UpgradePlan, upgradePlan } from "./upgrade-plan.ts";
import { type Answers, decideVersions, isStable, type VersionDecision } from "./versions.ts";
import { type DefaultVariables, TopologyFault, type TopologyView } from "./view.ts";

export interface TopologyOptions {
  readonly hooks: HookClient;
  readonly clock: Clock;
  readonly defaultVariables: DefaultVariables;
}

interface Tools extends Pick<TopologyOptions, "defaultVariables"> {
  readonly hooks: HookClient;
  readonly lifecycle: Lifecycle;
  readonly applied: AppliedMemory;
}

export function topologyController({ hooks, clock, defaultVariables }: TopologyOptions): Controller<Cluster> {
  const tools: Tools = { hooks, defaultVariables, lifecycle: createLifecycle(hooks, clock), applied: createAppliedMemory() };
  return {
    name: "topology",
    resource: clusterResource,
    fieldManager: fieldManagers.default,
    eventSource: "topology/cluster-controller",
    when: isNews,
    watches: [
      mapped(clusterClassResource, clustersOfClass),
      mapped(machineDeploymentResource, ownedCluster),
      // Which versions Machines and their Nodes have decides about the next step of an upgrade.
      mapped(machineResource, ownedCluster, machineIsNews),
    ],
    reads: [machineHealthCheckResource, customResourceDefinitionResource],
    reconcile: async (key, context) => {
      const cluster = context.cache.get(clusterResource, key);
      if (!cluster) tools.lifecycle.forget(key);
      if (!cluster?.spec.topology) return {};
      return reconcileCluster(cluster, context, tools);
    },
  };
}

async function reconcileCluster(cluster: Cluster, context: ReconcileContext, tools: Tools): Promise<Result> {
  const outcome: Outcome = { blocking: [], version: cluster.spec.topology?.version ?? "" };
  const holder = { cluster };
  try {
    if (isPaused(cluster, cluster)) outcome.paused = pausedFinding(cluster, cluster).message;
    else if (cluster.metadata.deletionTimestamp) await reconcileDeletion(holder, context, tools, outcome);
    else await reconcileTopology(holder, context, tools, outcome);
  } catch (e) {
    const code = (e as { code?: unknown }).code;
    if (code === "NotYet") return {};
    if (isConflict(e)) throw e;
    if (e instanceof ClassNotReconciled) outcome.classNotReconciled = e.message;
    else outcome.error = e;
  }
  await writeOutcome(holder.cluster, context, outcome);
  if (outcome.error !== undefined) throw outcome.error;
  const retries = outcome.blocking.map((b) => b.retryAfterSeconds);
  return retries.length === 0 ? {} : { requeueAfterMs: Math.min(...retries) * 1_000 };
}

/** What the Cluster controller waits for before it deletes anything. */
async function reconcileDeletion(
  holder: { cluster: Cluster },
  context: ReconcileContext,
  { lifecycle }: Tools,
  outcome: Outcome,
): Promise<void> {
  outcome.deleting = true;
  const { cluster } = holder;
  if (!context.gates.enabled("RuntimeSDK") || cluster.metadata.annotations?.[okToDeleteAnnotation] !== undefined) return;
  const answer = await lifecycle.ask(cluster, "BeforeClusterDelete", {});
  if (answer.blocked) {
    outcome.blocking = [{ hook: "BeforeClusterDelete", message: answer.message, retryAfterSeconds: answer.retryAfterSeconds }];
    return;
  }
  const body = { metadata: { annotations: { [okToDeleteAnnotation]: "" } } };
  holder.cluster = await context.client.patch(clusterResource, keyOf(cluster), { type: "merge", body });
}

async function reconcileTopology(holder: { cluster: Cluster }, context: ReconcileContext, tools: Tools, outcome: Outcome): Promise<void> {
  const clusterClass = usableClass(holder.cluster, context);
  holder.cluster = await withVariables(holder.cluster, clusterClass, context, tools);
  const view = await loadTopology(holder.cluster, clusterClass, context);
  try {
    if (await isHeldBeforeCreation(view, context, tools, outcome)) return;
    const plan = await planOf(view, context, tools);
    outcome.plan = plan;
    const versions = await versionsOf(view, plan, context, tools);
    outcome.versions = versions;
    outcome.blocking = versions.blocking;
    const draft = draftOf(view, versions, context.random);
    const enabled = context.gates.enabled("RuntimeSDK");
    await applyPatches(view, draft.items, externalPatches(view, tools.hooks, enabled));
    await validateTopology(view, draft.items, tools.hooks, enabled);
    const desired = draft.finish(await ensureShim(view, context));
    await finishedHooks(view, versions, context, tools, outcome);
    outcome.upgradeUnfinished = pendingHooksOf(view).includes("AfterClusterUpgrade");
    const isStep = enabled ? outcome.upgradeUnfinished : plan.controlPlane.length > 0;
    await applyTopology({
      view,
      desired,
      controlPlane: versions.controlPlane,
      upgradeStep: isStep ? versions.controlPlane.version : undefined,
      applied: tools.applied,
      context,
    });
    await dropShim(view, context);
  } finally {
    holder.cluster = view.cluster;
  }
}

/** The class may have got variables, or defaults, after the Cluster was written. */
async function withVariables(cluster: Cluster, clusterClass: ClusterClass, { client }: ReconcileContext, tools: Tools): Promise<Cluster> {
  const defaulted = tools.defaultVariables(cluster, undefined, clusterClass);
  if (isFaults(defaulted)) {
    const texts = defaulted.map((e) => [e.field, e.message].filter((t) => t).join(": "));
    throw new TopologyFault(`variables of the Cluster do not fit the ClusterClass: ${[...new Set(texts)].join("; ")}`);
  }
  return defaulted === cluster ? cluster : patchObject(client, clusterResource, cluster, defaulted as Cluster, { onlyIfUnchanged: true });
}

const isFaults = (answer: ReturnType<DefaultVariables>): answer is Exclude<ReturnType<DefaultVariables>, KubeObject> =>
  Array.isArray(answer);

// --- hooks ---------------------------------------------------------------------------------------------------------------------------

async function isHeldBeforeCreation(
  view: TopologyView,
  context: ReconcileContext,
  { lifecycle }: Tools,
  outcome: Outcome,
): Promise<boolean> {
  const { infrastructureRef, controlPlaneRef } = view.cluster.spec;
  if (!context.gates.enabled("RuntimeSDK") || infrastructureRef || controlPlaneRef) return false;
  const answer = await lifecycle.ask(view.cluster, "BeforeClusterCreate", {});
  if (!answer.blocked) {
    await writeMarks(view, ["AfterControlPlaneInitialized"], [], context);
    return false;
  }
  outcome.creating = true;
  outcome.blocking = [{ hook: "BeforeClusterCreate", message: answer.message, retryAfterSeconds: answer.retryAfterSeconds }];
  return true;
}

async function planOf(view: TopologyView, context: ReconcileContext, { hooks }: Tools): Promise<UpgradePlan> {
  const question = planQuestion(view);
  const name = view.blueprint.clusterClass.spec.upgrade?.external?.generateUpgradePlanExtension;
  if (!name || question.controlPlane === undefined || isAtTarget(question) || !context.gates.enabled("RuntimeSDK"))
    return upgradePlan(question);
  const { target, controlPlane, workers } = question;
  const { status: _status, ...cluster } = view.cluster;
  const answer = await hooks.callOne(
    "GenerateUpgradePlan",
    name,
    view.cluster,
    {
      cluster,
      fromControlPlaneKubernetesVersion: controlPlane,
      ...(workers === undefined ? {} : { fromWorkersKubernetesVersion: workers }),
      toKubernetesVersion: target,
    },
    { cacheKey: [view.cluster.metadata.uid, controlPlane, workers, target].join(" ") },
  );
  const versions = (steps: readonly { readonly version: string }[] | undefined): readonly string[] => (steps ?? []).map((s) => s.version);
  return upgradePlan(question, { controlPlane: versions(answer.controlPlaneUpgrades), workers: versions(answer.workersUpgrades) });
}

/** Asks hooks one after the other until everything is decided, then writes the marks that follow. */
async function versionsOf(
  view: TopologyView,
  plan: UpgradePlan,
  context: ReconcileContext,
  { lifecycle }: Tools,
): Promise<VersionDecision> {
  const facts = versionFacts(view, plan, context.gates.enabled("RuntimeSDK"));
  const answers = new Map<HookName, Answers extends ReadonlyMap<HookName, infer A> ? A : never>();
  for (;;) {
    const next = decideVersions(facts, answers);
    if (next.do === "ask") {
      answers.set(next.hook, await lifecycle.ask(view.cluster, next.hook, { ...next.fields, ...planFields(next.hook, plan) }));
      continue;
    }
    await writeMarks(view, next.mark, next.unmark, context);
    return next;
  }
}

/** Hooks that hold nothing in this Cluster back: after the start, and after an upgrade as a whole. */
async function finishedHooks(
  view: TopologyView,
  versions: VersionDecision,
  context: ReconcileContext,
  { lifecycle }: Tools,
  outcome: Outcome,
): Promise<void> {
  if (!context.gates.enabled("RuntimeSDK")) return;
  const pending = pendingHooksOf(view);
  if (pending.includes("AfterControlPlaneInitialized") && hasStatus(view.cluster.status?.conditions, "ControlPlaneInitialized", "True")) {
    await lifecycle.ask(view.cluster, "AfterControlPlaneInitialized", {});
    await writeMarks(view, [], ["AfterControlPlaneInitialized"], context);
  }
  if (!pending.includes("AfterClusterUpgrade") || pending.includes("AfterControlPlaneUpgrade") || pending.includes("AfterWorkersUpgrade"))
    return;
  const isQuiet = [...versions.pools.values()].every((p) => !p.upgrading && !p.pending && !p.deferred && !p.pendingCreate);
  if (!isStable(versions.controlPlane) || versions.controlPlane.waitingForWorkers || !isQuiet) return;
  const answer = await lifecycle.ask(view.cluster, "AfterClusterUpgrade", { kubernetesVersion: view.topology.version });
  if (answer.blocked)
    outcome.blocking = [
      ...outcome.blocking,
      { hook: "AfterClusterUpgrade", message: answer.message, retryAfterSeconds: answer.retryAfterSeconds },
    ];
  else await writeMarks(view, [], ["AfterClusterUpgrade"], context);
}

// --- status --------------------------------------------------------------------------------------------------------------------------

async function writeOutcome(cluster: Cluster, { client, clock }: ReconcileContext, outcome: Outcome): Promise<void> {
  const finding = topologyReconciled(outcome);
  const steps = (versions: readonly string[]) => (versions.length > 0 ? versions.map((version) => ({ version })) : undefined);
  const { plan } = outcome;
  await writeStatus(client, clusterResource, cluster, ({ status, metadata }) => ({
    ...status,
    ...(plan
      ? {
          ...withPlan("controlPlane", status?.controlPlane, steps(plan.controlPlane)),
          ...withPlan("workers", status?.workers, steps(plan.workers)),
        }
      : {}),
    conditions: setConditions(status?.conditions, [finding], timestamp(clock.nowMs()), metadata.generation),
  }));
}

/** The counters belong to the Cluster controller; only the plan is ours. */
function withPlan(name: string, counters: { readonly upgradePlan?: unknown } | undefined, upgradePlan: object | undefined): object {
  if (upgradePlan === undefined && counters?.upgradePlan === undefined) return {};
  return { [name]: { ...counters, upgradePlan } };
}

// --- which keys a change runs --------------------------------------------------------------------------------------------------------

/** Status is news only as far as it is read here. */
function isNews(change: Change<Cluster>): boolean {
  if (change.type !== "updated") return true;
  const { old, object } = change;
  const seen = ({ metadata, spec, status }: Cluster): object => ({
    spec,
    labels: metadata.labels,
    annotations: metadata.annotations,
    deleting: metadata.deletionTimestamp,
    initialized: hasStatus(status?.conditions, "ControlPlaneInitialized", "True"),
  });
  return !sameJson(seen(old), seen(object));
}

const ownedCluster = ({ metadata }: KubeObject): readonly ObjectKey[] => {
  const name = metadata.labels?.[clusterTopologyOwnedLabel] === undefined ? undefined : metadata.labels[clusterNameLabel];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
};

function machineIsNews(change: Change): boolean {
  if (change.type !== "updated") return change.type === "deleted";
  const seen = (object: KubeObject): object => {
    const { spec, status } = object as KubeObject & { spec?: { version?: string }; status?: { nodeInfo?: { kubeletVersion?: string } } };
    return { annotations: object.metadata.annotations, version: spec?.version, kubelet: status?.nodeInfo?.kubeletVersion };
  };
  return !sameJson(seen(change.old), seen(change.object));
}

const classKey = (namespace: string, name: string): string => `${namespace}/${name}`;
const byClass = index(clusterResource, "clusterClass", ({ metadata, spec }) =>
  spec.topology ? [classKey(spec.topology.classRef.namespace ?? metadata.namespace ?? "", spec.topology.classRef.name)] : [],
);
const clustersUsing = (cache: Cache, { metadata }: ClusterClass): readonly Cluster[] =>
  cache.by(byClass, classKey(metadata.namespace ?? "", metadata.name ?? ""));
const clustersOfClass = (object: ClusterClass, { cache }: WatchEnvironment): readonly ObjectKey[] =>
  clustersUsing(cache, object).map(keyOf);
