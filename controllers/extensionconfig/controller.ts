// ExtensionConfig: keeps the registry of extensions equal to the configs. Here: both roles, their watches, steps in order.
// Not here: the look at one config (refresh.ts), the first filling (warm-up.ts). Source: spec/runtime/client.md sections 2 and 3.
import { type ExtensionConfig, extensionConfigResource } from "../../api/extensionconfig.ts";
import { secretResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, keyText, metadataOf, type ObjectKey, parseKey } from "../../api/meta/resource.ts";
import type { CallTools } from "../../hooks/call.ts";
import type { DiscoveryRules } from "../../hooks/discovery.ts";
import type { Registry } from "../../hooks/registry.ts";
import type { Labels } from "../../api/meta/selector.ts";
import { type Cache, index } from "../../runtime/cache.ts";
import type { Client } from "../../runtime/client.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { type Controller, mapped, type ReconcileContext, type Result, type Source } from "../../runtime/controller.ts";
import { ensureFinalizer, removeFinalizer } from "../../runtime/patch.ts";
import { isPaused, pausedFinding } from "../lifecycle/paused.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { extensionConfigFinalizer, isBeingUpdated, machinesInNeed, namespaceMetadata, servesUpdateMachine } from "./deletion.ts";
import { notAccepted } from "./reader.ts";
import { type Refreshed, refresh, secretOf, withFinding } from "./refresh.ts";
import { startWarmUp } from "./warm-up.ts";

export interface ExtensionConfigOptions {
  readonly registry: Registry;
  readonly calls: CallTools;
  /** Live; for warm-up, which runs outside of reconciles. */
  readonly client: Client;
  /** `writer` (default): injects CAs, discovers, writes status. `reader`: uses what another manager discovered. */
  readonly role?: "writer" | "reader";
  readonly rules?: DiscoveryRules;
}

const FIELD_MANAGER = "extensionconfig";
const WARM_UP_RETRY_MS = 10_000;
/** A server that was updated may serve other hooks; upstream looks again with each resync of its caches. */
const REDISCOVER_MS = 600_000;

const secretMetadata = metadataOf(secretResource);
const bySecret = index(extensionConfigResource, "ca-secret", (c) => {
  const secret = secretOf(c);
  return secret === undefined ? [] : [secret];
});
interface Look {
  readonly version: string | undefined;
  readonly secretVersion: string | undefined;
  readonly atMs: number;
}

const secretVersionOf = (config: ExtensionConfig, cache: Cache): string | undefined => {
  const named = secretOf(config);
  return named === undefined ? undefined : cache.get(secretMetadata, parseKey(named))?.metadata.resourceVersion;
};

const keysOf = (configs: readonly KubeObject[]): readonly ObjectKey[] => configs.map(keyOf);

export function extensionConfigController(options: ExtensionConfigOptions): Controller<ExtensionConfig> {
  const { registry, role = "writer" } = options;
  const writes = role === "writer";
  /** What the last good look saw and left behind, by name: its own write is no reason to look again, a change of the Secret is. */
  const looked = new Map<string, Look>();
  const note = (config: ExtensionConfig, secretVersion: string | undefined): void => {
    looked.set(config.metadata.name ?? "", { version: config.metadata.resourceVersion, secretVersion, atMs: options.calls.clock.nowMs() });
  };
  const look = async (config: ExtensionConfig, client: Client): Promise<Refreshed> => {
    if (!writes) {
      const reason = notAccepted(config);
      return reason === undefined ? { config } : { config, error: new Error(reason) };
    }
    return refresh(config, { client, clock: options.calls.clock, calls: options.calls, rules: options.rules ?? {} });
  };
  const warmUp: Source = (enqueue, { cache }) =>
    startWarmUp({
      client: options.client.as(FIELD_MANAGER),
      clock: options.calls.clock,
      log: options.calls.log,
      registry,
      look: async (config) => {
        const secretVersion = writes ? secretVersionOf(config, cache) : undefined;
        const found = await look(config, options.client.as(FIELD_MANAGER));
        if (!found.error) note(found.config, secretVersion);
        return found;
      },
      onWarm: (configs) => {
        for (const config of configs) enqueue(keyOf(config));
      },
    });

  /** Registers what a look found. @throws the error of the look, so that it is repeated with back-off */
  const settle = ({ config, error }: Refreshed, secretVersion?: string): Result => {
    if (error) {
      looked.delete(config.metadata.name ?? "");
      registry.setUnready(config, error.message);
      // Another manager will change the config; there is nothing to try again here.
      if (!writes) return {};
      throw error;
    }
    registry.register(config);
    note(config, secretVersion);
    return writes ? { requeueAfterMs: REDISCOVER_MS } : {};
  };

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<Result> => {
    if (!registry.warm()) return { requeueAfterMs: WARM_UP_RETRY_MS };
    const config = context.cache.get(extensionConfigResource, key);
    if (!config) {
      registry.unregister(key.name);
      looked.delete(key.name);
      return {};
    }
    if (config.metadata.deletionTimestamp) return writes ? whenDeleting(config, registry, context) : unregistered(config, registry);
    if (!writes) return hasPausedCondition(config) ? {} : settle(await look(config, context.client));

    const last = looked.get(key.name);
    const newest = await prepared(config, context);
    if (isPaused(undefined, newest)) return {};
    const secretVersion = secretVersionOf(config, context.cache);
    const same = last?.version === config.metadata.resourceVersion && last?.secretVersion === secretVersion;
    const dueMs = last && same ? last.atMs + REDISCOVER_MS - context.clock.nowMs() : 0;
    if (last && dueMs > 0 && registry.isRegistered(key.name)) {
      looked.set(key.name, { ...last, version: newest.metadata.resourceVersion });
      return { requeueAfterMs: dueMs };
    }
    return settle(await look(newest, context.client), secretVersion);
  };

  return {
    name: "extensionconfig",
    resource: extensionConfigResource,
    fieldManager: FIELD_MANAGER,
    watches: writes
      ? [
          mapped(secretMetadata, (secret, { cache }) => keysOf(cache.by(bySecret, keyText(keyOf(secret))))),
          mapped(machineResource, (_machine, { cache }) => keysOf(deletingConfigs(cache)), updateEnded),
        ]
      : [],
    reads: [namespaceMetadata],
    sources: [warmUp],
    reconcile,
  };
}

/** Labels of namespaces from the cache, for the hook client. The extensionconfig controller watches them. */
export const namespaceLabels =
  (cache: () => Cache) =>
  async (namespace: string): Promise<Labels | undefined> => {
    const found = cache().get(namespaceMetadata, { namespace: "", name: namespace });
    return found && (found.metadata.labels ?? {});
  };

const deletingConfigs = (cache: Cache): readonly ExtensionConfig[] =>
  cache.list(extensionConfigResource).filter((c) => c.metadata.deletionTimestamp !== undefined);

/** The end of an update is what a deleted config waits for. */
const updateEnded = (change: { readonly type: string; readonly object: Machine; readonly old?: Machine }): boolean => {
  if (change.type === "deleted") return isBeingUpdated(change.object);
  return change.type === "updated" && change.old !== undefined && isBeingUpdated(change.old) && !isBeingUpdated(change.object);
};

function unregistered(config: ExtensionConfig, registry: Registry): Result {
  registry.unregister(config.metadata.name ?? "");
  return {};
}

/** A config stays callable while Machines are in the middle of an update that only it can end. */
async function whenDeleting(config: ExtensionConfig, registry: Registry, context: ReconcileContext): Promise<Result> {
  const waiting = (config.metadata.finalizers ?? []).includes(extensionConfigFinalizer)
    ? machinesInNeed(config, context.cache.list(extensionConfigResource), context.cache)
    : [];
  if (waiting.length > 0) {
    const some = waiting.slice(0, 3).join(", ");
    const more = waiting.length > 3 ? ` and ${waiting.length - 3} more` : "";
    context.record(
      config,
      "Warning",
      "DeletionWaits",
      `Machines ${some}${more} are being updated by this extension; deletion goes on when they are done. Remove finalizer ${extensionConfigFinalizer} to delete at once.`,
    );
    return {};
  }
  registry.unregister(config.metadata.name ?? "");
  await removeFinalizer(context.client, extensionConfigResource, config, extensionConfigFinalizer);
  return {};
}

const hasPausedCondition = (config: ExtensionConfig): boolean => findCondition(config.status?.conditions, "Paused")?.status === "True";

/** The finalizer when it is needed, and what is thought of pausing. @returns the config as stored afterwards */
async function prepared(config: ExtensionConfig, { client, clock }: ReconcileContext): Promise<ExtensionConfig> {
  const kept = servesUpdateMachine(config)
    ? await ensureFinalizer(client, extensionConfigResource, config, extensionConfigFinalizer)
    : config;
  const told = findCondition(kept.status?.conditions, "Paused");
  const finding = pausedFinding(undefined, kept);
  if (told?.status === finding.status && told.message === finding.message) return kept;
  const status = (o: ExtensionConfig) => ({ ...o.status, conditions: withFinding(o, finding, clock) });
  return writeStatus(client, extensionConfigResource, kept, status);
}
