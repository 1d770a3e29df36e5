// The reading role: whether a config that another manager discovers may be used here. Pure. Source: spec/runtime/client.md section 2.
import type { ExtensionConfig } from "../../api/extensionconfig.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { secretOf } from "./refresh.ts";

/** Why a config is not accepted; undefined when it is. A bundle is asked for only when one is to be injected: a public certificate needs none. */
export function notAccepted(config: ExtensionConfig): string | undefined {
  if (!config.spec.clientConfig.caBundle && secretOf(config) !== undefined) return "waiting for the CA bundle to be injected";
  const discovered = findCondition(config.status?.conditions, "Discovered");
  if (!discovered) return "waiting for its first discovery";
  if (discovered.status !== "True") return discovered.message;
  if (discovered.observedGeneration !== config.metadata.generation) return "waiting for the discovery of its newest generation";
  return undefined;
}
