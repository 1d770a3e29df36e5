// status.controlPlane and status.workers: how many machines, in which state. Pure. Source: spec/controllers/cluster.md sections 3 and 11.
import type { ClusterStatus } from "../../api/cluster.ts";
import type { Machine } from "../../api/machine.ts";
import type { StatusVersion } from "../../api/shared.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { listAt, numberAt, type Unstructured } from "../contract/contract.ts";
import type { ClusterView } from "./view.ts";

type Counters = NonNullable<ClusterStatus["controlPlane"]>;
const names = ["desiredReplicas", "replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] as const;
type Counted = { readonly [K in (typeof names)[number]]?: number } & { readonly versions?: readonly StatusVersion[] };

/** Of a control plane object; fields it does not tell stay absent. */
function ofControlPlaneObject(object: Unstructured, v1beta1: boolean): Counted {
  const desiredReplicas = numberAt(object, "spec.replicas");
  const unavailable = numberAt(object, "status.unavailableReplicas");
  return {
    desiredReplicas,
    replicas: numberAt(object, "status.replicas"),
    readyReplicas: numberAt(object, "status.readyReplicas"),
    availableReplicas: v1beta1
      ? desiredReplicas === undefined || unavailable === undefined
        ? undefined
        : Math.max(desiredReplicas - unavailable, 0)
      : numberAt(object, "status.availableReplicas"),
    upToDateReplicas: numberAt(object, v1beta1 ? "status.updatedReplicas" : "status.upToDateReplicas"),
    versions: listAt(object, "status.versions") as unknown as readonly StatusVersion[],
  };
}

const ofMachine = ({ spec, status }: Machine): Counted => ({
  desiredReplicas: 1,
  replicas: 1,
  readyReplicas: hasStatus(status?.conditions, "Ready", "True") ? 1 : 0,
  availableReplicas: hasStatus(status?.conditions, "Available", "True") ? 1 : 0,
  upToDateReplicas: hasStatus(status?.conditions, "UpToDate", "True") ? 1 : 0,
  versions: spec.version === undefined ? [] : [{ version: spec.version, replicas: 1 }],
});

interface WithReplicas {
  readonly spec: { readonly replicas?: number };
  readonly status?: Omit<Counted, "desiredReplicas">;
}
const ofSet = ({ spec, status }: WithReplicas): Counted => ({
  desiredReplicas: spec.replicas,
  replicas: status?.replicas,
  readyReplicas: status?.readyReplicas,
  availableReplicas: status?.availableReplicas,
  upToDateReplicas: status?.upToDateReplicas,
  versions: status?.versions,
});

/** A sum with an absent summand counts the rest; only a sum of nothing but absent ones is absent. */
function summed(all: readonly Counted[]): Counters | undefined {
  const counters: { -readonly [K in keyof Counters]: Counters[K] } = {};
  for (const name of names) {
    const known = all.map((c) => c[name]).filter((n) => n !== undefined);
    if (known.length > 0) counters[name] = known.reduce((a, b) => a + b, 0);
  }
  const versions = mergedVersions(all.flatMap((c) => c.versions ?? []));
  if (versions.length > 0) counters.versions = versions;
  return Object.keys(counters).length === 0 ? undefined : counters;
}

/** Ascending; texts that are no versions come by text. */
function mergedVersions(versions: readonly StatusVersion[]): readonly StatusVersion[] {
  const replicas = new Map<string, number>();
  for (const v of versions) replicas.set(v.version, (replicas.get(v.version) ?? 0) + (v.replicas ?? 0));
  return [...replicas].sort(([a], [b]) => compareVersions(a, b)).map(([version, count]) => ({ version, replicas: count }));
}

function compareVersions(a: string, b: string): number {
  const numbers = (text: string): readonly number[] => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `upgradePlan` belongs to the topology controller and stays. */
export function controlPlaneCounters({ cluster, controlPlane, descendants }: ClusterView): ClusterStatus["controlPlane"] {
  const upgradePlan = cluster.status?.controlPlane?.upgradePlan;
  const kept = upgradePlan ? { upgradePlan } : undefined;
  if (!cluster.spec.controlPlaneRef) {
    const counted = descendants.controlPlaneMachines.length === 0 ? undefined : summed(descendants.controlPlaneMachines.map(ofMachine));
    return counted || kept ? { ...counted, ...kept } : undefined;
  }
  if (controlPlane?.error) return cluster.status?.controlPlane;
  if (!controlPlane?.object) return kept;
  const counted = summed([ofControlPlaneObject(controlPlane.object, controlPlane.kind?.contract === "v1beta1")]);
  return counted || kept ? { ...counted, ...kept } : undefined;
}

export function workerCounters({ cluster, descendants }: ClusterView): ClusterStatus["workers"] {
  const { deployments, standAloneSets, workerMachines } = descendants;
  const standAlone = workerMachines.filter((m) => !(m.metadata.ownerReferences ?? []).some((o) => o.controller));
  const upgradePlan = cluster.status?.workers?.upgradePlan;
  const counted = summed([...deployments.map(ofSet), ...standAloneSets.map(ofSet), ...standAlone.map(ofMachine)]);
  return counted || upgradePlan ? { ...counted, ...(upgradePlan ? { upgradePlan } : {}) } : undefined;
}
