// Conditions of a Cluster. Pure: mirrors of its two objects, aggregates over its machines and sets, one summary.
// Not here: writing (status.ts). Source: spec/controllers/cluster.md section 10.
import type { Cluster } from "../../api/cluster.ts";
import type { Machine } from "../../api/machine.ts";
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import {
  because,
  type Check,
  type Finding,
  findCondition,
  firstHit,
  hasStatus,
  isFalse,
  isTrue,
  isUnknown,
} from "../../runtime/conditions.ts";
import { type Mirror, mirrored, reportedCondition } from "../contract/mirror.ts";
import { type AggregateSource, aggregate, type SummaryPart, summary } from "../summary/summary.ts";
import { type ClusterView, isDeleting } from "./view.ts";

/** While no probe was good and fewer failed, the condition stays what it was. */
const EARLY_FAILURES_MAX = 5;
/** A new Machine may take this long to say whether it is up to date. */
const UP_TO_DATE_PATIENCE_MS = 10_000;

/** Nothing = leave what is there. */
export function remoteConnectionProbe({ cluster, connection, nowMs }: ClusterView, graceMs: number): Finding | undefined {
  const { lastProbeSuccessMs, consecutiveFailures } = connection;
  if (lastProbeSuccessMs === 0 && consecutiveFailures < EARLY_FAILURES_MAX) {
    if (findCondition(cluster.status?.conditions, "RemoteConnectionProbe")) return undefined;
    return isFalse("RemoteConnectionProbe", "ProbeFailed", "Remote connection not established yet");
  }
  if (nowMs - lastProbeSuccessMs <= graceMs) return isTrue("RemoteConnectionProbe", "ProbeSucceeded");
  const since = lastProbeSuccessMs === 0 ? "probe never succeeded" : `probe last succeeded at ${timestamp(lastProbeSuccessMs)}`;
  return isFalse("RemoteConnectionProbe", "ProbeFailed", `Remote connection probe failed, ${since}`);
}

interface ReferenceView extends Mirror {
  readonly deleting: boolean;
  readonly hasTopology: boolean;
}

const kindOf = ({ referenced }: Mirror): string => referenced?.ref.kind ?? "Object";

const mirrorChecks: readonly Check<ReferenceView>[] = [
  (m) => !m.referenced && m.hasTopology && because("ObjectDoesNotExist", "Waiting for cluster topology to be reconciled"),
  (m) => !m.referenced && m.flag && because(m.good, "", "True"),
  (m) => m.referenced?.error && because("InternalError", m.referenced.error.message, "Unknown"),
  mirrored,
  (m) => m.deleting && m.flag && because("ObjectDeleted", `${kindOf(m)} has been deleted`),
  (m) => m.flag && because("ObjectDeleted", `${kindOf(m)} has been deleted while the Cluster still exists`),
  (m) => because("ObjectDoesNotExist", `${kindOf(m)} does not exist`),
];

const started = ({ cluster, status }: ClusterView) => ({ ...cluster.status?.initialization, ...status.initialization });
const referenceView = (view: ClusterView, mirror: Mirror): ReferenceView => ({
  ...mirror,
  deleting: isDeleting(view.cluster),
  hasTopology: view.cluster.spec.topology !== undefined,
});

export function infrastructureReady(view: ClusterView): Finding {
  const flag = started(view).infrastructureProvisioned === true;
  const mirror = { referenced: view.infrastructure, source: "Ready", good: "Ready", bad: "NotReady", flag };
  return firstHit("InfrastructureReady", mirrorChecks, referenceView(view, mirror)) ?? isTrue("InfrastructureReady", "Ready");
}

/** Nothing for a Cluster that has no control plane object and will have none. */
export function controlPlaneAvailable(view: ClusterView): Finding | undefined {
  if (!view.cluster.spec.controlPlaneRef && !view.cluster.spec.topology) return undefined;
  const flag = started(view).controlPlaneInitialized === true;
  const mirror = { referenced: view.controlPlane, source: "Available", good: "Available", bad: "NotAvailable", flag };
  return firstHit("ControlPlaneAvailable", mirrorChecks, referenceView(view, mirror)) ?? isTrue("ControlPlaneAvailable", "Available");
}

/** Once True it stays True. */
export function controlPlaneInitialized(view: ClusterView): Finding {
  const { cluster, controlPlane, descendants } = view;
  const type = "ControlPlaneInitialized";
  const isInitialized = cluster.spec.controlPlaneRef
    ? started(view).controlPlaneInitialized === true
    : descendants.controlPlaneMachines.some((m) => m.status?.nodeRef);
  if (isInitialized || hasStatus(cluster.status?.conditions, type, "True")) return isTrue(type, "Initialized");
  if (cluster.spec.topology && !cluster.spec.controlPlaneRef)
    return isUnknown(type, "ObjectDoesNotExist", "Waiting for cluster topology to be reconciled");
  if (!cluster.spec.controlPlaneRef)
    return isFalse(type, "NotInitialized", "Waiting for the first control plane machine to have status.nodeRef set");
  if (controlPlane?.error) return isUnknown(type, "InternalError", controlPlane.error.message);
  if (!controlPlane?.object) return isUnknown(type, "ObjectDoesNotExist", `${controlPlane?.ref.kind ?? "Control plane"} does not exist`);
  return isFalse(type, "NotInitialized", "Control plane not yet initialized");
}

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}
const sourcesOf = (objects: readonly WithConditions[], type: string): readonly AggregateSource[] =>
  objects.map((o) => ({ name: o.metadata.name ?? "", kind: o.kind, condition: findCondition(o.status?.conditions, type) }));

export function workersAvailable({ descendants }: ClusterView): Finding {
  const sources = sourcesOf(descendants.deployments, "Available");
  if (sources.length === 0) return isTrue("WorkersAvailable", "NoWorkers");
  const reasons = { good: "Available", bad: "NotAvailable", unknown: "AvailableUnknown" };
  return aggregate(sources, { type: "WorkersAvailable", kind: "MachineDeployment", sourceType: "Available", reasons });
}

export function machinesReady(type: string, machines: readonly Machine[]): Finding {
  if (machines.length === 0) return isTrue(type, "NoReplicas");
  const reasons = { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" };
  return aggregate(sourcesOf(machines, "Ready"), { type, kind: "Machine", sourceType: "Ready", reasons });
}

export function machinesUpToDate(type: string, machines: readonly Machine[], nowMs: number): Finding {
  const young = (m: Machine): boolean => nowMs - parseTimestamp(m.metadata.creationTimestamp ?? "") < UP_TO_DATE_PATIENCE_MS;
  const counted = machines.filter((m) => findCondition(m.status?.conditions, "UpToDate") || !young(m));
  if (counted.length === 0) return isTrue(type, "NoReplicas");
  const reasons = { good: "UpToDate", bad: "NotUpToDate", unknown: "UpToDateUnknown" };
  return aggregate(sourcesOf(counted, "UpToDate"), { type, kind: "Machine", sourceType: "UpToDate", reasons });
}

/** True when the control plane or one of the sets is; a control plane that does not report it is left out. */
function going(view: ClusterView, type: "RollingOut" | "ScalingUp" | "ScalingDown", objects: readonly WithConditions[]): Finding {
  const controlPlane = view.controlPlane?.object;
  const own = controlPlane && (reportedCondition(controlPlane, type) as unknown as Condition | undefined);
  const sources: readonly AggregateSource[] = [
    ...(controlPlane && own
      ? [{ name: controlPlane.metadata.name ?? "", kind: controlPlane.kind, isControlPlane: true, condition: own }]
      : []),
    ...sourcesOf(objects, type),
  ];
  const reasons = { good: `Not${type}`, bad: type, unknown: `${type}Unknown` };
  if (sources.length === 0) return isFalse(type, reasons.good);
  return aggregate(sources, { type, kind: "MachineDeployment", negative: true, reasons });
}

export const rollingOut = (view: ClusterView): Finding => going(view, "RollingOut", view.descendants.deployments);
const scaled = ({ descendants }: ClusterView): readonly WithConditions[] => [...descendants.deployments, ...descendants.standAloneSets];
export const scalingUp = (view: ClusterView): Finding => going(view, "ScalingUp", scaled(view));
export const scalingDown = (view: ClusterView): Finding => going(view, "ScalingDown", scaled(view));

export function remediating({ descendants }: ClusterView): Finding {
  const machines = [...descendants.controlPlaneMachines, ...descendants.workerMachines];
  const unhealthy = machines.filter((m) => hasStatus(m.status?.conditions, "HealthCheckSucceeded", "False"));
  const owned = unhealthy.filter((m) => hasStatus(m.status?.conditions, "OwnerRemediated", "False"));
  if (owned.length > 0) {
    const reasons = { good: "NotRemediating", bad: "Remediating", unknown: "Remediating" };
    const { message } = aggregate(sourcesOf(owned, "OwnerRemediated"), { type: "Remediating", kind: "Machine", reasons });
    return isTrue("Remediating", "Remediating", message);
  }
  if (unhealthy.length === 0) return isFalse("Remediating", "NotRemediating");
  const names = unhealthy.map((m) => m.metadata.name).join(", ");
  return isFalse(
    "Remediating",
    "NotRemediating",
    `${unhealthy.length === 1 ? "Machine" : "Machines"} ${names} not healthy (not to be remediated)`,
  );
}

export const deleting = (view: ClusterView): Finding =>
  isDeleting(view.cluster)
    ? isTrue("Deleting", view.deletion?.reason ?? "Deleting", view.deletion?.message ?? "Deletion started")
    : isFalse("Deleting", "NotDeleting");

const GONE = ["ObjectDeleted", "ObjectDoesNotExist"];
/** A topology that is only waiting for its turn does not make a cluster unavailable. */
const TOPOLOGY_FAULTS = ["ReconcileFailed", "ClusterClassNotReconciled"];

function availableParts(cluster: Cluster): readonly SummaryPart[] {
  const goneIsFine = (c: Condition) => (isDeleting(cluster) && GONE.includes(c.reason) ? ({ weight: "info", message: "" } as const) : {});
  return [
    { type: "Deleting", negative: true },
    { type: "RemoteConnectionProbe" },
    { type: "InfrastructureReady", override: goneIsFine },
    { type: "ControlPlaneAvailable", override: goneIsFine, optional: !cluster.spec.controlPlaneRef && !cluster.spec.topology },
    { type: "WorkersAvailable" },
    ...(cluster.spec.topology
      ? [
          {
            type: "TopologyReconciled",
            override: (c: Condition) =>
              c.status === "False" && !TOPOLOGY_FAULTS.includes(c.reason) ? ({ weight: "info", message: "" } as const) : {},
          },
        ]
      : []),
    ...(cluster.spec.availabilityGates ?? []).map((gate) => ({ type: gate.conditionType, negative: gate.polarity === "Negative" })),
  ];
}

/** @param conditions the other conditions of this run, laid over those that are stored */
export const available = (cluster: Cluster, conditions: readonly Condition[]): Finding =>
  summary("Available", availableParts(cluster), conditions, { good: "Available", bad: "NotAvailable", unknown: "AvailableUnknown" });
