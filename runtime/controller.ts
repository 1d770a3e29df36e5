// Controller: the shape every controller has. Here: types, watch declarations, steps to reconcile. Not here: who runs it (manager.ts).
import type { KubeObject } from "../api/meta/object.ts";
import { apiVersionOf, keyOf, type ObjectKey, type Resource } from "../api/meta/resource.ts";
import type { Clock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Cache, Change } from "./cache.ts";
import type { Client } from "./client.ts";
import type { FeatureGates } from "./feature-gates.ts";

export interface Result {
  /** Run the key again after this many milliseconds, unless an event comes first. 0 = at once, without back-off. */
  readonly requeueAfterMs?: number;
}

export type EventType = "Normal" | "Warning";

/** What a reconcile is given. Everything it knows comes through here or from the object it loads. */
export interface ReconcileContext {
  /** Live; writes under the controller's field manager; what it writes is waited for before the key's next run. */
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly gates: FeatureGates;
  /** Writes a core/v1 Event about `object` in the background; repeated ones are counted up. */
  record(object: KubeObject, type: EventType, reason: string, message: string): void;
  /** Watches a kind known only at run time (a referenced infrastructure object). Cheap when it is watched already.
   *  @returns false while its first list is under way; this key runs again by itself when that has arrived */
  watchAlso<K extends KubeObject>(watch: Watch<K>): boolean;
  /** Runs another key of this same controller soon. */
  enqueue(key: ObjectKey): void;
}

export interface WatchEnvironment {
  readonly cache: Cache;
  /** The kind the controller reconciles. */
  readonly primary: Resource;
}

/** Which changes of another kind run which keys. An update asks `keys` about the old and the new object. */
export interface Watch<K extends KubeObject = KubeObject> {
  readonly resource: Resource<K>;
  readonly keys: (object: K, environment: WatchEnvironment) => readonly ObjectKey[];
  /** Changes that do not pass are ignored. */
  readonly when?: (change: Change<K>) => boolean;
}

/** A watch of any kind: the type parameter is forgotten so that a list can hold several. */
// biome-ignore lint/suspicious/noExplicitAny: watches of different kinds share a list; each was checked where it was declared
export type AnyWatch = Watch<any>;

/** Another reason to run keys than a watched kind of the management cluster (Nodes and connections of workload clusters).
 *  Called when the controller starts. @returns a function that ends it */
export type Source = (enqueue: (key: ObjectKey) => void, environment: WatchEnvironment) => () => void;

export interface Controller<K extends KubeObject = KubeObject> {
  /** Lower case; names queue, metrics, logs and the switch in `--controllers`. */
  readonly name: string;
  readonly resource: Resource<K>;
  readonly watches: readonly AnyWatch[];
  readonly sources?: readonly Source[];
  /** Kinds that are read from the cache without causing runs. */
  readonly reads?: readonly Resource[];
  /** Changes of the kind itself that do not pass are ignored. */
  readonly when?: (change: Change<K>) => boolean;
  /** Default for writes; `client.as(...)` overrides it. Absent = `name`. */
  readonly fieldManager?: string;
  /** Source component of Events. Absent = `name`. */
  readonly eventSource?: string;
  /** Keys that may run at once in the real worker pool, default 10. */
  readonly concurrency?: number;
  /** Throws to be run again with back-off; throws TerminalError to wait for the next change. */
  readonly reconcile: (key: ObjectKey, context: ReconcileContext) => Promise<Result>;
}

// biome-ignore lint/suspicious/noExplicitAny: controllers of different kinds share a list
export type AnyController = Controller<any>;

/** A failure that running again would not cure; the key waits for its next change. */
export class TerminalError extends Error {
  readonly code = "TerminalError";
}

/** Changes of objects that the controller's kind owns as controller (`ownerReferences[].controller`). */
export const owned = <K extends KubeObject>(resource: Resource<K>, when?: (change: Change<K>) => boolean): Watch<K> => ({
  resource,
  when,
  keys: (object, { primary }) => ownerKeys(object, primary, true),
});

/** As `owned`, for any owner reference of the controller's kind. */
export const ownedLoosely = <K extends KubeObject>(resource: Resource<K>, when?: (change: Change<K>) => boolean): Watch<K> => ({
  resource,
  when,
  keys: (object, { primary }) => ownerKeys(object, primary, false),
});

/** Changes of another kind, mapped to keys by a function over object and cache. */
export const mapped = <K extends KubeObject>(
  resource: Resource<K>,
  keys: (object: K, environment: WatchEnvironment) => readonly ObjectKey[],
  when?: (change: Change<K>) => boolean,
): Watch<K> => ({ resource, keys, when });

function ownerKeys(object: KubeObject, primary: Resource, controllerOnly: boolean): readonly ObjectKey[] {
  const namespace = primary.namespaced ? keyOf(object).namespace : "";
  return (object.metadata.ownerReferences ?? [])
    .filter((o) => o.kind === primary.kind && groupOf(o.apiVersion) === primary.group && (!controllerOnly || o.controller === true))
    .map((o) => ({ namespace, name: o.name }));
}

const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");

/** What a step says: nothing = go on; a Result is merged (the earliest requeue wins); `stop` skips the steps after it, not `finally`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a step without a return statement is the common case
export type StepOutcome = void | (Result & { readonly stop?: true });
export type Step<V> = (view: V, context: ReconcileContext) => StepOutcome | Promise<StepOutcome>;

export interface ControllerSteps<K extends KubeObject, V> extends Omit<Controller<K>, "resource" | "reconcile" | "name"> {
  /** Absent = the kind in lower case. */
  readonly name?: string;
  /** Every read, once. Nothing = leave the object alone this time. */
  readonly load: (object: K, context: ReconcileContext) => V | undefined | Promise<V | undefined>;
  readonly whenDeleting?: readonly Step<V>[];
  readonly whenLive: readonly Step<V>[];
  /** Runs last, also after a step failed or stopped. */
  readonly finally?: Step<V>;
}

/** A controller as a list of steps. The object comes from the cache; an absent one is nothing to do. */
export function controller<K extends KubeObject, V>(resource: Resource<K>, steps: ControllerSteps<K, V>): Controller<K> {
  return {
    ...steps,
    name: steps.name ?? resource.kind.toLowerCase(),
    resource,
    reconcile: async (key, context) => {
      const object = context.cache.get(resource, key);
      if (!object) return {};
      const view = await steps.load(object, context);
      if (view === undefined) return {};
      return runSteps(object.metadata.deletionTimestamp ? (steps.whenDeleting ?? []) : steps.whenLive, steps.finally, view, context);
    },
  };
}

/** Runs steps in order, then `last`, whatever happened. @throws what a step threw; both failures when `last` fails too */
export async function runSteps<V>(
  steps: readonly Step<V>[],
  last: Step<V> | undefined,
  view: V,
  context: ReconcileContext,
): Promise<Result> {
  let result: Result = {};
  const failures: unknown[] = [];
  try {
    for (const step of steps) {
      const outcome = await step(view, context);
      result = earliest(result, outcome);
      if (outcome?.stop) break;
    }
  } catch (e) {
    failures.push(e);
  }
  try {
    if (last) result = earliest(result, await last(view, context));
  } catch (e) {
    failures.push(e);
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map((f) => (f instanceof Error ? f.message : String(f))).join("; "));
  return result;
}

/** The result that asks to run soonest. */
export function earliest(a: Result, b: StepOutcome): Result {
  if (b?.requeueAfterMs === undefined) return a;
  if (a.requeueAfterMs === undefined || b.requeueAfterMs < a.requeueAfterMs) return { requeueAfterMs: b.requeueAfterMs };
  return a;
}

/** An owner reference of `owner`. @param controller sets `controller` and `blockOwnerDeletion` */
export const ownerReference = (owner: KubeObject, resource: Resource, controller = true) => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  name: owner.metadata.name ?? "",
  uid: owner.metadata.uid ?? "",
  ...(controller ? { controller: true, blockOwnerDeletion: true } : {}),
});
