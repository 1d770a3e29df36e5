// Registry of extensions: which handlers can be called now. Here: entries by ExtensionConfig, warm or not, ready or not.
// Not here: discovery (discovery.ts), who fills it (controllers/extensionconfig), calls (call.ts). Source: client.md, sections 2.2 and 5.
import { hookTimeoutSecondsDefault, type HookName, isHookName } from "../api/hooks/index.ts";
import type { ExtensionConfig } from "../api/extensionconfig.ts";
import type { LabelSelector } from "../api/meta/object.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { HookError } from "./errors.ts";

export interface RegisteredHandler {
  /** `<handler>.<config>`. */
  readonly name: string;
  /** What the server calls it. */
  readonly shortName: string;
  readonly config: string;
  /** resourceVersion of the ExtensionConfig. */
  readonly configVersion: string;
  readonly hook: HookName;
  readonly endpoint: Endpoint;
  readonly timeoutSeconds: number;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly settings: Readonly<Record<string, string>>;
  readonly namespaceSelector?: LabelSelector;
}

/** A config that exists and cannot be used. */
export interface UnreadyConfig {
  readonly config: string;
  readonly reason: string;
  /** Hooks it served when it was last discovered; absent = nobody knows. */
  readonly hooks?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

export interface Registry {
  /** True once warm-up ended. Before that nothing may be called, and nothing concluded. */
  warm(): boolean;
  endWarmUp(): void;
  /** Takes the handlers in the config's status in place of what was there, all or none. @throws Error that says what cannot be used */
  register(config: ExtensionConfig): void;
  unregister(config: string): void;
  /** A config without usable handlers: hooks it may serve wait instead of going on without it. An earlier registration stays callable. */
  setUnready(config: ExtensionConfig, reason: string): void;
  isRegistered(config: string): boolean;
  /** All handlers of a hook, sorted by name. @throws HookError HookNotReady before warm-up ended */
  list(hook: HookName): readonly RegisteredHandler[];
  /** @throws HookError HookNotReady, HookHandlerUnknown */
  get(name: string): RegisteredHandler;
  unready(): readonly UnreadyConfig[];
}

export function createRegistry(): Registry {
  const entries = new Map<string, readonly RegisteredHandler[]>();
  const unready = new Map<string, UnreadyConfig>();
  let isWarm = false;
  const all = (): readonly RegisteredHandler[] => {
    if (!isWarm)
      throw new HookError(
        "HookNotReady",
        "the registry of extensions is still being filled: wait for the first discovery of all ExtensionConfigs",
      );
    return [...entries.values()].flat().sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    warm: () => isWarm,
    endWarmUp: () => {
      isWarm = true;
    },
    register: (config) => {
      const name = config.metadata.name ?? "";
      entries.set(name, handlersIn(config));
      unready.delete(name);
    },
    unregister: (config) => {
      entries.delete(config);
      unready.delete(config);
    },
    setUnready: (config, reason) => {
      const name = config.metadata.name ?? "";
      if (entries.has(name)) return;
      const hooks = config.status?.handlers?.map((h) => h.requestHook.hook);
      unready.set(name, { config: name, reason, hooks, namespaceSelector: config.spec.namespaceSelector });
    },
    isRegistered: (config) => entries.has(config),
    list: (hook) => all().filter((h) => h.hook === hook),
    get: (name) => {
      const found = all().find((h) => h.name === name);
      if (found) return found;
      const waiting = [...unready.values()].find((u) => name.endsWith(`.${u.config}`));
      if (waiting) throw notReady(waiting, `handler "${name}"`);
      throw new HookError("HookHandlerUnknown", `no handler "${name}" is registered: see status.handlers of its ExtensionConfig`);
    },
    unready: () => [...unready.values()].sort((a, b) => (a.config < b.config ? -1 : 1)),
  };
}

export const notReady = (u: UnreadyConfig, what: string): HookError =>
  new HookError("HookNotReady", `ExtensionConfig ${u.config}, which may serve ${what}, is not ready: ${u.reason}`);

function handlersIn(config: ExtensionConfig): readonly RegisteredHandler[] {
  const name = config.metadata.name ?? "";
  const endpoint = endpointOf(config.spec.clientConfig);
  return (config.status?.handlers ?? []).flatMap((h) => {
    const { hook } = h.requestHook;
    // A newer server may have announced hooks to a newer manager; they are nothing to this one.
    if (!isHookName(hook)) return [];
    const suffix = `.${name}`;
    if (!h.name.endsWith(suffix)) throw new Error(`status.handlers of ExtensionConfig ${name}: "${h.name}" does not end with "${suffix}"`);
    return [
      {
        name: h.name,
        shortName: h.name.slice(0, -suffix.length),
        config: name,
        configVersion: config.metadata.resourceVersion ?? "",
        hook,
        endpoint,
        timeoutSeconds: h.timeoutSeconds || hookTimeoutSecondsDefault,
        failurePolicy: h.failurePolicy ?? "Fail",
        settings: (config.spec.settings ?? {}) as Readonly<Record<string, string>>,
        namespaceSelector: config.spec.namespaceSelector,
      },
    ];
  });
}
