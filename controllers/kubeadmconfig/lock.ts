// The init lock: of all control plane machines of a new cluster one runs `kubeadm init`. Here: taking and releasing it.
// Source: spec/controllers/kubeadmconfig.md section 3.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type ConfigMap, configMapResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { referenceTo } from "../ownership/owners.ts";

const INFORMATION_KEY = "lock-information";

const lockKey = (cluster: Cluster): ObjectKey => ({ namespace: cluster.metadata.namespace ?? "", name: `${cluster.metadata.name}-lock` });

/** Name of the Machine in a lock; empty when it cannot be read. */
export function holderOf(lock: ConfigMap): string {
  try {
    const parsed: unknown = JSON.parse(lock.data?.[INFORMATION_KEY] ?? "");
    const name = (parsed as { readonly machineName?: unknown }).machineName;
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}

/** @returns true when `machine` holds the lock afterwards. Any failure is "no": the caller comes back later */
export async function takeInitLock(cluster: Cluster, machine: Machine, { client, cache, log }: ReconcileContext): Promise<boolean> {
  const key = lockKey(cluster);
  try {
    const lock = await client.get(configMapResource, key);
    const holder = holderOf(lock);
    if (holder === machine.metadata.name) return true;
    const isAlive = cache.get(machineResource, { namespace: key.namespace, name: holder }) !== undefined;
    if (!isAlive) {
      log.info("the holder of the init lock is gone, the lock is released", { holder });
      await client.delete(configMapResource, key, { preconditions: { uid: lock.metadata.uid } });
    }
    return false;
  } catch (e) {
    if (!isNotFound(e)) return false;
  }
  try {
    await client.create<ConfigMap>(configMapResource, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        ...key,
        labels: { [clusterNameLabel]: cluster.metadata.name ?? "" },
        ownerReferences: [referenceTo(clusterResource, cluster)],
      },
      data: { [INFORMATION_KEY]: JSON.stringify({ machineName: keyOf(machine).name }) },
    });
    return true;
  } catch {
    return false;
  }
}

/** Failures do not matter: a lock left behind goes with the next join. */
export async function releaseInitLock(cluster: Cluster, { client, log }: ReconcileContext): Promise<void> {
  try {
    await client.delete(configMapResource, lockKey(cluster));
  } catch (e) {
    if (!isNotFound(e)) log.info("the init lock could not be released", { error: e instanceof Error ? e.message : String(e) });
  }
}
