// CRDs in effect: conditions, kinds in the registry, deletion of their objects.
// Here: one look at one CRD, and when to look. Not here: what a status or a type is (conditions.ts, types.ts).
import { createTurns } from "./turns.ts";
import type { ServerContext } from "../context.ts";
import { type ApiObject, sameJson } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { nextStatus } from "./conditions.ts";
import { CLEANUP_FINALIZER, CRD, hasCondition, specOf, statusOf, withCondition, withStatus } from "./definition.ts";
import { storageType, typesOf } from "./types.ts";

const MANAGER = "kube-apiserver";
/** Objects that go by their own finalizers are told by their changes; this is for what no change tells. Milliseconds. */
const LOOK_AGAIN_MS = 5_000;

interface Served {
  readonly crd: ApiObject;
  readonly types: readonly ResourceType[];
}

/** Brings the CRDs of one server into effect. */
export interface CrdController {
  /** Settles when everything written so far is in effect: a CRD that was created just before is served, or has a clash of names. */
  settled(): Promise<void>;
  stop(): void;
}

// Who creates CRDs and needs their kinds at once finds the controller of its server here.
const running = new WeakMap<ServerContext, CrdController>();
export const crdControllerOf = (server: ServerContext): CrdController | undefined => running.get(server);

const crdType = (server: ServerContext): ResourceType | undefined => server.registry.byKind(CRD.group, CRD.version, CRD.kind);

/** Serves what is established already, then follows all CRDs. */
export function startCrdController(server: ServerContext): CrdController {
  const type = crdType(server);
  const served = new Map<string, Served>();
  const emptying = new Map<string, () => void>();

  const serve = (name: string, crd: ApiObject | undefined): void => {
    const before = served.get(name);
    if (crd && before && sameEffect(before.crd, crd)) return;
    const types = crd && hasCondition(crd, "Established") ? typesOf(crd, before?.types) : [];
    const gone = (before?.types ?? []).filter((old) => !types.some((next) => next.version === old.version && next.plural === old.plural));
    if (types.length > 0 || gone.length > 0) server.registry.change(types, gone);
    if (crd) served.set(name, { crd, types });
    else served.delete(name);
  };

  async function look(name: string): Promise<void> {
    if (!type) return;
    const crd = server.objects.get(type, "", name);
    if (!crd) {
      emptying.get(name)?.();
      emptying.delete(name);
      serve(name, undefined);
      return;
    }
    if (crd.metadata.deletionTimestamp !== undefined) {
      serve(name, crd);
      await empty(name, crd);
      return;
    }
    const current = await writeStatus(name, crd);
    if (current) serve(name, current);
  }

  async function writeStatus(name: string, crd: ApiObject): Promise<ApiObject | undefined> {
    if (!type || sameJson(statusNow(server, type, crd), statusOf(crd))) return crd;
    return server.objects.update(type, "", name, (old) => withStatus(old, statusNow(server, type, old)), {
      subresource: "status",
      manager: MANAGER,
    });
  }

  /** Deletes all objects, then lets the CRD go. */
  async function empty(name: string, crd: ApiObject): Promise<void> {
    if (!type || !(crd.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return;
    const stored = storageType(crd);
    const remaining = stored && hasCondition(crd, "Established") ? await deleteAll(server, stored) : 0;
    if (stored && remaining > 0) {
      if (!emptying.has(name))
        emptying.set(
          name,
          server.objects.watch(stored, ({ type: change }) => change === "DELETED" && work.add(name)),
        );
      await terminating(name, "InstanceDeletionInProgress", `CustomResource deletion is in progress; ${remaining} objects remain`);
      work.addAfter(name, LOOK_AGAIN_MS);
      return;
    }
    // Served no longer when the CRD is seen to be gone, also by who asks right then.
    serve(name, undefined);
    await server.objects.update(type, "", name, withoutFinalizer, { manager: MANAGER });
  }

  async function terminating(name: string, reason: string, message: string): Promise<void> {
    if (!type) return;
    const change = (old: ApiObject): ApiObject => {
      const condition = { type: "Terminating", status: "True", reason, message } as const;
      const conditions = withCondition(statusOf(old).conditions, condition, server.clock.nowMs());
      return sameJson(conditions, statusOf(old).conditions) ? old : withStatus(old, { conditions });
    };
    await server.objects.update(type, "", name, change, { subresource: "status", manager: MANAGER });
  }

  const work = createTurns(server, look);
  if (!type) return { settled: work.settled, stop: work.stop };

  const all = server.objects.list(type);
  for (const crd of all) serve(crd.metadata.name ?? "", crd);
  for (const { metadata } of all) work.add(metadata.name ?? "");
  const unwatch = server.objects.watch(type, (change) => {
    const name = change.object.metadata.name ?? "";
    work.add(name);
    // Names that were taken may be free now.
    if (change.type !== "DELETED") return;
    for (const other of server.objects.list(type))
      if (specOf(other).group === specOf(change.object).group) work.add(other.metadata.name ?? "");
  });
  const controller: CrdController = {
    settled: work.settled,
    stop() {
      unwatch();
      running.delete(server);
      for (const stop of emptying.values()) stop();
      work.stop();
    },
  };
  running.set(server, controller);
  return controller;
}

/** Two states of a CRD that serve the same kinds in the same way. */
function sameEffect(a: ApiObject, b: ApiObject): boolean {
  return (
    hasCondition(a, "Established") === hasCondition(b, "Established") &&
    hasCondition(a, "Terminating") === hasCondition(b, "Terminating") &&
    sameJson(statusOf(a).acceptedNames, statusOf(b).acceptedNames) &&
    sameJson(a.spec, b.spec)
  );
}

function statusNow(server: ServerContext, type: ResourceType, crd: ApiObject): ReturnType<typeof statusOf> {
  const others = server.objects.list(type).filter((other) => other.metadata.name !== crd.metadata.name);
  return { ...statusOf(crd), ...nextStatus(crd, others, server.clock.nowMs()) };
}

const withoutFinalizer = (crd: ApiObject): ApiObject => ({
  ...crd,
  metadata: { ...crd.metadata, finalizers: (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER) },
});

/** @returns how many are still there, held by finalizers */
async function deleteAll(server: ServerContext, type: ResourceType): Promise<number> {
  for (const { metadata } of server.objects.list(type)) {
    if (metadata.deletionTimestamp !== undefined) continue;
    await server.objects.delete(type, metadata.namespace ?? "", metadata.name ?? "", { propagationPolicy: "Background" });
  }
  return server.objects.list(type).length;
}
