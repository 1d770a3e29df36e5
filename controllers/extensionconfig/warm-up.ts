// Warm-up: the registry is filled before anybody uses it. Here: tries, and what happens when some config stays dead.
// Not here: the look at one config (refresh.ts, reader.ts). Source: spec/runtime/client.md section 2.2.
import { type ExtensionConfig, extensionConfigResource } from "../../api/extensionconfig.ts";
import type { Registry } from "../../hooks/registry.ts";
import type { Cancel, Clock } from "../../runtime/base/clock.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Client } from "../../runtime/client.ts";
import type { Refreshed } from "./refresh.ts";

const RETRY_MS = 2_000;
/** Upstream's manager exits then. Ours goes on without the dead ones: what they may serve waits, everything else works. */
const LIMIT_MS = 60_000;

export interface WarmUpTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** A look at one config; its error keeps the config out. */
  readonly look: (config: ExtensionConfig) => Promise<Refreshed>;
  /** The registry can be used. */
  readonly onWarm: (configs: readonly ExtensionConfig[]) => void;
}

/** Tries at once, then every 2 s, for 60 s. All good: all are registered. @returns a function that ends it */
export function startWarmUp({ client, clock, log, registry, look, onWarm }: WarmUpTools): () => void {
  const startedMs = clock.nowMs();
  let stopped = false;
  let cancel: Cancel = () => {};

  const attempt = async (): Promise<readonly Refreshed[]> => {
    const { items } = await client.list(extensionConfigResource);
    const sorted = [...items].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    const looked: Refreshed[] = [];
    for (const config of sorted)
      looked.push(await look(config).catch((e) => ({ config, error: e instanceof Error ? e : new Error(String(e)) })));
    return looked;
  };
  const finish = (looked: readonly Refreshed[]): void => {
    for (const { config, error } of looked) {
      const reason = error?.message ?? registering(registry, config);
      if (reason !== undefined) registry.setUnready(config, reason);
    }
    registry.endWarmUp();
    onWarm(looked.map((l) => l.config));
  };
  const run = async (): Promise<void> => {
    let looked: readonly Refreshed[] | undefined;
    let fault = "";
    try {
      looked = await attempt();
      fault = looked.flatMap(({ config, error }) => (error ? [`${config.metadata.name}: ${error.message}`] : [])).join("; ");
    } catch (e) {
      fault = e instanceof Error ? e.message : String(e);
    }
    if (stopped) return;
    // Without a list nobody knows which configs there are, so there is nothing to go on with.
    if (looked && (fault === "" || clock.nowMs() - startedMs >= LIMIT_MS)) {
      if (fault !== "") log.error("some ExtensionConfigs are not ready, hooks they may serve wait", { error: fault });
      return finish(looked);
    }
    log.warn("ExtensionConfigs are not ready, trying again", { error: fault });
    cancel = clock.after(RETRY_MS, () => void run());
  };
  void run();
  return () => {
    stopped = true;
    cancel();
  };
}

function registering(registry: Registry, config: ExtensionConfig): string | undefined {
  try {
    registry.register(config);
    return undefined;
  } catch (e) {
    return e instanceof Error ? e.message : String(e);
  }
}
