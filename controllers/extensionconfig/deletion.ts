// Deleting an ExtensionConfig while Machines are being updated by it. Here: who still needs it (pure over the cache).
// Source: spec/runtime/client.md section 10, our own column.
import type { ExtensionConfig } from "../../api/extensionconfig.ts";
import { namespaceResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, keyText, metadataOf } from "../../api/meta/resource.ts";
import { selects, selectsAll } from "../../hooks/selector.ts";
import { type Cache, index } from "../../runtime/cache.ts";
import { hasPendingHook, UPDATE_MACHINE_HOOK } from "../inplace/marks.ts";

/** Keeps a config that serves UpdateMachine until no Machine waits for it. */
export const extensionConfigFinalizer = "extensionconfig.runtime.cluster.x-k8s.io";

export const namespaceMetadata = metadataOf(namespaceResource);

export const isBeingUpdated = (machine: Machine): boolean => hasPendingHook(machine, UPDATE_MACHINE_HOOK);

const updating = index(machineResource, "update-machine-pending", (m) => (isBeingUpdated(m) ? ["pending"] : []));

export const servesUpdateMachine = (config: ExtensionConfig): boolean =>
  (config.status?.handlers ?? []).some((h) => h.requestHook.hook === UPDATE_MACHINE_HOOK);

/** Machines that wait for this config and for no other, as `namespace/name`, sorted.
 *  @param others configs that live on; a namespace that one of them serves as well does not need this one */
export function machinesInNeed(config: ExtensionConfig, others: readonly ExtensionConfig[], cache: Cache): readonly string[] {
  const heirs = others.filter((o) => o !== config && !o.metadata.deletionTimestamp && servesUpdateMachine(o));
  return cache
    .by(updating, "pending")
    .filter((m) => serves(config, m, cache) && !heirs.some((heir) => serves(heir, m, cache)))
    .map((m) => keyText(keyOf(m)));
}

function serves(config: ExtensionConfig, machine: Machine, cache: Cache): boolean {
  const { namespaceSelector } = config.spec;
  if (selectsAll(namespaceSelector)) return true;
  const namespace = cache.get(namespaceMetadata, { namespace: "", name: machine.metadata.namespace ?? "" });
  return namespace !== undefined && selects(namespaceSelector, namespace.metadata.labels ?? {});
}
