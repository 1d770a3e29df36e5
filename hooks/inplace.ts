// The in-place hooks as controllers ask them: may it, and do it. Here: exactly one handler, what is sent, the cache of answers about sets.
// Not here: when to ask (controllers), the verdict on patches (coverage.ts). Source: hooks.md, sections 3, 5.1, 5.2 and 5.5.
import {
  type CanUpdateMachineRequest,
  type CanUpdateMachineSetRequest,
  type HookName,
  hooksApiVersion,
  type MachineObjects,
  type MachineSetObjects,
} from "../api/hooks/index.ts";
import type { Machine } from "../api/machine.ts";
import type { KubeObject } from "../api/meta/object.ts";
import { keyOf, keyText } from "../api/meta/resource.ts";
import type { Clock } from "../runtime/base/clock.ts";
import { isMap } from "../schema/json-values.ts";
import { createAnswerCache } from "./answer-cache.ts";
import type { HookClient } from "./client.ts";
import { type Coverage, coverageTexts, machineCoverage, machineSetCoverage } from "./coverage.ts";
import { HookError, subject, textOf } from "./errors.ts";
import type { RegisteredHandler } from "./registry.ts";

export interface InPlaceAnswer {
  readonly covered: boolean;
  /** Why not, one text per object. */
  readonly reasons: readonly string[];
  /** The handler that was asked, when there is one. */
  readonly handler?: string;
  /** False: the Machine stays Ready while it is updated, says the extension. Absent = true. */
  readonly affectsAvailability?: boolean;
}

/** Each rejects with a HookError when nothing may be concluded: not ready, several handlers, call failed, patch that cannot be applied. */
export interface InPlaceHooks {
  canUpdateMachine(question: { readonly current: MachineObjects; readonly desired: MachineObjects }): Promise<InPlaceAnswer>;
  /** Answers, yes and no, are kept for a day per pair of sets and version of the ExtensionConfig. */
  canUpdateMachineSet(question: { readonly current: MachineSetObjects; readonly desired: MachineSetObjects }): Promise<InPlaceAnswer>;
  /** @returns retryAfterSeconds 0 when the update is done */
  updateMachine(machine: Machine, desired: MachineObjects): Promise<{ readonly retryAfterSeconds: number; readonly message: string }>;
}

const ANSWER_LIFE_MS = 24 * 3_600_000;

export function createInPlaceHooks(client: HookClient, clock: Clock): InPlaceHooks {
  const sets = createAnswerCache<InPlaceAnswer>(clock, ANSWER_LIFE_MS);

  const onlyHandler = async (hook: HookName, object: KubeObject): Promise<RegisteredHandler | undefined> => {
    const found = await client.handlers(hook, object);
    if (found.length < 2) return found[0];
    const names = found.map((h) => h.name).join(",");
    throw new HookError(
      "HookAmbiguous",
      `found multiple ${hook} hooks (${names}): only one hook is supported; narrow the namespaceSelector of all ExtensionConfigs but one`,
    );
  };

  return {
    canUpdateMachine: async (question) => {
      const request = { current: machineObjects(question.current), desired: machineObjects(question.desired) };
      const mismatch = oneSided(request.current.bootstrapConfig, request.desired.bootstrapConfig);
      if (mismatch) return no([mismatch]);
      const handler = await onlyHandler("CanUpdateMachine", question.current.machine);
      if (!handler) return no([noHandler("CanUpdateMachine", question.current.machine)]);
      const answer = await client.callOne("CanUpdateMachine", handler.name, question.current.machine, request);
      const whole = { ...request, apiVersion: hooksApiVersion, kind: "CanUpdateMachineRequest" } as CanUpdateMachineRequest;
      return verdict(handler, "CanUpdateMachine", answer, () => machineCoverage(whole, answer));
    },

    canUpdateMachineSet: async (question) => {
      const request = { current: setObjects(question.current), desired: setObjects(question.desired) };
      const mismatch = oneSided(request.current.bootstrapConfigTemplate, request.desired.bootstrapConfigTemplate);
      if (mismatch) return no([mismatch]);
      const old = question.current.machineSet;
      const handler = await onlyHandler("CanUpdateMachineSet", old);
      if (!handler) return no([noHandler("CanUpdateMachineSet", old)]);
      const key = [keyText(keyOf(old)), keyText(keyOf(question.desired.machineSet)), handler.name, handler.configVersion].join(" ");
      const known = sets.get(key);
      if (known) return known;
      const answer = await client.callOne("CanUpdateMachineSet", handler.name, old, request);
      const whole = { ...request, apiVersion: hooksApiVersion, kind: "CanUpdateMachineSetRequest" } as CanUpdateMachineSetRequest;
      const decided = verdict(handler, "CanUpdateMachineSet", answer, () => machineSetCoverage(whole, answer));
      sets.set(key, decided);
      return decided;
    },

    updateMachine: async (machine, desired) => {
      const handler = await onlyHandler("UpdateMachine", machine);
      if (!handler)
        throw new HookError("HookHandlerUnknown", `${noHandler("UpdateMachine", machine)}; the update waits until one comes back`);
      const sent = machineObjects(desired);
      const request = {
        desired: { ...sent, ...(sent.bootstrapConfig ? { bootstrapConfig: withoutTokens(sent.bootstrapConfig) } : {}) },
      };
      const answer = await client.callOne("UpdateMachine", handler.name, machine, request);
      return { retryAfterSeconds: answer.retryAfterSeconds, message: answer.message ?? "" };
    },
  };
}

function verdict(
  handler: RegisteredHandler,
  hook: HookName,
  { message, affectsAvailability }: { readonly message?: string; readonly affectsAvailability?: boolean },
  coverageOf: () => Coverage,
): InPlaceAnswer {
  let texts: readonly string[];
  try {
    texts = coverageTexts(coverageOf());
  } catch (e) {
    const code = (e as HookError).code;
    throw code === undefined ? e : new HookError(code, `${subject(hook, handler.name, handler.config)}: ${textOf(e)}`);
  }
  const availability = affectsAvailability === undefined ? {} : { affectsAvailability };
  if (texts.length === 0) return { covered: true, reasons: [], handler: handler.name, ...availability };
  return { covered: false, reasons: message ? [...texts, `${handler.name}: ${message}`] : texts, handler: handler.name };
}

const no = (reasons: readonly string[]): InPlaceAnswer => ({ covered: false, reasons });

const noHandler = (hook: HookName, object: KubeObject): string =>
  `no extension serves ${hook} for namespace ${object.metadata.namespace ?? ""}`;

const oneSided = (current: KubeObject | undefined, desired: KubeObject | undefined): string | undefined =>
  (current === undefined) === (desired === undefined) ? undefined : `${(current ?? desired)?.kind} is on one side only`;

/** What an extension sees of an object: names, labels, annotations, spec. */
export function hookObject<K extends KubeObject>(object: K): K {
  const { apiVersion, kind, metadata, spec } = object as K & { readonly spec?: unknown };
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, ...filled("labels", labels), ...filled("annotations", annotations) },
    ...(spec === undefined ? {} : { spec }),
  } as unknown as K;
}

const machineObjects = (o: MachineObjects): MachineObjects => ({
  machine: hookObject(o.machine),
  infrastructureMachine: hookObject(o.infrastructureMachine),
  ...(o.bootstrapConfig ? { bootstrapConfig: hookObject(o.bootstrapConfig) } : {}),
});

const setObjects = (o: MachineSetObjects): MachineSetObjects => ({
  machineSet: hookObject(o.machineSet),
  infrastructureMachineTemplate: hookObject(o.infrastructureMachineTemplate),
  ...(o.bootstrapConfigTemplate ? { bootstrapConfigTemplate: hookObject(o.bootstrapConfigTemplate) } : {}),
});

const filled = (name: string, map: Readonly<Record<string, string>> | undefined) =>
  map && Object.keys(map).length > 0 ? { [name]: map } : {};

/** Takes the place of bootstrap tokens; in their form, so that a strict reader is content. */
const REDACTED_TOKEN = "redact.redactedredacted";

/** How a node joined is told, with what it joined is no business of an extension: tokens are replaced, all else stays. */
function withoutTokens<K extends KubeObject>(config: K): K {
  const spec = (config as K & { readonly spec?: unknown }).spec;
  if (!isMap(spec) || !isMap(spec.joinConfiguration) || !isMap(spec.joinConfiguration.discovery)) return config;
  const { bootstrapToken, ...rest } = spec.joinConfiguration.discovery;
  const discovery = {
    ...rest,
    ...(isMap(bootstrapToken) ? { bootstrapToken: redacted(bootstrapToken, "token") } : {}),
  };
  const joinConfiguration = { ...spec.joinConfiguration, discovery: redacted(discovery, "tlsBootstrapToken") };
  return { ...config, spec: { ...spec, joinConfiguration } };
}

const redacted = (fields: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> =>
  fields[name] ? { ...fields, [name]: REDACTED_TOKEN } : fields;
