// Emptying namespaces that are being deleted. Here: deleting content, conditions while something remains, the last finalizer.
// Not here: phases and finalizers themselves (../builtin/strategies/namespace.ts), refusing creates (admission/).
import { timestamp } from "../../runtime/base/clock.ts";
import type { ServerContext } from "../context.ts";
import { type ApiObject, sameJson } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { storedTypes, type Watcher } from "./follow.ts";
import { createWork } from "./work.ts";

const MANAGER = "kube-controller-manager";
const FINALIZER = "kubernetes";
/** Content that goes by itself (grace, other finalizers) is told by its changes; this is for what no change tells. Milliseconds. */
const LOOK_AGAIN_MS = 5_000;

interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

interface Remaining {
  readonly type: ResourceType;
  readonly objects: readonly ApiObject[];
}

const specFinalizers = (namespace: ApiObject): readonly string[] =>
  (namespace.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? [];
const needsWork = (namespace: ApiObject): boolean =>
  namespace.metadata.deletionTimestamp !== undefined && specFinalizers(namespace).includes(FINALIZER);

function remainingIn(server: ServerContext, namespace: string): readonly Remaining[] {
  return storedTypes(server)
    .filter((type) => type.namespaced && type.verbs.includes("delete"))
    .map((type) => ({ type, objects: server.objects.list(type, namespace) }))
    .filter(({ objects }) => objects.length > 0);
}

/** Deletes everything that is not being deleted already. @returns messages of what could not be deleted */
async function deleteContent(server: ServerContext, namespace: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const { type, objects } of remainingIn(server, namespace)) {
    for (const { metadata } of objects) {
      if (metadata.deletionTimestamp !== undefined) continue;
      try {
        await server.objects.delete(type, namespace, metadata.name ?? "", { propagationPolicy: "Background" });
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  return faults;
}

const resourceName = ({ group, plural }: ResourceType): string => `${plural}.${group}`;

function conditionsOf(remaining: readonly Remaining[], faults: readonly string[]): readonly Condition[] {
  const resources = remaining.map(({ type, objects }) => `${resourceName(type)} has ${objects.length} resource instances`);
  const finalizers = new Map<string, number>();
  for (const { objects } of remaining) {
    for (const { metadata } of objects) for (const f of metadata.finalizers ?? []) finalizers.set(f, (finalizers.get(f) ?? 0) + 1);
  }
  const held = [...finalizers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      status: "False",
      reason: "ResourcesDiscovered",
      message: "All resources successfully discovered",
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      status: "False",
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    faults.length > 0
      ? {
          type: "NamespaceDeletionContentFailure",
          status: "True",
          reason: "ContentDeletionFailed",
          message: `Failed to delete all resource types, ${faults.length} remaining: ${faults.join(", ")}`,
        }
      : {
          type: "NamespaceDeletionContentFailure",
          status: "False",
          reason: "ContentDeleted",
          message: "All content successfully deleted, may be waiting on finalization",
        },
    resources.length > 0
      ? {
          type: "NamespaceContentRemaining",
          status: "True",
          reason: "SomeResourcesRemain",
          message: `Some resources are remaining: ${resources.join(", ")}`,
        }
      : { type: "NamespaceContentRemaining", status: "False", reason: "ContentRemoved", message: "All content successfully removed" },
    held.length > 0
      ? {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${held.join(", ")}`,
        }
      : {
          type: "NamespaceFinalizersRemaining",
          status: "False",
          reason: "ContentHasNoFinalizers",
          message: "All content-preserving finalizers finished",
        },
  ];
}

type Status = { readonly conditions?: readonly (Condition & { readonly lastTransitionTime: string })[] };

function withConditions(namespace: ApiObject, wanted: readonly Condition[], nowMs: number): ApiObject {
  const status = (namespace.status ?? {}) as Status;
  const before = new Map((status.conditions ?? []).map((c) => [c.type, c]));
  const conditions = wanted.map((condition) => {
    const known = before.get(condition.type);
    return { ...condition, lastTransitionTime: known?.status === condition.status ? known.lastTransitionTime : timestamp(nowMs) };
  });
  return sameJson(conditions, status.conditions) ? namespace : { ...namespace, status: { ...status, conditions } };
}

/** Empties terminating namespaces. */
export function namespaceController(server: ServerContext): Watcher {
  const terminating = new Set<string>();

  const work = createWork(server, "namespace controller", async (name) => {
    const type = server.registry.byKind("", "v1", "Namespace");
    const namespace = type && server.objects.get(type, "", name);
    if (!type || !namespace || !needsWork(namespace)) {
      terminating.delete(name);
      return;
    }
    terminating.add(name);
    const faults = await deleteContent(server, name);
    const remaining = remainingIn(server, name);
    if (remaining.length > 0 || faults.length > 0) {
      const conditions = conditionsOf(remaining, faults);
      const nowMs = server.clock.nowMs();
      await server.objects.update(type, "", name, (old) => withConditions(old, conditions, nowMs), {
        subresource: "status",
        manager: MANAGER,
      });
      work.addAfter(name, LOOK_AGAIN_MS);
      return;
    }
    terminating.delete(name);
    const finalize = (old: ApiObject): ApiObject => ({ ...old, spec: { finalizers: specFinalizers(old).filter((f) => f !== FINALIZER) } });
    await server.objects.update(type, "", name, finalize, { subresource: "finalize", manager: MANAGER });
  });

  const note = (type: ResourceType, object: ApiObject): void => {
    if (type.kind === "Namespace" && type.group === "") {
      if (needsWork(object)) work.add(object.metadata.name ?? "");
      return;
    }
    const { namespace } = object.metadata;
    if (namespace !== undefined && terminating.has(namespace)) work.add(namespace);
  };
  return { found: note, changed: (type, { object }) => note(type, object), stop: work.stop };
}
