// Deleting a Machine, stage after stage; each run goes as far as it can. Here: the stages, what each waits for, the Node's part.
// Not here: which Pod goes when (drain.ts), which volume counts (volumes.ts). Source: spec/controllers/machine.md section 6.
import { type Node, nodeResource } from "../../api/core/index.ts";
import { type Machine, type MachineStatus, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import {
  excludeNodeDrainingAnnotation,
  excludeWaitForNodeVolumeDetachAnnotation,
  machineFinalizer,
  preDrainDeleteHookAnnotationPrefix,
  preTerminateDeleteHookAnnotationPrefix,
} from "../../api/names.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { removeFinalizer } from "../../runtime/patch.ts";
import { contractKind, isTrueAt, textAt } from "../contract/contract.ts";
import { writeStatus } from "../lifecycle/status.ts";
import type { WorkloadCluster, WorkloadClusters } from "../workload/seam.ts";
import { decidePod } from "./drain.ts";
import { type DrainResult, drainNode, isUnreachable, podsOf } from "./drain-steps.ts";
import type { Referenced } from "../contract/read.ts";
import { clusterKeyOf, findNode, isControlPlane, isDeleting, type MachineView } from "./view.ts";
import { readVolumes, waitingVolumes } from "./volumes.ts";

/** Between two looks at a drain or at volumes; nothing in between starts one. */
const STAGE_RETRY_MS = 20_000;
const NODE_RETRY_MS = 2_000;

/** What a stage said last and until when that stands; in memory, a restart looks at once. */
export interface StageMemory {
  readonly stage: string;
  readonly untilMs: number;
  readonly message: string;
}

export interface DeletionTools {
  readonly workloadClusters: WorkloadClusters;
  /** By uid of the Machine. */
  readonly stages: Map<string, StageMemory>;
}

type TimeField = keyof NonNullable<MachineStatus["deletion"]>;

/** Runs once per stage; nothing = go on, else what this run ends with. */
type Stage = (view: MachineView, context: ReconcileContext, tools: DeletionTools, nodeName: string | undefined) => Promise<StepOutcome>;

const WAIT_FOR_EVENT = { stop: true } as const;

export async function deleteMachine(view: MachineView, context: ReconcileContext, tools: DeletionTools): Promise<StepOutcome> {
  view.deletion = { reason: "Deleting", message: "Deletion started" };
  const nodeName = await deletableNode(view, context, tools);
  const stages: readonly Stage[] =
    nodeName === undefined
      ? [preTerminate, infrastructure, bootstrap]
      : [preDrain, drain, volumes, preTerminate, infrastructure, bootstrap, node];
  for (const stage of stages) {
    const outcome = await stage(view, context, tools, nodeName);
    if (outcome) return outcome;
  }
  view.deletion = { reason: "DeletionCompleted", message: "Deletion completed" };
  tools.stages.delete(view.machine.metadata.uid ?? "");
  view.machine = await removeFinalizer(context.client, machineResource, view.machine, machineFinalizer);
  return undefined;
}

/** Name of the Node when it may be drained and deleted. @throws when that cannot be found out */
async function deletableNode(view: MachineView, context: ReconcileContext, tools: DeletionTools): Promise<string | undefined> {
  try {
    if (view.cluster.metadata.deletionTimestamp) return undefined;
    const nodeName = nodeNameOf(view, tools, context);
    if (nodeName === undefined) return undefined;
    return (await controlPlaneStays(view, context)) ? nodeName : undefined;
  } catch (e) {
    view.deletion = { reason: "InternalError", message: e instanceof Error ? e.message : String(e) };
    throw e;
  }
}

/** The Node of the Machine; without a nodeRef one last look by provider id. */
function nodeNameOf(view: MachineView, { workloadClusters }: DeletionTools, { log }: ReconcileContext): string | undefined {
  const known = view.machine.status?.nodeRef?.name ?? view.status.nodeRef?.name;
  const providerId = view.machine.spec.providerID ?? textAt(view.infrastructure?.object, "spec.providerID");
  if (known || !providerId) return known;
  try {
    const found = findNode(workloadClusters.get(clusterKeyOf(view.machine)), providerId);
    return found.state === "found" ? found.node.metadata.name : undefined;
  } catch (e) {
    log.info("no look at the Nodes before deletion", { error: e instanceof Error ? e.message : String(e) });
    return undefined;
  }
}

/** False when no control plane is left that could serve the Node's API. */
async function controlPlaneStays(view: MachineView, context: ReconcileContext): Promise<boolean> {
  const { cluster, machine } = view;
  const ref = cluster.spec.controlPlaneRef;
  if (ref) {
    const kind = contractKind(context.cache, ref);
    const key = { namespace: cluster.metadata.namespace ?? "", name: ref.name };
    try {
      const controlPlane = await context.client.get(kind.resource, key);
      if (controlPlane.metadata.deletionTimestamp) return false;
      if (isTrueAt(controlPlane, "status.externalManagedControlPlane")) return true;
    } catch (e) {
      if (isNotFound(e)) return false;
      throw e;
    }
  }
  const machines = context.cache.ofCluster(machineResource, clusterKeyOf(machine));
  return machines.some((m) => isControlPlane(m) && !isDeleting(m));
}

const hooksOf = (machine: Machine, prefix: string): readonly string[] =>
  Object.keys(machine.metadata.annotations ?? {})
    .filter((key) => key.startsWith(prefix))
    .sort();

/** Notes when a stage began, once. @returns the moment, RFC 3339 */
function noteStart(view: MachineView, field: TimeField): string {
  const known = view.machine.status?.deletion?.[field];
  if (known) return known;
  const now = timestamp(view.nowMs);
  view.status = { ...view.status, deletion: { ...view.machine.status?.deletion, ...view.status.deletion, [field]: now } };
  return now;
}

const preDrain: Stage = async (view) =>
  waitForHooks(view, preDrainDeleteHookAnnotationPrefix, "WaitingForPreDrainHook", "waitForPreDrainHookStartTime", "pre-drain");
const preTerminate: Stage = async (view) =>
  waitForHooks(
    view,
    preTerminateDeleteHookAnnotationPrefix,
    "WaitingForPreTerminateHook",
    "waitForPreTerminateHookStartTime",
    "pre-terminate",
  );

function waitForHooks(view: MachineView, prefix: string, reason: string, field: TimeField, what: string): StepOutcome {
  const hooks = hooksOf(view.machine, prefix);
  if (hooks.length === 0) return undefined;
  noteStart(view, field);
  view.deletion = { reason, message: `Waiting for ${what} hooks to succeed (hooks: ${hooks.join(",")})` };
  return WAIT_FOR_EVENT;
}

const isOver = (since: string | undefined, limitSeconds: number | undefined, nowMs: number): boolean =>
  since !== undefined && (limitSeconds ?? 0) > 0 && nowMs - parseTimestamp(since) > (limitSeconds ?? 0) * 1_000;

/** Draining and volume waits make no sense once the machine itself is going. */
const nodeMayBeServed = ({ machine, infrastructure: infra }: MachineView): boolean =>
  machine.status?.deletion?.waitForPreTerminateHookStartTime === undefined &&
  infra?.object !== undefined &&
  infra.object.metadata.deletionTimestamp === undefined;

const annotated = (machine: Machine, key: string): boolean => machine.metadata.annotations?.[key] !== undefined;

const drain: Stage = async (view, context, tools, nodeName) => {
  const { machine } = view;
  if (annotated(machine, excludeNodeDrainingAnnotation) || !nodeMayBeServed(view)) return undefined;
  if (isOver(machine.status?.deletion?.nodeDrainStartTime, machine.spec.deletion?.nodeDrainTimeoutSeconds, view.nowMs)) return undefined;
  const since = noteStart(view, "nodeDrainStartTime");
  await storeDeletionTimes(view, context);
  return remembered(view, tools, "DrainingNode", async () => {
    const found = liveNode(view, tools, nodeName);
    if (!found) return { done: true, message: "" };
    try {
      const result = await drainNode(view, found.workload, found.node, since, context);
      if (result.done)
        context.record(machine, "Normal", "SuccessfulDrainNode", `success draining Machine's node ${JSON.stringify(nodeName)}`);
      return result;
    } catch (e) {
      return failedStage(view, context, "FailedDrainNode", `error draining Machine's node "${nodeName}": ${textOf(e)}`);
    }
  });
};

const volumes: Stage = async (view, context, tools, nodeName) => {
  const { machine } = view;
  if (annotated(machine, excludeWaitForNodeVolumeDetachAnnotation) || !nodeMayBeServed(view)) return undefined;
  const limit = machine.spec.deletion?.nodeVolumeDetachTimeoutSeconds;
  if (isOver(machine.status?.deletion?.waitForNodeVolumeDetachStartTime, limit, view.nowMs)) return undefined;
  const since = noteStart(view, "waitForNodeVolumeDetachStartTime");
  return remembered(view, tools, "WaitingForVolumeDetach", async () => {
    try {
      const waiting = await volumesInUse(view, context, tools, nodeName);
      if (waiting.length === 0) {
        context.record(
          machine,
          "Normal",
          "NodeVolumesDetached",
          `success waiting for node volumes detaching Machine's node ${JSON.stringify(nodeName)}`,
        );
      }
      return {
        done: waiting.length === 0,
        message: `Waiting for Node volumes to be detached (started at ${since}): ${waiting.join(", ")}`,
      };
    } catch (e) {
      return failedStage(
        view,
        context,
        "FailedWaitForVolumeDetach",
        `error waiting for volumes of node "${nodeName}" to be detached: ${textOf(e)}`,
      );
    }
  });
};

async function volumesInUse(
  view: MachineView,
  context: ReconcileContext,
  tools: DeletionTools,
  nodeName: string | undefined,
): Promise<readonly string[]> {
  const found = liveNode(view, tools, nodeName);
  if (!found || isUnreachable(found.node)) return [];
  const pods = await podsOf(found.workload.client, nodeName ?? "");
  const drainView = {
    machine: view.machine,
    cluster: view.cluster,
    pods,
    rules: [],
    daemonSets: new Set(
      pods.flatMap((p) =>
        (p.metadata.ownerReferences ?? []).filter((o) => o.kind === "DaemonSet").map((o) => `${p.metadata.namespace}/${o.name}`),
      ),
    ),
    namespaceLabels: new Map(),
    unreachable: false,
    nowMs: view.nowMs,
  };
  const skipped = pods.filter((pod) => decidePod(pod, drainView).behavior === "Skip");
  const considerAttachments = context.gates.enabled("MachineWaitForVolumeDetachConsiderVolumeAttachments");
  return waitingVolumes(await readVolumes(found.workload, found.node, considerAttachments, skipped));
}

/** @throws NotConnected */
function liveNode(
  { machine }: MachineView,
  { workloadClusters }: DeletionTools,
  nodeName: string | undefined,
): { readonly workload: WorkloadCluster; readonly node: Node } | undefined {
  const workload = workloadClusters.get(clusterKeyOf(machine));
  const found = workload.nodes.byName(nodeName ?? "");
  return found && { workload, node: found };
}

function failedStage({ machine }: MachineView, context: ReconcileContext, reason: string, message: string): DrainResult {
  context.record(machine, "Warning", reason, message);
  return { done: false, message };
}

/** Runs a stage at most every 20 s; in between its last word stands. */
async function remembered(view: MachineView, tools: DeletionTools, reason: string, look: () => Promise<DrainResult>): Promise<StepOutcome> {
  const uid = view.machine.metadata.uid ?? "";
  const memory = tools.stages.get(uid);
  if (memory?.stage === reason && memory.untilMs > view.nowMs) {
    view.deletion = { reason, message: memory.message };
    return { requeueAfterMs: memory.untilMs - view.nowMs, ...WAIT_FOR_EVENT };
  }
  const { done, message } = await look();
  if (done) return undefined;
  view.deletion = { reason, message };
  tools.stages.set(uid, { stage: reason, untilMs: view.nowMs + STAGE_RETRY_MS, message });
  return { requeueAfterMs: STAGE_RETRY_MS, ...WAIT_FOR_EVENT };
}

/** The start of a drain is stored before the first eviction, so that its limit survives a crash. */
async function storeDeletionTimes(view: MachineView, { client }: ReconcileContext): Promise<void> {
  const { deletion } = view.status;
  if (!deletion) return;
  view.machine = await writeStatus(client, machineResource, view.machine, (newest) => ({
    ...newest.status,
    deletion: { ...newest.status?.deletion, ...deletion },
  }));
}

const infrastructure: Stage = async (view, context) =>
  goneReference(view, view.infrastructure, "WaitingForInfrastructureDeletion", context);
const bootstrap: Stage = async (view, context) => goneReference(view, view.bootstrap, "WaitingForBootstrapDeletion", context);

/** Deletes the object once and waits for its end; only "not found" of the server counts. */
async function goneReference(
  view: MachineView,
  referenced: Referenced | undefined,
  reason: string,
  { client }: ReconcileContext,
): Promise<StepOutcome> {
  if (!referenced || referenced.missing) return undefined;
  const what = `${referenced.ref.kind} ${referenced.ref.name}`;
  if (!referenced.object || !referenced.kind) {
    view.deletion = { reason: "InternalError", message: `${what} could not be read: ${referenced.error?.message}` };
    throw referenced.error ?? new Error(`${what} could not be read`);
  }
  if (!referenced.object.metadata.deletionTimestamp) {
    try {
      await client.delete(referenced.kind.resource, keyOf(referenced.object));
    } catch (e) {
      if (!isNotFound(e)) throw e;
    }
  }
  view.deletion = { reason, message: `Waiting for ${referenced.ref.kind} to be deleted` };
  return WAIT_FOR_EVENT;
}

const node: Stage = async (view, context, tools, nodeName) => {
  const { machine } = view;
  try {
    await tools.workloadClusters.get(clusterKeyOf(machine)).client.delete(nodeResource, { namespace: "", name: nodeName ?? "" });
    return undefined;
  } catch (e) {
    if (isNotFound(e)) return undefined;
    const message = `error deleting Machine's node "${nodeName}": ${textOf(e)}`;
    context.record(machine, "Warning", "FailedDeleteNode", message);
    if (isOver(machine.metadata.deletionTimestamp, machine.spec.deletion?.nodeDeletionTimeoutSeconds, view.nowMs)) return undefined;
    view.deletion = { reason: "DeletingNode", message };
    return { requeueAfterMs: NODE_RETRY_MS, ...WAIT_FOR_EVENT };
  }
};

const textOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
