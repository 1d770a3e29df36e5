// One look at an ExtensionConfig: CA from a Secret, discovery, status. Here: the steps of the writing role, for warm-up and for each run.
// Not here: when they run, the registry (controller.ts, warm-up.ts). Source: spec/runtime/client.md sections 2.1 and 3.
import type { ExtensionConfig } from "../../api/extensionconfig.ts";
import { extensionConfigResource } from "../../api/extensionconfig.ts";
import { type Secret, secretResource } from "../../api/core/index.ts";
import { keyOf, parseKey } from "../../api/meta/resource.ts";
import { injectCAFromSecretAnnotation } from "../../api/names.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { CallTools } from "../../hooks/call.ts";
import { type DiscoveryRules, discover } from "../../hooks/discovery.ts";
import { type Clock, timestamp } from "../../runtime/base/clock.ts";
import type { Client } from "../../runtime/client.ts";
import { type Finding, isFalse, isTrue, setConditions } from "../../runtime/conditions.ts";
import { writeStatus } from "../lifecycle/status.ts";

export interface RefreshTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly calls: CallTools;
  readonly rules: DiscoveryRules;
}

export interface Refreshed {
  /** As stored afterwards. */
  readonly config: ExtensionConfig;
  /** Why it cannot be registered. */
  readonly error?: Error;
}

const CA_KEY = "ca.crt";

/** Injects the CA, asks for the handlers, writes the outcome into status. A fault ends up in the condition and in the answer, never as an exception
 *  of its own; errors of the API server are thrown. */
export async function refresh(config: ExtensionConfig, tools: RefreshTools): Promise<Refreshed> {
  let newest = config;
  try {
    newest = await injectCa(config, tools.client);
    const handlers = await discover(tools.calls, newest, tools.rules);
    const status = (o: ExtensionConfig) => ({ ...o.status, handlers, conditions: withFinding(o, isTrue("Discovered"), tools.clock) });
    return { config: await writeStatus(tools.client, extensionConfigResource, newest, status) };
  } catch (e) {
    const error = e instanceof Error ? e : new Error(String(e));
    const finding = isFalse("Discovered", "NotDiscovered", `Error in discovery: ${error.message}`);
    const status = (o: ExtensionConfig) => ({ ...o.status, conditions: withFinding(o, finding, tools.clock) });
    return { config: await writeStatus(tools.client, extensionConfigResource, newest, status), error };
  }
}

export const withFinding = (config: ExtensionConfig, finding: Finding, clock: Clock) =>
  setConditions(config.status?.conditions, [finding], timestamp(clock.nowMs()), config.metadata.generation);

export const secretOf = (config: ExtensionConfig): string | undefined => config.metadata.annotations?.[injectCAFromSecretAnnotation];

/** Without the annotation the bundle stays as it is, also one that was injected before. The patch comes before discovery, so that the
 *  generation that is discovered is the one with this CA. */
async function injectCa(config: ExtensionConfig, client: Client): Promise<ExtensionConfig> {
  const named = secretOf(config);
  if (named === undefined) return config;
  const caBundle = await readCa(named, client);
  if (caBundle === config.spec.clientConfig.caBundle) return config;
  return client.patch(extensionConfigResource, keyOf(config), { type: "merge", body: { spec: { clientConfig: { caBundle } } } });
}

async function readCa(named: string, client: Client): Promise<string> {
  const where = `annotation ${injectCAFromSecretAnnotation}`;
  if (!/^[^/]+\/[^/]+$/.test(named)) throw new Error(`${where}: "${named}" must be <namespace>/<name> of a Secret`);
  let secret: Secret;
  try {
    secret = await client.get(secretResource, parseKey(named));
  } catch (e) {
    throw isNotFound(e) ? new Error(`${where}: Secret ${named} does not exist`) : e;
  }
  const ca = secret.data?.[CA_KEY];
  if (!ca) throw new Error(`${where}: Secret ${named} has no key ${CA_KEY}`);
  return ca;
}
