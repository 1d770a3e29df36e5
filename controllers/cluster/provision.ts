// What a Cluster takes from its infrastructure and its control plane, as pure functions over contract fields.
// Not here: reading and writing (view.ts, steps.ts). Source: spec/controllers/cluster.md sections 3 to 5.
import { type Cluster, type ClusterSpec, type ClusterStatus, clusterResource } from "../../api/cluster.ts";
import { clusterNameLabel } from "../../api/names.ts";
import { at, type Fields, isTrueAt, listAt, numberAt, textAt, type Unstructured } from "../contract/contract.ts";
import type { Referenced } from "../contract/read.ts";
import { referenceTo, withOwner } from "../ownership/owners.ts";
import { type ClusterView, hasEndpoint, isDeleting } from "./view.ts";

const MISSING_RETRY_MS = 30_000;

export interface Taken {
  readonly endpoint?: NonNullable<ClusterSpec["controlPlaneEndpoint"]>;
  readonly status: Partial<ClusterStatus>;
  /** Reason of the event when a flag turns true for the first time. */
  readonly event?: "InfrastructureReady" | "ControlPlaneInitialized";
  readonly requeueAfterMs?: number;
  readonly failure?: string;
}

const nothing: Taken = { status: {} };
const nameOf = ({ ref }: Referenced): string => `${ref.kind} ${ref.name}`;
type Flag = "infrastructureProvisioned" | "controlPlaneInitialized";

/** Why nothing can be taken now; nothing when the object offers itself. */
function notNow(view: ClusterView, referenced: Referenced, flag: Flag, offered: (object: Unstructured) => boolean): Taken | undefined {
  const { cluster } = view;
  const before = cluster.status?.initialization?.[flag] === true;
  if (referenced.error) return { ...nothing, failure: `${nameOf(referenced)} could not be read: ${referenced.error.message}` };
  if (!referenced.object) {
    if (isDeleting(cluster)) return nothing;
    return before
      ? { ...nothing, failure: `${nameOf(referenced)} has been deleted while the Cluster still exists` }
      : { ...nothing, requeueAfterMs: MISSING_RETRY_MS };
  }
  if (referenced.object.metadata.deletionTimestamp) return nothing;
  return before || offered(referenced.object) ? undefined : nothing;
}

const endpointOf = (object: Unstructured): Taken["endpoint"] => {
  const host = textAt(object, "spec.controlPlaneEndpoint.host");
  const port = numberAt(object, "spec.controlPlaneEndpoint.port");
  return host && port ? { host, port } : undefined;
};

const flagged = (view: ClusterView, flag: Flag): Partial<ClusterStatus> => ({
  initialization: { ...view.cluster.status?.initialization, ...view.status.initialization, [flag]: true },
});

export function planInfrastructure(view: ClusterView): Taken {
  const { cluster, infrastructure } = view;
  if (!infrastructure)
    return isDeleting(cluster) || cluster.spec.topology ? nothing : { status: flagged(view, "infrastructureProvisioned") };
  const v1beta1 = infrastructure.kind?.contract === "v1beta1";
  const waiting = notNow(view, infrastructure, "infrastructureProvisioned", (o) =>
    isTrueAt(o, v1beta1 ? "status.ready" : "status.initialization.provisioned"),
  );
  if (waiting || !infrastructure.object) return waiting ?? nothing;
  return {
    endpoint: hasEndpoint(cluster) ? undefined : endpointOf(infrastructure.object),
    status: { ...flagged(view, "infrastructureProvisioned"), failureDomains: failureDomainsOf(infrastructure.object) },
    event: cluster.status?.initialization?.infrastructureProvisioned ? undefined : "InfrastructureReady",
  };
}

export function planControlPlane(view: ClusterView): Taken {
  const { cluster, controlPlane } = view;
  if (!controlPlane) return nothing;
  const v1beta1 = controlPlane.kind?.contract === "v1beta1";
  const waiting = notNow(view, controlPlane, "controlPlaneInitialized", (o) =>
    isTrueAt(o, v1beta1 ? "status.initialized" : "status.initialization.controlPlaneInitialized"),
  );
  if (waiting || !controlPlane.object) return waiting ?? nothing;
  return {
    endpoint: hasEndpoint(cluster) ? undefined : endpointOf(controlPlane.object),
    status: flagged(view, "controlPlaneInitialized"),
    event: cluster.status?.initialization?.controlPlaneInitialized ? undefined : "ControlPlaneInitialized",
  };
}

/** Sorted by name; both forms of the contract, a list and a map by name. Nothing when there is none. */
function failureDomainsOf(object: Unstructured): ClusterStatus["failureDomains"] {
  const value = at(object, "status.failureDomains");
  const list: readonly Fields[] = Array.isArray(value)
    ? listAt(object, "status.failureDomains")
    : Object.entries((value ?? {}) as Record<string, Fields>).map(([name, fields]) => ({ ...fields, name }));
  const sorted = [...list].sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  return sorted.length === 0 ? undefined : (sorted as unknown as ClusterStatus["failureDomains"]);
}

/** Merge patch that ties a referenced object to its Cluster; nothing when it is tied already.
 *  With a topology the Cluster is its controller, without only an owner. */
export function ownershipPatch(cluster: Cluster, object: Unstructured): object | undefined {
  const reference = {
    ...referenceTo(clusterResource, cluster),
    ...(cluster.spec.topology ? { controller: true, blockOwnerDeletion: true } : {}),
  };
  const owners = withOwner(object.metadata.ownerReferences, reference);
  const labelled = object.metadata.labels?.[clusterNameLabel] === cluster.metadata.name;
  if (labelled && owners === object.metadata.ownerReferences) return undefined;
  return {
    metadata: {
      resourceVersion: object.metadata.resourceVersion,
      labels: { [clusterNameLabel]: cluster.metadata.name },
      ownerReferences: owners,
    },
  };
}
