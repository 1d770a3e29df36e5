// Changes of a ClusterClass that Clusters which use it would not survive. Here: rules 13 to 16. Source: spec/api/clusterclass.md section 5.
import { clusterResource } from "../api/cluster.ts";
import { type FieldError, forbidden, keyed } from "../schema/field.ts";
import { isHealthCheckDefined } from "./checks.ts";
import { autoscalerErrors, classText, topologyOf } from "./cluster-topology.ts";
import { topologyVersion } from "./cluster-version.ts";
import { at, listAt, textAt } from "./draft.ts";
import type { Draft, ListRead, WebhookContext } from "./rule-set.ts";

/** Of any namespace: a Cluster may use a class of another one. */
export const clustersRead: ListRead = { resource: clusterResource };

/** Clusters that use a class. */
export function clustersOf(clusterClass: Draft, { listed }: WebhookContext): readonly Draft[] {
  const key = `${clusterClass.metadata.namespace ?? ""}/${clusterClass.metadata.name ?? ""}`;
  return (listed(clustersRead) as readonly Draft[]).filter((cluster) => classText(cluster) === key);
}

const nameOf = ({ metadata }: Draft): string => `${metadata.namespace}/${metadata.name}`;
const classesOf = (object: unknown, field: string): readonly unknown[] => listAt(object, "spec", "workers", field);
const entriesOf = (cluster: Draft, field: string): readonly unknown[] => listAt(topologyOf(cluster), "workers", field);
const className = (entry: unknown): string => textAt(entry, "class") ?? "";

function versionErrors(after: Draft, clusters: readonly Draft[]): readonly FieldError[] {
  const versions = listAt(after, "spec", "kubernetesVersions");
  if (versions.length === 0) return [];
  return clusters
    .filter((cluster) => !versions.includes(topologyVersion(cluster)))
    .map((cluster) => forbidden("spec.kubernetesVersions", `must keep ${topologyVersion(cluster)}, which Cluster ${nameOf(cluster)} has`));
}

function removedErrors(before: Draft, after: Draft, clusters: readonly Draft[], field: string): readonly FieldError[] {
  const kept = new Set(classesOf(after, field).map(className));
  const removed = new Set(
    classesOf(before, field)
      .map(className)
      .filter((name) => !kept.has(name)),
  );
  return clusters.flatMap((cluster) =>
    entriesOf(cluster, field)
      .filter((entry) => removed.has(className(entry)))
      .map((entry) => forbidden(`spec.workers.${field}`, `must keep class ${className(entry)}, which Cluster ${nameOf(cluster)} uses`)),
  );
}

/** Health checks that are on in a Cluster and defined in the class only. */
const needsClass = (healthCheck: unknown): boolean => at(healthCheck, "enabled") === true && !isHealthCheckDefined(healthCheck);

const isDropped = (before: unknown, after: unknown): boolean =>
  isHealthCheckDefined(at(before, "healthCheck")) && !isHealthCheckDefined(at(after, "healthCheck"));

function droppedError(path: string, users: readonly Draft[]): readonly FieldError[] {
  return users.length === 0
    ? []
    : [forbidden(`${path}.healthCheck`, `must stay, since Clusters ${users.map(nameOf).join(", ")} rely on it`)];
}

function healthErrors(before: Draft, after: Draft, clusters: readonly Draft[]): readonly FieldError[] {
  const ofControlPlane = isDropped(at(before, "spec", "controlPlane"), at(after, "spec", "controlPlane"))
    ? clusters.filter((cluster) => needsClass(at(topologyOf(cluster), "controlPlane", "healthCheck")))
    : [];
  const field = "machineDeployments";
  const ofWorkers = classesOf(after, field).flatMap((worker) => {
    const old = classesOf(before, field).find((one) => className(one) === className(worker));
    if (old === undefined || !isDropped(old, worker)) return [];
    const isUser = (cluster: Draft): boolean =>
      entriesOf(cluster, field).some((entry) => className(entry) === className(worker) && needsClass(at(entry, "healthCheck")));
    return droppedError(keyed(`spec.workers.${field}`, className(worker)), clusters.filter(isUser));
  });
  return [...droppedError("spec.controlPlane", ofControlPlane), ...ofWorkers];
}

export function useErrors(before: Draft, after: Draft, context: WebhookContext): readonly FieldError[] {
  const clusters = clustersOf(before, context);
  return [
    ...versionErrors(after, clusters),
    ...removedErrors(before, after, clusters, "machineDeployments"),
    ...removedErrors(before, after, clusters, "machinePools"),
    ...healthErrors(before, after, clusters),
    ...clusters.flatMap((cluster) => autoscalerErrors(cluster, after)),
  ];
}
