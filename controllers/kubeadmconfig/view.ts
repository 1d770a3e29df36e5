// What one reconcile of a KubeadmConfig knows. Here: the type, reading it, which case it is. Not here: doing it (init.ts, join.ts).
// Source: spec/controllers/kubeadmconfig.md section 2.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { clusterGroup } from "../../api/groups.ts";
import type { KubeadmConfig, KubeadmConfigStatus } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineControlPlaneLabel } from "../../api/names.ts";
import { type Finding, hasStatus } from "../../runtime/conditions.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

export interface ConfigView {
  /** Newest version known; a write of ours replaces it. */
  config: KubeadmConfig;
  readonly machine: Machine;
  readonly cluster: Cluster;
  readonly nowMs: number;
  /** Status fields and conditions that this run sets. */
  status: Partial<KubeadmConfigStatus>;
  findings: readonly Finding[];
  failed: boolean;
}

/** @returns nothing for a config without a Machine or a Cluster: it is not used yet, or not any more */
export function loadConfig(config: KubeadmConfig, { cache, clock }: ReconcileContext): ConfigView | undefined {
  const namespace = config.metadata.namespace ?? "";
  const owner = (config.metadata.ownerReferences ?? []).find((o) => o.kind === "Machine" && o.apiVersion.startsWith(`${clusterGroup}/`));
  const machine = owner && cache.get(machineResource, { namespace, name: owner.name });
  const cluster = machine && cache.get(clusterResource, { namespace, name: machine.spec.clusterName });
  if (!machine || !cluster) return undefined;
  return { config, machine, cluster, nowMs: clock.nowMs(), status: {}, findings: [], failed: false };
}

export type Case = "waitForInfrastructure" | "restore" | "done" | "beforeControlPlane" | "joinControlPlane" | "joinWorker";

/** First hit. A config is generated once: later changes of its spec never rewrite the data. */
export function caseOf({ config, machine, cluster }: ConfigView): Case {
  const created = config.status?.initialization?.dataSecretCreated === true;
  if (cluster.status?.initialization?.infrastructureProvisioned !== true) return "waitForInfrastructure";
  if (machine.spec.bootstrap.dataSecretName && !(created && config.status?.dataSecretName)) return "restore";
  if (created) return "done";
  if (!hasStatus(cluster.status?.conditions, "ControlPlaneInitialized", "True")) return "beforeControlPlane";
  return isControlPlane(machine) ? "joinControlPlane" : "joinWorker";
}

export const isControlPlane = (machine: Machine): boolean => machine.metadata.labels?.[machineControlPlaneLabel] !== undefined;
