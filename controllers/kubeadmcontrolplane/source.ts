// What happens in workload clusters runs the control planes they belong to. Here: which of it matters. Not here: connections (../workload).
// Source: spec/controllers/kubeadmcontrolplane.md section 2; Nodes and Pods are ours, so that conditions follow at once.
import type { Node, Pod } from "../../api/core/index.ts";
import { keyText, type ObjectKey } from "../../api/meta/resource.ts";
import { nodeRoleControlPlaneLabel } from "../../api/names.ts";
import type { Cache } from "../../runtime/cache.ts";
import type { Source } from "../../runtime/controller.ts";
import type { WorkloadClusters, WorkloadEvent } from "../workload/seam.ts";

/** @param controlPlaneOf key of the control plane of a cluster, if it is one of ours */
export const workloadSource =
  (clusters: WorkloadClusters, graceMs: number, controlPlaneOf: (cache: Cache, cluster: ObjectKey) => readonly ObjectKey[]): Source =>
  (enqueue, { cache }) => {
    const seen = new Map<string, string>();
    return clusters.onEvent((event) => {
      if (matters(event, graceMs, seen)) controlPlaneOf(cache, event.cluster).forEach(enqueue);
    });
  };

function matters(event: WorkloadEvent, graceMs: number, seen: Map<string, string>): boolean {
  switch (event.type) {
    case "connected":
      return true;
    case "disconnected":
      for (const key of [...seen.keys()]) if (key.startsWith(`${keyText(event.cluster)}|`)) seen.delete(key);
      return true;
    case "probeFailing":
      return event.graceMs === graceMs;
    case "node": {
      const key = `${keyText(event.cluster)}|node/${event.node.metadata.name}`;
      if (event.node.metadata.labels?.[nodeRoleControlPlaneLabel] === undefined && !seen.has(key)) return false;
      return isNews(seen, key, event.gone ? undefined : nodeAspects(event.node));
    }
    case "controlPlanePod":
      return isNews(seen, `${keyText(event.cluster)}|pod/${event.pod.metadata.name}`, event.gone ? undefined : podAspects(event.pod));
  }
}

/** Heartbeats change objects without changing anything that is looked at. */
function isNews(seen: Map<string, string>, key: string, aspects: unknown): boolean {
  if (aspects === undefined) return seen.delete(key) || true;
  const text = JSON.stringify(aspects);
  if (seen.get(key) === text) return false;
  seen.set(key, text);
  return true;
}

const nodeAspects = ({ metadata, spec, status }: Node): unknown => [
  metadata.uid,
  metadata.labels?.[nodeRoleControlPlaneLabel],
  spec?.providerID,
  spec?.taints,
  status?.conditions?.find((c) => c.type === "Ready")?.status,
];

const podAspects = ({ metadata, status }: Pod): unknown => [
  metadata.uid,
  status?.phase,
  status?.conditions?.map((c) => [c.type, c.status]),
  status?.containerStatuses?.map((c) => [c.state?.waiting?.reason, c.state?.terminated?.reason, c.lastState?.terminated?.exitCode]),
];
