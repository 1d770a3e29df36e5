// Discovery: asking a server for its handlers, and what may be believed. Here: the call and the rules. Not here: when it is asked
// (controllers/extensionconfig). Source: hooks.md, section 4; client.md, section 6.
import {
  type DiscoveredHandler,
  hooksApiVersion,
  hookTimeoutSecondsDefault,
  hookTimeoutSecondsMax,
  isHookName,
} from "../api/hooks/index.ts";
import type { ExtensionConfig, ExtensionHandler } from "../api/extensionconfig.ts";
import { type CallTools, callHandler } from "./call.ts";
import { endpointOf } from "./endpoint.ts";
import { HookError } from "./errors.ts";

/** Ignore would read a dead server as "replace the machine", "the node is updated" or "no patches". */
const IGNORE_REFUSED: readonly string[] = ["CanUpdateMachine", "CanUpdateMachineSet", "UpdateMachine", "GeneratePatches"];
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface DiscoveryRules {
  /** Allows `failurePolicy: Ignore` for every hook, as upstream does. */
  readonly allowIgnore?: boolean;
}

/** Asks the server of a config. @returns handlers as `status.handlers` holds them, sorted by name  @throws HookError, all faults in one text */
export async function discover(
  tools: CallTools,
  config: ExtensionConfig,
  rules: DiscoveryRules = {},
): Promise<readonly ExtensionHandler[]> {
  const name = config.metadata.name ?? "";
  let endpoint: ReturnType<typeof endpointOf>;
  try {
    endpoint = endpointOf(config.spec.clientConfig);
  } catch (e) {
    throw new HookError("DiscoveryInvalid", e instanceof Error ? e.message : String(e));
  }
  const callee = {
    name: "discovery",
    shortName: "",
    config: name,
    endpoint,
    timeoutSeconds: hookTimeoutSecondsDefault,
    failurePolicy: "Fail" as const,
    settings: {},
  };
  const answer = await callHandler(tools, callee, "Discovery", {});
  return registered(name, answer.handlers ?? [], rules);
}

/** @throws HookError DiscoveryInvalid with every fault: one bad handler spoils the whole answer */
export function registered(
  config: string,
  handlers: readonly DiscoveredHandler[],
  rules: DiscoveryRules = {},
): readonly ExtensionHandler[] {
  const names = handlers.map((h) => h?.name);
  const faults = handlers.flatMap((h, i) =>
    faultsOf(h, names.indexOf(h?.name) < i, rules).map((fault) => `handlers[${i}] ${JSON.stringify(h?.name ?? "")}: ${fault}`),
  );
  if (faults.length > 0)
    throw new HookError("DiscoveryInvalid", `the answer of ExtensionConfig ${config} to Discovery is invalid: ${faults.join("; ")}`);
  return handlers
    .map((h) => ({
      name: `${h.name}.${config}`,
      requestHook: { apiVersion: h.requestHook.apiVersion, hook: h.requestHook.hook },
      timeoutSeconds: h.timeoutSeconds || hookTimeoutSecondsDefault,
      failurePolicy: h.failurePolicy ?? "Fail",
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function faultsOf(h: Partial<DiscoveredHandler> | null, repeated: boolean, rules: DiscoveryRules): string[] {
  const faults: string[] = [];
  const { name, requestHook, timeoutSeconds, failurePolicy } = h ?? {};
  if (typeof name !== "string" || !DNS_LABEL.test(name))
    faults.push("the name must be a DNS label (lower case letters, digits, dashes, at most 63)");
  if (repeated) faults.push("the name is used twice");
  if (requestHook?.apiVersion !== hooksApiVersion) faults.push(`requestHook.apiVersion must be ${hooksApiVersion}`);
  if (!isHookName(requestHook?.hook ?? "") || requestHook?.hook === "Discovery")
    faults.push(`unknown hook ${JSON.stringify(requestHook?.hook ?? "")}`);
  if (
    timeoutSeconds !== undefined &&
    !(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 0 && timeoutSeconds <= hookTimeoutSecondsMax)
  ) {
    faults.push(`timeoutSeconds must be 0 to ${hookTimeoutSecondsMax}`);
  }
  if (failurePolicy !== undefined && failurePolicy !== "Fail" && failurePolicy !== "Ignore")
    faults.push("failurePolicy must be Fail or Ignore");
  if (failurePolicy === "Ignore" && !rules.allowIgnore && IGNORE_REFUSED.includes(requestHook?.hook ?? "")) {
    faults.push(`failurePolicy Ignore is refused for ${requestHook?.hook}: an unreachable server would read as an answer`);
  }
  return faults;
}
